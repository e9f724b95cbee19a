//! State of a rum sender: the frames of its ring, and the batch senders through which they go to
//! the receivers.
//!
//! Shared between the sending thread and the IO thread; the thread that has the lock sends. The
//! sending thread never waits for the lock while it commits: when the IO thread has it, the IO
//! thread is sending.
//!
//! # When a batch goes out
//! To an idle receiver (one that has released every sent frame) a batch goes out soon. To another
//! one it goes out when it is full, or when it has waited long enough: the sending thread sends it
//! the shortest batching time after the last one, with its next frame; the IO thread sends it the
//! longest batching time after its first frame. See [`FlushDeadline`].

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use ring::RetainingReader;
use rustix::io::Errno;

use super::batch_header::BatchSealKey;
use super::batch_sender::{BatchSender, BatchWriteMode, SendableFrames};
use super::break_policy::BreakPolicy;
use super::connected_receiver::ConnectedReceiver;
use super::connection_state::{DisconnectedReceiver, RumConnectionState};
use super::flush_deadline::{FlushDeadline, FlushScope, PendingFlush};
use super::flush_watchdog::FlushWatchdog;
use super::rails::StripedSender;
use super::receiver_identity::ReceiverIdentity;
use crate::media::tcp_edge::credit::ConnectionEnd;
use crate::media::tcp_edge::handshake::{Handshake, HandshakeReply};
use crate::media::tcp_edge::io_thread::{NextTurn, Registration};
use crate::media::tcp_edge::keepalive;
use crate::media::tcp_edge::listener::Listener;
use crate::media::tcp_edge::receiver_connection::{ConnectionPair, ReceiverConnection};
use crate::media::tcp_edge::stream_end::LINGER_TIMEOUT;
use crate::{Batching, EdgeCounters, PeerLoss};

/// Batches sent without reading credit after which the receivers' credit is read in any case.
const SENDS_PER_CREDIT_READ: u32 = 16;

/// State that the sending thread and the IO thread share.
pub(super) struct RumSenderState {
    pub(super) retaining_reader: RetainingReader,
    /// Listeners of the edge: one, or one for each rail.
    listeners: Vec<Listener>,
    receivers: Vec<RumConnectionState>,
    registration: Registration,
    counters: Arc<EdgeCounters>,
    payload_bytes_max: u32,
    break_policy: BreakPolicy,
    /// Index of the last padding at the ring's end.
    pad_at: u64,
    flush_deadline: FlushDeadline,
    /// Batches that the sending thread has sent since it last read credit.
    sends_since_credit_read: u32,
    flush_watchdog: FlushWatchdog,
    /// Whether the sending thread sleeps until there is room.
    is_armed: bool,
    /// Time at which to give up, once the sending end was dropped.
    close_deadline: Option<Instant>,
    /// Number of times that receivers came or went.
    membership_changes: u64,
}

/// Parts that a [`RumSenderState`] is made of.
pub(super) struct RumSenderParts {
    pub(super) retaining_reader: RetainingReader,
    pub(super) listeners: Vec<Listener>,
    pub(super) receiver_count: u32,
    pub(super) registration: Registration,
    pub(super) counters: Arc<EdgeCounters>,
    pub(super) batching: Batching,
    pub(super) payload_bytes_max: u32,
    pub(super) break_policy: BreakPolicy,
}

impl RumSenderState {
    pub(super) fn new(parts: RumSenderParts) -> RumSenderState {
        let time_max = parts.batching.time_max.max(parts.batching.time_min);
        let batch = Batching {
            time_max,
            ..parts.batching
        };
        RumSenderState {
            retaining_reader: parts.retaining_reader,
            listeners: parts.listeners,
            receivers: (0..parts.receiver_count)
                .map(|_| RumConnectionState::Awaited)
                .collect(),
            registration: parts.registration,
            counters: parts.counters,
            payload_bytes_max: parts.payload_bytes_max,
            break_policy: parts.break_policy,
            pad_at: u64::MAX,
            flush_deadline: FlushDeadline::new(batch, Instant::now()),
            sends_since_credit_read: 0,
            flush_watchdog: FlushWatchdog::new(time_max),
            is_armed: false,
            close_deadline: None,
            membership_changes: 0,
        }
    }

    /// Notes the index of padding at the ring's end.
    pub(super) fn set_pad(&mut self, pad_at: u64) {
        self.pad_at = pad_at;
    }

    /// A look of the sending thread at a batch that is not full. `None`: every frame is sent that
    /// can be.
    pub(super) fn flush_unfilled_batch(&mut self, now: Instant) -> Option<PendingFlush> {
        let scope = match self.flush_deadline.scope_for_sender(now) {
            Ok(scope) => scope,
            Err(left) => {
                self.request_flush();
                return Some(left);
            }
        };
        // A batch that goes out anyway does not wait for reading credit, and credit is not read
        // each time.
        let is_out = scope != FlushScope::Idle && self.send(scope);
        self.sends_since_credit_read += 1;
        if !is_out || self.sends_since_credit_read == SENDS_PER_CREDIT_READ {
            self.read_credit();
        }
        if !is_out {
            self.send(scope);
        }
        self.flush_deadline.settle_after(now);
        // For receivers that are not connected there is nothing to do.
        if self.flush_deadline.opened_at().is_some()
            || self.connected().any(ConnectedReceiver::is_blocked)
        {
            self.request_flush();
        }
        self.flush_deadline.pending(now)
    }

    /// Sends a full batch of a sending thread that is likely to go on: the IO thread watches the
    /// frames that it commits from now on. Returns the time after sending, and the bytes that wait
    /// for the next batch.
    pub(super) fn send_full_batch(&mut self, mode: BatchWriteMode) -> (Instant, usize) {
        self.send_with_mode(FlushScope::All, mode);
        let now = Instant::now();
        self.flush_deadline.restart_after_full(now);
        self.request_flush();
        let left = self
            .connected()
            .map(ConnectedReceiver::held_back_bytes)
            .max();
        (now, left.unwrap_or_default())
    }

    /// Sends a frame that is a batch of its own. No frame follows that is committed without a call,
    /// so the IO thread is called only for what a receiver does not take now.
    pub(super) fn send_frame(&mut self) {
        let is_out = self.send(FlushScope::All);
        if !is_out && self.connected().any(ConnectedReceiver::is_blocked) {
            self.request_flush();
        }
    }

    /// Has the IO thread watch the unsent frames.
    pub(super) fn request_flush(&mut self) {
        if self.flush_watchdog.note_batch() {
            self.retaining_reader.disarm();
            self.registration.request_turn();
        }
    }

    /// Sends to these receivers. `true`: every frame is sent to every receiver.
    pub(super) fn send(&mut self, scope: FlushScope) -> bool {
        self.send_with_mode(scope, BatchWriteMode::WriteAll)
    }

    fn send_with_mode(&mut self, scope: FlushScope, mode: BatchWriteMode) -> bool {
        let committed = self.retaining_reader.committed();
        let (mut is_out, mut is_waiting, mut has_sent) = (true, false, false);
        for at in 0..self.receivers.len() {
            let RumConnectionState::Connected(batch_sender) = &mut self.receivers[at] else {
                is_out &= self.receivers[at].is_gone();
                continue;
            };
            let is_chosen = match scope {
                FlushScope::Blocked => false,
                FlushScope::Idle => batch_sender.is_idle(),
                FlushScope::Lone => batch_sender.is_nearly_idle(),
                FlushScope::All => true,
            };
            if !batch_sender.is_all_sent(committed) && (is_chosen || batch_sender.is_blocked()) {
                let source = SendableFrames {
                    retaining_reader: &self.retaining_reader,
                    pad_at: self.pad_at,
                };
                match batch_sender.send(&source, mode) {
                    Ok(sent) => {
                        has_sent |= sent.bytes > 0;
                        let batches = &self.counters.batches;
                        batches.fetch_add(sent.batches, Ordering::Relaxed);
                    }
                    Err(error) => self.fail_connection(at, error),
                }
            }
            match &self.receivers[at] {
                RumConnectionState::Connected(batch_sender) => {
                    is_out &= batch_sender.is_all_sent(committed);
                    is_waiting |= batch_sender.has_sendable(committed);
                }
                other => is_out &= other.is_gone(),
            }
        }
        if has_sent {
            self.flush_deadline.note_sent(Instant::now());
        }
        if !is_waiting {
            self.flush_deadline.close_batch();
        }
        is_out
    }

    /// Reads the receivers' credit, and releases the frames that no receiver needs any more.
    pub(super) fn read_credit(&mut self) {
        self.sends_since_credit_read = 0;
        for at in 0..self.receivers.len() {
            if let RumConnectionState::Connected(batch_sender) = &mut self.receivers[at]
                && let Err(end) = batch_sender.read_credit()
            {
                self.end_connection(at, end);
            }
        }
        self.release_acknowledged();
    }

    /// Finds connections that have ended.
    fn check_connections(&mut self) {
        for at in 0..self.receivers.len() {
            if let RumConnectionState::Connected(batch_sender) = &mut self.receivers[at]
                && let Err(end) = batch_sender.check_frames_sockets()
            {
                self.end_connection(at, end);
            }
        }
    }

    fn release_acknowledged(&mut self) {
        let committed = self.retaining_reader.committed();
        let mut slowest = (committed, 0);
        for (number, receiver) in (0..).zip(&self.receivers) {
            if let Some(released) = receiver.released() {
                slowest = slowest.min((released, number));
            }
        }
        if slowest.0 != self.retaining_reader.released() {
            self.retaining_reader.release(slowest.0);
        }
        let counters = &self.counters;
        let queued = committed - slowest.0;
        counters.queued_bytes.store(queued, Ordering::Relaxed);
        counters
            .slowest_receiver
            .store(slowest.1, Ordering::Relaxed);
    }

    /// Bytes of frames that the slowest receiver has not released.
    pub(super) fn queued_bytes(&self) -> usize {
        (self.retaining_reader.committed() - self.retaining_reader.released()) as usize
    }

    /// Number of times that receivers came or went.
    pub(super) fn membership_changes(&self) -> u64 {
        self.membership_changes
    }

    /// Notes whether the sending thread is about to sleep until there is room.
    pub(super) fn set_armed(&mut self, is_armed: bool) {
        self.is_armed = is_armed;
        for receiver in &mut self.receivers {
            if let RumConnectionState::Connected(batch_sender) = receiver
                && is_armed
            {
                batch_sender.note_armed();
            }
        }
        if !is_armed && self.connected().any(ConnectedReceiver::is_blocked) {
            // The thread may go on computing with unsent bytes that it slept on.
            self.request_flush();
        }
    }

    /// Connections from which room may come: by credit, and, if `true`, by taking bytes that are
    /// held up.
    pub(super) fn awaited_connections(&self) -> impl Iterator<Item = (&ReceiverConnection, bool)> {
        self.connected()
            .flat_map(ConnectedReceiver::awaited_connections)
    }

    /// Appends the receivers that are gone and not yet in the list.
    pub(super) fn list_lost(&self, lost: &mut Vec<u32>) {
        for (number, receiver) in (0..).zip(&self.receivers) {
            if receiver.is_gone() && !lost.contains(&number) {
                lost.push(number);
            }
        }
    }

    /// The loss of the last receiver, if none is left.
    pub(super) fn all_lost(&self) -> Option<PeerLoss> {
        match (0..).zip(&self.receivers).last()? {
            (number, RumConnectionState::Gone(why))
                if self.receivers.iter().all(RumConnectionState::is_gone) =>
            {
                Some(PeerLoss {
                    receiver: Some(number),
                    reason: why.clone(),
                })
            }
            _ => None,
        }
    }

    /// Notes that the sending end was dropped: the IO thread sends the rest.
    pub(super) fn close(&mut self) {
        self.close_deadline = Some(Instant::now() + LINGER_TIMEOUT);
        self.send_goodbye();
        self.registration.request_turn();
    }

    fn send_goodbye(&mut self) {
        let committed = self.retaining_reader.committed();
        for at in 0..self.receivers.len() {
            let source = SendableFrames {
                retaining_reader: &self.retaining_reader,
                pad_at: self.pad_at,
            };
            if let RumConnectionState::Connected(batch_sender) = &mut self.receivers[at]
                && let Err(error) = batch_sender.send_goodbye(&source)
            {
                self.fail_connection(at, error);
            }
            // A receiver that has never connected, or has everything, is not waited for.
            let is_done = match &self.receivers[at] {
                RumConnectionState::Awaited => committed == 0,
                RumConnectionState::Connected(batch_sender) => {
                    batch_sender.has_sent_goodbye() && batch_sender.released() == committed
                }
                RumConnectionState::Disconnected(disconnected) => {
                    disconnected.released == committed
                }
                RumConnectionState::Gone(_) => true,
            };
            if is_done {
                self.set_receiver(
                    at,
                    RumConnectionState::Gone("the sender has left".to_owned()),
                );
            }
        }
    }

    /// A turn of the IO thread. The second value: the sending thread must be woken.
    pub(super) fn turn(&mut self, now: Instant) -> (NextTurn, bool) {
        let before = (self.retaining_reader.released(), self.membership_changes);
        for rail in 0..self.listeners.len() {
            while let Some((handshake, pair)) = self.listeners[rail].next_receiver(now) {
                self.admit(rail, handshake, pair);
            }
        }
        self.read_credit();
        self.check_connections();
        self.check_disconnected(now);
        let next_stall_check = self.check_rails(now);
        let committed = self.retaining_reader.committed();
        let has_frames = self
            .connected()
            .any(|batch_sender| !batch_sender.is_all_sent(committed));
        if has_frames {
            let scope = self
                .flush_deadline
                .scope_for_io_thread(now, self.flush_watchdog.is_prompt());
            self.send(scope);
            self.flush_watchdog.note_flush(scope == FlushScope::All);
        } else {
            self.flush_deadline.close_batch();
        }
        if self.flush_watchdog.is_on() && self.flush_deadline.opened_at().is_none() {
            self.retaining_reader.request_wakeup();
        }
        let wakes =
            self.is_armed && before != (self.retaining_reader.released(), self.membership_changes);
        if let Some(until) = self.close_deadline {
            self.send_goodbye();
            if until <= now || self.receivers.iter().all(RumConnectionState::is_gone) {
                self.receivers.clear();
                return (NextTurn::Unregister, wakes);
            }
        }
        let listeners = self.listeners.iter();
        let next = NextTurn::OnEvent
            .or_at(self.close_deadline)
            .or_at(listeners.filter_map(Listener::next_deadline).min());
        let next = next.or_at(self.next_disconnected_check());
        let next = next.or_at(next_stall_check);
        let next = next.or_at(self.next_flush_check(now, committed));
        (next.or_at(self.next_idle_flush(committed)), wakes)
    }

    /// Time at which the IO thread must come back for frames of an idle receiver.
    fn next_idle_flush(&self, committed: u64) -> Option<Instant> {
        let is_chosen = |batch_sender: &ConnectedReceiver| {
            batch_sender.has_sendable(committed) && batch_sender.is_idle()
        };
        let is_early = self.flush_watchdog.is_prompt() && self.connected().any(is_chosen);
        is_early.then(|| self.flush_deadline.settled_at())
    }

    /// Time at which the IO thread must come back for unsent frames; it has seen those up to
    /// `committed`.
    fn next_flush_check(&mut self, now: Instant, committed: u64) -> Option<Instant> {
        let is_waiting = |batch_sender: &ConnectedReceiver| batch_sender.has_sendable(committed);
        let opened = self
            .flush_deadline
            .opened_at()
            .filter(|_| self.connected().any(is_waiting));
        let next = self.flush_watchdog.next_check(opened, now);
        if next.is_none() && self.flush_watchdog.is_on() {
            // The thread that commits the next frame calls, unless there is one that was not seen.
            if self.retaining_reader.arm(committed) {
                self.flush_watchdog.turn_off();
            } else {
                return Some(now + self.flush_watchdog.recheck_delay());
            }
        }
        let (is_close, is_armed) = (self.flush_watchdog.is_prompt(), self.is_armed);
        let is_closing = self.close_deadline.is_some();
        for receiver in &mut self.receivers {
            if let RumConnectionState::Connected(batch_sender) = receiver {
                let is_credit_wanted =
                    is_closing || is_close && !batch_sender.is_all_sent(committed);
                batch_sender.set_watched_events(is_armed, is_credit_wanted);
            }
        }
        next
    }

    /// Looks for rails that are stalled, and notes those that came or went. Returns the time of the
    /// next look; `None`: none is needed.
    fn check_rails(&mut self, now: Instant) -> Option<Instant> {
        let (mut next, mut changes) = (None::<Instant>, 0);
        for receiver in &mut self.receivers {
            if let RumConnectionState::Connected(batch_sender) = receiver {
                let at = batch_sender.check_stalls(&self.retaining_reader, now);
                next = next.into_iter().chain(at).min();
                changes += u64::from(batch_sender.take_rail_changes());
            }
        }
        self.membership_changes += changes;
        next
    }

    fn admit(&mut self, rail: usize, handshake: Handshake, pair: ConnectionPair) {
        let receiver = &self.receivers[handshake.receiver as usize];
        let position = match receiver.resume_position(&handshake) {
            Ok(position) => position,
            Err(why) => return self.listeners[rail].refuse_pair(pair, &why),
        };
        let (is_first, released) = (
            matches!(receiver, RumConnectionState::Awaited),
            receiver.released(),
        );
        let reply = HandshakeReply {
            position,
            payload_bytes_max: self.payload_bytes_max,
            ring_bytes: self.retaining_reader.capacity() as u64,
        };
        let Ok(address) = pair.frames.peer_addr() else {
            return;
        };
        if !is_first {
            self.counters.reconnects.fetch_add(1, Ordering::Relaxed);
        }
        if !self.listeners[rail].send_reply(&pair.frames, reply) {
            return;
        }
        let liveness_address = (handshake.liveness_port != 0).then(|| {
            let mut liveness_address = address;
            liveness_address.set_port(handshake.liveness_port);
            liveness_address
        });
        let peer = ReceiverIdentity {
            instance: handshake.instance,
            address,
            liveness_address,
        };
        keepalive::set_timeout(&pair.credit, self.break_policy.reconnect_timeout);
        let (released, registration) = (released.unwrap_or_default(), self.registration);
        let key = BatchSealKey::from_handshake(&handshake);
        let at = handshake.receiver as usize;
        if self.listeners.len() == 1 {
            let connection = ReceiverConnection::new(pair, released, registration);
            let sender = BatchSender::new(connection, key, peer, position);
            return self.connect_receiver(at, ConnectedReceiver::Direct(Box::new(sender)));
        }
        let connection = ReceiverConnection::of_rail(pair, released, registration);
        if let RumConnectionState::Connected(connected) = &mut self.receivers[at]
            && let ConnectedReceiver::Striped(sender) = connected
        {
            return sender.join_rail(rail, connection, key, peer);
        }
        let (counters, ring_bytes) = (self.counters.clone(), reply.ring_bytes);
        let positions = (position, self.receivers[at].sent());
        let mut sender = StripedSender::new(peer, counters, registration, positions, ring_bytes);
        sender.join_rail(rail, connection, key, peer);
        self.connect_receiver(at, ConnectedReceiver::Striped(Box::new(sender)));
    }

    fn connect_receiver(&mut self, at: usize, connected: ConnectedReceiver) {
        self.set_receiver(at, RumConnectionState::Connected(connected));
    }

    fn fail_connection(&mut self, at: usize, error: Errno) {
        self.end_connection(at, ConnectionEnd::Broken(error.to_string().to_lowercase()));
    }

    /// Ends a connection; the receiver may come back unless it has left in order.
    fn end_connection(&mut self, at: usize, end: ConnectionEnd) {
        let RumConnectionState::Connected(batch_sender) = &mut self.receivers[at] else {
            return;
        };
        // The other connection may have brought a later report, which says more.
        let end = match batch_sender.read_credit() {
            Err(ConnectionEnd::Goodbye) => ConnectionEnd::Goodbye,
            _ => end,
        };
        let receiver = match end {
            ConnectionEnd::Goodbye => RumConnectionState::Gone("it has closed its end".to_owned()),
            ConnectionEnd::Broken(why) if !self.break_policy.survives_all => {
                RumConnectionState::Gone(why)
            }
            ConnectionEnd::Broken(why) => RumConnectionState::Disconnected(Box::new(
                DisconnectedReceiver::new(batch_sender, why),
            )),
        };
        self.set_receiver(at, receiver);
        // The IO thread probes the receiver, and gives it up in time.
        self.registration.request_turn();
    }

    /// Probes the disconnected receivers for liveness.
    fn check_disconnected(&mut self, now: Instant) {
        for at in 0..self.receivers.len() {
            if let RumConnectionState::Disconnected(disconnected) = &mut self.receivers[at]
                && let Some(why) = disconnected.check_gone(
                    self.registration,
                    self.break_policy.reconnect_timeout,
                    now,
                )
            {
                self.set_receiver(at, RumConnectionState::Gone(why));
            }
        }
        self.release_acknowledged();
    }

    fn next_disconnected_check(&self) -> Option<Instant> {
        let disconnected = self.receivers.iter().filter_map(|receiver| match receiver {
            RumConnectionState::Disconnected(disconnected) => {
                Some(disconnected.next_check_at(self.break_policy.reconnect_timeout))
            }
            _ => None,
        });
        disconnected.min()
    }

    fn set_receiver(&mut self, at: usize, receiver: RumConnectionState) {
        self.receivers[at] = receiver;
        self.membership_changes += 1;
    }

    fn connected(&self) -> impl Iterator<Item = &ConnectedReceiver> {
        self.receivers.iter().filter_map(|receiver| match receiver {
            RumConnectionState::Connected(batch_sender) => Some(batch_sender),
            _ => None,
        })
    }
}
