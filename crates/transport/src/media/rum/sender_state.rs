//! A sender's link: its ring's frames, and the outlets through which they go to the receivers.
//!
//! Shared between the sending thread and the pump; whoever has the lock sends. The sending thread
//! never waits for the lock: when the pump has it, the pump is sending.
//!
//! # When a batch goes out
//! To a receiver that is idle (it has released everything that is out) soon; else when it is full;
//! else when it has waited long enough: the sending thread sends it the shortest batching time
//! after the last one when it comes by with another frame, the pump the longest time after its
//! first frame: see [`FlushDeadline`].

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ring::RetainingReader;
use rustix::io::Errno;

use super::batch_header::BatchSealKey;
use super::batch_sender::{BatchSender, BatchWriteMode, SendableFrames};
use super::connection_state::{DisconnectedReceiver, RumConnectionState};
use super::flush_deadline::{FlushDeadline, FlushScope, PendingFlush};
use super::flush_watchdog::FlushWatchdog;
use super::receiver_identity::ReceiverIdentity;
use crate::media::tcp_edge::credit::ConnectionEnd;
use crate::media::tcp_edge::handshake::{Handshake, HandshakeReply};
use crate::media::tcp_edge::io_thread::{NextTurn, Registration};
use crate::media::tcp_edge::keepalive;
use crate::media::tcp_edge::listener::Listener;
use crate::media::tcp_edge::receiver_connection::{ConnectionPair, ReceiverConnection};
use crate::media::tcp_edge::stream_end::LINGER_TIMEOUT;
use crate::{Batching, EdgeCounters, PeerLoss};

/// After so many lone batches the receivers are heard, needed or not.
const SENDS_PER_CREDIT_READ: u32 = 16;

/// What the sending thread and the pump share.
pub(super) struct RumSenderState {
    pub(super) retaining_reader: RetainingReader,
    listener: Listener,
    receivers: Vec<RumConnectionState>,
    registration: Registration,
    counters: Arc<EdgeCounters>,
    frame_bytes_max: u32,
    /// So long a receiver may take to connect again.
    reconnect_timeout: Duration,
    /// Where frames only fill the ring's end, the last time.
    pad_at: u64,
    flush_deadline: FlushDeadline,
    /// Batches that the sending thread has sent since it heard the receivers.
    sends_since_credit_read: u32,
    flush_watchdog: FlushWatchdog,
    /// The sending thread sleeps until there is room.
    is_armed: bool,
    /// The sending end was dropped: when to give up.
    close_deadline: Option<Instant>,
    /// Receivers came or went so often.
    membership_changes: u64,
}

/// What a link is made of.
pub(super) struct RumSenderParts {
    pub(super) retaining_reader: RetainingReader,
    pub(super) listener: Listener,
    pub(super) receiver_count: u32,
    pub(super) registration: Registration,
    pub(super) counters: Arc<EdgeCounters>,
    pub(super) batching: Batching,
    pub(super) frame_bytes_max: u32,
    pub(super) reconnect_timeout: Duration,
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
            listener: parts.listener,
            receivers: (0..parts.receiver_count)
                .map(|_| RumConnectionState::Awaited)
                .collect(),
            registration: parts.registration,
            counters: parts.counters,
            frame_bytes_max: parts.frame_bytes_max,
            reconnect_timeout: parts.reconnect_timeout,
            pad_at: u64::MAX,
            flush_deadline: FlushDeadline::new(batch, Instant::now()),
            sends_since_credit_read: 0,
            flush_watchdog: FlushWatchdog::new(time_max),
            is_armed: false,
            close_deadline: None,
            membership_changes: 0,
        }
    }

    /// From here on frames fill the ring's end.
    pub(super) fn set_pad(&mut self, pad_at: u64) {
        self.pad_at = pad_at;
    }

    /// A look of the sending thread at a batch that is not full. `None`: all of it is out that can
    /// go.
    pub(super) fn flush_unfilled_batch(&mut self, now: Instant) -> Option<PendingFlush> {
        let what = match self.flush_deadline.scope_for_sender(now) {
            Ok(what) => what,
            Err(left) => {
                self.request_flush();
                return Some(left);
            }
        };
        // What goes out anyway does not wait until everybody was heard, nor do they each time.
        let is_out = what != FlushScope::Idle && self.send(what);
        self.sends_since_credit_read += 1;
        if !is_out || self.sends_since_credit_read == SENDS_PER_CREDIT_READ {
            self.read_credit();
        }
        if !is_out {
            self.send(what);
        }
        self.flush_deadline.settle_after(now);
        // For receivers that are not connected there is nothing to do.
        if self.flush_deadline.opened_at().is_some()
            || self.connected().any(BatchSender::is_blocked)
        {
            self.request_flush();
        }
        self.flush_deadline.pending(now)
    }

    /// Sends a full batch of a sending thread that is likely to go on: the pump looks after
    /// whatever it commits from now on. When that was, and how many bytes of it wait for the next
    /// one.
    pub(super) fn send_full_batch(&mut self, then: BatchWriteMode) -> (Instant, usize) {
        self.send_with_mode(FlushScope::All, then);
        let now = Instant::now();
        self.flush_deadline.restart_after_full(now);
        self.request_flush();
        let left = self.connected().map(BatchSender::held_back_bytes).max();
        (now, left.unwrap_or_default())
    }

    /// The pump has to look after what is not out.
    pub(super) fn request_flush(&mut self) {
        if self.flush_watchdog.note_batch() {
            self.retaining_reader.disarm();
            self.registration.request_turn();
        }
    }

    /// Sends what is to go out. `true`: everything is out.
    pub(super) fn send(&mut self, what: FlushScope) -> bool {
        self.send_with_mode(what, BatchWriteMode::WriteAll)
    }

    fn send_with_mode(&mut self, what: FlushScope, then: BatchWriteMode) -> bool {
        let committed = self.retaining_reader.committed();
        let (mut is_out, mut waits, mut has_sent) = (true, false, false);
        for at in 0..self.receivers.len() {
            let RumConnectionState::Connected(outlet) = &mut self.receivers[at] else {
                is_out &= self.receivers[at].is_gone();
                continue;
            };
            let goes = match what {
                FlushScope::Blocked => false,
                FlushScope::Idle => outlet.is_idle(),
                FlushScope::Lone => outlet.is_nearly_idle(),
                FlushScope::All => true,
            };
            if !outlet.is_all_sent(committed) && (goes || outlet.is_blocked()) {
                let source = SendableFrames {
                    retaining_reader: &self.retaining_reader,
                    pad_at: self.pad_at,
                };
                match outlet.send(&source, then) {
                    Ok(sent) => {
                        has_sent |= sent.bytes > 0;
                        let batches = &self.counters.batches;
                        batches.fetch_add(sent.batches, Ordering::Relaxed);
                    }
                    Err(error) => self.fail_connection(at, error),
                }
            }
            match &self.receivers[at] {
                RumConnectionState::Connected(outlet) => {
                    is_out &= outlet.is_all_sent(committed);
                    waits |= outlet.has_sendable(committed);
                }
                other => is_out &= other.is_gone(),
            }
        }
        if has_sent {
            self.flush_deadline.note_sent(Instant::now());
        }
        if !waits {
            self.flush_deadline.close_batch();
        }
        is_out
    }

    /// Hears how far the receivers are, and gives the room back that nobody wants any more.
    pub(super) fn read_credit(&mut self) {
        self.sends_since_credit_read = 0;
        for at in 0..self.receivers.len() {
            if let RumConnectionState::Connected(outlet) = &mut self.receivers[at]
                && let Err(over) = outlet.read_credit()
            {
                self.end_connection(at, over);
            }
        }
        self.release_acknowledged();
    }

    /// Finds connections that have ended.
    fn check_connections(&mut self) {
        for at in 0..self.receivers.len() {
            if let RumConnectionState::Connected(outlet) = &self.receivers[at]
                && let Err(over) = outlet.connection.check_frames_socket()
            {
                self.end_connection(at, over);
            }
        }
    }

    fn release_acknowledged(&mut self) {
        let committed = self.retaining_reader.committed();
        let mut slowest = (committed, 0);
        for (number, place) in (0..).zip(&self.receivers) {
            if let Some(released) = place.released() {
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

    /// Bytes that the slowest receiver has not released.
    pub(super) fn queued_bytes(&self) -> usize {
        (self.retaining_reader.committed() - self.retaining_reader.released()) as usize
    }

    /// How often receivers came or went.
    pub(super) fn membership_changes(&self) -> u64 {
        self.membership_changes
    }

    /// The sending thread is about to sleep until there is room, or is awake again.
    pub(super) fn set_armed(&mut self, is_armed: bool) {
        self.is_armed = is_armed;
        if !is_armed && self.connected().any(BatchSender::is_blocked) {
            // It may go off computing with what it has slept on.
            self.request_flush();
        }
    }

    /// The lines that room may come from: by credit, and by taking what is on its way.
    pub(super) fn awaited_connections(&self) -> impl Iterator<Item = (&ReceiverConnection, bool)> {
        self.connected()
            .map(|outlet| (&outlet.connection, outlet.is_blocked()))
    }

    /// Appends the receivers that are gone and not yet in the list.
    pub(super) fn list_lost(&self, lost: &mut Vec<u32>) {
        for (number, place) in (0..).zip(&self.receivers) {
            if place.is_gone() && !lost.contains(&number) {
                lost.push(number);
            }
        }
    }

    /// A loss, if there is no receiver left.
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

    /// The sending end was dropped: the pump gets out what is left.
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
            if let RumConnectionState::Connected(outlet) = &mut self.receivers[at]
                && let Err(error) = outlet.send_goodbye(&source)
            {
                self.fail_connection(at, error);
            }
            // Whoever has connected never, or has everything, is no reason to stay.
            let is_done = match &self.receivers[at] {
                RumConnectionState::Awaited => committed == 0,
                RumConnectionState::Connected(outlet) => {
                    outlet.has_sent_goodbye() && outlet.connection.released() == committed
                }
                RumConnectionState::Disconnected(down) => down.released == committed,
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

    /// A turn of the pump. `true` beside the next one: the sending thread has to be woken.
    pub(super) fn turn(&mut self, now: Instant) -> (NextTurn, bool) {
        let before = (self.retaining_reader.released(), self.membership_changes);
        while let Some((hello, pair)) = self.listener.next_receiver(now) {
            self.admit(hello, pair);
        }
        self.read_credit();
        self.check_connections();
        self.check_disconnected(now);
        let committed = self.retaining_reader.committed();
        let has_frames = self
            .connected()
            .any(|outlet| !outlet.is_all_sent(committed));
        if has_frames {
            let what = self
                .flush_deadline
                .scope_for_io_thread(now, self.flush_watchdog.is_prompt());
            self.send(what);
            self.flush_watchdog.note_flush(what == FlushScope::All);
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
        let next = NextTurn::OnEvent
            .or_at(self.close_deadline)
            .or_at(self.listener.next_deadline());
        let next = next.or_at(self.next_disconnected_check());
        let next = next.or_at(self.next_flush_check(now, committed));
        (next.or_at(self.next_idle_flush(committed)), wakes)
    }

    /// When the pump has to come back for frames whose receiver is idle.
    fn next_idle_flush(&self, committed: u64) -> Option<Instant> {
        let goes = |outlet: &BatchSender| outlet.has_sendable(committed) && outlet.is_idle();
        let is_early = self.flush_watchdog.is_prompt() && self.connected().any(goes);
        is_early.then(|| self.flush_deadline.settled_at())
    }

    /// When the pump has to come back for frames that are not out; it has seen those up to an
    /// index.
    fn next_flush_check(&mut self, now: Instant, committed: u64) -> Option<Instant> {
        let waits = |outlet: &BatchSender| outlet.has_sendable(committed);
        let opened = self
            .flush_deadline
            .opened_at()
            .filter(|_| self.connected().any(waits));
        let next = self.flush_watchdog.next_check(opened, now);
        if next.is_none() && self.flush_watchdog.is_on() {
            // Whoever commits the next frame calls, unless there is one that was not seen.
            if self.retaining_reader.arm(committed) {
                self.flush_watchdog.turn_off();
            } else {
                return Some(now + self.flush_watchdog.recheck_delay());
            }
        }
        let (is_close, is_armed) = (self.flush_watchdog.is_prompt(), self.is_armed);
        let leaves = self.close_deadline.is_some();
        for place in &mut self.receivers {
            if let RumConnectionState::Connected(outlet) = place {
                let is_credit_wanted = leaves || is_close && !outlet.is_all_sent(committed);
                let is_room_wanted = outlet.is_blocked() && !is_armed;
                outlet
                    .connection
                    .set_watched_events(is_room_wanted, is_credit_wanted);
            }
        }
        next
    }

    fn admit(&mut self, handshake: Handshake, pair: ConnectionPair) {
        let place = &self.receivers[handshake.receiver as usize];
        let position = match place.resume_position(&handshake) {
            Ok(position) => position,
            Err(why) => return self.listener.refuse_pair(pair, &why),
        };
        let (is_first, released) = (
            matches!(place, RumConnectionState::Awaited),
            place.released(),
        );
        let welcome = HandshakeReply {
            position,
            frame_bytes_max: self.frame_bytes_max,
            ring_bytes: self.retaining_reader.capacity() as u64,
        };
        let Ok(address) = pair.frames.peer_addr() else {
            return;
        };
        if !is_first {
            self.counters.reconnects.fetch_add(1, Ordering::Relaxed);
        }
        if !self.listener.send_reply(&pair.frames, welcome) {
            return;
        }
        let lifeline = (handshake.liveness_port != 0).then(|| {
            let mut lifeline = address;
            lifeline.set_port(handshake.liveness_port);
            lifeline
        });
        let peer = ReceiverIdentity {
            instance: handshake.instance,
            address,
            liveness_address: lifeline,
        };
        keepalive::set_timeout(&pair.credit, self.reconnect_timeout);
        let line = ReceiverConnection::new(pair, released.unwrap_or_default(), self.registration);
        let outlet = BatchSender::new(
            line,
            BatchSealKey::from_handshake(&handshake),
            peer,
            position,
        );
        self.set_receiver(
            handshake.receiver as usize,
            RumConnectionState::Connected(Box::new(outlet)),
        );
    }

    fn fail_connection(&mut self, at: usize, error: Errno) {
        self.end_connection(at, ConnectionEnd::Broken(error.to_string().to_lowercase()));
    }

    /// The connection is over; the receiver may come back unless it has said goodbye.
    fn end_connection(&mut self, at: usize, over: ConnectionEnd) {
        let RumConnectionState::Connected(outlet) = &mut self.receivers[at] else {
            return;
        };
        // Its last words may have come on the other connection meanwhile, and say more.
        let over = match outlet.read_credit() {
            Err(ConnectionEnd::Goodbye) => ConnectionEnd::Goodbye,
            _ => over,
        };
        let place = match over {
            ConnectionEnd::Goodbye => RumConnectionState::Gone("it has closed its end".to_owned()),
            ConnectionEnd::Broken(why) => {
                RumConnectionState::Disconnected(Box::new(DisconnectedReceiver::new(outlet, why)))
            }
        };
        self.set_receiver(at, place);
        // The pump knocks, and gives up in time.
        self.registration.request_turn();
    }

    /// Looks after receivers that are away.
    fn check_disconnected(&mut self, now: Instant) {
        for at in 0..self.receivers.len() {
            if let RumConnectionState::Disconnected(down) = &mut self.receivers[at]
                && let Some(why) = down.check_gone(self.registration, self.reconnect_timeout, now)
            {
                self.set_receiver(at, RumConnectionState::Gone(why));
            }
        }
        self.release_acknowledged();
    }

    fn next_disconnected_check(&self) -> Option<Instant> {
        let down = self.receivers.iter().filter_map(|place| match place {
            RumConnectionState::Disconnected(down) => {
                Some(down.next_check_at(self.reconnect_timeout))
            }
            _ => None,
        });
        down.min()
    }

    fn set_receiver(&mut self, at: usize, place: RumConnectionState) {
        self.receivers[at] = place;
        self.membership_changes += 1;
    }

    fn connected(&self) -> impl Iterator<Item = &BatchSender> {
        self.receivers.iter().filter_map(|place| match place {
            RumConnectionState::Connected(outlet) => Some(&**outlet),
            _ => None,
        })
    }
}
