//! Instructions of frames through a ring on one thread, 64 at a time: the bare ring, and the
//! medium's contract. For each large frame 48 instructions prefetch what follows. On one core they
//! are in vain, but from another core frames of 256 bytes to a kilobyte are 1.3 to 1.5 times as
//! fast with them.

use std::net::Ipv4Addr;

use ::ring::frame::Frame;
use ::ring::{Reader, RingShape, Writer, private_ring};
use gungraun::{library_benchmark, library_benchmark_group};
use transport::{Batching, EdgeSpec, ReceivingEnd, SendingEnd, media};

use super::about;

/// Batches in a run.
const BATCHES: usize = 1_000;

/// Frames in a batch.
const BATCH: usize = 64;

const RING_BYTES: usize = 256 * 1024;

/// The two ends of a ring and of a medium's edge, with a payload.
type Ring = (usize, Writer, Reader);
type Edge = (usize, Box<dyn SendingEnd>, Box<dyn ReceivingEnd>);

fn bare(bytes: usize) -> Ring {
    let shape = RingShape {
        bytes: RING_BYTES,
        readers: 1,
    };
    let (writer, mut readers) = private_ring(shape).expect("memory for a ring");
    (bytes, writer, readers.remove(0))
}

fn medium(bytes: usize) -> Edge {
    let spec = EdgeSpec {
        name: "Trades.0".into(),
        edge: 0,
        receiver_count: 1,
        ring_bytes: RING_BYTES,
        batching: Batching::default(),
        token: [7; 16],
        listen: Ipv4Addr::LOCALHOST.into(),
    };
    let medium = media::find("shm").expect("shm is registered");
    let (out, mut tickets) = medium.open(&spec).expect("opened");
    let ticket = tickets.pop().expect("a ticket for the receiver");
    (bytes, out, medium.accept(&spec, ticket).expect("accepted"))
}

#[library_benchmark]
#[bench::of_64(args = (64), setup = bare, config = about(4_440_000))]
#[bench::of_1024(args = (1024), setup = bare, config = about(15_200_000))]
fn ring((bytes, mut writer, mut reader): Ring) -> usize {
    let payload = vec![1u8; bytes];
    let mut sum = 0;
    for batch in 0..BATCHES {
        for _ in 0..BATCH {
            let room = writer.claim(bytes).expect("room for a batch");
            room[..bytes].copy_from_slice(&payload);
            writer.commit(1, 0, bytes);
        }
        writer.publish();
        // A poll may return fewer frames: a run of them ends at the end of the ring.
        while sum < BATCH * (batch + 1) {
            sum += reader.poll().map(first).sum::<usize>();
            reader.release();
        }
    }
    sum
}

#[library_benchmark]
#[bench::of_64(args = (64), setup = medium, config = about(8_050_000))]
#[bench::of_1024(args = (1024), setup = medium, config = about(18_900_000))]
fn contract((bytes, mut out, mut into): Edge) -> usize {
    let payload = vec![1u8; bytes];
    let mut sum = 0;
    for batch in 0..BATCHES {
        for _ in 0..BATCH {
            let is_in = out.try_write(1, 0, &payload).expect("a live receiver");
            assert!(is_in, "room for a batch");
        }
        out.flush().expect("a live receiver");
        while sum < BATCH * (batch + 1) {
            let frames = into.poll().expect("a live sender");
            sum += frames.map(first).sum::<usize>();
            into.release();
        }
    }
    sum
}

fn first(frame: Frame<'_>) -> usize {
    usize::from(frame.bytes[0])
}

library_benchmark_group!(name = frames_group, benchmarks = [ring, contract]);
