//! Rails on the fabric for tests, whose connections break: nothing torn, lost, doubled, out of
//! order or stuck.

use std::cell::Cell;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use fabric::sim::{SimFabric, SimFabricFaults, SimNode};

use super::open_rails::rail_sender;
use super::rail_receiver::RailReceiver;
use super::rail_report::{RailReport, RailState, seal_report};
use super::rail_targets::RailTargets;
use crate::media::rdma::PlacementProof;
use crate::media::rdma::batch_pacing::BatchTerms;
use crate::media::rdma::introduction::Introduction;
use crate::media::rdma::mode::lock;
use crate::media::rdma::mode::{ModeReceiver, ModeSender};
use crate::media::rdma::sender_reconnection::{ReconnectTimes, SenderReconnection};
use crate::media::rdma::sim_edge::{RING_BYTES, SimEdge, StepRng, seeds, spec};
use crate::media::rdma::write_sender::WriteSender;
use crate::media::rdma::write_targets::WriteTerms;
use crate::{Batching, EdgeCounters, EdgeSpec, Error};

type RailEdge = SimEdge<WriteSender<RailTargets<SimNode>>, RailReceiver<SimNode>>;

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

fn pass_time(time: Duration) {
    PASSED.set(PASSED.get() + time);
}

/// Connects again at once, and never gives the sender up.
const TIMES: ReconnectTimes = ReconnectTimes {
    pause_min: Duration::ZERO,
    pause_max: Duration::ZERO,
    attempt: Duration::from_secs(1_000_000),
    give_up: Duration::from_secs(1_000_000),
};

/// Edge with rails, over a fabric.
struct Rails {
    edge: RailEdge,
    fabric: SimFabric,
    addresses: Vec<SocketAddr>,
    counters: Arc<EdgeCounters>,
}

fn terms(salt: u64, rails: usize) -> (WriteTerms, Arc<EdgeCounters>) {
    let counters = Arc::new(EdgeCounters::with_rails(rails));
    let terms = WriteTerms {
        proof: PlacementProof::Numbers,
        ring_bytes: RING_BYTES as u64,
        salt,
        batch: Some(BatchTerms {
            batching: Batching {
                bytes_max: 1000,
                ..Batching::default()
            },
            reconnect_timeout: TIMES.give_up,
            counters: counters.clone(),
            watch: None,
            clock: now,
        }),
    };
    (terms, counters)
}

fn receiver(
    fabric: &SimFabric,
    addresses: &[SocketAddr],
    (spec, number): (&EdgeSpec, u32),
    (instance, times): (u64, ReconnectTimes),
) -> RailReceiver<SimNode> {
    let introduction = Introduction {
        instance,
        liveness: None,
    };
    let link = |&address: &SocketAddr| {
        let fabric = fabric.clone();
        let open_node = move || fabric.connect(address);
        SenderReconnection::new(open_node, introduction, None, times, now)
    };
    let links = addresses.iter().map(link).collect();
    RailReceiver::new(links, (spec, number), (instance, RING_BYTES)).unwrap()
}

fn open(faults: SimFabricFaults, rails: usize, receivers: u32) -> Rails {
    open_with(faults, rails, receivers, TIMES)
}

fn open_with(
    faults: SimFabricFaults,
    rails: usize,
    receivers: u32,
    times: ReconnectTimes,
) -> Rails {
    let fabric = SimFabric::new(faults);
    let listening = (0..rails).map(|_| fabric.listen().unwrap());
    let (nodes, addresses): (Vec<_>, Vec<_>) = listening.unzip();
    let spec = spec(receivers);
    let (terms, counters) = terms(faults.seed ^ 0x5555, rails);
    let sender = rail_sender(nodes, &spec, &terms, Vec::new()).unwrap();
    let receive = |number| {
        let instance = 7 + u64::from(number);
        receiver(&fabric, &addresses, (&spec, number), (instance, times))
    };
    let receivers = (0..receivers).map(receive).collect();
    Rails {
        edge: SimEdge::new(sender, receivers),
        fabric,
        addresses,
        counters,
    }
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
    (rails, receivers): (usize, u32),
    frames: u64,
    seeds: u64,
    faults: impl Fn(u64) -> SimFabricFaults,
) -> u64 {
    let mut breaks = 0;
    for seed in 0..seeds {
        let mut rails = open(faults(seed), rails, receivers);
        let passed = rails.edge.run(seed, frames);
        passed.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        breaks += rails.fabric.breaks();
    }
    breaks
}

#[test]
fn breaks_lose_double_and_reorder_nothing() {
    let breaks = pass((2, 1), 60, seeds(), breaking);
    assert!(breaks > 2 * seeds(), "only {breaks} connections broke");
}

#[test]
fn nor_do_breaks_of_many_rails() {
    let breaks = pass((5, 1), 60, seeds() / 2, breaking);
    assert!(breaks > seeds(), "only {breaks} connections broke");
}

#[test]
fn nor_do_breaks_where_numbers_use_receive_buffers() {
    let breaks = pass((2, 2), 60, seeds(), |seed| SimFabricFaults {
        numbers_use_receives: true,
        ..breaking(seed)
    });
    assert!(breaks > 2 * seeds(), "only {breaks} connections broke");
}

#[test]
fn nor_do_breaks_where_numbers_are_narrow() {
    let breaks = pass((3, 1), 60, seeds(), |seed| SimFabricFaults {
        has_narrow_numbers: true,
        numbers_use_receives: seed % 2 == 0,
        ..breaking(seed)
    });
    assert!(breaks > 2 * seeds(), "only {breaks} connections broke");
}

#[test]
fn nor_do_breaks_of_one_of_several_receivers() {
    let breaks = pass((2, 3), 40, seeds() / 4, breaking);
    assert!(breaks > seeds() / 4, "only {breaks} connections broke");
}

/// Writes on their way when the sender closes a connection still arrive, until the receiver closes
/// its side too.
#[test]
fn nor_do_writes_that_arrive_late() {
    let breaks = pass((2, 1), 300, seeds(), |seed| SimFabricFaults {
        outlives_disconnects: true,
        breaks_in_10_000: 20,
        ..SimFabricFaults::wild(seed)
    });
    assert!(breaks > seeds(), "only {breaks} connections broke");
}

#[test]
fn providers_without_inline_writes_work() {
    pass((2, 1), 60, seeds() / 4, |seed| SimFabricFaults {
        lacks_inline: true,
        late_completion_percent: 0,
        lost_completion_percent: 0,
        ..breaking(seed)
    });
}

#[test]
fn frames_pass_without_breaks_over_all_rails() {
    let mut carried = [0; 2];
    for seed in 0..seeds() {
        let mut rails = open(SimFabricFaults::wild(seed), 2, 1);
        let passed = rails.edge.run(seed, 60);
        passed.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        for (bytes, counters) in carried.iter_mut().zip(&rails.counters.rails) {
            *bytes += counters.bytes.load(Ordering::Relaxed);
            assert_eq!(counters.breaks.load(Ordering::Relaxed), 0);
        }
    }
    assert!(carried.iter().all(|bytes| *bytes > 0), "{carried:?}");
}

/// Records that end where the ring does, and rests of the ring that hold no record.
#[test]
fn positions_go_on_behind_the_end_of_the_ring() {
    for seed in 0..seeds() {
        let mut rails = open(breaking(seed), 2, 1);
        rails.edge.payload =
            |number| vec![number as u8; RING_BYTES / 8 - 24 - 8 * (number % 2) as usize];
        let passed = rails.edge.run(seed, 60);
        passed.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

#[test]
fn a_flush_ends_without_a_release() {
    for seed in 0..seeds() / 4 {
        let faults = SimFabricFaults {
            late_completion_percent: 0,
            lost_completion_percent: 0,
            ..breaking(seed)
        };
        let edge = &mut open(faults, 2, 2).edge;
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
    // The last one: nobody tells of the write that was to tell a flush of those before it.
    for seed in (0..seeds()).chain([833]) {
        let Rails {
            mut edge, fabric, ..
        } = open(breaking(seed), 2, 1);
        let mut rng = StepRng(seed + 1);
        while edge.sent < 10 {
            edge.step(&mut rng, 10).unwrap();
        }
        fabric.heal();
        let is_out = (0..100_000).any(|_| {
            edge.receive(0, &mut rng).unwrap();
            edge.sender.flush().unwrap()
        });
        assert!(is_out, "seed {seed}: the frames are never flushed");
        for _ in 0..1000 {
            edge.sender.progress().unwrap();
        }
        assert_eq!(edge.frames_at_loss(), 10, "seed {seed}");
    }
}

#[test]
fn a_receiver_that_does_not_come_back_is_given_up_and_the_others_go_on() {
    for seed in 0..seeds() / 4 {
        let Rails {
            mut edge, fabric, ..
        } = open(breaking(seed), 2, 3);
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
        pass_time(TIMES.give_up);
        let passed = edge.run(seed, 40);
        passed.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        assert_eq!(edge.sender.lost_receivers(), [1], "seed {seed}");
    }
}

#[test]
fn a_stranger_and_a_second_end_are_refused() {
    let Rails {
        mut edge,
        fabric,
        addresses,
        ..
    } = open(SimFabricFaults::NONE, 2, 1);
    let wrong = EdgeSpec {
        token: [8; 16],
        ..spec(1)
    };
    while edge.receivers[0].is_connecting() {
        edge.sender.progress().unwrap();
        edge.receivers[0].progress().unwrap();
    }
    for (spec, instance) in [(wrong, 7), (spec(1), 8)] {
        let mut second = receiver(&fabric, &addresses, (&spec, 0), (instance, TIMES));
        let refusal = (0..1000).find_map(|_| {
            edge.sender.progress().unwrap();
            second.poll().err()
        });
        assert!(matches!(refusal, Some(Error::PeerLost(_))), "{refusal:?}");
    }
    assert!(edge.sender.lost_receivers().is_empty());
    assert!(edge.receivers[0].poll().is_ok());
}

/// Rails that come by another rail's address, or by fewer, are refused.
#[test]
fn rails_of_another_edge_are_refused() {
    let Rails {
        mut edge,
        fabric,
        addresses,
        ..
    } = open(SimFabricFaults::NONE, 2, 1);
    let crossed = [addresses[1], addresses[0]];
    for ways in [&crossed[..], &addresses[..1]] {
        let mut strange = receiver(&fabric, ways, (&spec(1), 0), (7, TIMES));
        let refusal = (0..1000).find_map(|_| {
            edge.sender.progress().unwrap();
            strange.poll().err()
        });
        let text = refusal.expect("refused").to_string();
        assert!(text.contains("rail 0 of"), "{text}");
    }
}

/// A rail on which nothing arrives any more holds nothing back, is closed, and is used again.
#[test]
fn a_silent_rail_is_passed_by_and_used_again() {
    for silent in [0, 1] {
        let times = ReconnectTimes {
            attempt: Duration::from_millis(5),
            ..TIMES
        };
        let mut rails = open_with(SimFabricFaults::NONE, 2, 1, times);
        let mut rng = StepRng(1);
        let mut sent = 0;
        let mut pass = |rails: &mut Rails, frames: u64| {
            sent += frames;
            for _ in 0..200_000 {
                if rails.edge.received[0] == sent {
                    return;
                }
                rails.edge.step(&mut rng, sent).unwrap();
                pass_time(Duration::from_micros(20));
            }
            panic!("stuck at {} of {sent}", rails.edge.received[0]);
        };
        let bytes =
            |rails: &Rails, rail: usize| rails.counters.rails[rail].bytes.load(Ordering::Relaxed);
        let breaks =
            |rails: &Rails, rail: usize| rails.counters.rails[rail].breaks.load(Ordering::Relaxed);
        pass(&mut rails, 300);
        let node = u32::from(rails.addresses[silent].port());
        rails.fabric.silence(Some(node));
        pass(&mut rails, 1000);
        assert!(breaks(&rails, silent) > 0, "the silent rail is closed");
        assert_eq!(breaks(&rails, 1 - silent), 0);
        rails.fabric.silence(None);
        let before = bytes(&rails, silent);
        for _ in 0..100 {
            pass(&mut rails, 300);
        }
        assert!(bytes(&rails, silent) > before + 10_000, "it is used again");
    }
}

/// A node that fails takes its rail along, and not the edge.
#[test]
fn a_node_that_fails_ends_its_rail_alone() {
    for failing in [0, 1] {
        let mut rails = open(SimFabricFaults::NONE, 2, 1);
        rails.edge.run(1, 30).unwrap();
        let node = u32::from(rails.addresses[failing].port());
        rails.fabric.fail_node(node);
        rails.edge.run(2, 200).unwrap();
        assert_eq!(rails.edge.sender.lost_receivers(), [0_u32; 0]);
        rails
            .fabric
            .fail_node(u32::from(rails.addresses[1 - failing].port()));
        let error = (0..100).find_map(|_| rails.edge.sender.progress().err());
        let text = error.expect("the last node has failed").to_string();
        assert!(text.contains("the device has failed"), "{text}");
    }
}

/// A place is not used again while a write of it may arrive over a connection that was given up,
/// even if another rail has brought the bytes and they are released.
#[test]
fn a_place_is_used_again_when_the_receiver_has_closed_what_was_given_up() {
    let mut rails = open(SimFabricFaults::NONE, 2, 1);
    let edge = &mut rails.edge;
    while edge.receivers[0].is_connecting() {
        edge.sender.progress().unwrap();
        edge.receivers[0].progress().unwrap();
    }
    while edge.sender.try_claim(100).unwrap() {
        edge.sender.commit(1, 0, 100);
        edge.sender.flush().unwrap();
    }
    let mut targets = lock(edge.sender.targets());
    let marks = targets.marks;
    let target = &targets.receivers[0];
    let (sent, at_first) = (
        target.schedule.assigned_to(),
        target.rails[0].lowest_on_way(u64::MAX),
    );
    let unreported = target.rails[1].unreported() as u64;
    assert!(
        at_first < sent && unreported > 0,
        "both rails have segments"
    );
    targets.end_rail(0, 0, "the test gives it up");
    let report = |is_closed| {
        let state = |is_closed, received| RailState {
            epoch: 1,
            is_closed,
            received,
        };
        let states = [state(is_closed, 0), state(false, unreported)];
        let mut words = Vec::new();
        seal_report(sent, states.into_iter(), marks, &mut words);
        RailReport::read(|at| words[at], 2, marks).unwrap()
    };
    let target = &mut targets.receivers[0];
    target.take_report(&report(false), now()).unwrap();
    assert_eq!(target.schedule.released(), sent);
    assert_eq!(target.reusable, at_first, "it may still be written");
    target.take_report(&report(true), now()).unwrap();
    assert_eq!(target.reusable, sent);
}

/// Reports that no receiver writes are not believed.
#[test]
fn reports_of_more_than_was_sent_lose_the_receiver() {
    let mut rails = open(SimFabricFaults::NONE, 2, 1);
    rails.edge.run(1, 30).unwrap();
    let mut targets = lock(rails.edge.sender.targets());
    let marks = targets.marks;
    let target = &mut targets.receivers[0];
    let sent = target.schedule.assigned_to();
    for (released, received) in [(sent + 8, 0), (sent - 4, 0), (sent, 1 << 30)] {
        let state = RailState {
            epoch: 1,
            is_closed: false,
            received,
        };
        let mut words = Vec::new();
        seal_report(released, [state; 2].into_iter(), marks, &mut words);
        let report = RailReport::read(|at| words[at], 2, marks).unwrap();
        assert!(
            target.take_report(&report, now()).is_err(),
            "{released} {received}"
        );
    }
}
