//! The receivers of a sender in mode `write` or `batch`: what is posted to each, and what each has
//! released.
//!
//! This part is behind a lock, since the IO thread answers receivers, takes credit and posts what
//! waits while the sending thread is elsewhere. The frames themselves are built outside of it, in
//! [`super::write_sender`], and posted by [`super::write_posts`]. In mode `batch`,
//! [`super::batch_targets`] says when, and a receiver whose connection broke connects again and
//! goes on where it was.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use fabric::{
    COMPLETIONS_PER_POLL, Completion, CompletionKind, ConnectionId, ConnectionRequest, FabricError,
    FabricEvent, PinnedMemory, RdmaNode, RegionId, RemoteAccess, RemoteMemory,
};

use super::batch_pacing::{BatchPacing, BatchTerms};
use super::batch_targets::BatchTargets;
use super::disconnected_peer::DisconnectedPeer;
use super::greeting::{RdmaAcceptance, RdmaRequest};
use super::introduction::{INTRODUCTION_WORDS, Introduction};
use super::mode::ModeTargets;
use super::number_buffers::NumberMemory;
use super::record::{CREDIT_BYTES, RecordMarks};
use super::ring_targets::RingTargets;
use super::write_target::{TargetState, WRITE_COUNT_BITS, WRITE_COUNT_MASK, WriteTarget};
use super::{PlacementProof, batch_mode_number, mode_number};
use crate::media::rum::flush_deadline::FlushScope;
use crate::media::tcp_edge::io_thread::Registration;
use crate::{EdgeCounters, EdgeSpec, Error};

/// One write in so many has a completion, by which the provider's queue is emptied. A completion
/// costs a sender more than a small write does.
pub(super) const WRITES_PER_COMPLETION: u64 = 8;

/// Most receivers of an edge: as many as the other bits of a completion's number tell apart.
pub(super) const RECEIVERS_MAX: u32 = 1 << (64 - WRITE_COUNT_BITS);

/// All receivers of an edge in mode `write` or `batch`, over one node.
pub(super) struct WriteTargets<N> {
    pub(super) node: N,
    spec: EdgeSpec,
    pub(super) terms: WriteTerms,
    pub(super) ring_region: RegionId,
    pub(super) receivers: Vec<WriteTarget>,
    /// Receive buffers that numbers of credit use up, of some providers.
    pub(super) number_memory: NumberMemory,
    pub(super) committed: Committed,
    completions: Vec<Completion>,
    pub(super) lost: Vec<u32>,
    /// Why the receiver was lost that was lost last.
    pub(super) last_loss: String,
    /// Whether credit or a loss has come that a thread without room may wait for.
    has_news: bool,
    /// Counters of the edge, for refused requests.
    counters: Arc<EdgeCounters>,
    /// Whether there was a flush behind the last commit, and behind the one before it.
    pub(super) is_flushed: bool,
    pub(super) was_flushed: bool,
    /// In mode `batch`: when frames are posted.
    pub(super) pacing: Option<BatchPacing>,
}

/// Terms of an edge that the sender sets.
#[derive(Clone)]
pub(super) struct WriteTerms {
    pub(super) proof: PlacementProof,
    /// Bytes of the ring: a multiple of 8.
    pub(super) ring_bytes: u64,
    pub(super) salt: u64,
    /// Terms of mode `batch`; `None`: the mode is `write`.
    pub(super) batch: Option<BatchTerms>,
}

impl WriteTerms {
    /// Number of the mode in greetings.
    fn mode_number(&self) -> u16 {
        match self.batch {
            None => mode_number(self.proof),
            Some(_) => batch_mode_number(self.proof),
        }
    }
}

/// How far the ring holds whole records, which may be posted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Committed {
    /// Position behind the last whole record.
    pub(super) end: u64,
    /// Number of records before it.
    pub(super) records: u32,
    /// Position of the last start of the ring where a record lies, and the number of records
    /// before it.
    pub(super) turn: (u64, u32),
}

impl<N: RdmaNode> WriteTargets<N> {
    /// Makes the receivers' side over a node that listens, for a ring that lies in `ring`.
    pub(super) fn new(
        mut node: N,
        spec: &EdgeSpec,
        terms: &WriteTerms,
        ring: &PinnedMemory,
    ) -> Result<WriteTargets<N>, Error> {
        let ring_region = node.register(ring, RemoteAccess::None).map_err(refused)?;
        let has_numbers = terms.proof == PlacementProof::Numbers;
        let number_memory = NumberMemory::new(&mut node, has_numbers)?;
        let receivers = (0..spec.receiver_count).map(|_| WriteTarget::new(&mut node));
        let receivers = receivers.collect::<Result<Vec<_>, _>>()?;
        Ok(WriteTargets {
            node,
            spec: spec.clone(),
            terms: terms.clone(),
            ring_region,
            lost: Vec::with_capacity(receivers.len()),
            receivers,
            number_memory,
            committed: Committed::default(),
            completions: Vec::with_capacity(COMPLETIONS_PER_POLL),
            last_loss: String::new(),
            has_news: false,
            counters: Arc::default(),
            is_flushed: false,
            was_flushed: false,
            pacing: terms.batch.as_ref().map(BatchPacing::new),
        })
    }

    pub(super) fn living(&self) -> impl Iterator<Item = &WriteTarget> {
        let is_living = |target: &&WriteTarget| target.state != TargetState::Lost;
        self.receivers.iter().filter(is_living)
    }

    /// Takes the completions of writes, and what else the provider tells of.
    pub(super) fn take_completions(&mut self) -> Result<(), Error> {
        let mut completions = std::mem::take(&mut self.completions);
        let polled = self.node.poll_completions(&mut completions);
        for completion in completions.drain(..) {
            self.complete(&completion);
        }
        self.completions = completions;
        polled.map_err(refused)?;
        self.post_used_number_buffers();
        Ok(())
    }

    /// Posts the receive buffers that credit has used up. A sender that waits for credit has
    /// nothing else to post, and the credit may wait for these buffers.
    fn post_used_number_buffers(&mut self) {
        if !self.number_memory.is_used() {
            return;
        }
        for receiver in 0..self.receivers.len() {
            self.post_number_buffers(receiver);
        }
    }

    fn complete(&mut self, completion: &Completion) {
        let receiver = (completion.number >> WRITE_COUNT_BITS) as usize;
        let write = completion.number & WRITE_COUNT_MASK;
        let Some(target) = self.receivers.get_mut(receiver) else {
            return;
        };
        match &completion.kind {
            CompletionKind::Posted => target.finish_to(write),
            CompletionKind::RemoteWrite { .. } => target.numbers.take(),
            CompletionKind::Failed(error) if write != 0 && !target.is_stale(write) => {
                self.end_connection(receiver, error.to_string());
            }
            // Credit tells of itself by its word, and the end of a connection by an event.
            _ => {}
        }
    }

    fn handle(&mut self, event: FabricEvent) {
        match event {
            FabricEvent::Request(request) => self.answer(request),
            FabricEvent::Connected { connection, .. } => self.connect(connection),
            FabricEvent::Closed {
                connection, why, ..
            } => {
                let is_it = |target: &WriteTarget| target.state.connection() == Some(connection);
                if let Some(receiver) = self.receivers.iter().position(is_it) {
                    self.end_connection(receiver, why);
                }
            }
        }
    }

    /// Notes that a connection is made.
    fn connect(&mut self, connection: ConnectionId) {
        let accepted = TargetState::Accepted(connection);
        let is_it = |target: &WriteTarget| target.state == accepted;
        if let Some(at) = self.receivers.iter().position(is_it) {
            self.receivers[at].state = TargetState::Connected(connection);
            self.receivers[at].disconnected = None;
            self.post_to_receiver(at);
        }
    }

    /// Accepts a receiver of this edge that shows the token, and refuses others.
    fn answer(&mut self, request: ConnectionRequest) {
        let accepted = self.read_request(&request).and_then(|(position, read)| {
            // The receiver has closed the connection that it had, and may have noticed first.
            self.close_connection(read.receiver as usize);
            let connection = self.node.begin_accept(&request).map_err(refused)?;
            Ok((connection, position, read))
        });
        match accepted {
            Ok((connection, position, read)) => self.finish_accept(connection, position, &read),
            Err(why) => reject(&mut self.node, &self.counters, request, &why),
        }
    }

    /// The request of a receiver that may be accepted, and the position at which it goes on.
    fn read_request(&self, request: &ConnectionRequest) -> Result<(u64, RdmaRequest), Error> {
        let read = RdmaRequest::read(&request.data, self.terms.mode_number(), &self.spec)?;
        let target = &self.receivers[read.receiver as usize];
        if self.pacing.is_some() {
            let position = target.start_position(read.place());
            return Ok((position.ok_or_else(|| not_awaited(read.receiver))?, read));
        }
        if target.state != TargetState::Awaited {
            return Err(not_awaited(read.receiver));
        }
        if read.ring.bytes != self.terms.ring_bytes {
            return Err(Error::Refused(format!(
                "the other side's ring has {} bytes, this one's {}",
                read.ring.bytes, self.terms.ring_bytes
            )));
        }
        Ok((0, read))
    }

    fn finish_accept(&mut self, connection: ConnectionId, position: u64, read: &RdmaRequest) {
        let target = &mut self.receivers[read.receiver as usize];
        if target.state != TargetState::Awaited
            && let Some(pacing) = &self.pacing
        {
            pacing.counters.reconnects.fetch_add(1, Ordering::Relaxed);
        }
        target.memory = RemoteMemory {
            bytes: self.terms.ring_bytes,
            ..read.ring
        };
        target.state = TargetState::Accepted(connection);
        target.instance = read.place().1;
        target.restart(position);
        // Those that find no room now are posted with the next completions.
        self.post_number_buffers(read.receiver as usize);
        let target = &self.receivers[read.receiver as usize];
        if target.state != TargetState::Accepted(connection) {
            return;
        }
        let acceptance = RdmaAcceptance {
            mode: self.terms.mode_number(),
            position,
            salt: self.terms.salt,
            credit: self.node.remote_memory(target.credit_region),
            ring_bytes: self.terms.ring_bytes,
        };
        let answered = self.node.finish_accept(connection, &acceptance.to_bytes());
        if let Err(error) = answered {
            self.end_connection(read.receiver as usize, error.to_string());
        }
    }

    pub(super) fn read_credit(&mut self) {
        let marks = RecordMarks::new(self.terms.salt);
        for receiver in 0..self.receivers.len() {
            let target = &mut self.receivers[receiver];
            let words = [target.credit.word(0), target.credit.word(8)];
            // Words that do not fit are about to change, or were never written.
            let Some(released) = marks.credited(words) else {
                continue;
            };
            if released == target.released || !target.is_connected() {
                continue;
            }
            if released < target.released || released > target.posted {
                self.lose(receiver, "its credit is not what it was sent".to_owned());
                continue;
            }
            target.released = released;
            self.has_news = true;
            // A write whose frames are released is done, whether or not its completion has come.
            target.finish_writes(|&(_, end)| end <= released);
            while target
                .unreleased
                .front()
                .is_some_and(|end| *end <= released)
            {
                target.unreleased.pop_front();
            }
        }
    }

    /// Ends a connection that is broken: in mode `batch` the receiver may connect again.
    pub(super) fn end_connection(&mut self, receiver: usize, why: String) {
        let Some(pacing) = &self.pacing else {
            return self.lose(receiver, why);
        };
        let (now, marks) = (pacing.now(), RecordMarks::new(self.terms.salt));
        self.close_connection(receiver);
        let target = &mut self.receivers[receiver];
        if target.state == TargetState::Lost {
            return;
        }
        target.state = TargetState::Disconnected;
        if target.disconnected.is_none() {
            let words = |at| target.credit.word(CREDIT_BYTES + 8 * at);
            let words: [u64; INTRODUCTION_WORDS] = std::array::from_fn(words);
            let introduction = Introduction::read(words, marks);
            let peer = DisconnectedPeer::new(why, introduction, now);
            target.disconnected = Some(Box::new(peer));
        }
        self.has_news = true;
    }

    /// Closes a receiver's connection, if it has one: nothing of it is on its way any more.
    fn close_connection(&mut self, receiver: usize) {
        let target = &mut self.receivers[receiver];
        if let Some(connection) = target.state.connection() {
            self.node.disconnect(connection);
            target.restart(target.posted);
        }
    }

    pub(super) fn lose(&mut self, receiver: usize, why: String) {
        if receiver >= self.receivers.len() {
            return;
        }
        self.close_connection(receiver);
        let target = &mut self.receivers[receiver];
        target.disconnected = None;
        target.is_blocked = false;
        if target.state != TargetState::Lost {
            // Nothing of this process is left that the receiver has a key of.
            self.node.deregister(target.credit_region);
            target.state = TargetState::Lost;
            self.lost.push(receiver as u32);
            self.last_loss = why;
            self.has_news = true;
        }
    }
}

impl<N: RdmaNode> ModeTargets for WriteTargets<N> {
    /// Whether credit or a loss has come since the last call.
    fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    fn slowest(&self) -> Option<(u32, u64)> {
        let living = (0..).zip(&self.receivers);
        let living = living.filter(|(_, target)| target.state != TargetState::Lost);
        let (receiver, target) = living.min_by_key(|(_, target)| target.released)?;
        Some((receiver, self.committed.end.saturating_sub(target.released)))
    }

    fn count_refusals_in(&mut self, counters: Arc<EdgeCounters>) {
        self.counters = counters;
    }

    /// Whether a receiver is not connected yet, or has not been sent all that is committed.
    fn waits(&self) -> bool {
        let end = self.committed.end;
        let is_sent = |target: &WriteTarget| target.is_connected() && target.posted == end;
        !self.living().all(is_sent)
    }

    /// Position behind the last whole record.
    fn committed(&self) -> u64 {
        self.committed.end
    }

    /// Whether writes to a living receiver are on their way.
    fn is_on_way(&self) -> bool {
        self.living().any(|target| !target.on_way.is_empty())
    }

    /// Whether every living receiver has released all that is committed.
    fn is_done(&self) -> bool {
        let end = self.committed.end;
        self.released().is_none_or(|released| released == end)
    }

    fn wait_fds(&self) -> Result<Vec<[BorrowedFd<'_>; 2]>, Error> {
        Ok(vec![self.node.wait_fds().map_err(refused)?])
    }

    fn may_sleep(&mut self) -> Result<bool, Error> {
        self.node.may_sleep().map_err(refused)
    }

    /// Takes completions, credit, requests and losses, and posts what waits: in mode `batch`, what
    /// is due.
    fn progress(&mut self) -> Result<(), Error> {
        self.take_completions()?;
        while let Some(event) = self.node.next_event().map_err(refused)? {
            self.handle(event);
        }
        self.read_credit();
        match self.pacing {
            None => self.post_all(),
            Some(_) => self.pace(),
        }
        Ok(())
    }

    fn attach(&mut self, to: Registration) {
        if let Some(pacing) = &mut self.pacing {
            pacing.registration = Some(to);
        }
    }

    fn let_out(&mut self) {
        if self.pacing.is_some() {
            self.post_scope(FlushScope::All);
        }
    }

    fn next_turn_at(&mut self, now: Instant) -> Option<Instant> {
        self.next_batch_at(now)
    }

    fn is_batching(&self) -> bool {
        self.pacing.is_some()
    }
}

/// Registered memory of at least `bytes` bytes.
pub(super) fn memory(bytes: usize) -> Result<PinnedMemory, Error> {
    PinnedMemory::new(bytes).map_err(|error| Error::system("map memory for an edge", error))
}

/// Refuses a request, tells the peer why, and counts it.
pub(super) fn reject(
    node: &mut impl RdmaNode,
    counters: &EdgeCounters,
    request: ConnectionRequest,
    why: &Error,
) {
    let why = why.to_string();
    // A peer that cannot be told sees the end of its connection.
    let _ = node.reject(request, &why);
    counters.count_refusal(format!("a request for a connection was refused: {why}"));
}

/// The refusal of a receiver that has connected before.
pub(super) fn not_awaited(receiver: u32) -> Error {
    Error::Refused(format!("receiver {receiver} is connected already, or gone"))
}

/// The error of a provider.
pub(super) fn refused(error: FabricError) -> Error {
    Error::Refused(error.to_string())
}
