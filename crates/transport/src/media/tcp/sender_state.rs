//! Connections of a sender to its receivers, and the frame that is going out on them.
//!
//! Shared between the sending thread and the IO thread: the thread that has the lock continues the
//! frame.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ring::frame::{ALIGN, FrameHeader, HEADER_BYTES, PAD, frame_bytes};

use crate::media::tcp_edge::credit::ConnectionEnd;
use crate::media::tcp_edge::handshake::{Handshake, HandshakeReply};
use crate::media::tcp_edge::io_thread::{NextTurn, Registration};
use crate::media::tcp_edge::keepalive;
use crate::media::tcp_edge::listener::Listener;
use crate::media::tcp_edge::receiver_connection::{
    ConnectionPair, ReceiverConnection, write_parts,
};
use crate::media::tcp_edge::stream_end::{END_OF_STREAM, LINGER_TIMEOUT};
use crate::{EdgeCounters, Error, PeerLoss};

/// Time without a call of the sending thread after which the IO thread continues a frame that is
/// stuck.
const STUCK_TIME: Duration = Duration::from_millis(1);

/// Longest silence on a connection before it counts as lost. TCP bridges shorter failures of the
/// network by itself.
pub(super) const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(30);

/// State that the sending thread and the IO thread share.
pub(super) struct TcpSenderState {
    listener: Listener,
    receivers: Vec<TcpConnectionState>,
    registration: Registration,
    counters: Arc<EdgeCounters>,
    reply: HandshakeReply,
    /// The frame that is not sent on every connection yet.
    unsent_frame: Vec<u64>,
    unsent_frame_bytes: usize,
    /// Time since when a frame is stuck, and the number of calls of the sending thread by then.
    stuck_since: Option<(Instant, u64)>,
    sender_calls: u64,
    /// Number of receivers that are gone.
    gone_count: usize,
    /// Bytes of all frames so far, headers included.
    committed: u64,
    /// Position that the slowest receiver had released when last looked at.
    released: u64,
    /// Whether the sending thread sleeps until there is room.
    is_armed: bool,
    /// Time at which to give up, once the sending end was dropped.
    close_deadline: Option<Instant>,
    has_sent_goodbye: bool,
}

/// State of the connection to one receiver.
enum TcpConnectionState {
    /// The receiver has not connected yet.
    Awaited,
    /// The receiver is connected; the number counts sent bytes of the current frame.
    Connected(Box<ReceiverConnection>, usize),
    /// The receiver is gone, for this reason.
    Gone(String),
}

impl TcpSenderState {
    pub(super) fn new(
        listener: Listener,
        receivers: u32,
        reply: HandshakeReply,
        registration: Registration,
        counters: Arc<EdgeCounters>,
    ) -> TcpSenderState {
        TcpSenderState {
            listener,
            receivers: (0..receivers)
                .map(|_| TcpConnectionState::Awaited)
                .collect(),
            registration,
            counters,
            unsent_frame: vec![0; (reply.payload_bytes_max as usize + HEADER_BYTES).div_ceil(8)],
            reply,
            unsent_frame_bytes: 0,
            stuck_since: None,
            sender_calls: 0,
            gone_count: 0,
            committed: 0,
            released: 0,
            is_armed: false,
            close_deadline: None,
            has_sent_goodbye: false,
        }
    }

    /// Whether a frame of `bytes` bytes may begin now.
    ///
    /// # Errors
    /// No receiver is left.
    pub(super) fn has_room(&mut self, bytes: usize) -> Result<bool, Error> {
        self.sender_calls += 1;
        let is_out = self.continue_frame();
        let until = self.committed + bytes as u64;
        let most = self.reply.ring_bytes;
        if !is_out || until > self.released + most {
            self.read_credit();
        }
        if let Some(loss) = self.all_lost() {
            return Err(Error::PeerLost(loss));
        }
        let is_awaited =
            |receiver: &TcpConnectionState| matches!(receiver, TcpConnectionState::Awaited);
        let is_complete = !self.receivers.iter().any(is_awaited);
        Ok(is_out && is_complete && until <= self.released + most)
    }

    /// Writes a new frame on every connection. If it does not go out everywhere, it is kept in
    /// exchange for the buffer of the last one.
    pub(super) fn write_frame(&mut self, frame: &mut Vec<u64>, bytes: usize) {
        debug_assert_eq!(self.unsent_frame_bytes, 0);
        self.begin_frame(bytes);
        if !self.write_remaining([&bytemuck::cast_slice(frame)[..bytes]]) {
            std::mem::swap(frame, &mut self.unsent_frame);
            self.keep_unsent(bytes);
        }
    }

    /// Writes a new frame whose payload lies elsewhere; the payload is copied only if the frame is
    /// kept.
    pub(super) fn write_payload(&mut self, header: FrameHeader, payload: &[u8]) {
        debug_assert_eq!(self.unsent_frame_bytes, 0);
        let bytes = frame_bytes(payload.len());
        let filling = &[0; ALIGN][..bytes - HEADER_BYTES - payload.len()];
        let header = header.to_word();
        self.begin_frame(bytes);
        if !self.write_remaining([&header.to_ne_bytes(), payload, filling]) {
            self.unsent_frame[0] = header;
            let unsent: &mut [u8] = bytemuck::cast_slice_mut(&mut self.unsent_frame);
            unsent[HEADER_BYTES..][..payload.len()].copy_from_slice(payload);
            self.keep_unsent(bytes);
        }
    }

    /// Notes that the kept frame of `bytes` bytes is not sent everywhere.
    fn keep_unsent(&mut self, bytes: usize) {
        self.unsent_frame_bytes = bytes;
        if self.stuck_since.is_none() {
            self.stuck_since = Some((Instant::now(), self.sender_calls));
            self.registration.request_turn();
        }
    }

    /// Sends more of the kept frame. `true`: it is sent everywhere.
    pub(super) fn continue_frame(&mut self) -> bool {
        if self.unsent_frame_bytes > 0 {
            let unsent = std::mem::take(&mut self.unsent_frame);
            let is_out =
                self.write_remaining([&bytemuck::cast_slice(&unsent)[..self.unsent_frame_bytes]]);
            self.unsent_frame = unsent;
            if is_out {
                self.unsent_frame_bytes = 0;
            }
        }
        self.unsent_frame_bytes == 0
    }

    fn begin_frame(&mut self, bytes: usize) {
        self.committed += bytes as u64;
        for receiver in &mut self.receivers {
            if let TcpConnectionState::Connected(_, sent) = receiver {
                *sent = 0;
            }
        }
    }

    /// Goes on writing on every connection. `true`: all parts are sent everywhere.
    fn write_remaining<const N: usize>(&mut self, parts: [&[u8]; N]) -> bool {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        let mut is_out = true;
        for at in 0..self.receivers.len() {
            let TcpConnectionState::Connected(connection, sent) = &mut self.receivers[at] else {
                continue;
            };
            while *sent < bytes {
                match write_parts(&connection.frames, skip_bytes(parts, *sent)) {
                    Ok(0) => break,
                    Ok(count) => *sent += count,
                    Err(error) => {
                        let end = connection.end_after_failed_write(error, self.committed);
                        self.end_connection(at, end);
                        break;
                    }
                }
            }
            if let TcpConnectionState::Connected(_, sent) = self.receivers[at] {
                is_out &= sent == bytes;
            }
        }
        is_out
    }

    /// Reads the receivers' credit.
    pub(super) fn read_credit(&mut self) {
        for at in 0..self.receivers.len() {
            if let TcpConnectionState::Connected(connection, _) = &mut self.receivers[at]
                && let Err(end) = connection.read_credit(self.committed)
            {
                self.end_connection(at, end);
            }
        }
        let (slowest, released) = self.slowest().unwrap_or((0, self.committed));
        self.released = released;
        let queued = self.queued_bytes() as u64;
        let counters = &self.counters;
        counters.queued_bytes.store(queued, Ordering::Relaxed);
        counters.slowest_receiver.store(slowest, Ordering::Relaxed);
    }

    /// Finds connections that have ended.
    fn check_connections(&mut self) {
        for at in 0..self.receivers.len() {
            if let TcpConnectionState::Connected(connection, _) = &self.receivers[at]
                && let Err(end) = connection.check_frames_socket()
            {
                self.end_connection(at, end);
            }
        }
    }

    /// Bytes of frames that the slowest receiver has not released.
    pub(super) fn queued_bytes(&self) -> usize {
        (self.committed - self.released) as usize
    }

    /// Whether every receiver has released every frame.
    pub(super) fn is_drained(&self) -> bool {
        self.unsent_frame_bytes == 0 && self.queued_bytes() == 0
    }

    /// Notes whether the sending thread is about to sleep until there is room.
    pub(super) fn set_armed(&mut self, is_armed: bool) {
        self.is_armed = is_armed;
    }

    /// Connections that the next frame waits for: for credit, and, if `true`, for room in the
    /// socket.
    pub(super) fn awaited_connections(&self) -> impl Iterator<Item = (&ReceiverConnection, bool)> {
        self.receivers.iter().filter_map(|receiver| match receiver {
            TcpConnectionState::Connected(connection, sent) => {
                Some((&**connection, *sent < self.unsent_frame_bytes))
            }
            TcpConnectionState::Awaited | TcpConnectionState::Gone(_) => None,
        })
    }

    /// Appends the receivers that are gone and not yet in the list.
    pub(super) fn list_lost(&self, lost: &mut Vec<u32>) {
        if self.gone_count == lost.len() {
            return;
        }
        for (number, receiver) in (0..).zip(&self.receivers) {
            if matches!(receiver, TcpConnectionState::Gone(_)) && !lost.contains(&number) {
                lost.push(number);
            }
        }
    }

    /// The loss of the last receiver, if none is left.
    fn all_lost(&self) -> Option<PeerLoss> {
        let is_gone =
            |receiver: &TcpConnectionState| matches!(receiver, TcpConnectionState::Gone(_));
        if !self.receivers.iter().all(is_gone) {
            return None;
        }
        let (number, receiver) = (0..).zip(&self.receivers).last()?;
        let TcpConnectionState::Gone(why) = receiver else {
            return None;
        };
        Some(PeerLoss {
            receiver: Some(number),
            reason: why.clone(),
        })
    }

    /// Notes that the sending end was dropped, and sends the end of the stream.
    pub(super) fn close(&mut self) {
        self.close_deadline = Some(Instant::now() + LINGER_TIMEOUT);
        self.send_goodbye();
        self.registration.request_turn();
    }

    /// Sends the last frame, which says that nothing follows. `true`: it is out.
    fn send_goodbye(&mut self) -> bool {
        if !self.continue_frame() {
            return false;
        }
        if !self.has_sent_goodbye {
            self.has_sent_goodbye = true;
            let header = FrameHeader {
                len: 0,
                kind: PAD,
                flags: END_OF_STREAM,
            };
            self.unsent_frame[0] = header.to_word();
            self.unsent_frame_bytes = HEADER_BYTES;
            self.begin_frame(HEADER_BYTES);
        }
        self.continue_frame()
    }

    /// A turn of the IO thread. The second value: the sending thread must be woken.
    pub(super) fn turn(&mut self, now: Instant) -> (NextTurn, bool) {
        let before = self.receiver_counts();
        while let Some((handshake, pair)) = self.listener.next_receiver(now) {
            self.admit(handshake, pair);
        }
        self.read_credit();
        self.check_connections();
        let had_rest = self.unsent_frame_bytes > 0;
        let is_out = self.continue_frame();
        let wakes = self.is_armed && (before != self.receiver_counts() || had_rest && is_out);
        if let Some(until) = self.close_deadline
            && (self.send_goodbye() || until <= now || self.connected().next().is_none())
        {
            self.receivers.clear();
            return (NextTurn::Unregister, wakes);
        }
        let next = NextTurn::OnEvent
            .or_at(self.close_deadline)
            .or_at(self.listener.next_deadline());
        (next.or_at(self.check_unsent_frame(now)), wakes)
    }

    /// Time at which the IO thread must come back for the kept frame. While the sending thread
    /// makes calls or sleeps on the sockets, that thread continues the frame.
    fn check_unsent_frame(&mut self, now: Instant) -> Option<Instant> {
        let (since, calls) = self.stuck_since?;
        let is_due = since + STUCK_TIME <= now;
        let is_left_alone = is_due && calls == self.sender_calls && !self.is_armed;
        let unsent_bytes = self.unsent_frame_bytes;
        for receiver in &mut self.receivers {
            if let TcpConnectionState::Connected(connection, sent) = receiver {
                connection.set_watched_events(is_left_alone && *sent < unsent_bytes, false);
            }
        }
        if is_due {
            let is_stuck = unsent_bytes > 0 && !is_left_alone;
            self.stuck_since = is_stuck.then_some((now, self.sender_calls));
        }
        self.stuck_since.map(|(since, _)| since + STUCK_TIME)
    }

    fn admit(&mut self, handshake: Handshake, pair: ConnectionPair) {
        let receiver = &mut self.receivers[handshake.receiver as usize];
        if !matches!(receiver, TcpConnectionState::Awaited) || self.close_deadline.is_some() {
            let why = format!("receiver {} has connected already", handshake.receiver);
            return self.listener.refuse_pair(pair, &why);
        }
        if self.listener.send_reply(&pair.frames, self.reply) {
            keepalive::set_timeout(&pair.credit, KEEPALIVE_TIMEOUT);
            *receiver = TcpConnectionState::Connected(
                Box::new(ReceiverConnection::new(pair, 0, self.registration)),
                0,
            );
        }
    }

    fn end_connection(&mut self, at: usize, end: ConnectionEnd) {
        self.gone_count += 1;
        self.receivers[at] = TcpConnectionState::Gone(match end {
            ConnectionEnd::Goodbye => "it has closed its end".to_owned(),
            ConnectionEnd::Broken(why) => why,
        });
    }

    /// Numbers of connected receivers and of those that are gone: one may come and go within a
    /// turn.
    fn receiver_counts(&self) -> (usize, usize) {
        (self.connected().count(), self.gone_count)
    }

    /// Number of the connected receiver that has most to release, and what it has released.
    fn slowest(&self) -> Option<(u32, u64)> {
        let numbered = (0..).zip(&self.receivers);
        let released = numbered.filter_map(|(number, receiver)| match receiver {
            TcpConnectionState::Connected(connection, _) => Some((number, connection.released())),
            TcpConnectionState::Awaited | TcpConnectionState::Gone(_) => None,
        });
        released.min_by_key(|(_, released)| *released)
    }

    fn connected(&self) -> impl Iterator<Item = &ReceiverConnection> {
        self.receivers.iter().filter_map(|receiver| match receiver {
            TcpConnectionState::Connected(connection, _) => Some(&**connection),
            TcpConnectionState::Awaited | TcpConnectionState::Gone(_) => None,
        })
    }
}

/// The parts without their first `bytes` bytes.
fn skip_bytes<const N: usize>(parts: [&[u8]; N], mut bytes: usize) -> [&[u8]; N] {
    parts.map(|part| {
        let (before, unsent) = part.split_at(bytes.min(part.len()));
        bytes -= before.len();
        unsent
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;
    use crate::media::tcp_edge::handshake::{
        ConnectionPurpose, FramingProtocol, Handshake, HandshakeTerms, REPLY_BYTES,
    };
    use crate::{Batching, EdgeSpec};

    #[test]
    fn parts_go_on_behind_any_byte() {
        let parts = [&b"head"[..], b"", b"payload", b"fill"];
        for bytes in 0..=15 {
            let unsent = skip_bytes(parts, bytes).concat();
            assert_eq!(unsent, b"headpayloadfill"[bytes..], "{bytes}");
        }
    }

    #[test]
    fn a_receiver_that_comes_and_goes_in_one_turn_wakes_the_sender() {
        let spec = EdgeSpec {
            name: "Trades.0".into(),
            edge: 7,
            receiver_count: 1,
            ring_bytes: 4096,
            batching: Batching::default(),
            token: *b"sixteen secret b",
            listen: std::net::Ipv4Addr::LOCALHOST.into(),
        };
        let (registration, counters) = (
            Registration::reserve().expect("an IO thread"),
            Arc::<EdgeCounters>::default(),
        );
        let terms = HandshakeTerms::new(FramingProtocol::Tcp, &spec);
        let listener =
            Listener::bind(&spec, terms, registration, counters.clone()).expect("a free port");
        let address = listener.address().expect("an address");
        let reply = HandshakeReply {
            position: 0,
            payload_bytes_max: 1024,
            ring_bytes: 4096,
        };
        // No task is registered under the number, so the only turns are these.
        let mut state =
            TcpSenderState::new(listener, spec.receiver_count, reply, registration, counters);
        state.set_armed(true);
        let connect = |way| {
            let handshake = Handshake {
                protocol: FramingProtocol::Tcp,
                edge: spec.edge,
                receiver: 0,
                token: spec.token,
                instance: 1,
                position: 0,
                purpose: way,
                liveness_port: 0,
            };
            let mut stream = TcpStream::connect(address).expect("the door listens");
            stream
                .write_all(&handshake.to_bytes())
                .expect("it has room");
            stream
        };
        let mut credit = connect(ConnectionPurpose::Credit);
        let (_, wakes) = state.turn(Instant::now());
        assert!(
            !wakes,
            "a receiver with half of its connections has not come"
        );
        credit.read_exact(&mut [0; REPLY_BYTES]).expect("welcome");
        drop((connect(ConnectionPurpose::Frames), credit));
        let (_, wakes) = state.turn(Instant::now());
        assert_eq!(state.receiver_counts(), (0, 1));
        assert!(wakes);
    }
}
