//! Costs of each mode, counted by the fabric for tests: operations, doorbells, completions and
//! bytes a frame. The numbers in `docs/rdma.md` are from here:
//!
//! ```text
//!   cargo test -p thalweg-transport --lib rdma::cost -- --nocapture
//! ```

use fabric::sim::{SimCounts, SimFabric, SimFabricFaults, SimNode};

use super::PlacementProof;
use super::batch_tests::{batch_receiver, batch_terms};
use super::channel_receiver::ChannelReceiver;
use super::channel_sender::ChannelSender;
use super::mode::{ModeReceiver, ModeSender};
use super::sim_edge::spec;
use super::write_receiver::WriteReceiver;
use super::write_sender::WriteSender;
use super::write_targets::WriteTerms;
use crate::Batching;

/// Bytes of a ring: the default of an edge.
const RING_BYTES: usize = 1 << 20;

/// Most frames that are passed; of large ones as many as 4 rings hold.
const FRAMES_MAX: u64 = 2000;

fn frames(len: usize) -> u64 {
    FRAMES_MAX.min(4 * (RING_BYTES / len) as u64)
}

const SIZES: [usize; 3] = [64, 1024, 16 << 10];

/// Numbers of the two nodes.
const SENDER: u32 = 1;
const RECEIVER: u32 = 2;

/// Operations that both sides have posted for a number of frames.
#[derive(Clone, Copy, Debug)]
struct Cost {
    frames: u64,
    sender: SimCounts,
    receiver: SimCounts,
}

impl Cost {
    fn print(&self, mode: &str, what: &str, len: usize) {
        let each = |count: u64| count as f64 / self.frames as f64;
        let SimCounts {
            operations,
            doorbells,
            completions,
            bytes,
            ..
        } = self.sender;
        println!(
            "{mode:8} {what:6} {len:6} B: {:7.4} operations, {:7.4} doorbells, {:7.4} completions, \
             {:8.1} bytes; credit {:7.4} operations, {:7.4} doorbells, {:7.4} completions",
            each(operations),
            each(doorbells),
            each(completions),
            each(bytes),
            each(self.receiver.operations),
            each(self.receiver.doorbells),
            each(self.receiver.completions),
        );
    }

    /// Operations of both sides for each frame.
    fn operations(&self) -> f64 {
        (self.sender.operations + self.receiver.operations) as f64 / self.frames as f64
    }

    fn bytes_each(&self) -> f64 {
        self.sender.bytes as f64 / self.frames as f64
    }
}

/// Passes frames: each when the receiver has released the one before, or as many as there is room
/// for.
fn pass(
    mut sender: impl ModeSender,
    mut receiver: impl ModeReceiver,
    fabric: &SimFabric,
    (len, is_stream): (usize, bool),
) -> Cost {
    while receiver.is_connecting() {
        sender.progress().unwrap();
        receiver.progress().unwrap();
    }
    // Credit for the start, and the introduction of mode `batch`.
    for _ in 0..100 {
        sender.progress().unwrap();
        assert!(receiver.poll().unwrap().is_empty());
    }
    let before = [fabric.counts(SENDER), fabric.counts(RECEIVER)];
    let frames = frames(len);
    let (mut sent, mut received) = (0, 0);
    while received < frames || !sender.is_drained() {
        let may_send = if is_stream {
            256
        } else {
            u64::from(sent == received)
        };
        for _ in 0..may_send.min(frames - sent) {
            if !sender.try_claim(len).unwrap() {
                break;
            }
            sender.claimed().fill(sent as u8);
            sender.commit(1, 0, len);
            sent += 1;
        }
        if sent == frames || !is_stream {
            sender.flush().unwrap();
        }
        // A lone frame is released before the next one comes.
        while !is_stream && received < sent {
            received += receiver.poll().unwrap().count() as u64;
            receiver.release();
            sender.progress().unwrap();
        }
        for _ in 0..8 {
            received += receiver.poll().unwrap().count() as u64;
            receiver.release();
            sender.progress().unwrap();
        }
    }
    for (node, before) in [SENDER, RECEIVER].into_iter().zip(before) {
        assert_eq!(fabric.counts(node).registrations, before.registrations);
    }
    let less = |after: SimCounts, before: SimCounts| SimCounts {
        operations: after.operations - before.operations,
        inline_operations: after.inline_operations - before.inline_operations,
        receives: after.receives - before.receives,
        doorbells: after.doorbells - before.doorbells,
        completions: after.completions - before.completions,
        bytes: after.bytes - before.bytes,
        registrations: after.registrations - before.registrations,
    };
    Cost {
        frames,
        sender: less(fabric.counts(SENDER), before[0]),
        receiver: less(fabric.counts(RECEIVER), before[1]),
    }
}

fn write_terms() -> WriteTerms {
    WriteTerms {
        proof: PlacementProof::Marks,
        ring_bytes: RING_BYTES as u64,
        salt: 5,
        batch: None,
    }
}

/// The costs of a mode for each size: lone frames, and a stream.
fn costs(mode: &str) -> Vec<[Cost; 2]> {
    let cost = |len: usize, is_stream: bool| {
        let fabric = SimFabric::new(SimFabricFaults::NONE);
        let (node, address) = fabric.listen().unwrap();
        let (spec, what) = (spec(1), (len, is_stream));
        let own: SimNode = fabric.connect(address).unwrap();
        let proof = PlacementProof::Marks;
        let cost = match mode {
            "write" => {
                let sender = WriteSender::new(node, &spec, &write_terms()).unwrap();
                let receiver = WriteReceiver::new(own, &spec, 0, proof, RING_BYTES, None);
                pass(sender, receiver.unwrap(), &fabric, what)
            }
            "channel" => {
                let sender = ChannelSender::new(node, &spec, RING_BYTES).unwrap();
                let receiver = ChannelReceiver::new(own, &spec, 0, RING_BYTES).unwrap();
                pass(sender, receiver, &fabric, what)
            }
            _ => {
                let terms = WriteTerms {
                    ring_bytes: RING_BYTES as u64,
                    ..batch_terms(proof, 5, Batching::default())
                };
                let sender = WriteSender::new(node, &spec, &terms).unwrap();
                let receiver = batch_receiver(&fabric, own, address, (&spec, 0), (7, RING_BYTES));
                pass(sender, receiver, &fabric, what)
            }
        };
        let name = if is_stream { "stream" } else { "lone" };
        cost.print(mode, name, len);
        cost
    };
    let both = SIZES.map(|len| [cost(len, false), cost(len, true)]);
    both.to_vec()
}

/// Bytes of a frame with its header.
fn frame(len: usize) -> f64 {
    (len + 8) as f64
}

/// Bytes of a frame's share in the rest of the ring that no record fits into, which is written too.
fn rest(len: usize) -> f64 {
    let frames_of_a_ring = (RING_BYTES / (len + 24)) as f64;
    (len + 24) as f64 / frames_of_a_ring
}

/// A lone frame is a write of its own, with 16 bytes more. In mode `write` its credit is withheld
/// until an eighth of the ring is released, in the other modes it is an operation.
#[test]
fn a_lone_frame_costs_a_write_and_its_credit() {
    for (mode, credit) in [("write", 0.0), ("batch", 1.0)] {
        for ([lone, _], len) in costs(mode).into_iter().zip(SIZES) {
            let part = match mode {
                "write" => ((len + 24) as f64 / (RING_BYTES / 8) as f64).min(1.0),
                _ => 0.0,
            };
            let operations = 1.0 + credit + part;
            assert!(
                (operations..operations + 0.2).contains(&lone.operations()),
                "{mode} {len}: {lone:?}"
            );
            // A flush may write the last word again, to learn that the write is done.
            let more = lone.bytes_each() - frame(len);
            assert!(
                (16.0..=24.1 + rest(len)).contains(&more),
                "{mode} {len}: {more}"
            );
        }
    }
    for ([lone, _], len) in costs("channel").into_iter().zip(SIZES) {
        assert!((2.0..2.1).contains(&lone.operations()), "channel: {lone:?}");
        assert_eq!(lone.bytes_each(), frame(len));
    }
}

/// In a stream frames share operations: the smaller, the more.
#[test]
fn frames_of_a_stream_share_operations() {
    for mode in ["write", "channel", "batch"] {
        let costs = costs(mode);
        let streams: Vec<f64> = costs
            .iter()
            .map(|[_, stream]| stream.operations())
            .collect();
        assert!(streams[0] < 0.1, "{mode}: {streams:?} operations a frame");
        // In mode `write` a record looks for completions when its bytes have doubled, so those of
        // small frames look, and are posted, a little more often.
        assert!(
            streams.is_sorted_by(|small, large| *small <= large * 1.1),
            "{mode}: {streams:?} operations a frame"
        );
        for ([_, stream], len) in costs.iter().zip(SIZES) {
            let more = stream.bytes_each() - frame(len);
            assert!(
                (0.0..=24.1 + rest(len)).contains(&more),
                "{mode} {len}: {more}"
            );
            // One completion in eight writes, or behind each message that nothing follows.
            let sender = stream.sender;
            assert!(
                sender.completions <= sender.operations + stream.receiver.operations,
                "{mode} {len}: {stream:?}"
            );
            assert!(sender.doorbells <= sender.operations + sender.receives);
        }
        // Large messages wait for credit, and those that it lets out share a doorbell.
        if let ("channel", Some([_, stream])) = (mode, costs.last()) {
            let SimCounts {
                doorbells,
                operations,
                ..
            } = stream.sender;
            assert!(2 * doorbells < operations, "{mode}: {stream:?}");
        }
    }
}
