//! The receivers of a sender in mode `channel`: what is posted to each, and the credit of each.
//!
//! ```text
//!   messages   released      done          posted        committed
//!   of one     |.............|.............|.............|
//!   receiver     at the        on their      wait for
//!                receiver      way           credit or room
//! ```
//! This part is behind a lock, since the IO thread answers receivers, takes credit and posts what
//! waits while the sending thread is elsewhere.
//!
//! # Why credit always finds a buffer
//! Each credit is larger than the one before, and at most the messages that were sent and all
//! buffers of the receiver. While the sender has looked at credit up to `c`, it has sent at most
//! `c` messages; so what it has not looked at are credits above `c` and up to `c` plus the buffers
//! of the receiver: as many messages of credit as buffers. The sender posts a receive buffer for
//! each of them, and posts it again before it sends more.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use fabric::{
    COMPLETIONS_PER_POLL, Completion, CompletionKind, ConnectionRequest, FabricEvent, LocalSlice,
    PinnedMemory, PostOptions, RdmaNode, RegionId, RemoteAccess,
};

use super::channel_pool::PoolShape;
use super::greeting::RdmaRequest;
use super::mode::ModeTargets;
use super::receiver_table::ReceiverTable;
use super::write_targets::{memory, not_awaited, refused, reject};
use super::{CHANNEL_CREDIT_BYTES, CHANNEL_MODE};
use crate::{EdgeCounters, EdgeSpec, Error};

/// One message in so many has a completion, which tells of those before it too; besides, each
/// behind which nothing waits, so that a flush knows that it is out.
const MESSAGES_PER_COMPLETION: u64 = 8;

/// Bits of a completion's number that count messages, from 0 again after all; those above are the
/// receiver's number and 1.
const MESSAGE_BITS: u32 = 40;

const MESSAGE_MASK: u64 = (1 << MESSAGE_BITS) - 1;

/// All receivers of an edge in mode `channel`, over one node.
pub(super) struct ChannelTargets<N> {
    node: N,
    spec: EdgeSpec,
    shape: PoolShape,
    region: RegionId,
    /// Receive buffers for credit: as many for each receiver as its pool has.
    credits: PinnedMemory,
    credit_region: RegionId,
    receivers: ReceiverTable,
    targets: Vec<ChannelTarget>,
    /// Number of committed messages, of those that may be posted, and of those before the last
    /// flush.
    committed: u64,
    postable: u64,
    flushed: u64,
    /// Sums of the messages' bytes: those of the first n messages at n modulo the length, for all n
    /// from the messages that the slowest receiver has released to those that are committed.
    sums: Vec<u64>,
    /// Whether credit, room or a loss has come that a thread without room may wait for.
    has_news: bool,
    /// Counters of the edge, for refused requests.
    counters: Arc<EdgeCounters>,
    completions: Vec<Completion>,
    /// Receivers whose operations have failed, and why.
    failed: Vec<(usize, String)>,
}

/// Messages to a receiver, counted.
#[derive(Clone, Copy, Default)]
struct ChannelTarget {
    /// Acceptance that is not sent yet.
    answer: Option<PoolShape>,
    /// Buffers of the receiver that are used.
    buffers: u64,
    /// Number of messages that it may have been sent.
    credit: u64,
    posted: u64,
    /// Number of messages whose buffers are free here.
    done: u64,
    /// Messages of credit that were looked at, and receive buffers posted for them.
    credits_taken: u64,
    credits_posted: u64,
}

impl<N: RdmaNode> ChannelTargets<N> {
    /// Makes the receivers' side over a node that listens, for a pool of send buffers.
    pub(super) fn new(
        mut node: N,
        spec: &EdgeSpec,
        shape: PoolShape,
        pool: &PinnedMemory,
    ) -> Result<ChannelTargets<N>, Error> {
        let region = node.register(pool, RemoteAccess::None).map_err(refused)?;
        let receivers = spec.receiver_count as usize;
        let credits = memory(receivers * shape.buffers * CHANNEL_CREDIT_BYTES)?;
        let credit_region = node.register(&credits, RemoteAccess::None);
        Ok(ChannelTargets {
            node,
            spec: spec.clone(),
            shape,
            region,
            credits,
            credit_region: credit_region.map_err(refused)?,
            receivers: ReceiverTable::new(spec.receiver_count),
            targets: vec![ChannelTarget::default(); receivers],
            committed: 0,
            postable: 0,
            flushed: 0,
            sums: vec![0; 2 * shape.buffers + 1],
            has_news: false,
            counters: Arc::default(),
            completions: Vec::with_capacity(COMPLETIONS_PER_POLL),
            failed: Vec::new(),
        })
    }

    /// The receivers: who is connected, and who is lost.
    pub(super) fn receivers(&self) -> &ReceiverTable {
        &self.receivers
    }

    /// Number and bytes of the last message, if no living receiver has been sent it.
    pub(super) fn unposted_message(&self) -> Option<(u64, usize)> {
        let last = self.committed.checked_sub(1)?;
        let is_unposted = self.living().all(|target| target.posted <= last);
        is_unposted.then(|| (last, self.message_bytes(last)))
    }

    /// Number of the next message, if its buffer is free.
    pub(super) fn free_message(&self) -> Option<u64> {
        let done = self.living().map(|target| target.done).min();
        let used = self.committed - done.unwrap_or(self.committed);
        (used < self.shape.buffers as u64).then_some(self.committed)
    }

    /// Keeps a message from being posted.
    pub(super) fn hold(&mut self, message: u64) {
        self.postable = self.postable.min(message);
    }

    /// Lets all that is committed be posted.
    pub(super) fn let_go(&mut self) {
        self.postable = self.committed;
    }

    /// Makes progress, and posts all that is committed, however little credit there is. Returns
    /// whether all of it is sent, so that it outlives this process.
    pub(super) fn flush(&mut self) -> Result<bool, Error> {
        self.let_out();
        self.progress()?;
        let is_out = |receiver: usize| {
            let is_connected = self.receivers.connection(receiver).is_some();
            is_connected && self.targets[receiver].done == self.committed
        };
        Ok(self.receivers.living().all(is_out))
    }

    /// Commits a message that now has `bytes` bytes, and posts what may be posted.
    pub(super) fn commit(&mut self, message: u64, bytes: usize) {
        let is_new = message == self.committed;
        self.committed = message + 1;
        let sum = self.sum(message) + bytes as u64;
        let at = self.sum_index(self.committed);
        self.sums[at] = sum;
        self.let_go();
        self.post_all();
        // The completions that the message waits for may be there. The next claim or flush reports
        // an error, if there is one.
        if is_new && self.has_unposted() && self.take_completions().is_ok() {
            self.post_all();
        }
    }

    /// Bytes of messages that the slowest living receiver has not released.
    pub(super) fn queued_bytes(&self) -> usize {
        let released = self.living().map(ChannelTarget::released).min();
        (self.sum(self.committed) - self.sum(released.unwrap_or(self.committed))) as usize
    }

    fn living(&self) -> impl Iterator<Item = &ChannelTarget> {
        self.receivers
            .living()
            .map(|receiver| &self.targets[receiver])
    }

    fn sum_index(&self, messages: u64) -> usize {
        (messages % self.sums.len() as u64) as usize
    }

    fn sum(&self, messages: u64) -> u64 {
        self.sums[self.sum_index(messages)]
    }

    fn message_bytes(&self, message: u64) -> usize {
        (self.sum(message + 1) - self.sum(message)) as usize
    }

    fn has_unposted(&self) -> bool {
        self.living().any(|target| target.posted < self.committed)
    }

    fn post_all(&mut self) {
        for receiver in 0..self.targets.len() {
            self.post_credit_buffers(receiver);
            self.finish_accept(receiver);
            while self.post_next(receiver) {}
        }
    }

    /// Posts one message to a receiver. Returns whether there may be room for another.
    fn post_next(&mut self, receiver: usize) -> bool {
        let target = self.targets[receiver];
        let Some(connection) = self.receivers.connection(receiver) else {
            return false;
        };
        if !self.may_post(&target) {
            return false;
        }
        let message = target.posted;
        let after = ChannelTarget {
            posted: message + 1,
            ..target
        };
        let count = after.posted;
        let is_told = count == self.postable
            || count.is_multiple_of(MESSAGES_PER_COMPLETION)
            || after.on_way() == self.messages_on_way_max();
        let bytes = self.message_bytes(message);
        let options = PostOptions {
            completion: is_told.then_some(completion_number(receiver, count)),
            immediate: None,
            // One doorbell serves all that are posted together.
            is_more: self.may_post(&after),
            is_inline: bytes <= self.node.limits().inline_bytes_max,
        };
        let from = self.shape.slice(self.region, message, bytes);
        match self.node.post_send(connection, &from, options) {
            Ok(true) => {
                self.targets[receiver] = after;
                true
            }
            Ok(false) => false,
            Err(error) => {
                self.lose(receiver, error.to_string());
                false
            }
        }
    }

    /// Whether the next message to a receiver may be posted now.
    fn may_post(&self, target: &ChannelTarget) -> bool {
        target.posted < self.postable.min(target.credit)
            && target.on_way() < self.messages_on_way_max()
            && target.has_all_credit_buffers()
            && (self.is_whole(target.posted) || target.has_much_credit())
    }

    /// Whether a message gets no more frames: another has begun, or a flush asks for it.
    fn is_whole(&self, message: u64) -> bool {
        message + 1 < self.committed || message < self.flushed
    }

    /// Most messages to a receiver that are on their way: all buffers, as far as the provider has
    /// room for them.
    fn messages_on_way_max(&self) -> u64 {
        let depth = self.node.limits().transmit_depth.saturating_sub(1).max(1);
        self.shape.buffers.min(depth) as u64
    }

    /// Posts receive buffers for the credit of a receiver; those that were looked at, again.
    fn post_credit_buffers(&mut self, receiver: usize) {
        let Some(connection) = self.receivers.accepted(receiver) else {
            return;
        };
        while !self.targets[receiver].has_all_credit_buffers() {
            let number = self.targets[receiver].credits_posted;
            let start = self.credit_offset(receiver, number);
            let into = LocalSlice {
                region: self.credit_region,
                range: start..start + CHANNEL_CREDIT_BYTES,
            };
            let number = completion_number(receiver, number);
            match self.node.post_receive(connection, &into, number) {
                Ok(true) => self.targets[receiver].credits_posted += 1,
                Ok(false) => return,
                Err(error) => return self.lose(receiver, error.to_string()),
            }
        }
    }

    /// Tells a receiver that it is accepted, once every message of credit finds a buffer.
    fn finish_accept(&mut self, receiver: usize) {
        let Some(connection) = self.receivers.accepted(receiver) else {
            return;
        };
        let target = &mut self.targets[receiver];
        if !target.has_all_credit_buffers() {
            return;
        }
        let Some(shape) = target.answer.take() else {
            return;
        };
        let acceptance = shape.acceptance().to_bytes();
        if let Err(error) = self.node.finish_accept(connection, &acceptance) {
            self.lose(receiver, error.to_string());
        }
    }

    /// Place of a message of credit.
    fn credit_offset(&self, receiver: usize, credit_message: u64) -> usize {
        let buffer = (credit_message % self.targets[receiver].buffers) as usize;
        (receiver * self.shape.buffers + buffer) * CHANNEL_CREDIT_BYTES
    }

    /// Takes completions and credit.
    fn take_completions(&mut self) -> Result<(), Error> {
        let mut completions = std::mem::take(&mut self.completions);
        let polled = self.node.poll_completions(&mut completions);
        for completion in completions.drain(..) {
            let of = completion.number >> MESSAGE_BITS;
            let Some(receiver) = of.checked_sub(1).map(|receiver| receiver as usize) else {
                continue;
            };
            match completion.kind {
                CompletionKind::Posted => self.finish(receiver, completion.number & MESSAGE_MASK),
                CompletionKind::Received { bytes, .. } => self.take_credit(receiver, bytes),
                CompletionKind::RemoteWrite { .. } => {
                    let why = "it has written memory, and not sent a message";
                    self.lose(receiver, why.to_owned());
                }
                CompletionKind::Failed(error) => self.failed.push((receiver, error.to_string())),
            }
        }
        self.completions = completions;
        polled.map_err(refused)
    }

    /// Takes the completion of a message, whose count is there without its highest bits.
    fn finish(&mut self, receiver: usize, count: u64) {
        let Some(target) = self.targets.get_mut(receiver) else {
            return;
        };
        let on_way = target.posted.wrapping_sub(count) & MESSAGE_MASK;
        let done = target.posted.saturating_sub(on_way);
        target.done = target.done.max(done);
        self.has_news = true;
    }

    /// Takes a message of credit.
    fn take_credit(&mut self, receiver: usize, bytes: usize) {
        if self.receivers.accepted(receiver).is_none() {
            return;
        }
        if bytes != CHANNEL_CREDIT_BYTES {
            let why = format!("it has sent {bytes} bytes; credit has {CHANNEL_CREDIT_BYTES}");
            return self.lose(receiver, why);
        }
        let at = self.credit_offset(receiver, self.targets[receiver].credits_taken);
        let credit = self.credits.word(at);
        let target = &mut self.targets[receiver];
        target.credits_taken += 1;
        let (before, most) = (target.credit, target.posted + target.buffers);
        if credit <= before || credit > most {
            let why =
                format!("its credit is {credit}; it should be above {before}, {most} at most");
            return self.lose(receiver, why);
        }
        target.credit = credit;
        // What is released has come, whether or not its completion has.
        target.done = target.done.max(target.released());
        self.has_news = true;
    }

    fn handle(&mut self, event: FabricEvent) {
        match event {
            FabricEvent::Request(request) => self.answer(request),
            FabricEvent::Connected { connection, .. } => self.receivers.connect(connection),
            FabricEvent::Closed {
                connection, why, ..
            } => {
                if let Some(receiver) = self.receivers.receiver_of(connection) {
                    self.lose(receiver, why);
                }
            }
        }
    }

    /// Accepts a receiver of this edge that shows the token, and refuses others.
    fn answer(&mut self, request: ConnectionRequest) {
        let accepted = self.read_request(&request).and_then(|(receiver, shape)| {
            let connection = self.node.begin_accept(&request).map_err(refused)?;
            Ok((receiver, shape, connection))
        });
        let (receiver, shape, connection) = match accepted {
            Ok(accepted) => accepted,
            Err(why) => return reject(&mut self.node, &self.counters, request, &why),
        };
        self.receivers.accept(receiver, connection);
        self.targets[receiver].buffers = shape.buffers as u64;
        self.targets[receiver].answer = Some(shape);
    }

    /// The receiver of a request that may be accepted, and the buffers that it has.
    fn read_request(&self, request: &ConnectionRequest) -> Result<(usize, PoolShape), Error> {
        let read = RdmaRequest::read(&request.data, CHANNEL_MODE, &self.spec)?;
        let receiver = read.receiver as usize;
        if !self.receivers.is_awaited(receiver) {
            return Err(not_awaited(read.receiver));
        }
        Ok((receiver, self.shape.of_request(&read)?))
    }

    fn lose(&mut self, receiver: usize, why: String) {
        if let Some(connection) = self.receivers.lose(receiver, why) {
            self.node.disconnect(connection);
        }
        self.has_news = true;
    }
}

impl<N: RdmaNode> ModeTargets for ChannelTargets<N> {
    fn wait_fds(&self) -> Result<Vec<[BorrowedFd<'_>; 2]>, Error> {
        Ok(vec![self.node.wait_fds().map_err(refused)?])
    }

    fn may_sleep(&mut self) -> Result<bool, Error> {
        self.node.may_sleep().map_err(refused)
    }

    fn progress(&mut self) -> Result<(), Error> {
        self.take_completions()?;
        while let Some(event) = self.node.next_event().map_err(refused)? {
            self.handle(event);
        }
        // Receive buffers fail when their connection ends, and the event says why it did.
        while let Some((receiver, why)) = self.failed.pop() {
            self.lose(receiver, why);
        }
        self.post_all();
        Ok(())
    }

    fn committed(&self) -> u64 {
        self.sum(self.committed)
    }

    fn waits(&self) -> bool {
        let is_connected = |receiver| self.receivers.connection(receiver).is_some();
        let lacks_buffers = |target: &ChannelTarget| !target.has_all_credit_buffers();
        self.has_unposted()
            || !self.receivers.living().all(is_connected)
            || self.living().any(lacks_buffers)
    }

    fn is_on_way(&self) -> bool {
        self.living().any(|target| target.posted > target.done)
    }

    fn is_done(&self) -> bool {
        self.queued_bytes() == 0
    }

    fn let_out(&mut self) {
        self.flushed = self.committed;
        self.let_go();
        self.post_all();
    }

    fn slowest(&self) -> Option<(u32, u64)> {
        let living = self.receivers.living();
        let released = |receiver: &usize| self.targets[*receiver].released();
        let slowest = living.min_by_key(released)?;
        Some((slowest as u32, self.queued_bytes() as u64))
    }

    fn count_refusals_in(&mut self, counters: Arc<EdgeCounters>) {
        self.counters = counters;
    }

    fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }
}

impl ChannelTarget {
    /// Number of messages whose buffers the receiver has posted again.
    fn released(&self) -> u64 {
        self.credit.saturating_sub(self.buffers)
    }

    /// Whether the receiver has taken most of what it was sent. To one that has not, frames go
    /// together, so that small ones do not use up its buffers.
    fn has_much_credit(&self) -> bool {
        self.credit - self.posted > self.buffers / 2
    }

    /// Messages whose buffers may be in use by the provider.
    fn on_way(&self) -> u64 {
        self.posted - self.done
    }

    fn has_all_credit_buffers(&self) -> bool {
        self.credits_posted == self.credits_taken + self.buffers
    }
}

/// Number of a completion of a receiver.
fn completion_number(receiver: usize, count: u64) -> u64 {
    (receiver as u64 + 1) << MESSAGE_BITS | count & MESSAGE_MASK
}
