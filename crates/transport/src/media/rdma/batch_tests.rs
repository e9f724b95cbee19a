//! Mode `batch` on the fabric for tests, whose connections break: nothing torn, lost, doubled, out
//! of order or stuck.

use std::cell::Cell;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use fabric::FabricError;
use fabric::sim::{SimFabric, SimFabricFaults, SimNode};

use super::PlacementProof;
use super::batch_pacing::BatchTerms;
use super::introduction::Introduction;
use super::mode::{ModeReceiver, ModeSender};
use super::sender_reconnection::{ReconnectTimes, SenderReconnection};
use super::sim_edge::{RING_BYTES, SimEdge, StepRng, seeds, spec};
use super::write_receiver::WriteReceiver;
use super::write_sender::WriteSender;
use super::write_targets::{WriteTargets, WriteTerms};
use crate::{Batching, EdgeCounters, EdgeSpec, Error};

type BatchEdge = SimEdge<WriteSender<WriteTargets<SimNode>>, WriteReceiver<SimNode>>;

/// Time that passes with each look at the clock, so that a seed says all: 1 µs.
const TICK: Duration = Duration::from_micros(1);

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

thread_local! {
    static PASSED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

fn now() -> Instant {
    PASSED.set(PASSED.get() + TICK);
    *START + PASSED.get()
}

/// Connects again at once, and never gives the sender up.
const TIMES: ReconnectTimes = ReconnectTimes {
    pause_min: Duration::ZERO,
    pause_max: Duration::ZERO,
    attempt: Duration::from_secs(1_000_000),
    give_up: Duration::from_secs(1_000_000),
};

pub(super) fn batch_terms(proof: PlacementProof, salt: u64, batching: Batching) -> WriteTerms {
    WriteTerms {
        proof,
        ring_bytes: RING_BYTES as u64,
        salt,
        batch: Some(BatchTerms {
            batching,
            reconnect_timeout: TIMES.give_up,
            counters: Arc::<EdgeCounters>::default(),
            watch: None,
            clock: now,
        }),
    }
}

/// Batches that are full at 1,000 bytes.
fn batching() -> Batching {
    Batching {
        bytes_max: 1000,
        ..Batching::default()
    }
}

/// The receiving end with a number and `ring_bytes`, over a node; each further node is opened at
/// the address.
pub(super) fn batch_receiver(
    fabric: &SimFabric,
    node: SimNode,
    address: SocketAddr,
    (spec, number): (&EdgeSpec, u32),
    (instance, ring_bytes): (u64, usize),
) -> WriteReceiver<SimNode> {
    let introduction = Introduction {
        instance,
        liveness: None,
    };
    let proof = match fabric.places_in_order() {
        true => PlacementProof::Marks,
        false => PlacementProof::Numbers,
    };
    let fabric = fabric.clone();
    let open_node = move || fabric.connect(address);
    let link = SenderReconnection::new(open_node, introduction, None, TIMES, now);
    WriteReceiver::new(node, spec, number, proof, ring_bytes, Some(link)).unwrap()
}

fn receiver(
    fabric: &SimFabric,
    address: SocketAddr,
    spec: &EdgeSpec,
    (number, instance): (u32, u64),
) -> WriteReceiver<SimNode> {
    let node = fabric.connect(address).unwrap();
    batch_receiver(
        fabric,
        node,
        address,
        (spec, number),
        (instance, RING_BYTES),
    )
}

fn open_with(
    faults: SimFabricFaults,
    proof: PlacementProof,
    receivers: u32,
    batching: Batching,
) -> (BatchEdge, SimFabric) {
    let fabric = SimFabric::new(faults);
    let (node, address) = fabric.listen().unwrap();
    let spec = spec(receivers);
    let terms = batch_terms(proof, faults.seed ^ 0x5555, batching);
    let sender = WriteSender::new(node, &spec, &terms).unwrap();
    let receive = |number| receiver(&fabric, address, &spec, (number, 7 + u64::from(number)));
    let edge = SimEdge::new(sender, (0..receivers).map(receive).collect());
    (edge, fabric)
}

fn open(faults: SimFabricFaults, proof: PlacementProof, receivers: u32) -> (BatchEdge, SimFabric) {
    open_with(faults, proof, receivers, batching())
}

/// All faults, and connections that break, at intervals that the seed says: each some 30 to 1,000
/// polls.
fn breaking(seed: u64) -> SimFabricFaults {
    let intervals = [30, 150, 1000];
    SimFabricFaults {
        breaks_in_10_000: (10_000 / intervals[(seed % 3) as usize]) as u16,
        ..SimFabricFaults::wild(seed)
    }
}

/// Passes frames over an edge for each seed. Returns the number of connections that broke.
fn pass(
    receivers: u32,
    frames: u64,
    seeds: u64,
    proof: PlacementProof,
    faults: impl Fn(u64) -> SimFabricFaults,
) -> u64 {
    let mut breaks = 0;
    for seed in 0..seeds {
        let (mut edge, fabric) = open(faults(seed), proof, receivers);
        let passed = edge.run(seed, frames);
        passed.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        breaks += fabric.breaks();
    }
    breaks
}

#[test]
fn breaks_lose_double_and_reorder_nothing() {
    let breaks = pass(1, 60, seeds(), PlacementProof::Numbers, breaking);
    assert!(breaks > 2 * seeds(), "only {breaks} connections broke");
}

#[test]
fn nor_do_breaks_where_words_come_in_order_and_marks_tell() {
    let breaks = pass(1, 60, seeds(), PlacementProof::Marks, |seed| {
        SimFabricFaults {
            reorders_words: false,
            ..breaking(seed)
        }
    });
    assert!(breaks > 2 * seeds(), "only {breaks} connections broke");
}

#[test]
fn nor_do_breaks_where_numbers_use_receive_buffers() {
    let breaks = pass(2, 60, seeds(), PlacementProof::Numbers, |seed| {
        SimFabricFaults {
            numbers_use_receives: true,
            ..breaking(seed)
        }
    });
    assert!(breaks > 2 * seeds(), "only {breaks} connections broke");
}

#[test]
fn nor_do_breaks_of_one_of_several() {
    let breaks = pass(3, 40, seeds() / 4, PlacementProof::Numbers, breaking);
    assert!(breaks > seeds() / 4, "only {breaks} connections broke");
}

#[test]
fn providers_without_inline_writes_work() {
    pass(1, 60, seeds() / 4, PlacementProof::Numbers, |seed| {
        SimFabricFaults {
            lacks_inline: true,
            late_completion_percent: 0,
            lost_completion_percent: 0,
            ..breaking(seed)
        }
    });
}

#[test]
fn frames_pass_without_breaks() {
    pass(
        1,
        60,
        seeds(),
        PlacementProof::Numbers,
        SimFabricFaults::wild,
    );
}

/// Records that end where the ring does, and rests of the ring that hold no record.
#[test]
fn positions_go_on_behind_the_end_of_the_ring() {
    for seed in 0..seeds() {
        let (mut edge, _fabric) = open(breaking(seed), PlacementProof::Numbers, 1);
        edge.payload = |number| vec![number as u8; RING_BYTES / 8 - 24 - 8 * (number % 2) as usize];
        let passed = edge.run(seed, 60);
        passed.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

/// A try that fails, as on a host whose interface is down, is followed by another one, while the
/// connection before it has receive buffers that cannot be posted any more.
#[test]
fn nor_do_tries_that_fail() {
    let times = ReconnectTimes {
        pause_min: 20 * TICK,
        pause_max: 400 * TICK,
        ..TIMES
    };
    let mut failed_tries = 0;
    for seed in 0..seeds() {
        let faults = SimFabricFaults {
            numbers_use_receives: true,
            ..breaking(seed)
        };
        let fabric = SimFabric::new(faults);
        let (node, address) = fabric.listen().unwrap();
        let (spec, proof) = (spec(1), PlacementProof::Numbers);
        let sender = WriteSender::new(node, &spec, &batch_terms(proof, seed, batching())).unwrap();
        let own = fabric.connect(address).unwrap();
        let introduction = Introduction {
            instance: 7,
            liveness: None,
        };
        let (tries, mut rng) = (Arc::new(AtomicU64::new(0)), StepRng(seed + 9));
        let (failed, fabric) = (tries.clone(), fabric.clone());
        let open_node = move || {
            if rng.below(2) == 0 {
                return fabric.connect(address);
            }
            failed.fetch_add(1, Ordering::Relaxed);
            Err(FabricError::Disconnected("no way to the host".to_owned()))
        };
        let link = SenderReconnection::new(open_node, introduction, None, times, now);
        let receiver = WriteReceiver::new(own, &spec, 0, proof, RING_BYTES, Some(link)).unwrap();
        let passed = SimEdge::new(sender, vec![receiver]).run(seed, 60);
        passed.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        failed_tries += tries.load(Ordering::Relaxed);
    }
    assert!(failed_tries > seeds(), "only {failed_tries} tries failed");
}

/// Edges in mode `write` do not connect again, and the fabric does break them.
#[test]
fn without_connecting_again_the_breaks_are_losses() {
    let lost = (0..seeds()).filter(|&seed| {
        let fabric = SimFabric::new(breaking(seed));
        let (node, address) = fabric.listen().unwrap();
        let terms = WriteTerms {
            batch: None,
            ..batch_terms(PlacementProof::Numbers, seed, batching())
        };
        let sender = WriteSender::new(node, &spec(1), &terms).unwrap();
        let node = fabric.connect(address).unwrap();
        let proof = PlacementProof::Numbers;
        let receiver = WriteReceiver::new(node, &spec(1), 0, proof, RING_BYTES, None).unwrap();
        SimEdge::new(sender, vec![receiver]).run(seed, 60).is_err()
    });
    let lost = lost.count() as u64;
    assert!(lost > seeds() / 2, "only {lost} edges were lost");
}

#[test]
fn a_flush_ends_without_credit() {
    for seed in 0..seeds() / 4 {
        let faults = SimFabricFaults {
            late_completion_percent: 0,
            lost_completion_percent: 0,
            ..breaking(seed)
        };
        let (mut edge, _fabric) = open(faults, PlacementProof::Numbers, 2);
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
        assert!(edge.sender.queued_bytes() >= 10 * 16);
    }
}

#[test]
fn frames_before_a_loss_are_received_first() {
    for seed in 0..seeds() {
        let (mut edge, fabric) = open(breaking(seed), PlacementProof::Numbers, 1);
        let mut rng = StepRng(seed + 1);
        while edge.sent < 10 {
            edge.step(&mut rng, 10).unwrap();
        }
        fabric.heal();
        while !edge.sender.flush().unwrap() {
            edge.receive(0, &mut rng).unwrap();
        }
        for _ in 0..1000 {
            edge.sender.progress().unwrap();
        }
        assert_eq!(edge.frames_at_loss(), 10, "seed {seed}");
    }
}

#[test]
fn a_receiver_that_does_not_come_back_is_given_up_and_the_others_go_on() {
    for seed in 0..seeds() / 4 {
        let (mut edge, fabric) = open(breaking(seed), PlacementProof::Numbers, 3);
        let mut rng = StepRng(seed + 1);
        while edge.sent < 10 {
            edge.step(&mut rng, 10).unwrap();
        }
        drop(edge.receivers.remove(1));
        edge.received.remove(1);
        fabric.heal();
        // It is waited for as long as the limit says; the others connect again.
        for _ in 0..2000 {
            edge.step(&mut rng, 10).unwrap();
        }
        assert!(edge.sender.lost_receivers().is_empty(), "seed {seed}");
        PASSED.set(PASSED.get() + TIMES.give_up);
        let passed = edge.run(seed, 40);
        passed.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        assert_eq!(edge.sender.lost_receivers(), [1], "seed {seed}");
    }
}

#[test]
fn a_stranger_and_a_second_end_are_refused() {
    let fabric = SimFabric::new(SimFabricFaults::NONE);
    let (node, address) = fabric.listen().unwrap();
    let proof = PlacementProof::Marks;
    let mut sender = WriteSender::new(node, &spec(1), &batch_terms(proof, 5, batching())).unwrap();
    let wrong = EdgeSpec {
        token: [8; 16],
        ..spec(1)
    };
    let mut first = receiver(&fabric, address, &spec(1), (0, 7));
    while first.is_connecting() {
        sender.progress().unwrap();
        first.progress().unwrap();
    }
    for (spec, instance) in [(wrong, 7), (spec(1), 8)] {
        let mut second = receiver(&fabric, address, &spec, (0, instance));
        let refusal = (0..1000).find_map(|_| {
            sender.progress().unwrap();
            second.poll().err()
        });
        assert!(matches!(refusal, Some(Error::PeerLost(_))), "{refusal:?}");
    }
    assert!(sender.lost_receivers().is_empty());
    assert!(first.poll().is_ok());
}

/// A sender that commits faster than the batching times pass fills writes; the first frame goes at
/// once, as its receiver is idle.
#[test]
fn frames_share_writes() {
    let batching = Batching {
        time_min: Duration::from_secs(1),
        time_max: Duration::from_secs(1),
        bytes_max: 1000,
    };
    let (mut edge, fabric) = open_with(SimFabricFaults::NONE, PlacementProof::Marks, 1, batching);
    let sender_node = 1;
    for _ in 0..20 {
        edge.sender.progress().unwrap();
        assert!(edge.receivers[0].poll().unwrap().is_empty());
    }
    for number in 0..40_u8 {
        assert!(edge.sender.try_claim(48).unwrap(), "frame {number}");
        edge.sender.claimed().fill(number);
        edge.sender.commit(1, 0, 48);
    }
    let writes = fabric.counts(sender_node).operations;
    assert!((3..=5).contains(&writes), "{writes} writes for 40 frames");
    while !edge.sender.flush().unwrap() {
        edge.receivers[0].progress().unwrap();
    }
    assert!(fabric.counts(sender_node).operations <= writes + 2);
}

/// Committed frames go out when the sender sleeps, however long batches may wait.
#[test]
fn a_sleeping_sender_leaves_nothing_behind() {
    let batching = Batching {
        time_min: Duration::from_secs(1),
        time_max: Duration::from_secs(1),
        bytes_max: 4000,
    };
    let (mut edge, _fabric) = open_with(SimFabricFaults::NONE, PlacementProof::Marks, 1, batching);
    for _ in 0..20 {
        edge.sender.progress().unwrap();
        assert!(edge.receivers[0].poll().unwrap().is_empty());
    }
    let mut sent = 0;
    while edge.sender.try_claim(100).unwrap() {
        edge.sender.commit(1, 0, 100);
        sent += 1;
    }
    let _ = edge.sender.may_sleep(100).unwrap();
    let mut received = 0;
    for _ in 0..1000 {
        received += edge.receivers[0].poll().unwrap().count();
    }
    assert_eq!(received, sent);
}
