//! Mode `write` on the fabric for tests: nothing torn, lost or stuck, whatever the fabric does.

use fabric::sim::{SimFabric, SimFabricFaults, SimNode};
use fabric::{FabricEvent, LocalSlice, PinnedMemory, PostOptions, RdmaNode, RemoteAccess};
use ring::frame::FrameHeader;

use super::greeting::{RdmaAcceptance, RdmaRequest};
use super::mode::{ModeReceiver, ModeSender};
use super::record::{CREDIT_BYTES, RecordHead, RecordMarks};
use super::sim_edge::{RING_BYTES, SimEdge, StepRng, seeds, spec};
use super::write_receiver::WriteReceiver;
use super::write_sender::WriteSender;
use super::write_targets::{WriteTargets, WriteTerms};
use super::{PlacementProof, mode_number};
use crate::{EdgeSpec, Error};

type WriteEdge = SimEdge<WriteSender<WriteTargets<SimNode>>, WriteReceiver<SimNode>>;

fn terms(proof: PlacementProof, salt: u64) -> WriteTerms {
    WriteTerms {
        proof,
        ring_bytes: RING_BYTES as u64,
        salt,
        batch: None,
    }
}

fn open(faults: SimFabricFaults, proof: PlacementProof, receivers: u32) -> WriteEdge {
    let fabric = SimFabric::new(faults);
    let (node, address) = fabric.listen().unwrap();
    let spec = spec(receivers);
    let salt = faults.seed ^ 0x5555;
    let sender = WriteSender::new(node, &spec, &terms(proof, salt)).unwrap();
    let receive = |number| {
        let node = fabric.connect(address).unwrap();
        WriteReceiver::new(node, &spec, number, proof, RING_BYTES, None).unwrap()
    };
    SimEdge::new(sender, (0..receivers).map(receive).collect())
}

#[test]
fn numbers_keep_frames_whole_when_words_come_in_any_order() {
    for seed in 0..seeds() {
        let mut edge = open(SimFabricFaults::wild(seed), PlacementProof::Numbers, 1);
        edge.run(seed, 60)
            .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

/// Eight records of a frame fill the ring, so that many a one ends where the ring does.
#[test]
fn numbers_go_on_behind_a_record_that_ends_with_the_ring() {
    for seed in 0..seeds() {
        let mut edge = open(SimFabricFaults::wild(seed), PlacementProof::Numbers, 1);
        edge.payload = |number| vec![number as u8; RING_BYTES / 8 - 24];
        edge.run(seed, 60)
            .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

#[test]
fn marks_keep_frames_whole_when_words_come_in_order() {
    for seed in 0..seeds() {
        let faults = SimFabricFaults {
            reorders_words: false,
            ..SimFabricFaults::wild(seed)
        };
        let mut edge = open(faults, PlacementProof::Marks, 1);
        edge.run(seed, 60)
            .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

/// Neither side may wait for the other's receive buffers: credit brings numbers as well.
#[test]
fn numbers_always_find_a_receive_buffer_in_the_end() {
    for seed in 0..seeds() {
        let faults = SimFabricFaults {
            numbers_use_receives: true,
            ..SimFabricFaults::wild(seed)
        };
        let receivers = 1 + (seed % 2) as u32;
        let mut edge = open(faults, PlacementProof::Numbers, receivers);
        edge.payload = |number| vec![number as u8; 8];
        edge.run(seed, 200)
            .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

/// However many frames are committed before it: what has no receive buffer waits, and goes out as
/// one write.
#[test]
fn a_flush_needs_no_receive_buffers_that_are_used_up() {
    let faults = SimFabricFaults {
        numbers_use_receives: true,
        ..SimFabricFaults::NONE
    };
    let mut edge = open(faults, PlacementProof::Numbers, 1);
    while edge.receivers[0].is_connecting() {
        edge.sender.progress().unwrap();
        edge.receivers[0].progress().unwrap();
    }
    for turn in 0..10 {
        for _ in 0..20 {
            assert!(edge.sender.try_claim(8).unwrap(), "no room in turn {turn}");
            edge.sender.commit(1, 0, 8);
            edge.sender.progress().unwrap();
        }
        let is_out = (0..10_000).any(|_| edge.sender.flush().unwrap());
        assert!(is_out, "the flush of turn {turn} waits for its receiver");
        let mut taken = 0;
        while taken < 20 {
            taken += edge.receivers[0].poll().unwrap().count();
            edge.receivers[0].release();
        }
        while !edge.sender.is_drained() {
            edge.sender.progress().unwrap();
            edge.receivers[0].progress().unwrap();
        }
    }
}

#[test]
fn every_receiver_gets_every_frame() {
    for seed in 0..seeds() / 4 {
        let mut edge = open(SimFabricFaults::wild(seed), PlacementProof::Numbers, 3);
        edge.run(seed, 40)
            .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

#[test]
fn marks_alone_are_caught_when_words_come_in_any_order() {
    let is_caught = |seed: &u64| {
        let mut edge = open(SimFabricFaults::wild(*seed), PlacementProof::Marks, 1);
        edge.run(*seed, 60).is_err()
    };
    assert!(
        (0..200).any(|seed| is_caught(&seed)),
        "the fabric catches nothing"
    );
}

#[test]
fn a_flush_ends_without_credit() {
    for seed in 0..seeds() {
        // A completion that the fabric withholds comes with a later one only, or never.
        let faults = SimFabricFaults {
            late_completion_percent: 0,
            lost_completion_percent: 0,
            ..SimFabricFaults::wild(seed)
        };
        let mut edge = open(faults, PlacementProof::Numbers, 2);
        for sent in 0..10 {
            while !edge.sender.try_claim(8).unwrap() {}
            edge.sender.commit(1, 0, 8);
            // Receivers connect and place what comes, and release nothing.
            let is_out = (0..400_000).any(|_| {
                edge.receivers.iter_mut().for_each(|one| drop(one.poll()));
                edge.sender.flush().unwrap()
            });
            assert!(is_out, "seed {seed}: frame {sent} is never flushed");
        }
        assert_eq!(edge.sender.queued_bytes(), 10 * (8 + 8 + 16));
    }
}

/// A receiver that has released everything and is not polled again keeps no frame waiting: what it
/// withholds leaves room for the largest, wherever the ring ends.
#[test]
fn the_largest_frame_has_room_while_credit_is_withheld() {
    for numbers_use_receives in [false, true] {
        let faults = SimFabricFaults {
            numbers_use_receives,
            ..SimFabricFaults::NONE
        };
        let mut edge = open(faults, PlacementProof::Numbers, 1);
        while edge.receivers[0].is_connecting() {
            edge.sender.progress().unwrap();
            edge.receivers[0].progress().unwrap();
        }
        let mut rng = StepRng(7);
        for turn in 0..5000 {
            let largest = edge.sender.payload_bytes_max();
            let has_room = (0..100).any(|_| edge.sender.try_claim(largest).unwrap());
            assert!(
                has_room,
                "turn {turn}, with {:?}",
                edge.sender.queued_bytes()
            );
            edge.sender.forget_claim();
            let len = match turn % 50 {
                0 => largest,
                _ => rng.below(RING_BYTES as u64 / 10) as usize,
            };
            assert!(edge.sender.try_claim(len).unwrap());
            edge.sender.commit(1, 0, len);
            let receiver = &mut edge.receivers[0];
            let has_come = (0..100).any(|_| {
                edge.sender.flush().unwrap();
                receiver.poll().unwrap().count() == 1
            });
            assert!(has_come, "turn {turn}");
            receiver.release();
        }
    }
}

#[test]
fn a_stranger_is_refused() {
    let fabric = SimFabric::new(SimFabricFaults::NONE);
    let (node, address) = fabric.listen().unwrap();
    let proof = PlacementProof::Marks;
    let mut sender = WriteSender::new(node, &spec(1), &terms(proof, 5)).unwrap();
    let wrong = EdgeSpec {
        token: [8; 16],
        ..spec(1)
    };
    let node = fabric.connect(address).unwrap();
    let mut stranger = WriteReceiver::new(node, &wrong, 0, proof, RING_BYTES, None).unwrap();
    let refusal = (0..1000).find_map(|_| {
        sender.progress().unwrap();
        stranger.poll().err()
    });
    assert!(matches!(refusal, Some(Error::PeerLost(_))), "{refusal:?}");
    let refusal = refusal.unwrap().to_string();
    assert!(
        refusal.contains("the token is not that of this job"),
        "{refusal}"
    );
    assert!(sender.lost_receivers().is_empty());
}

#[test]
fn nobody_is_accepted_once_all_receivers_have_come() {
    let fabric = SimFabric::new(SimFabricFaults::NONE);
    let (node, address) = fabric.listen().unwrap();
    let proof = PlacementProof::Marks;
    let mut sender = WriteSender::new(node, &spec(2), &terms(proof, 5)).unwrap();
    let mut connect = |number| {
        let node = fabric.connect(address).unwrap();
        let mut receiver =
            WriteReceiver::new(node, &spec(2), number, proof, RING_BYTES, None).unwrap();
        while receiver.is_connecting() {
            sender.progress().unwrap();
            receiver.progress().unwrap();
        }
        receiver.poll().err()
    };
    assert!(connect(0).is_none());
    assert!(connect(1).is_none());
    let late = connect(1).expect("a refusal").to_string();
    assert_eq!(
        late,
        "the sender is gone: refused: receiver 1 is connected already, or gone"
    );
}

#[test]
fn frames_before_a_loss_are_received_first() {
    for seed in 0..seeds() {
        let mut edge = open(SimFabricFaults::wild(seed), PlacementProof::Numbers, 1);
        let mut rng = StepRng(seed + 1);
        while edge.sent < 10 {
            edge.step(&mut rng, 10).unwrap();
        }
        for _ in 0..10_000 {
            edge.sender.progress().unwrap();
        }
        assert_eq!(edge.frames_at_loss(), 10, "seed {seed}");
    }
}

/// The words of a receiver about a sender that begins at a position and writes this record there.
fn end_by_record(position: u64, frames: &[u64]) -> String {
    let (proof, salt) = (PlacementProof::Marks, 77);
    let fabric = SimFabric::new(SimFabricFaults::NONE);
    let (mut node, address) = fabric.listen().unwrap();
    let own = fabric.connect(address).unwrap();
    let mut receiver = WriteReceiver::new(own, &spec(1), 0, proof, RING_BYTES, None).unwrap();
    let Some(FabricEvent::Request(request)) = node.next_event().unwrap() else {
        panic!("no request");
    };
    let read = RdmaRequest::read(&request.data, mode_number(proof), &spec(1)).unwrap();
    let connection = node.begin_accept(&request).unwrap();
    let credit = PinnedMemory::new(CREDIT_BYTES).unwrap();
    let credit = node.register(&credit, RemoteAccess::Write).unwrap();
    let acceptance = RdmaAcceptance {
        mode: mode_number(proof),
        position,
        salt,
        credit: node.remote_memory(credit),
        ring_bytes: RING_BYTES as u64,
    };
    node.finish_accept(connection, &acceptance.to_bytes())
        .unwrap();
    let head = RecordHead {
        number: 0,
        bytes: 8 * frames.len() as u32,
    };
    let marks = RecordMarks::new(salt);
    let ends = [marks.head_word(head), marks.end_word(head)];
    let words = [&ends[..1], frames, &ends[1..]].concat();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let mut memory = PinnedMemory::new(RING_BYTES).unwrap();
    memory.bytes_mut(0..bytes.len()).copy_from_slice(&bytes);
    let region = node.register(&memory, RemoteAccess::None).unwrap();
    let range = 0..bytes.len();
    let from = LocalSlice { region, range };
    let options = PostOptions::default();
    let posted = node.post_write(connection, &from, &read.ring, 0, options);
    assert!(posted.unwrap());
    let end = (0..1000).find_map(|_| {
        node.poll_completions(&mut Vec::new()).unwrap();
        let end = receiver.poll().err();
        receiver.release();
        end
    });
    end.map(|end| end.to_string()).unwrap_or_default()
}

#[test]
fn a_broken_sender_is_an_error() {
    let header = |len| {
        FrameHeader {
            len,
            kind: 1,
            flags: 0,
        }
        .to_word()
    };
    assert_eq!(end_by_record(0, &[header(8), 5]), "");
    assert_eq!(
        end_by_record(0, &[header(0), header(9), 1]),
        "the record of the sender at position 0 is broken: a frame of 24 bytes begins 16 bytes \
         before its end"
    );
    assert_eq!(
        end_by_record(0, &[]),
        "the record of the sender at position 0 is broken: it is empty"
    );
    for position in [4, 8, u64::MAX - 7] {
        assert_eq!(
            end_by_record(position, &[header(0)]),
            format!(
                "the sender is gone: the sender goes on at position {position}, this side at 0"
            )
        );
    }
}
