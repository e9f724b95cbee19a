//! Media over TCP against bare sockets that write the same bytes, and against each other; `rdma`
//! over libfabric's provider `tcp` against remote writes and messages by libfabric alone.
//!
//! ```text
//!   one_to_one   sender (core 0) ---> receiver (core 1)
//!   ping_pong    sender (core 0) <--> echo (core 1)
//!   fan_out      sender (core 0) ---> six receivers, polled by turns (core 1)
//!
//!   cargo bench -p thalweg-transport --bench tcp                 all of it
//!   cargo bench -p thalweg-transport --bench tcp -- one_to_one   some of it
//! ```
//! The contenders run by turns, several times each; what counts is the ratio of a run to the bare
//! run beside it, and of these the median.

extern crate thalweg_transport as transport;

mod bare;
mod edge;
mod fan_out;
mod one_to_one;
mod ping_pong;
mod remote;
mod table;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let wanted: Vec<_> = wanted
        .iter()
        .filter(|word| !word.starts_with('-'))
        .collect();
    let benches: [(&str, fn()); 9] = [
        ("one_to_one_tcp", one_to_one::tcp),
        ("ping_pong_tcp", ping_pong::tcp),
        ("one_to_one_rum", one_to_one::rum),
        ("ping_pong_rum", ping_pong::rum),
        ("fan_out_rum", fan_out::rum),
        ("one_to_one_rdma", one_to_one::rdma),
        ("ping_pong_rdma", ping_pong::rdma),
        ("pieces_rdma", one_to_one::rdma_pieces),
        ("one_to_one_rdma_batch", one_to_one::rdma_batch),
    ];
    for (name, bench) in benches {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            println!("{name}");
            bench();
        }
    }
}
