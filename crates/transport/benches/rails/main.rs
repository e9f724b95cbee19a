//! Rails against one path and against bare sockets, between two hosts that are network namespaces
//! and are joined by two paths.
//!
//! ```text
//!   near: sender ==path 0, 100 Mbit/s==> far: receiver
//!                ==path 1, 100 or 10==>
//!
//!   cargo bench -p thalweg-transport --bench rails                all of it
//!   cargo bench -p thalweg-transport --bench rails -- rates       some of it
//! ```
//! The contenders run by turns, several times each. What counts is the ratio of a run to the run
//! beside it, and of these the median. Where network namespaces are not permitted, the bench says
//! so and measures nothing.

extern crate thalweg_transport as transport;

mod bare;
mod edge;
mod latency;
mod outage;
mod rates;

use control::HostPaths;

/// A bench: its name, what measures, and the rates of both paths in Mbit/s.
type RailsBench = (&'static str, fn(&HostPaths), [u32; 2]);

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let wanted: Vec<_> = wanted
        .iter()
        .filter(|word| !word.starts_with('-'))
        .collect();
    let benches: [RailsBench; 5] = [
        ("rates_equal", rates::measure, [100, 100]),
        ("rates_unequal", rates::measure, [100, 10]),
        ("latency", latency::measure, [0, 0]),
        ("outage", outage::measure, [100, 100]),
        ("busy_receiver", outage::measure_busy_receiver, [100, 100]),
    ];
    let hosts = match HostPaths::new(2) {
        Ok(hosts) => hosts,
        Err(why) => return println!("passed over: {why}"),
    };
    edge::start_io_thread(&hosts.far);
    // A receiver of `rdma` connects again on the thread that polls it: this one.
    hosts.far.enter().expect("entered");
    if bare::has_mptcp() {
        hosts.announce_mptcp_endpoints().expect("announced");
    }
    for (name, bench, rates) in benches {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            println!("{name}, {rates:?} Mbit/s (0: unlimited)");
            for (path, rate) in rates.into_iter().enumerate() {
                hosts.set_rate(path, rate).expect("shaped");
            }
            bench(&hosts);
        }
    }
}
