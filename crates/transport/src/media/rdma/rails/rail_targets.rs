//! All receivers of a sender with rails: what is posted to each by which rail, and what each has
//! reported.
//!
//! This part is behind a lock, as [`WriteTargets`](crate::media::rdma::write_targets::WriteTargets)
//! is: the IO thread answers receivers, takes reports and posts what waits while the sending thread
//! is elsewhere. [`super::rail_events`] has what the nodes tell of.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fabric::{COMPLETIONS_PER_POLL, Completion, PinnedMemory, RdmaNode};

use super::rail_number::RailNumber;
use super::rail_target::RailTarget;
use super::sender_node::SenderNode;
use super::target_rail::TargetRail;
use crate::media::rdma::batch_pacing::{BatchPacing, BatchTerms};
use crate::media::rdma::batch_targets::{BatchReceiver, BatchTargets};
use crate::media::rdma::disconnected_peer::DisconnectedPeer;
use crate::media::rdma::mode::ModeTargets;
use crate::media::rdma::peer_watch::WatchGuard;
use crate::media::rdma::record::RecordMarks;
use crate::media::rdma::ring_targets::RingTargets;
use crate::media::rdma::write_target::WRITES_ON_WAY_MAX;
use crate::media::rdma::write_targets::{Committed, WriteTerms, refused};
use crate::media::rum::flush_deadline::FlushScope;
use crate::media::tcp_edge::io_thread::Registration;
use crate::{EdgeCounters, EdgeSpec, Error, PeerLoss};

/// Segments without a look at reports, and time without one, after which a sender that posts looks
/// in any case: the schedule goes by what receivers report, and by when.
const SEGMENTS_PER_LOOK: u32 = 8;
const LOOK_PERIOD: Duration = Duration::from_millis(1);

/// All receivers of an edge with rails, over a node for each rail.
pub(super) struct RailTargets<N> {
    pub(super) nodes: Vec<SenderNode<N>>,
    pub(super) spec: EdgeSpec,
    pub(super) terms: WriteTerms,
    pub(super) marks: RecordMarks,
    pub(super) receivers: Vec<RailTarget>,
    committed: Committed,
    pub(super) completions: Vec<Completion>,
    lost: Vec<u32>,
    /// Why the receiver was lost that was lost last.
    last_loss: String,
    /// Whether a report or a loss has come that a thread without room may wait for.
    pub(super) has_news: bool,
    /// Counters of the edge, with those of its rails.
    pub(super) counters: Arc<EdgeCounters>,
    /// Whether there was a flush behind the last commit, and behind the one before it.
    is_flushed: bool,
    was_flushed: bool,
    pacing: BatchPacing,
    /// Segments since the last look at reports, and its time.
    segments_since_look: u32,
    looked_at: Instant,
    /// Answer the probes of receivers, on each rail.
    _watches: Vec<WatchGuard>,
}

impl<N: RdmaNode> RailTargets<N> {
    /// Makes the receivers' side over a node for each rail, which listens, for a ring that lies in
    /// `ring`.
    pub(super) fn new(
        nodes: Vec<N>,
        spec: &EdgeSpec,
        (terms, batch): (&WriteTerms, &BatchTerms),
        ring: &PinnedMemory,
        watches: Vec<WatchGuard>,
    ) -> Result<RailTargets<N>, Error> {
        let nodes = nodes.into_iter().map(|node| SenderNode::new(node, ring));
        let mut nodes = nodes.collect::<Result<Vec<_>, _>>()?;
        let receiver = |_| {
            let rails = nodes.iter_mut().map(TargetRail::new);
            let rails = rails.collect::<Result<Vec<_>, _>>()?;
            Ok(RailTarget::new(rails, terms.ring_bytes))
        };
        let receivers = (0..spec.receiver_count).map(receiver);
        let receivers = receivers.collect::<Result<Vec<_>, Error>>()?;
        Ok(RailTargets {
            nodes,
            spec: spec.clone(),
            terms: terms.clone(),
            marks: RecordMarks::new(terms.salt),
            lost: Vec::with_capacity(receivers.len()),
            receivers,
            committed: Committed::default(),
            completions: Vec::with_capacity(COMPLETIONS_PER_POLL),
            last_loss: String::new(),
            has_news: false,
            counters: batch.counters.clone(),
            is_flushed: false,
            was_flushed: false,
            pacing: BatchPacing::new(batch),
            segments_since_look: 0,
            looked_at: (batch.clock)(),
            _watches: watches,
        })
    }

    pub(super) fn now(&self) -> Instant {
        self.pacing.now()
    }

    fn living(&self) -> impl Iterator<Item = &RailTarget> {
        self.receivers.iter().filter(|target| !target.is_lost)
    }

    /// Posts what waits on a rail to a receiver.
    pub(super) fn post_outgoing(&mut self, receiver: usize, rail: usize) {
        let target = &mut self.receivers[receiver].rails[rail];
        let posted = target.post_outgoing(&mut self.nodes[rail], receiver, self.was_flushed);
        match posted {
            Ok(bytes) => {
                let counter = &self.counters.rails[rail].bytes;
                counter.fetch_add(bytes, Ordering::Relaxed);
            }
            Err(error) => self.end_rail(receiver, rail, &error.to_string()),
        }
    }

    /// Gives the next segment to a rail of a receiver, and posts it. Returns whether there was one.
    fn post_segment(&mut self, receiver: usize) -> bool {
        let (end, ring_bytes) = (self.committed.end, self.terms.ring_bytes);
        let target = &mut self.receivers[receiver];
        let fresh = target.fresh(end, ring_bytes);
        if fresh.is_none() && target.schedule.is_all_assigned(end) {
            return false;
        }
        let now = self.pacing.now();
        let (nodes, rails, is_flushed) = (&self.nodes, &target.rails, self.is_flushed);
        let is_busy = |rail: usize| rails[rail].is_busy(&nodes[rail], is_flushed);
        let Some((rail, segment)) = target.schedule.next(fresh, is_busy, now) else {
            return false;
        };
        target.last_from = segment.from;
        target.rails[rail].push(segment, self.nodes[rail].has_wide_numbers());
        let batches = &self.counters.rails[rail].batches;
        batches.fetch_add(1, Ordering::Relaxed);
        self.post_outgoing(receiver, rail);
        self.segments_since_look += 1;
        let is_due = self.segments_since_look >= SEGMENTS_PER_LOOK;
        if is_due || now.saturating_duration_since(self.looked_at) >= LOOK_PERIOD {
            // The next claim or flush reports an error, if there is one.
            let _ = self.poll_providers();
        }
        true
    }

    /// Reads what receivers have reported, and finds rails that are late.
    fn look_at_reports(&mut self) {
        (self.segments_since_look, self.looked_at) = (0, self.pacing.now());
        for receiver in 0..self.receivers.len() {
            for rail in 0..self.nodes.len() {
                self.read_report(receiver, rail);
            }
        }
        self.check_rails();
    }

    fn read_report(&mut self, receiver: usize, rail: usize) {
        let (marks, rails) = (self.marks, self.nodes.len());
        let target = &mut self.receivers[receiver];
        if target.is_lost || !target.rails[rail].is_connected() {
            return;
        }
        let Some(report) = target.rails[rail].take_report(marks, rails) else {
            return;
        };
        let now = self.pacing.now();
        match target.take_report(&report, now) {
            Ok(news) => {
                self.has_news |= news.has_room;
                for closed in (0..rails).filter(|rail| news.closed & 1 << rail != 0) {
                    self.end_rail(receiver, closed, "the receiver has closed the connection");
                }
            }
            Err(why) => self.lose(receiver, why),
        }
    }

    /// Ends the connection of a rail that is broken: what it had goes out again on the others, and
    /// the receiver may connect again. Does nothing if the rail has no connection.
    pub(super) fn end_rail(&mut self, receiver: usize, rail: usize, why: &str) {
        let target = &mut self.receivers[receiver];
        let was_connected = target.rails[rail].is_connected();
        let Some(connection) = target.rails[rail].end(self.marks, self.nodes.len()) else {
            return;
        };
        self.nodes[rail].node.disconnect(connection);
        target.schedule.leave(rail);
        target.forget_told_by(rail);
        // What was on the rail goes out at the next turn.
        target.is_blocked = target.is_connected();
        if was_connected {
            let breaks = &self.counters.rails[rail].breaks;
            breaks.fetch_add(1, Ordering::Relaxed);
        }
        if !target.is_connected() && target.disconnected.is_none() && !target.is_lost {
            let known = target.rails.iter().filter_map(|rail| rail.introduction);
            let peer = DisconnectedPeer::new(why.to_owned(), known, self.pacing.now());
            target.disconnected = Some(Box::new(peer));
        }
        self.has_news = true;
    }

    /// Gives a receiver up.
    pub(super) fn lose(&mut self, receiver: usize, why: String) {
        if std::mem::replace(&mut self.receivers[receiver].is_lost, true) {
            return;
        }
        for rail in 0..self.nodes.len() {
            self.end_rail(receiver, rail, &why);
            // Nothing of this process is left that the receiver has a key of.
            let region = self.receivers[receiver].rails[rail].reports_region;
            self.nodes[rail].node.deregister(region);
        }
        let target = &mut self.receivers[receiver];
        (target.disconnected, target.is_blocked) = (None, false);
        self.lost.push(receiver as u32);
        self.last_loss = why;
        self.has_news = true;
    }

    /// Finds rails that are stalled, asks for reports because of late ones, and has receivers told
    /// what is closed.
    fn check_rails(&mut self) {
        let now = self.pacing.now();
        for receiver in 0..self.receivers.len() {
            if self.receivers[receiver].is_lost {
                continue;
            }
            if self.receivers[receiver].schedule.check_stalls(now) {
                self.end_stalled(receiver);
            }
            let target = &mut self.receivers[receiver];
            let (nodes, rails) = (&self.nodes, &mut target.rails);
            while let Some(rail) = target
                .schedule
                .next_probe(|rail| !rails[rail].is_busy(&nodes[rail], false), now)
            {
                rails[rail].push_empty(RailNumber::Empty);
            }
            target.push_closings(now);
            for rail in 0..self.nodes.len() {
                if self.receivers[receiver].rails[rail].has_outgoing() {
                    self.post_outgoing(receiver, rail);
                }
            }
        }
    }

    /// Closes the connections of stalled rails. The receiver makes them again.
    fn end_stalled(&mut self, receiver: usize) {
        for rail in 0..self.nodes.len() {
            if self.receivers[receiver].schedule.is_stalled(rail) {
                self.end_rail(receiver, rail, "the rail has fallen silent");
            }
        }
    }

    /// Takes what the nodes tell of. A node that fails takes its rail along, and the edge if it is
    /// the last one.
    ///
    /// # Errors
    /// The last node has failed.
    fn poll_nodes(&mut self, takes_events: bool) -> Result<(), Error> {
        for rail in 0..self.nodes.len() {
            if self.nodes[rail].failure.is_none() {
                self.poll_node(rail, takes_events);
            }
        }
        let mut failures = self.nodes.iter().map(|node| node.failure.as_ref());
        match failures.clone().all(|failure| failure.is_some()) {
            true => Err(Error::Refused(
                failures.next().flatten().cloned().unwrap_or_default(),
            )),
            false => Ok(()),
        }
    }

    /// Has the provider tell of the last writes to a receiver. Returns whether it was asked.
    fn ask_for_completions(&mut self, receiver: usize) -> bool {
        let mut is_asked = false;
        for rail in 0..self.nodes.len() {
            let target = &mut self.receivers[receiver].rails[rail];
            match target.ask_for_completion(&mut self.nodes[rail], receiver) {
                Ok(asked) => is_asked |= asked,
                Err(error) => self.end_rail(receiver, rail, &error.to_string()),
            }
        }
        is_asked
    }
}

impl<N: RdmaNode> BatchTargets for RailTargets<N> {
    fn pacing(&mut self) -> Option<&mut BatchPacing> {
        Some(&mut self.pacing)
    }

    fn receiver_count(&self) -> usize {
        self.receivers.len()
    }

    fn batch_receiver(&self, at: usize) -> BatchReceiver {
        let target = &self.receivers[at];
        BatchReceiver {
            is_living: !target.is_lost,
            is_connected: target.is_connected(),
            has_all: target.has_all(self.committed.end),
            is_blocked: target.is_blocked,
            is_idle: target.is_idle(),
            is_nearly_idle: target.is_nearly_idle(),
        }
    }

    fn note_commit(&mut self, committed: Committed) {
        self.committed = committed;
        self.was_flushed = std::mem::take(&mut self.is_flushed);
    }

    fn post_to(&mut self, at: usize) -> u64 {
        if self.receivers[at].is_lost {
            return 0;
        }
        for rail in 0..self.nodes.len() {
            if self.receivers[at].rails[rail].has_outgoing() {
                self.post_outgoing(at, rail);
            }
        }
        let mut writes = 0;
        while self.post_segment(at) {
            writes += 1;
        }
        let end = self.committed.end;
        let target = &mut self.receivers[at];
        target.is_blocked = target.is_connected() && !target.has_all(end);
        writes
    }

    fn poll_providers(&mut self) -> Result<(), Error> {
        self.poll_nodes(false)?;
        self.look_at_reports();
        Ok(())
    }

    fn is_near_limit(&self) -> bool {
        let many = WRITES_ON_WAY_MAX / 4;
        let mut rails = self.receivers.iter().flat_map(|target| &target.rails);
        rails.any(|rail| rail.on_way() >= many)
    }

    fn check_disconnected(&mut self, now: Instant) {
        let (registration, timeout) = (self.pacing.registration, self.pacing.reconnect_timeout);
        for at in 0..self.receivers.len() {
            let disconnected = self.receivers[at].disconnected.as_mut();
            let gone = disconnected.and_then(|peer| peer.check_gone(registration, timeout, now));
            if let Some(why) = gone {
                self.lose(at, why);
            }
        }
    }
}

impl<N: RdmaNode> RingTargets for RailTargets<N> {
    fn commit(&mut self, committed: Committed) {
        self.note_commit(committed);
        self.post_scope(FlushScope::All);
    }

    fn post_waiting(&mut self) {
        if self.poll_providers().is_ok() {
            self.post_scope(FlushScope::All);
        }
    }

    fn hold(&mut self, committed: Committed) {
        self.committed = committed;
    }

    fn released(&self) -> Option<u64> {
        self.living().map(|target| target.schedule.released()).min()
    }

    fn reusable(&self) -> Option<u64> {
        self.living().map(|target| target.reusable).min()
    }

    fn is_unposted(&self, position: u64) -> bool {
        let mut living = self.living();
        living.all(|target| target.schedule.assigned_to() <= position)
    }

    fn list_lost(&self, list: &mut Vec<u32>) {
        list.extend_from_slice(&self.lost[list.len()..]);
    }

    fn flush(&mut self) -> Result<bool, Error> {
        self.is_flushed = true;
        self.progress()?;
        self.let_out();
        let mut is_asked = false;
        for receiver in 0..self.receivers.len() {
            is_asked |= self.ask_for_completions(receiver);
        }
        if is_asked {
            // A provider over sockets has mostly told already.
            self.progress()?;
        }
        let end = self.committed.end;
        let is_written = |target: &RailTarget| {
            let mut rails = target.rails.iter();
            target.is_connected() && target.has_all(end) && rails.all(TargetRail::is_written)
        };
        Ok(self.living().all(is_written))
    }

    fn check_receivers(&self) -> Result<(), Error> {
        if self.lost.len() < self.receivers.len() {
            return Ok(());
        }
        Err(Error::PeerLost(PeerLoss {
            receiver: self.lost.last().copied(),
            reason: self.last_loss.clone(),
        }))
    }
}

impl<N: RdmaNode> ModeTargets for RailTargets<N> {
    fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    fn slowest(&self) -> Option<(u32, u64)> {
        let living = (0..).zip(&self.receivers);
        let living = living.filter(|(_, target)| !target.is_lost);
        let (receiver, target) = living.min_by_key(|(_, target)| target.schedule.released())?;
        let queued = self
            .committed
            .end
            .saturating_sub(target.schedule.released());
        Some((receiver, queued))
    }

    fn count_refusals_in(&mut self, counters: Arc<EdgeCounters>) {
        self.counters = counters;
    }

    /// Whether a receiver is not connected yet, or has not been sent all that is committed.
    fn waits(&self) -> bool {
        let end = self.committed.end;
        let is_sent = |target: &RailTarget| target.is_connected() && target.has_all(end);
        !self.living().all(is_sent)
    }

    fn committed(&self) -> u64 {
        self.committed.end
    }

    fn is_on_way(&self) -> bool {
        self.living().any(RailTarget::is_on_way)
    }

    fn is_done(&self) -> bool {
        let end = self.committed.end;
        self.released().is_none_or(|released| released == end)
    }

    fn wait_fds(&self) -> Result<Vec<[BorrowedFd<'_>; 2]>, Error> {
        let fds = self.nodes.iter().map(|node| node.node.wait_fds());
        fds.collect::<Result<_, _>>().map_err(refused)
    }

    fn may_sleep(&mut self) -> Result<bool, Error> {
        let mut may_sleep = true;
        for rail in 0..self.nodes.len() {
            if self.nodes[rail].failure.is_none() {
                match self.nodes[rail].node.may_sleep() {
                    Ok(may) => may_sleep &= may,
                    Err(error) => {
                        self.fail_node(rail, error.to_string());
                        may_sleep = false;
                    }
                }
            }
        }
        Ok(may_sleep)
    }

    fn is_sound(&self, node: usize) -> bool {
        self.nodes[node].failure.is_none()
    }

    /// Takes completions, reports, requests and losses, and posts what is due.
    fn progress(&mut self) -> Result<(), Error> {
        self.poll_nodes(true)?;
        self.look_at_reports();
        self.pace();
        Ok(())
    }

    fn attach(&mut self, to: Registration) {
        self.pacing.registration = Some(to);
    }

    fn let_out(&mut self) {
        self.post_scope(FlushScope::All);
    }

    fn next_turn_at(&mut self, now: Instant) -> Option<Instant> {
        let stalls = self.living();
        let stalls = stalls.filter_map(|target| target.schedule.next_stall_check_at(now));
        let stall = stalls.min();
        self.next_batch_at(now).into_iter().chain(stall).min()
    }

    fn is_batching(&self) -> bool {
        true
    }
}
