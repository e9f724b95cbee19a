//! Connections of `rdma` in mode `batch` that break, over libfabric's provider `tcp`: no frame is
//! lost, doubled or reordered. See [`crate::cuts`] for seeds.

use std::net::SocketAddr;

use transport::media::rdma::RdmaMedium;
use transport::{EdgeSpec, EdgeTicket, Medium};

use crate::cuts::{CUTS, Cut, seed, stays_whole};
use crate::edge::{PATIENCE, address, spec};
use crate::proxy::Proxy;

static BATCH: RdmaMedium = RdmaMedium::batch(PATIENCE);

/// Bytes of an address at the start of a ticket.
const ADDRESS_BYTES: usize = 18;

/// The ticket with the address of a proxy in place of the sender's. Where the sender answers probes
/// stays.
fn ticket_by(spec: &EdgeSpec, ticket: &EdgeTicket, proxy: SocketAddr) -> EdgeTicket {
    let (receiver, own) = ticket.unseal("rdma", spec).expect("a sound ticket");
    let by_proxy = crate::edge::ticket_to("rdma", spec, receiver, proxy);
    let (_, proxy) = by_proxy.unseal("rdma", spec).expect("a sound ticket");
    let bytes = [proxy, &own[ADDRESS_BYTES..]].concat();
    EdgeTicket::seal("rdma", spec, receiver, &bytes)
}

/// Cuts an edge with so many receivers, each time within so many bytes of a connection.
fn a_cut_stream_is_whole(number: u64, receivers: u32, cut_bytes: u64) {
    if let Err(why) = BATCH.check_available() {
        eprintln!("PASSED OVER: cuts of rdma, for {why}");
        return;
    }
    let seed = seed(number);
    println!("seed {seed}, {receivers} receivers, cuts within {cut_bytes} bytes");
    let spec = spec(receivers);
    let (out, tickets) = BATCH.open(&spec).expect("opened");
    let sender = address("rdma", &spec, &first_address(&spec, &tickets[0]));
    let proxy = Proxy::new(sender, seed, CUTS, cut_bytes);
    let accept = |ticket: &EdgeTicket| {
        // The first connections may be cut, too.
        let ticket = ticket_by(&spec, ticket, proxy.address());
        (BATCH.accept(&spec, ticket).expect("accepted"), 0)
    };
    let ends = tickets.iter().map(accept).collect();
    stays_whole(Cut { out, ends, proxy }, seed);
}

/// A ticket with the address for requests alone.
fn first_address(spec: &EdgeSpec, ticket: &EdgeTicket) -> EdgeTicket {
    let (receiver, own) = ticket.unseal("rdma", spec).expect("a sound ticket");
    EdgeTicket::seal("rdma", spec, receiver, &own[..ADDRESS_BYTES])
}

#[test]
fn cuts_lose_double_and_reorder_nothing() {
    a_cut_stream_is_whole(21, 1, 60_000);
}

#[test]
fn nor_do_cuts_within_the_first_bytes() {
    a_cut_stream_is_whole(22, 1, 2_000);
}

#[test]
fn nor_do_cuts_of_one_of_several() {
    a_cut_stream_is_whole(23, 3, 30_000);
}
