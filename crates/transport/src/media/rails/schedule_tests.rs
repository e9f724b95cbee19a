//! The schedule and the reordering together, over paths that are lists: generated schedules of
//! commits, deliveries, breaks and pauses, and single decisions.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::received_ranges::ReceivedRanges;
use super::schedule::{LATE_TIME_MIN, RailSchedule, STALL_TIME_MIN, StripeSegment};

/// Bytes of most rings: few, so that they are full and wrap soon.
const RING_BYTES: u64 = 32 * 1024;

/// Bytes of padding at the ring's end.
const PAD_BYTES: u64 = 40;

/// A step of a generated run; rails are numbers modulo the number of rails.
#[derive(Clone, Debug)]
enum ScheduleStep {
    Commit(u64),
    Send,
    Deliver(usize, usize),
    Report(usize),
    Break(usize),
    Join(usize),
    Release,
    Pause(u64),
}

fn step() -> impl Strategy<Value = ScheduleStep> {
    let rail = || 0..8usize;
    prop_oneof![
        4 => (1u64..600).prop_map(|words| ScheduleStep::Commit(8 * words)),
        4 => Just(ScheduleStep::Send),
        6 => (rail(), 1..6usize).prop_map(|(rail, count)| ScheduleStep::Deliver(rail, count)),
        4 => rail().prop_map(ScheduleStep::Report),
        1 => rail().prop_map(ScheduleStep::Break),
        2 => rail().prop_map(ScheduleStep::Join),
        3 => Just(ScheduleStep::Release),
        2 => (0u64..400).prop_map(ScheduleStep::Pause),
    ]
}

/// The path of a rail: segments that are under way, and how many have come.
#[derive(Default)]
struct Path {
    is_up: bool,
    under_way: VecDeque<StripeSegment>,
    delivered: u64,
}

/// A sender and a receiver, with paths between them.
struct Run {
    ring_bytes: u64,
    schedule: RailSchedule,
    paths: Vec<Path>,
    received: ReceivedRanges,
    committed: u64,
    /// Position that the receiver has released, and that the sender knows of.
    released: u64,
    known_released: u64,
    now: Instant,
}

impl Run {
    fn new(rails: usize, ring_bytes: u64) -> Run {
        Run {
            ring_bytes,
            schedule: RailSchedule::new(rails, 0, ring_bytes),
            paths: (0..rails).map(|_| Path::default()).collect(),
            received: ReceivedRanges::default(),
            committed: 0,
            released: 0,
            known_released: 0,
            now: Instant::now(),
        }
    }

    fn step(&mut self, step: &ScheduleStep) {
        let rails = self.paths.len();
        match *step {
            ScheduleStep::Commit(bytes) => {
                self.committed =
                    (self.committed + bytes).min(self.known_released + self.ring_bytes);
            }
            ScheduleStep::Send => self.send(),
            ScheduleStep::Deliver(rail, count) => {
                (0..count).for_each(|_| self.deliver(rail % rails))
            }
            ScheduleStep::Report(rail) => self.report(rail % rails),
            ScheduleStep::Break(rail) => {
                self.paths[rail % rails] = Path::default();
                self.schedule.leave(rail % rails);
            }
            ScheduleStep::Join(rail) => {
                let is_up = true;
                self.paths[rail % rails] = Path {
                    is_up,
                    ..Path::default()
                };
                self.schedule.join(rail % rails, self.now);
            }
            ScheduleStep::Release => self.released = self.received.in_order(),
            ScheduleStep::Pause(millis) => self.pause(Duration::from_millis(millis)),
        }
    }

    /// Lets time pass, and does what a sender does then.
    fn pause(&mut self, time: Duration) {
        self.now += time;
        self.schedule.check_stalls(self.now);
        let paths = &self.paths;
        if let Some(rail) = self.schedule.next_probe(|rail| paths[rail].is_up, self.now) {
            let (from, to) = (self.schedule.assigned_to(), self.schedule.assigned_to());
            let is_padding = false;
            self.paths[rail].under_way.push_back(StripeSegment {
                from,
                to,
                is_padding,
            });
        }
    }

    /// The bytes that follow, up to the ring's end, as a sender finds them.
    fn fresh(&self) -> Option<StripeSegment> {
        let from = self.schedule.assigned_to();
        let wrap = (from / self.ring_bytes + 1) * self.ring_bytes;
        let pad = wrap - PAD_BYTES;
        let is_padding = from == pad && self.committed >= wrap;
        let to = match from < pad {
            true => self.committed.min(pad),
            false => self.committed.min(wrap),
        };
        (from < to).then_some(StripeSegment {
            from,
            to,
            is_padding,
        })
    }

    fn send(&mut self) {
        for _ in 0..10_000 {
            let (fresh, paths) = (self.fresh(), &self.paths);
            let is_busy = |rail: usize| !paths[rail].is_up;
            let Some((rail, segment)) = self.schedule.next(fresh, is_busy, self.now) else {
                return;
            };
            assert!(self.paths[rail].is_up, "a segment for a rail that is down");
            assert!(segment.bytes() > 0 && segment.to <= self.committed);
            assert!(segment.from >= self.known_released, "what is not kept");
            self.paths[rail].under_way.push_back(segment);
        }
        panic!("segments without an end");
    }

    fn deliver(&mut self, rail: usize) {
        let path = &mut self.paths[rail];
        if let Some(segment) = path.under_way.pop_front() {
            path.delivered += 1;
            self.received.add(segment.from, segment.to);
        }
    }

    fn report(&mut self, rail: usize) {
        if self.paths[rail].is_up {
            self.known_released = self.released;
            self.schedule.note_released(self.released);
            let count = self.paths[rail].delivered;
            let noted = self.schedule.note_received(rail, count, self.now);
            noted.expect("as many as were sent");
        }
    }

    /// Goes on with these rails until everything has come.
    fn finish(&mut self, rails: &[usize]) {
        for _ in 0..1000 {
            self.send();
            for &rail in rails {
                (0..64).for_each(|_| self.deliver(rail));
                self.released = self.received.in_order();
                self.report(rail);
            }
            self.now += Duration::from_millis(1);
            if self.received.in_order() == self.committed {
                return;
            }
        }
        panic!("{} of {}", self.received.in_order(), self.committed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Each byte comes once some rail works, whatever breaks, stalls and comes late before.
    #[test]
    fn nothing_is_lost(
        rails in 2usize..5,
        steps in prop::collection::vec(step(), 0..300),
        last in 0usize..8,
    ) {
        let mut run = Run::new(rails, RING_BYTES);
        run.step(&ScheduleStep::Join(0));
        steps.iter().for_each(|step| run.step(step));
        let last = last % rails;
        for rail in 0..rails {
            run.step(&ScheduleStep::Break(rail));
        }
        run.step(&ScheduleStep::Join(last));
        run.finish(&[last]);
        prop_assert!(run.schedule.is_all_assigned(run.committed));
    }

    /// A rail that is up but silent holds nothing back for longer than its stall takes.
    #[test]
    fn a_silent_rail_holds_nothing_back(
        steps in prop::collection::vec(step(), 0..200),
        silent in 0usize..2,
    ) {
        let mut run = Run::new(2, RING_BYTES);
        steps.iter().for_each(|step| run.step(step));
        (0..2).for_each(|rail| run.step(&ScheduleStep::Join(rail)));
        run.step(&ScheduleStep::Commit(RING_BYTES));
        run.send();
        // Two stalls at most: the other rail may seem silent first, as it has nothing to report.
        for _ in 0..200 {
            run.deliver(1 - silent);
            run.report(1 - silent);
            run.step(&ScheduleStep::Pause(100));
        }
        run.finish(&[1 - silent]);
    }
}

/// A run of two rails that deliver these bytes for each millisecond. Returns what each has carried.
fn shares(per_milli: [u64; 2], millis: u64) -> [u64; 2] {
    let mut run = Run::new(2, 32 * RING_BYTES);
    (0..2).for_each(|rail| run.step(&ScheduleStep::Join(rail)));
    let (mut budget, mut carried) = ([0; 2], [0; 2]);
    for _ in 0..millis {
        run.step(&ScheduleStep::Commit(32 * RING_BYTES));
        run.send();
        run.now += Duration::from_millis(1);
        for rail in 0..2 {
            budget[rail] += per_milli[rail];
            while let Some(segment) = run.paths[rail].under_way.front() {
                let bytes = segment.bytes();
                if bytes > budget[rail] {
                    break;
                }
                budget[rail] -= bytes;
                carried[rail] += bytes;
                run.deliver(rail);
            }
            if run.paths[rail].under_way.is_empty() {
                budget[rail] = 0;
            }
            run.released = run.received.in_order();
            run.report(rail);
        }
    }
    carried
}

#[test]
fn rails_carry_as_much_as_they_drain() {
    let [one, other] = shares([4000, 4000], 2000);
    assert!(one.abs_diff(other) < one / 4, "{one} and {other}");
    let [fast, slow] = shares([8000, 1000], 2000);
    assert!(fast > 5 * slow && slow > 0, "{fast} and {slow}");
    assert!(
        fast > 2000 * 8000 / 10 * 8,
        "{fast}: the slow one holds it back"
    );
}

#[test]
fn more_reports_than_batches_are_refused() {
    let mut run = Run::new(2, RING_BYTES);
    run.step(&ScheduleStep::Join(0));
    run.step(&ScheduleStep::Commit(64));
    run.send();
    let now = run.now;
    assert!(run.schedule.note_received(0, 2, now).is_err());
    assert!(run.schedule.note_received(1, 1, now).is_err());
    assert!(run.schedule.note_received(0, 1, now).is_ok());
}

/// A run of two rails with a segment that waits on the first.
fn run_with_a_segment() -> Run {
    let mut run = Run::new(2, RING_BYTES);
    (0..2).for_each(|rail| run.step(&ScheduleStep::Join(rail)));
    run.step(&ScheduleStep::Commit(64));
    run.send();
    assert_eq!(run.paths[0].under_way.len(), 1, "the first rail");
    run
}

#[test]
fn a_stalled_rail_comes_back_with_its_next_report() {
    let mut run = run_with_a_segment();
    let check_at = run.schedule.next_stall_check_at(run.now);
    assert_eq!(check_at, Some(run.now + LATE_TIME_MIN));
    run.pause(LATE_TIME_MIN);
    assert!(run.schedule.has_late_rail(run.now));
    assert_eq!(run.paths[1].under_way.len(), 1, "a probe");
    assert_eq!(
        run.schedule.next_stall_check_at(run.now),
        Some(run.now + LATE_TIME_MIN),
        "the probe may be late, too"
    );
    run.deliver(1);
    run.report(1);
    let check_at = run.schedule.next_stall_check_at(run.now);
    assert_eq!(check_at, Some(run.now + STALL_TIME_MIN));
    run.pause(STALL_TIME_MIN);
    run.send();
    assert_eq!(run.paths[1].under_way.len(), 1, "again on the other");
    let check_at = run.schedule.next_stall_check_at(run.now);
    assert_eq!(check_at, None, "the last is never stalled");
    run.deliver(0);
    run.report(0);
    run.deliver(1);
    run.report(1);
    run.step(&ScheduleStep::Commit(64));
    run.send();
    assert_eq!(run.paths[0].under_way.len(), 1, "it is used again");
}

#[test]
fn a_busy_receiver_stalls_no_rail() {
    let mut run = run_with_a_segment();
    for _ in 0..100 {
        run.pause(LATE_TIME_MIN);
        run.send();
    }
    let waiting = [&run.paths[0], &run.paths[1]].map(|path| path.under_way.len());
    assert_eq!(waiting, [1, 1], "the segment, and one probe");
    // The receiver reads again: the rails report one after the other, the late one last.
    for rail in [1, 0] {
        run.deliver(rail);
        run.report(rail);
        run.pause(Duration::from_millis(1));
        run.send();
        assert_eq!(run.paths[1].under_way.len(), 0, "nothing goes out again");
    }
    assert!(!run.schedule.has_late_rail(run.now));
}

#[test]
fn a_rail_whose_reports_take_long_is_late_later() {
    let mut run = run_with_a_segment();
    for _ in 0..20 {
        run.now += Duration::from_millis(100);
        run.deliver(0);
        run.report(0);
        run.step(&ScheduleStep::Commit(64));
        run.send();
        assert_eq!(run.paths[0].under_way.len(), 1, "the first rail");
    }
    let late_at = run.schedule.next_stall_check_at(run.now);
    let is_later = late_at.is_some_and(|at| at > run.now + Duration::from_millis(100));
    assert!(is_later, "{late_at:?}");
}
