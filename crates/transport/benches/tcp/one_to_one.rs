//! One sender and one receiver, at full speed.

use control::remote::{
    RemoteProvider, RemoteReceiver, RemoteSender, RemoteSends, RemoteWire, RemoteWrites,
};

use crate::table::{burst, compare};
use crate::{bare, edge, remote};

/// Bytes of a burst on plain TCP, which also has a limit of frames.
const TCP_BYTES: u64 = 8 << 20;
const TCP_FRAMES: u64 = 300;

/// Bytes of a burst on rum.
const RUM_BYTES: u64 = 8 << 20;

/// Frames of a burst on rdma, which also has a limit of bytes.
const RDMA_FRAMES: u64 = 10_000;

/// Bytes of a write with which a bare socket is fast.
const LARGE: usize = 64 * 1024;

/// Prints the payload a second, in gigabytes, on rum and by large writes of payload alone.
pub fn rum() {
    for len in [22, 64, 108, 256, 1024, 4096, 16384] {
        let count = RUM_BYTES / len as u64;
        let rate = compare(
            &format!("rum {len} B, to 64 KB writes"),
            "GB/s",
            || bare_stream(LARGE, RUM_BYTES / LARGE as u64) * LARGE as f64,
            || edge_stream("rum", len, count) * len as f64,
        );
        println!("  {:>38.1} M/s", rate / len as f64 * 1e3);
    }
}

/// Prints the frames a second, in millions, on plain TCP and by the same writes.
pub fn tcp() {
    for len in [64, 1024, 4096, 16384, 65536] {
        let frame = ring::frame::frame_bytes(len);
        let count = TCP_FRAMES.min(TCP_BYTES / frame as u64);
        compare(
            &format!("tcp {len} B, a frame a write"),
            "M/s",
            || bare_stream(frame, count) * 1e3,
            || edge_stream("tcp", len, count) * 1e3,
        );
    }
}

/// Bytes of a tuple that crosses in pieces, and their number in a burst.
const LARGE_TUPLE: usize = 500_000;
const LARGE_TUPLES: u64 = 30;

/// Prints the bytes a second of tuples of 500 KB in pieces, on rdma in mode `channel`, beside
/// messages of a buffer each.
pub fn rdma_pieces() {
    if !edge::is_available("rdma") {
        return;
    }
    let buffer = edge::RING_BYTES / 32 - ring::frame::HEADER_BYTES;
    let messages = LARGE_TUPLES * LARGE_TUPLE.div_ceil(buffer) as u64;
    compare(
        "rdma channel 500 KB in pieces, to messages of 32 KB",
        "GB/s",
        || remote_stream::<RemoteSends>(RemoteProvider::Tcp, buffer, messages) * buffer as f64,
        || edge_pieces("rdma mode=channel", LARGE_TUPLE, LARGE_TUPLES) * LARGE_TUPLE as f64,
    );
}

/// Prints the frames a second, in millions, on rdma in mode `batch`, by remote writes of one frame
/// each and on rum.
pub fn rdma_batch() {
    if !edge::is_available("rum-rdma") {
        return;
    }
    for len in [64, 1024, 4096, 16384] {
        let count = RDMA_FRAMES.min(TCP_BYTES / len as u64);
        let batch = || edge_stream("rum-rdma", len, count) * 1e3;
        let bare = || remote_stream::<RemoteWrites>(RemoteProvider::Tcp, len, count) * 1e3;
        compare(
            &format!("rum-rdma {len} B, to a fi_write each"),
            "M/s",
            bare,
            batch,
        );
        let rum = || edge_stream("rum", len, count) * 1e3;
        compare(&format!("rum-rdma {len} B, to rum"), "M/s", rum, batch);
    }
}

/// Prints the frames a second, in millions, on rdma and by remote writes or messages of one frame
/// each.
pub fn rdma() {
    if !edge::is_available("rdma") {
        return;
    }
    for len in [64, 1024, 4096, 16384] {
        let count = RDMA_FRAMES.min(TCP_BYTES / len as u64);
        for (medium, provider) in edge::WRITE_EDGES {
            compare(
                &format!("{medium} {len} B, to a fi_write each"),
                "M/s",
                || remote_stream::<RemoteWrites>(provider, len, count) * 1e3,
                || edge_stream(medium, len, count) * 1e3,
            );
        }
        compare(
            &format!("rdma channel {len} B, to a fi_send each"),
            "M/s",
            || remote_stream::<RemoteSends>(RemoteProvider::Tcp, len, count) * 1e3,
            || edge_stream("rdma mode=channel", len, count) * 1e3,
        );
    }
}

/// Messages by libfabric alone, with payloads of this length, a nanosecond.
fn remote_stream<W: RemoteWire>(provider: RemoteProvider, len: usize, count: u64) -> f64
where
    W::Sender: 'static,
    W::Receiver: 'static,
{
    let (mut sender, mut receiver) = remote::pair::<W>(provider, len);
    let payload = vec![1; len];
    let took = burst(
        move || {
            for _ in 0..count {
                let sent = sender.send(|room| room.copy_from_slice(&payload));
                sent.expect("a sound connection");
            }
            sender.flush().expect("a sound connection");
        },
        move || {
            let sum = (0..count).fold(0, |sum: u64, _| {
                sum.wrapping_add(remote::first_word(&mut receiver))
            });
            std::hint::black_box(sum);
            receiver.acknowledge().expect("a sound connection");
        },
    );
    count as f64 / took / 1e9
}

/// Payloads of this length, in pieces, a nanosecond.
fn edge_pieces(medium: &str, len: usize, count: u64) -> f64 {
    let (mut out, mut ends) = edge::open(medium, 1);
    let payload = vec![1; len];
    let took = burst(
        move || edge::send_in_pieces(&mut *out, &payload, count),
        move || edge::receive_pieces(&mut *ends[0], count),
    );
    count as f64 / took / 1e9
}

/// Writes of this length a nanosecond.
fn bare_stream(len: usize, count: u64) -> f64 {
    let (sender, receiver) = bare::pair();
    let (payload, mut room) = (vec![1; len], vec![0; 256 * 1024]);
    let took = burst(
        move || (0..count).for_each(|_| bare::write(&sender, &payload)),
        move || {
            let mut left = len as u64 * count;
            while left > 0 {
                left -= bare::read(&receiver, &mut room) as u64;
            }
        },
    );
    count as f64 / took / 1e9
}

/// Frames with payloads of this length a nanosecond.
fn edge_stream(medium: &str, len: usize, count: u64) -> f64 {
    let (mut out, mut ends) = edge::open(medium, 1);
    let payload = vec![1; len];
    let took = burst(
        move || edge::send(&mut *out, &payload, count),
        move || edge::receive(&mut *ends[0], count),
    );
    count as f64 / took / 1e9
}
