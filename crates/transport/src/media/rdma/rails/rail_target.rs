//! One receiver of a sender with rails: its schedule, its rails, and how far its ring may be used
//! again.

use std::time::Instant;

use super::rail_number::RailNumber;
use super::rail_report::RailReport;
use super::target_rail::TargetRail;
use crate::media::rails::schedule::{RailSchedule, StripeSegment};
use crate::media::rdma::disconnected_peer::DisconnectedPeer;

/// A receiver of the edge, from before it has connected.
pub(super) struct RailTarget {
    pub(super) is_lost: bool,
    /// Number of the receiving end, once it has connected, by which it is known when it connects
    /// again.
    pub(super) instance: Option<u32>,
    pub(super) schedule: RailSchedule,
    pub(super) rails: Vec<TargetRail>,
    /// Position up to which the ring may be used again: it is released, and no write of it is on
    /// its way.
    pub(super) reusable: u64,
    /// Position at which the last segment began.
    pub(super) last_from: u64,
    /// Whether there was no room for all that is committed.
    pub(super) is_blocked: bool,
    /// State of a receiver none of whose rails is connected any more.
    pub(super) disconnected: Option<Box<DisconnectedPeer>>,
}

/// News of a report.
pub(super) struct ReportNews {
    /// Whether the ring may be used further than before.
    pub(super) has_room: bool,
    /// Rails whose connections the receiver has closed, as bits.
    pub(super) closed: u8,
}

impl RailTarget {
    pub(super) fn new(rails: Vec<TargetRail>, ring_bytes: u64) -> RailTarget {
        RailTarget {
            is_lost: false,
            instance: None,
            schedule: RailSchedule::new(rails.len(), 0, ring_bytes),
            rails,
            reusable: 0,
            last_from: 0,
            is_blocked: false,
            disconnected: None,
        }
    }

    pub(super) fn is_connected(&self) -> bool {
        self.rails.iter().any(TargetRail::is_connected)
    }

    /// Whether all before a position is posted.
    pub(super) fn has_all(&self, end: u64) -> bool {
        self.schedule.is_all_assigned(end) && !self.has_outgoing()
    }

    fn has_outgoing(&self) -> bool {
        self.rails.iter().any(TargetRail::has_outgoing)
    }

    /// Whether the receiver has released all that it was sent.
    pub(super) fn is_idle(&self) -> bool {
        self.schedule.released() == self.schedule.assigned_to() && !self.has_outgoing()
    }

    /// Whether the receiver has released all before the last segment.
    pub(super) fn is_nearly_idle(&self) -> bool {
        self.schedule.released() >= self.last_from && !self.has_outgoing()
    }

    /// Whether something that is posted may wait in the provider, or may come to be late.
    pub(super) fn is_on_way(&self) -> bool {
        let may_wait = |rail: &TargetRail| rail.on_way() > 0;
        self.schedule.has_unreported() || self.rails.iter().any(may_wait)
    }

    /// The bytes from the last position of the schedule on, as far as they are consecutive.
    pub(super) fn fresh(&self, end: u64, ring_bytes: u64) -> Option<StripeSegment> {
        let from = self.schedule.assigned_to();
        let round_end = (from / ring_bytes + 1) * ring_bytes;
        let to = end.min(round_end);
        (from < to).then_some(StripeSegment {
            from,
            to,
            is_padding: false,
        })
    }

    /// Believes a report, as far as it can be. The rail whose counts are checked is the one that
    /// they are of, whatever rail the report came by.
    ///
    /// # Errors
    /// The report tells of more than was sent.
    pub(super) fn take_report(
        &mut self,
        report: &RailReport,
        now: Instant,
    ) -> Result<ReportNews, String> {
        let released = report.released;
        if released > self.schedule.assigned_to() || !released.is_multiple_of(8) {
            return Err("its report is not of what it was sent".to_owned());
        }
        let mut closed = 0;
        for number in 0..self.rails.len() {
            let (state, rail) = (report.rail(number), &mut self.rails[number]);
            if (rail.fence.as_ref()).is_some_and(|fence| state.has_closed(fence.epoch)) {
                rail.fence = None;
            }
            // Other states are those of earlier connections.
            if rail.epoch != state.epoch || rail.state.connection().is_none() {
                continue;
            }
            if rail.take_received(state.received)? > 0 {
                self.schedule.note_received(number, state.received, now)?;
            }
            if state.is_closed {
                closed |= 1 << number;
            }
        }
        self.schedule.note_released(released);
        Ok(ReportNews {
            has_room: self.find_reusable(),
            closed,
        })
    }

    /// Finds how far the ring may be used again. Returns whether that is further than before.
    pub(super) fn find_reusable(&mut self) -> bool {
        let released = self.schedule.released();
        let rails = self.rails.iter();
        let reusable = rails.fold(released, |low, rail| rail.lowest_on_way(low));
        let is_more = reusable > self.reusable;
        self.reusable = self.reusable.max(reusable);
        is_more
    }

    /// Has the receiver told, on each other rail, which connections it is to close.
    pub(super) fn push_closings(&mut self, now: Instant) {
        for closed in 0..self.rails.len() {
            let Some(fence) = &self.rails[closed].fence else {
                continue;
            };
            let (epoch, mut told_by) = (fence.epoch, fence.told_by);
            for by in (0..self.rails.len()).filter(|by| *by != closed) {
                if self.rails[by].is_connected() && told_by & 1 << by == 0 {
                    told_by |= 1 << by;
                    self.schedule.note_empty_segment(by, now);
                    let rail = closed as u8;
                    self.rails[by].push_empty(RailNumber::Close { rail, epoch });
                }
            }
            if let Some(fence) = &mut self.rails[closed].fence {
                fence.told_by = told_by;
            }
        }
    }

    /// Notes that what was told on a rail may not have come.
    pub(super) fn forget_told_by(&mut self, rail: usize) {
        let fences = self.rails.iter_mut().filter_map(|rail| rail.fence.as_mut());
        fences.for_each(|fence| fence.told_by &= !(1 << rail));
    }
}
