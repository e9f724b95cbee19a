//! The schedule of a striped stream: which bytes of the sender's ring go out on which rail, and
//! which go out again.
//!
//! A pure state machine: the sender tells it what was reported and what broke, with the time, and
//! asks it for the next segment.
//!
//! ```text
//!   released                        assigned_to         committed
//!   --+-------+-------+-------+-------+-------------------+
//!     | rail 0| rail 1| rail 0| rail 0| fresh: of no rail |
//!     +-------+-------+-------+-------+-------------------+
//!              ^ returned, when rail 1 breaks: goes out first
//! ```
//!
//! # Which rail
//! A segment goes to the rail on which it would arrive first: that with the least time to drain
//! what waits on it, by its measured rate. If that rail can take nothing now, the segment waits for
//! it, for on another rail it would be later still. So a slow rail gets its share and no more, and
//! what waits on it never takes longer than what waits on the others. Few bytes count as none: a
//! stream that one rail carries easily stays on it, the first one of equal rates.
//!
//! # Stalled rails
//! A rail that says nothing looks the same as a receiver that is busy, so a rail is compared with
//! the others. Its report is late [`LATE_TIME_MIN`] after it is expected by the rail's own measure.
//! Then an empty segment goes out on each other rail on which nothing waits: a probe. The first
//! report of any other rail shows that the receiver reads. If the late rail does not report
//! [`STALL_TIME_MIN`] after that, it is stalled: what waits on it goes out again on the others, and
//! it gets nothing more until it reports. The last rail is never stalled.
//!
//! ```text
//!   late rail   sent ......... late ................................ stalled
//!   other rail                  probe ------> report, the receiver reads
//!                                                 |<- STALL_TIME_MIN ->|
//! ```

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::drain_rate::DrainRate;
use super::report_delay::ReportDelay;

/// Time without a report after which a rail is late, beside the time that its reports take.
pub(in crate::media) const LATE_TIME_MIN: Duration = Duration::from_millis(15);

/// Time without a report after which a late rail is stalled, beside the time that its reports take
/// on average, once another rail has reported.
pub(in crate::media) const STALL_TIME_MIN: Duration = Duration::from_millis(5);

/// Longest time that a segment may be expected to take on its rail.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(4);

/// Most bytes of a segment: as many as a write of a full batch.
const SEGMENT_BYTES_MAX: u64 = 64 * 1024;

/// Fewest bytes of a segment that is cut: the header of a smaller one would count.
const SEGMENT_BYTES_MIN: u64 = 4096;

/// Fewer bytes than this on a rail count as none: a stream that one rail carries easily stays on
/// it.
pub(in crate::media) const FEW_BYTES: u64 = SEGMENT_BYTES_MIN;

/// Time that a segment takes on its rail at most: a longer one would delay those behind it.
const SEGMENT_SECONDS_MAX: f64 = 0.002;

/// Segments on a rail for which memory is reserved. A receiver that reads nothing for long may have
/// more before it, at most one for each frame in the ring.
const SEGMENTS_RESERVED: usize = 256;

/// Time without any report after which rails may take more although their rate is unknown: the
/// receiver is not reading, or far away.
const SILENCE_TIME: Duration = Duration::from_millis(20);

/// Consecutive bytes of the ring that go out on one rail behind one header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::media) struct StripeSegment {
    /// Position of the first byte.
    pub(in crate::media) from: u64,
    /// Position after the last byte.
    pub(in crate::media) to: u64,
    /// Padding at the ring's end, whose bytes are not sent.
    pub(in crate::media) is_padding: bool,
}

/// Assignment of segments to the rails of one receiver.
#[derive(Debug)]
pub(in crate::media) struct RailSchedule {
    rails: Vec<RailLoad>,
    /// Segments that must go out again, the lowest last.
    returned: Vec<StripeSegment>,
    /// Position up to which bytes were given to rails.
    assigned_to: u64,
    /// Position up to which the receiver has released.
    released: u64,
    segment_bytes_max: u64,
}

/// Segments on one rail.
#[derive(Debug)]
struct RailLoad {
    status: RailStatus,
    /// Segments that are not reported, in the order in which they were sent.
    unreported: VecDeque<StripeSegment>,
    unreported_bytes: u64,
    /// Number of segments that the receiver has reported on this connection.
    received: u64,
    drain_rate: DrainRate,
    /// Time since which the first unreported segment has been the first.
    waiting_since: Instant,
    report_delay: ReportDelay,
    /// Time of the first report of another rail after this one was late.
    others_reported_at: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RailStatus {
    Down,
    Up,
    Stalled,
}

impl StripeSegment {
    /// Bytes of the ring that it covers.
    pub(in crate::media) fn bytes(&self) -> u64 {
        self.to - self.from
    }

    /// The beginning of it: at most that many bytes, whole words.
    fn cut(self, bytes_max: u64) -> StripeSegment {
        match self.is_padding {
            true => self,
            false => StripeSegment {
                to: self.to.min(self.from + bytes_max),
                ..self
            },
        }
    }
}

impl RailSchedule {
    /// A schedule for rails that are all down, from a position on.
    pub(in crate::media) fn new(rail_count: usize, position: u64, ring_bytes: u64) -> RailSchedule {
        let now = Instant::now();
        RailSchedule {
            rails: (0..rail_count).map(|_| RailLoad::new(now)).collect(),
            returned: Vec::with_capacity(SEGMENTS_RESERVED),
            assigned_to: position,
            released: position,
            segment_bytes_max: (ring_bytes / 8).min(SEGMENT_BYTES_MAX),
        }
    }

    /// Position up to which bytes were given to rails.
    pub(in crate::media) fn assigned_to(&self) -> u64 {
        self.assigned_to
    }

    /// Position up to which the receiver has released.
    pub(in crate::media) fn released(&self) -> u64 {
        self.released
    }

    /// Whether every byte before a position was given to a rail, and none has to go out again.
    pub(in crate::media) fn is_all_assigned(&self, committed: u64) -> bool {
        let must_repeat = self
            .returned
            .iter()
            .any(|segment| segment.to > self.released);
        self.assigned_to == committed && !must_repeat
    }

    /// Notes that a rail is connected: anew, whatever it was before.
    pub(in crate::media) fn join(&mut self, rail: usize, now: Instant) {
        self.leave(rail);
        self.rails[rail] = RailLoad {
            status: RailStatus::Up,
            ..RailLoad::new(now)
        };
    }

    /// Notes that a rail is broken: what waits on it goes out again on the others.
    pub(in crate::media) fn leave(&mut self, rail: usize) {
        if self.rails[rail].is_up() {
            self.return_unreported(rail);
        }
        let load = &mut self.rails[rail];
        load.status = RailStatus::Down;
        load.unreported.clear();
        load.unreported_bytes = 0;
        self.keep_one_up();
    }

    /// Notes the position that the receiver has released.
    pub(in crate::media) fn note_released(&mut self, position: u64) {
        self.released = self.released.max(position);
        // Earlier connections may have delivered what these have still to send.
        self.assigned_to = self.assigned_to.max(position);
    }

    /// Notes that the receiver has received this many segments on a rail's connection.
    ///
    /// # Errors
    /// More than were sent.
    pub(in crate::media) fn note_received(
        &mut self,
        rail: usize,
        count: u64,
        now: Instant,
    ) -> Result<(), String> {
        let load = &mut self.rails[rail];
        let newly = count.saturating_sub(load.received);
        if newly > load.unreported.len() as u64 {
            let sent = load.received + load.unreported.len() as u64;
            return Err(format!(
                "it says that it has received {count} batches of {sent}"
            ));
        }
        if newly == 0 {
            return Ok(());
        }
        let bytes = load.unreported.drain(..newly as usize);
        let bytes: u64 = bytes.map(|segment| segment.bytes()).sum();
        load.drain_rate
            .note_received(load.unreported_bytes, bytes, now);
        load.unreported_bytes -= bytes;
        load.received = count;
        load.note_report(now);
        if load.status == RailStatus::Stalled {
            load.status = RailStatus::Up;
        }
        for (other, load) in self.rails.iter_mut().enumerate() {
            if other != rail && load.late_at().is_some_and(|at| at <= now) {
                load.others_reported_at.get_or_insert(now);
            }
        }
        Ok(())
    }

    /// Whether a rail is stalled: it gets nothing until it reports.
    pub(in crate::media) fn is_stalled(&self, rail: usize) -> bool {
        self.rails[rail].status == RailStatus::Stalled
    }

    /// The next segment and its rail. `fresh` are the next bytes of no rail, as far as they are
    /// consecutive; `is_busy` says whether a rail can take nothing now. `None`: nothing is to be
    /// sent now.
    pub(in crate::media) fn next(
        &mut self,
        fresh: Option<StripeSegment>,
        is_busy: impl Fn(usize) -> bool,
        now: Instant,
    ) -> Option<(usize, StripeSegment)> {
        let returned = self.take_returned();
        let whole = returned.or(fresh)?;
        let rail = self.fastest(whole.bytes(), &is_busy, now);
        let Some(rail) = rail.filter(|rail| !is_busy(*rail)) else {
            self.returned.extend(returned);
            return None;
        };
        let segment = whole.cut(self.segment_bytes(rail));
        if returned.is_none() {
            self.assigned_to = segment.to;
        } else if segment.to < whole.to {
            let from = segment.to;
            self.returned.push(StripeSegment { from, ..whole });
        }
        self.rails[rail].add(segment, now);
        Some((rail, segment))
    }

    /// Notes a segment of no bytes on a rail, for its place among the reports.
    pub(in crate::media) fn note_empty_segment(&mut self, rail: usize, now: Instant) {
        let (from, to) = (self.assigned_to, self.assigned_to);
        let is_padding = false;
        let segment = StripeSegment {
            from,
            to,
            is_padding,
        };
        self.rails[rail].add(segment, now);
    }

    /// The next rail on which a probe is to be sent, because another one is late. `can_send` says
    /// whether a rail takes a segment now. The probe counts as sent.
    pub(in crate::media) fn next_probe(
        &mut self,
        can_send: impl Fn(usize) -> bool,
        now: Instant,
    ) -> Option<usize> {
        let is_late = |load: &RailLoad| {
            load.others_reported_at.is_none() && load.late_at().is_some_and(|at| at <= now)
        };
        if !self.rails.iter().any(is_late) {
            return None;
        }
        let is_silent = |load: &RailLoad| load.is_up() && load.unreported.is_empty();
        let rails = 0..self.rails.len();
        let mut rails = rails.filter(|rail| is_silent(&self.rails[*rail]));
        let rail = rails.find(|rail| can_send(*rail))?;
        self.note_empty_segment(rail, now);
        Some(rail)
    }

    /// Finds rails that are stalled. `true`: there are some, and segments go out again.
    pub(in crate::media) fn check_stalls(&mut self, now: Instant) -> bool {
        let mut has_stalled = false;
        for rail in 0..self.rails.len() {
            let is_over = self.rails[rail].stalls_at().is_some_and(|at| at <= now);
            if is_over && self.up_count() > 1 {
                self.return_unreported(rail);
                self.rails[rail].status = RailStatus::Stalled;
                has_stalled = true;
            }
        }
        has_stalled
    }

    /// Time at which the next rail is late or stalled, unless it reports before. `None`: there is
    /// none, or the next thing to happen is a report.
    pub(in crate::media) fn next_stall_check_at(&self, now: Instant) -> Option<Instant> {
        let check_at = |load: &RailLoad| {
            let late_at = load.late_at().filter(|at| *at > now);
            load.stalls_at().or(late_at)
        };
        let checks = self.rails.iter().filter_map(check_at);
        checks.min().filter(|_| self.up_count() > 1)
    }

    /// Whether something waits on a rail that may come to be late.
    pub(in crate::media) fn has_unreported(&self) -> bool {
        let is_waiting = |load: &RailLoad| load.is_up() && !load.unreported.is_empty();
        self.up_count() > 1 && self.rails.iter().any(is_waiting)
    }

    /// Whether so few bytes wait on each rail that they count as none.
    pub(in crate::media) fn has_few_unreported(&self) -> bool {
        let rails = &self.rails;
        rails.iter().all(|load| load.unreported_bytes < FEW_BYTES)
    }

    /// Whether another rail has reported since a rail was late.
    pub(in crate::media) fn has_suspect(&self) -> bool {
        self.rails.iter().any(|load| load.stalls_at().is_some())
    }

    /// Whether a rail is late, so that reports of the others count.
    pub(in crate::media) fn has_late_rail(&self, now: Instant) -> bool {
        let is_late = |load: &RailLoad| load.late_at().is_some_and(|at| at <= now);
        self.up_count() > 1 && self.rails.iter().any(is_late)
    }

    /// The lowest segment that must go out again, without what was released meanwhile.
    fn take_returned(&mut self) -> Option<StripeSegment> {
        while let Some(segment) = self.returned.pop() {
            if segment.to > self.released {
                let from = segment.from.max(self.released);
                return Some(StripeSegment { from, ..segment });
            }
        }
        None
    }

    /// Has what waits on a rail go out again on the others.
    fn return_unreported(&mut self, rail: usize) {
        let unreported = self.rails[rail].unreported.iter();
        let unreported = unreported.filter(|segment| segment.bytes() > 0);
        self.returned.extend(unreported);
        self.returned
            .sort_unstable_by_key(|segment| std::cmp::Reverse(segment.from));
    }

    /// The rail on which a segment of this many bytes would arrive first.
    fn fastest(&self, bytes: u64, is_busy: impl Fn(usize) -> bool, now: Instant) -> Option<usize> {
        let bytes = bytes.min(SEGMENT_BYTES_MIN);
        let rates = self.rails.iter().filter(|load| load.is_up());
        let rates = rates.filter_map(|load| load.drain_rate.bytes_per_second());
        let best = rates.fold(1.0, f64::max);
        let is_silent = self.rails.iter().all(|load| load.is_silent(now));
        let mut fastest: Option<(usize, f64)> = None;
        for (rail, load) in self.rails.iter().enumerate() {
            let rate = load.drain_rate.bytes_per_second();
            // A rail whose rate is unknown is not waited for.
            let has_room = load.unreported_bytes < self.segment_bytes_max || is_silent;
            let is_candidate = rate.is_some() || !is_busy(rail) && has_room;
            if !load.is_up() || !is_candidate {
                continue;
            }
            let ahead = match load.unreported_bytes {
                few if few < FEW_BYTES => 0,
                many => many,
            };
            let seconds = (ahead + bytes) as f64 / rate.unwrap_or(best).max(1.0);
            if fastest.is_none_or(|(_, least)| seconds < least) {
                fastest = Some((rail, seconds));
            }
        }
        fastest.map(|(rail, _)| rail)
    }

    /// Most bytes of a segment for a rail.
    fn segment_bytes(&self, rail: usize) -> u64 {
        let rate = self.rails[rail].drain_rate.bytes_per_second();
        let bytes = rate.map_or(SEGMENT_BYTES_MIN, |rate| {
            (rate * SEGMENT_SECONDS_MAX) as u64 / 8 * 8
        });
        let least = SEGMENT_BYTES_MIN.min(self.segment_bytes_max);
        bytes.clamp(least, self.segment_bytes_max)
    }

    fn up_count(&self) -> usize {
        self.rails.iter().filter(|load| load.is_up()).count()
    }

    /// Uses stalled rails again when no other is left.
    fn keep_one_up(&mut self) {
        if self.up_count() > 0 {
            return;
        }
        for load in &mut self.rails {
            if load.status == RailStatus::Stalled {
                (load.status, load.others_reported_at) = (RailStatus::Up, None);
            }
        }
    }
}

impl RailLoad {
    /// A rail that is down and has carried nothing.
    fn new(now: Instant) -> RailLoad {
        RailLoad {
            status: RailStatus::Down,
            unreported: VecDeque::with_capacity(SEGMENTS_RESERVED),
            unreported_bytes: 0,
            received: 0,
            drain_rate: DrainRate::new(now),
            waiting_since: now,
            report_delay: ReportDelay::default(),
            others_reported_at: None,
        }
    }

    fn is_up(&self) -> bool {
        self.status == RailStatus::Up
    }

    /// Whether it has not reported for long, or is not up.
    fn is_silent(&self, now: Instant) -> bool {
        let since = (!self.unreported.is_empty()).then_some(self.waiting_since);
        !self.is_up() || since.is_some_and(|since| since + SILENCE_TIME <= now)
    }

    fn add(&mut self, segment: StripeSegment, now: Instant) {
        if self.unreported.is_empty() {
            self.waiting_since = now;
            self.drain_rate.note_begin(now);
        }
        self.unreported.push_back(segment);
        self.unreported_bytes += segment.bytes();
    }

    /// Notes a report of the segments that waited longest.
    fn note_report(&mut self, now: Instant) {
        let took = now.saturating_duration_since(self.waiting_since);
        self.report_delay.note(took);
        (self.waiting_since, self.others_reported_at) = (now, None);
    }

    /// Time at which its next report is late; `None`: it is not up, or nothing waits on it.
    fn late_at(&self) -> Option<Instant> {
        let first = self.unreported.front().filter(|_| self.is_up())?;
        let delay = LATE_TIME_MIN + self.report_delay.late_after();
        Some(self.waiting_since + self.time_to_drain(first.bytes()) + delay)
    }

    /// Time at which it is stalled; `None`: it is not late, or no other rail has reported since.
    fn stalls_at(&self) -> Option<Instant> {
        let first = self.unreported.front().filter(|_| self.is_up())?;
        let delay = STALL_TIME_MIN + self.report_delay.mean();
        Some(self.others_reported_at? + self.time_to_drain(first.bytes()) + delay)
    }

    /// Twice the time that this many bytes should take on this rail.
    fn time_to_drain(&self, bytes: u64) -> Duration {
        let rate = self.drain_rate.bytes_per_second();
        let seconds = rate.map_or(0.0, |rate| 2.0 * bytes as f64 / rate.max(1.0));
        Duration::from_secs_f64(seconds.min(DRAIN_TIME_MAX.as_secs_f64()))
    }
}
