//! The receivers of a sender in mode `write`: what is posted to each, and what each has released.
//!
//! This part is behind a lock, since the IO thread answers receivers, takes credit and posts what
//! waits while the sending thread is elsewhere. The frames themselves are built outside of it, in
//! [`super::write_sender`].

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use fabric::{
    COMPLETIONS_PER_POLL, Completion, CompletionKind, ConnectionId, ConnectionRequest, FabricError,
    FabricEvent, LocalSlice, PinnedMemory, PostOptions, RdmaNode, RegionId, RemoteAccess,
    RemoteMemory,
};

use super::greeting::{RdmaAcceptance, RdmaRequest};
use super::mode::ModeTargets;
use super::number_buffers::{NUMBER_BUFFERS, NumberBuffers, NumberMemory};
use super::record::{CREDIT_BYTES, RecordMarks};
use super::{PlacementProof, mode_number};
use crate::{EdgeCounters, EdgeSpec, Error};

/// One write in so many has a completion, by which the provider's queue is emptied. A completion
/// costs a sender more than a small write does.
const WRITES_PER_COMPLETION: u64 = 8;

/// Most writes to a receiver that are on their way: enough to hide a round trip, and few enough
/// that frames join records when the network is slower than the sender.
const WRITES_ON_WAY_MAX: usize = 32;

/// Bits of a completion's number that count writes, from 0 again after all; those above are the
/// receiver.
const WRITE_COUNT_BITS: u32 = 40;

const WRITE_COUNT_MASK: u64 = (1 << WRITE_COUNT_BITS) - 1;

const MASK_HALF: u64 = 1 << (WRITE_COUNT_BITS - 1);

/// Most receivers of an edge: as many as the other bits of a completion's number tell apart.
pub(super) const RECEIVERS_MAX: u32 = 1 << (64 - WRITE_COUNT_BITS);

/// All receivers of an edge in mode `write`, over one node.
pub(super) struct WriteTargets<N> {
    node: N,
    spec: EdgeSpec,
    proof: PlacementProof,
    ring_region: RegionId,
    ring_bytes: u64,
    salt: u64,
    receivers: Vec<WriteTarget>,
    /// Receive buffers that numbers of credit use up, of some providers.
    number_memory: NumberMemory,
    committed: Committed,
    completions: Vec<Completion>,
    lost: Vec<u32>,
    /// Why the receiver was lost that was lost last.
    last_loss: String,
    /// Whether credit or a loss has come that a thread without room may wait for.
    has_news: bool,
    /// Counters of the edge, for refused requests.
    counters: Arc<EdgeCounters>,
    /// Whether there was a flush behind the last commit, and behind the one before it.
    is_flushed: bool,
    was_flushed: bool,
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

/// A receiver of the edge, from before it has connected.
struct WriteTarget {
    state: TargetState,
    /// Memory of its own for its credit, so that its key opens nothing else.
    credit: PinnedMemory,
    credit_region: RegionId,
    memory: RemoteMemory,
    /// Position up to which frames are posted, and up to which they are released.
    posted: u64,
    released: u64,
    /// Number of writes posted, and of the last one that has a completion.
    writes: u64,
    told: u64,
    /// Writes on their way: number and end.
    on_way: VecDeque<(u64, u64)>,
    /// Receive buffers for the numbers of its credit.
    numbers: NumberBuffers,
    /// Ends of the writes with a number that it has not released, if numbers use receive buffers.
    unreleased: VecDeque<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TargetState {
    Awaited,
    Accepted(ConnectionId),
    Connected(ConnectionId),
    Lost,
}

impl<N: RdmaNode> WriteTargets<N> {
    /// Makes the receivers' side over a node that listens, for a ring that lies in `ring`.
    pub(super) fn new(
        mut node: N,
        spec: &EdgeSpec,
        proof: PlacementProof,
        ring: &PinnedMemory,
        ring_bytes: usize,
        salt: u64,
    ) -> Result<WriteTargets<N>, Error> {
        let ring_region = node.register(ring, RemoteAccess::None).map_err(refused)?;
        let has_numbers = proof == PlacementProof::Numbers;
        let number_memory = NumberMemory::new(&mut node, has_numbers)?;
        let receivers = (0..spec.receiver_count).map(|_| WriteTarget::new(&mut node));
        let receivers = receivers.collect::<Result<Vec<_>, _>>()?;
        Ok(WriteTargets {
            node,
            spec: spec.clone(),
            proof,
            ring_region,
            ring_bytes: ring_bytes as u64,
            salt,
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
        })
    }

    /// Lets everything before a position be posted, and posts it as far as there is room.
    pub(super) fn commit(&mut self, committed: Committed) {
        self.committed = committed;
        self.was_flushed = std::mem::take(&mut self.is_flushed);
        self.post_all();
    }

    /// Posts what waits for completions, if they have come. The next claim or flush reports an
    /// error, if there is one.
    pub(super) fn post_waiting(&mut self) {
        let end = self.committed.end;
        if self.living().any(|target| target.posted < end) && self.take_completions().is_ok() {
            self.post_all();
        }
    }

    /// Keeps everything behind a position from being posted.
    pub(super) fn hold(&mut self, committed: Committed) {
        self.committed = committed;
    }

    /// Lowest position up to which a living receiver has released frames; `None`: none is living.
    pub(super) fn released(&self) -> Option<u64> {
        self.living().map(|target| target.released).min()
    }

    /// Whether no living receiver has been sent the record at a position.
    pub(super) fn is_unposted(&self, position: u64) -> bool {
        self.living().all(|target| target.posted <= position)
    }

    /// Appends the receivers that are gone to a list that had all of an earlier call.
    pub(super) fn list_lost(&self, list: &mut Vec<u32>) {
        list.extend_from_slice(&self.lost[list.len()..]);
    }

    /// Makes progress, and has the provider tell of the last writes. Returns whether all that is
    /// committed is written, so that it outlives this process: a write that is posted may still
    /// wait in the provider.
    pub(super) fn flush(&mut self) -> Result<bool, Error> {
        self.is_flushed = true;
        self.progress()?;
        let mut is_asked = false;
        for receiver in 0..self.receivers.len() {
            is_asked |= self.ask_for_completion(receiver);
        }
        if is_asked {
            // A provider over sockets has mostly told already.
            self.progress()?;
        }
        let end = self.committed.end;
        Ok(self.living().all(|target| target.is_written(end)))
    }

    /// The error of an edge whose last receiver is gone.
    pub(super) fn check_receivers(&self) -> Result<(), Error> {
        if self.lost.len() < self.receivers.len() {
            return Ok(());
        }
        Err(Error::PeerLost(crate::PeerLoss {
            receiver: self.lost.last().copied(),
            reason: self.last_loss.clone(),
        }))
    }

    fn living(&self) -> impl Iterator<Item = &WriteTarget> {
        let is_living = |target: &&WriteTarget| target.state != TargetState::Lost;
        self.receivers.iter().filter(is_living)
    }

    /// Posts what is committed to each receiver that is connected.
    fn post_all(&mut self) {
        for receiver in 0..self.receivers.len() {
            while self.post_next(receiver) {}
        }
    }

    /// Posts one write to a receiver. Returns whether there may be room for another.
    fn post_next(&mut self, receiver: usize) -> bool {
        let Committed {
            end: limit,
            records,
            turn,
        } = self.committed;
        let target = &self.receivers[receiver];
        let from = target.posted;
        let is_full = target.on_way.len() >= self.writes_on_way_max()
            || target.unreleased.len() >= NUMBER_BUFFERS;
        if from >= limit || is_full {
            return false;
        }
        let round_end = (from / self.ring_bytes + 1) * self.ring_bytes;
        let (end, number) = match limit > round_end {
            true => (round_end, turn.1),
            false => (limit, records),
        };
        if !self.post_number_buffers(receiver) {
            return false;
        }
        let target = &self.receivers[receiver];
        let is_told = self.was_flushed || (target.writes + 1).is_multiple_of(WRITES_PER_COMPLETION);
        let piece = end.min(from.saturating_add(self.write_bytes_max()));
        let immediate = match self.proof {
            // A number tells of all records before it, so a part of one brings none.
            PlacementProof::Numbers if piece == end => Some(u64::from(number)),
            _ => None,
        };
        self.post(receiver, from..piece, is_told, immediate)
    }

    /// Posts the receive buffers that a receiver's credit has used up, if the provider uses any.
    /// Returns whether all are posted.
    fn post_number_buffers(&mut self, receiver: usize) -> bool {
        let target = &mut self.receivers[receiver];
        let (TargetState::Accepted(connection) | TargetState::Connected(connection)) = target.state
        else {
            return false;
        };
        let number = (receiver as u64) << WRITE_COUNT_BITS;
        let (memory, buffers) = (&self.number_memory, &mut target.numbers);
        let posted = memory.post(&mut self.node, connection, buffers, number);
        posted.unwrap_or_else(|error| {
            self.lose(receiver, error.to_string());
            false
        })
    }

    /// Posts the last word of the last write again, with a completion, if the provider was not to
    /// tell of that write: the word is there already, or arrives behind the same word. Returns
    /// whether it is posted.
    fn ask_for_completion(&mut self, receiver: usize) -> bool {
        let target = &self.receivers[receiver];
        if target.on_way.is_empty() || target.told == target.writes {
            return false;
        }
        let end = target.posted;
        self.post(receiver, end - 8..end, true, None)
    }

    /// Posts a write of these positions of the ring, which do not go around its end. Returns
    /// whether the provider had room.
    fn post(
        &mut self,
        receiver: usize,
        positions: Range<u64>,
        is_told: bool,
        immediate: Option<u64>,
    ) -> bool {
        let target = &self.receivers[receiver];
        let TargetState::Connected(connection) = target.state else {
            return false;
        };
        let offset = (positions.start % self.ring_bytes) as usize;
        let range = offset..offset + (positions.end - positions.start) as usize;
        let write = (target.writes + 1) & WRITE_COUNT_MASK;
        let completion = (receiver as u64) << WRITE_COUNT_BITS | write;
        let options = PostOptions {
            completion: is_told.then_some(completion),
            immediate,
            is_more: false,
            is_inline: range.len() <= self.node.limits().inline_bytes_max,
        };
        let slice = LocalSlice {
            region: self.ring_region,
            range,
        };
        let memory = target.memory;
        match self
            .node
            .post_write(connection, &slice, &memory, offset as u64, options)
        {
            Ok(true) => {
                let target = &mut self.receivers[receiver];
                target.posted = positions.end;
                target.writes = write;
                if is_told {
                    target.told = write;
                }
                target.on_way.push_back((write, positions.end));
                if immediate.is_some() && self.number_memory.is_used() {
                    target.unreleased.push_back(positions.end);
                }
                true
            }
            Ok(false) => false,
            Err(error) => {
                self.lose(receiver, error.to_string());
                false
            }
        }
    }

    /// Most bytes of a write: a multiple of 8, as positions are.
    fn write_bytes_max(&self) -> u64 {
        (self.node.limits().message_bytes_max as u64 / 8 * 8).max(8)
    }

    fn writes_on_way_max(&self) -> usize {
        let depth = self.node.limits().transmit_depth;
        WRITES_ON_WAY_MAX.min(depth.saturating_sub(1).max(1))
    }

    /// Takes the completions of writes, and what else the provider tells of.
    pub(super) fn take_completions(&mut self) -> Result<(), Error> {
        let mut completions = std::mem::take(&mut self.completions);
        let polled = self.node.poll_completions(&mut completions);
        for completion in completions.drain(..) {
            self.complete(&completion);
        }
        self.completions = completions;
        polled.map_err(refused)
    }

    fn complete(&mut self, completion: &Completion) {
        let receiver = (completion.number >> WRITE_COUNT_BITS) as usize;
        match &completion.kind {
            CompletionKind::Posted => {
                let write = completion.number & WRITE_COUNT_MASK;
                // Far fewer writes are on their way than half of the count.
                let is_done = |number| write.wrapping_sub(number) & WRITE_COUNT_MASK < MASK_HALF;
                if let Some(target) = self.receivers.get_mut(receiver) {
                    target.finish_writes(|&(number, _)| is_done(number));
                }
            }
            CompletionKind::RemoteWrite { .. } => {
                if let Some(target) = self.receivers.get_mut(receiver) {
                    target.numbers.take();
                }
            }
            CompletionKind::Failed(error) if completion.number & WRITE_COUNT_MASK != 0 => {
                self.lose(receiver, error.to_string());
            }
            // Credit tells of itself by its word, and the end of a connection by an event.
            _ => {}
        }
    }

    fn handle(&mut self, event: FabricEvent) {
        match event {
            FabricEvent::Request(request) => self.answer(request),
            FabricEvent::Connected { connection, .. } => {
                let accepted = TargetState::Accepted(connection);
                let target = self.receivers.iter_mut().find(|one| one.state == accepted);
                if let Some(target) = target {
                    target.state = TargetState::Connected(connection);
                }
            }
            FabricEvent::Closed { connection, why } => {
                let states = [
                    TargetState::Accepted(connection),
                    TargetState::Connected(connection),
                ];
                let is_it = |target: &WriteTarget| states.contains(&target.state);
                if let Some(receiver) = self.receivers.iter().position(is_it) {
                    self.lose(receiver, why);
                }
            }
        }
    }

    /// Accepts a receiver of this edge that shows the token, and refuses others.
    fn answer(&mut self, request: ConnectionRequest) {
        let accepted = self.read_request(&request).and_then(|read| {
            let connection = self.node.begin_accept(&request).map_err(refused)?;
            Ok((connection, read))
        });
        match accepted {
            Ok((connection, read)) => self.finish_accept(connection, &read),
            Err(why) => reject(&mut self.node, &self.counters, request, &why),
        }
    }

    /// The request of a receiver that may be accepted.
    fn read_request(&self, request: &ConnectionRequest) -> Result<RdmaRequest, Error> {
        let mode = mode_number(self.proof);
        let read = RdmaRequest::read(&request.data, mode, &self.spec)?;
        if self.receivers[read.receiver as usize].state != TargetState::Awaited {
            return Err(not_awaited(read.receiver));
        }
        if read.ring.bytes != self.ring_bytes {
            return Err(Error::Refused(format!(
                "the other side's ring has {} bytes, this one's {}",
                read.ring.bytes, self.ring_bytes
            )));
        }
        Ok(read)
    }

    fn finish_accept(&mut self, connection: ConnectionId, read: &RdmaRequest) {
        let target = &mut self.receivers[read.receiver as usize];
        target.memory = read.ring;
        target.state = TargetState::Accepted(connection);
        if !self.post_number_buffers(read.receiver as usize) {
            let why = "the provider has no room for receive buffers";
            return self.lose(read.receiver as usize, why.to_owned());
        }
        let target = &self.receivers[read.receiver as usize];
        let acceptance = RdmaAcceptance {
            mode: mode_number(self.proof),
            position: 0,
            salt: self.salt,
            credit: RemoteMemory {
                bytes: CREDIT_BYTES as u64,
                ..self.node.remote_memory(target.credit_region)
            },
            ring_bytes: self.ring_bytes,
        };
        let answered = self.node.finish_accept(connection, &acceptance.to_bytes());
        if let Err(error) = answered {
            self.lose(read.receiver as usize, error.to_string());
        }
    }

    fn read_credit(&mut self) {
        let marks = RecordMarks::new(self.salt);
        for receiver in 0..self.receivers.len() {
            let target = &mut self.receivers[receiver];
            let words = [target.credit.word(0), target.credit.word(8)];
            // Words that do not fit are about to change, or were never written.
            let Some(released) = marks.credited(words) else {
                continue;
            };
            if released == target.released || !matches!(target.state, TargetState::Connected(_)) {
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

    fn lose(&mut self, receiver: usize, why: String) {
        let Some(target) = self.receivers.get_mut(receiver) else {
            return;
        };
        if let TargetState::Accepted(connection) | TargetState::Connected(connection) = target.state
        {
            self.node.disconnect(connection);
        }
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
    type Node = N;

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
        let is_sent = |target: &WriteTarget| {
            matches!(target.state, TargetState::Connected(_)) && target.posted == end
        };
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

    /// The node, to sleep on.
    fn node_mut(&mut self) -> &mut N {
        &mut self.node
    }

    /// Posts what waits, takes completions, credit, requests and losses.
    fn progress(&mut self) -> Result<(), Error> {
        self.take_completions()?;
        while let Some(event) = self.node.next_event().map_err(refused)? {
            self.handle(event);
        }
        self.read_credit();
        self.post_all();
        Ok(())
    }
}

impl WriteTarget {
    fn new(node: &mut impl RdmaNode) -> Result<WriteTarget, Error> {
        let credit = memory(CREDIT_BYTES)?;
        let credit_region = node.register(&credit, RemoteAccess::Write);
        Ok(WriteTarget {
            state: TargetState::Awaited,
            credit,
            credit_region: credit_region.map_err(refused)?,
            memory: RemoteMemory {
                address: 0,
                key: 0,
                bytes: 0,
            },
            posted: 0,
            released: 0,
            writes: 0,
            told: 0,
            // One more is that by which a flush asks for a completion.
            on_way: VecDeque::with_capacity(WRITES_ON_WAY_MAX + 1),
            numbers: NumberBuffers::default(),
            unreleased: VecDeque::with_capacity(NUMBER_BUFFERS),
        })
    }

    /// Whether all writes up to a position are done.
    fn is_written(&self, end: u64) -> bool {
        let is_connected = matches!(self.state, TargetState::Connected(_));
        is_connected && self.posted == end && self.on_way.is_empty()
    }

    fn finish_writes(&mut self, is_done: impl Fn(&(u64, u64)) -> bool) {
        while self.on_way.front().is_some_and(&is_done) {
            self.on_way.pop_front();
        }
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
