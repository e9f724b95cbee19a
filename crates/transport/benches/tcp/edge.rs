//! Edges on a medium, and loops that never sleep.

use std::net::Ipv4Addr;

use control::remote::RemoteProvider;
use transport::fragment::{FragmentAssembler, split_payload};
use transport::{Batching, EdgeSpec, Medium, ReceivingEnd, SendingEnd, media};

/// Edges in mode `write`, with the provider of each.
pub const WRITE_EDGES: [(&str, RemoteProvider); 2] = [
    ("rdma", RemoteProvider::Tcp),
    ("rdma provider=shm", RemoteProvider::Shm),
];

/// Bytes of an edge's ring.
pub const RING_BYTES: usize = 1 << 20;

/// The medium of a name, with settings behind it if it has some.
fn find(medium: &str) -> &'static dyn Medium {
    let (name, settings) = medium.split_once(' ').unwrap_or((medium, ""));
    media::find_with(name, settings).expect("a medium")
}

/// Whether the medium can work here; else a line says why not.
pub fn is_available(medium: &str) -> bool {
    let medium = find(medium);
    let available = medium.check_available();
    if let Err(why) = &available {
        println!("  passed over: {why}");
    }
    available.is_ok()
}

/// Both ends of an edge on this medium: its name, and its settings behind a blank.
///
/// # Panics
/// If there is no such medium, or it fails.
pub fn open(medium: &str, receivers: u32) -> (Box<dyn SendingEnd>, Vec<Box<dyn ReceivingEnd>>) {
    let medium = find(medium);
    let spec = EdgeSpec {
        name: "bench".into(),
        edge: 0,
        receiver_count: receivers,
        ring_bytes: RING_BYTES,
        batching: Batching::default(),
        token: [7; 16],
        listen: Ipv4Addr::LOCALHOST.into(),
    };
    let (out, tickets) = medium.open(&spec).expect("opened");
    let accept = |ticket| medium.accept(&spec, ticket).expect("accepted");
    let receivers = tickets.into_iter().map(accept).collect();
    (out, receivers)
}

/// Commits `count` payloads in pieces that frames hold, and gets the last one out.
pub fn send_in_pieces(out: &mut dyn SendingEnd, payload: &[u8], count: u64) {
    let most = out.payload_bytes_max();
    for _ in 0..count {
        for (flags, piece) in split_payload(payload, most) {
            while !out.try_write(1, flags, piece).expect("a sound edge") {
                std::hint::spin_loop();
            }
        }
    }
    while !out.flush().expect("a sound edge") {}
}

/// Takes `count` payloads in pieces, reading the first word of each.
pub fn receive_pieces(end: &mut dyn ReceivingEnd, count: u64) {
    let (mut assembler, mut taken) = (FragmentAssembler::default(), 0);
    while taken < count {
        for frame in end.poll().expect("a sound edge") {
            let payload = assembler.add_fragment(frame.flags, frame.bytes);
            if let Some(payload) = payload.expect("pieces in order") {
                std::hint::black_box(payload.first());
                taken += 1;
            }
        }
        end.release();
    }
}

/// Commits `count` frames, and gets the last one out.
pub fn send(out: &mut dyn SendingEnd, payload: &[u8], count: u64) {
    for _ in 0..count {
        while !out.try_write(1, 0, payload).expect("a sound edge") {
            std::hint::spin_loop();
        }
    }
    while !out.flush().expect("a sound edge") {}
}

/// Takes `count` frames, reading the first word of each.
pub fn receive(end: &mut dyn ReceivingEnd, count: u64) {
    let mut taken = 0;
    while taken < count {
        taken += take(end);
    }
    assert_eq!(taken, count);
}

/// Takes `count` frames from each of several ends.
pub fn receive_all(ends: &mut [Box<dyn ReceivingEnd>], count: u64) {
    let mut left = vec![count; ends.len()];
    while left.iter().any(|left| *left > 0) {
        // The sender may leave when all have everything.
        let some = ends
            .iter_mut()
            .zip(&mut left)
            .filter(|(_, left)| **left > 0);
        some.for_each(|(end, left)| *left -= take(&mut **end));
    }
}

/// Takes the frames that have come, and returns their number.
fn take(end: &mut dyn ReceivingEnd) -> u64 {
    let (mut taken, mut sum) = (0, 0u64);
    for frame in end.poll().expect("a sound edge") {
        taken += 1;
        if let Some(word) = frame.bytes.first_chunk() {
            sum = sum.wrapping_add(u64::from_ne_bytes(*word));
        }
    }
    std::hint::black_box(sum);
    end.release();
    taken
}
