//! The lines of a sender: to each receiver one, and the frame that is going out on them.
//!
//! Shared between the thread that sends and the pump: whoever has the lock gets the frame further.

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

/// The pump looks after a frame that is stuck when the sending thread has not come back for so
/// long.
const STUCK_TIME: Duration = Duration::from_millis(1);

/// Longest silence on a connection before it counts as lost. TCP bridges shorter failures of the
/// network by itself.
pub(super) const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(30);

/// What both threads need.
pub(super) struct TcpSenderState {
    listener: Listener,
    receivers: Vec<TcpConnectionState>,
    registration: Registration,
    counters: Arc<EdgeCounters>,
    reply: HandshakeReply,
    /// The frame that is not out on every line, and its bytes; 0: there is none.
    unsent_frame: Vec<u64>,
    unsent_frame_bytes: usize,
    /// Since when the pump is to look after it, and how often the sending thread had come by then.
    stuck_since: Option<(Instant, u64)>,
    sender_calls: u64,
    /// Receivers that are gone.
    gone_count: usize,
    /// Bytes of all frames so far.
    committed: u64,
    /// Where the slowest receiver was when it was last looked at.
    released: u64,
    /// The sending thread sleeps.
    is_armed: bool,
    /// The sending end was dropped: when to give up.
    close_deadline: Option<Instant>,
    has_sent_goodbye: bool,
}

/// A receiver's.
enum TcpConnectionState {
    /// It has not connected.
    Awaited,
    /// It has; and the bytes of the rest that are out to it.
    Connected(Box<ReceiverConnection>, usize),
    /// It is gone: why.
    Gone(String),
}

impl TcpSenderState {
    pub(super) fn new(
        listener: Listener,
        receivers: u32,
        welcome: HandshakeReply,
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
            unsent_frame: vec![0; (welcome.frame_bytes_max as usize + HEADER_BYTES).div_ceil(8)],
            reply: welcome,
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

    /// Whether a frame of so many bytes may begin now.
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
        let is_awaited = |place: &TcpConnectionState| matches!(place, TcpConnectionState::Awaited);
        let is_complete = !self.receivers.iter().any(is_awaited);
        Ok(is_out && is_complete && until <= self.released + most)
    }

    /// Writes a new frame to every line. What is not out everywhere is kept, in exchange for the
    /// buffer of the last that was.
    pub(super) fn write_frame(&mut self, frame: &mut Vec<u64>, bytes: usize) {
        debug_assert_eq!(self.unsent_frame_bytes, 0);
        self.begin_frame(bytes);
        if !self.write_remaining([&bytemuck::cast_slice(frame)[..bytes]]) {
            std::mem::swap(frame, &mut self.unsent_frame);
            self.keep_unsent(bytes);
        }
    }

    /// The same, of a frame whose payload lies elsewhere; it is copied only if it is kept.
    pub(super) fn write_payload(&mut self, header: FrameHeader, payload: &[u8]) {
        debug_assert_eq!(self.unsent_frame_bytes, 0);
        let bytes = frame_bytes(payload.len());
        let filling = &[0; ALIGN][..bytes - HEADER_BYTES - payload.len()];
        let header = header.to_word();
        self.begin_frame(bytes);
        if !self.write_remaining([&header.to_ne_bytes(), payload, filling]) {
            self.unsent_frame[0] = header;
            let rest: &mut [u8] = bytemuck::cast_slice_mut(&mut self.unsent_frame);
            rest[HEADER_BYTES..][..payload.len()].copy_from_slice(payload);
            self.keep_unsent(bytes);
        }
    }

    /// So many bytes of the rest are not out everywhere.
    fn keep_unsent(&mut self, bytes: usize) {
        self.unsent_frame_bytes = bytes;
        if self.stuck_since.is_none() {
            self.stuck_since = Some((Instant::now(), self.sender_calls));
            self.registration.request_turn();
        }
    }

    /// Gets the rest further. `true`: it is out.
    pub(super) fn continue_frame(&mut self) -> bool {
        if self.unsent_frame_bytes > 0 {
            let rest = std::mem::take(&mut self.unsent_frame);
            let is_out =
                self.write_remaining([&bytemuck::cast_slice(&rest)[..self.unsent_frame_bytes]]);
            self.unsent_frame = rest;
            if is_out {
                self.unsent_frame_bytes = 0;
            }
        }
        self.unsent_frame_bytes == 0
    }

    fn begin_frame(&mut self, bytes: usize) {
        self.committed += bytes as u64;
        for place in &mut self.receivers {
            if let TcpConnectionState::Connected(_, sent) = place {
                *sent = 0;
            }
        }
    }

    /// Writes on, to every line. `true`: everything is out everywhere.
    fn write_remaining<const N: usize>(&mut self, parts: [&[u8]; N]) -> bool {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        let mut is_out = true;
        for at in 0..self.receivers.len() {
            let TcpConnectionState::Connected(line, sent) = &mut self.receivers[at] else {
                continue;
            };
            while *sent < bytes {
                match write_parts(&line.frames, skip_bytes(parts, *sent)) {
                    Ok(0) => break,
                    Ok(count) => *sent += count,
                    Err(error) => {
                        let over = line.end_after_failed_write(error, self.committed);
                        self.end_connection(at, over);
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

    /// Hears how far the receivers are.
    pub(super) fn read_credit(&mut self) {
        for at in 0..self.receivers.len() {
            if let TcpConnectionState::Connected(line, _) = &mut self.receivers[at]
                && let Err(over) = line.read_credit(self.committed)
            {
                self.end_connection(at, over);
            }
        }
        let slowest = self.connected().map(ReceiverConnection::released).min();
        self.released = slowest.unwrap_or(self.committed);
        let queued = self.queued_bytes() as u64;
        self.counters.queued_bytes.store(queued, Ordering::Relaxed);
    }

    /// Finds connections that have ended.
    fn check_connections(&mut self) {
        for at in 0..self.receivers.len() {
            if let TcpConnectionState::Connected(line, _) = &self.receivers[at]
                && let Err(over) = line.check_frames_socket()
            {
                self.end_connection(at, over);
            }
        }
    }

    /// Bytes that the slowest receiver has not released.
    pub(super) fn queued_bytes(&self) -> usize {
        (self.committed - self.released) as usize
    }

    /// Whether nothing is under way to anybody.
    pub(super) fn is_drained(&self) -> bool {
        self.unsent_frame_bytes == 0 && self.queued_bytes() == 0
    }

    /// The sending thread is about to sleep until there is room, or is awake again.
    pub(super) fn set_armed(&mut self, is_armed: bool) {
        self.is_armed = is_armed;
    }

    /// The lines that the next frame waits for: for credit, and for room.
    pub(super) fn awaited_connections(&self) -> impl Iterator<Item = (&ReceiverConnection, bool)> {
        self.receivers.iter().filter_map(|place| match place {
            TcpConnectionState::Connected(line, sent) => {
                Some((&**line, *sent < self.unsent_frame_bytes))
            }
            TcpConnectionState::Awaited | TcpConnectionState::Gone(_) => None,
        })
    }

    /// Appends the receivers that are gone and not yet in the list.
    pub(super) fn list_lost(&self, lost: &mut Vec<u32>) {
        if self.gone_count == lost.len() {
            return;
        }
        for (number, place) in (0..).zip(&self.receivers) {
            if matches!(place, TcpConnectionState::Gone(_)) && !lost.contains(&number) {
                lost.push(number);
            }
        }
    }

    /// A loss, if there is no receiver left.
    fn all_lost(&self) -> Option<PeerLoss> {
        let is_gone = |place: &TcpConnectionState| matches!(place, TcpConnectionState::Gone(_));
        if !self.receivers.iter().all(is_gone) {
            return None;
        }
        let (number, place) = (0..).zip(&self.receivers).last()?;
        let TcpConnectionState::Gone(why) = place else {
            return None;
        };
        Some(PeerLoss {
            receiver: Some(number),
            reason: why.clone(),
        })
    }

    /// The sending end was dropped.
    pub(super) fn close(&mut self) {
        self.close_deadline = Some(Instant::now() + LINGER_TIMEOUT);
        self.send_goodbye();
        self.registration.request_turn();
    }

    /// The last frame, which says that nothing follows. `true`: it is out.
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

    /// A turn of the pump. `true` beside the next one: the sending thread has to be woken.
    pub(super) fn turn(&mut self, now: Instant) -> (NextTurn, bool) {
        let before = self.receiver_counts();
        while let Some((hello, pair)) = self.listener.next_receiver(now) {
            self.admit(hello, pair);
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

    /// When the pump has to come back for the rest. As long as the sending thread comes by or
    /// sleeps on the sockets itself, it is left to that.
    fn check_unsent_frame(&mut self, now: Instant) -> Option<Instant> {
        let (since, visits) = self.stuck_since?;
        let is_due = since + STUCK_TIME <= now;
        let is_left_alone = is_due && visits == self.sender_calls && !self.is_armed;
        let rest_bytes = self.unsent_frame_bytes;
        for place in &mut self.receivers {
            if let TcpConnectionState::Connected(line, sent) = place {
                line.set_watched_events(is_left_alone && *sent < rest_bytes, false);
            }
        }
        if is_due {
            let is_stuck = rest_bytes > 0 && !is_left_alone;
            self.stuck_since = is_stuck.then_some((now, self.sender_calls));
        }
        self.stuck_since.map(|(since, _)| since + STUCK_TIME)
    }

    fn admit(&mut self, handshake: Handshake, pair: ConnectionPair) {
        let place = &mut self.receivers[handshake.receiver as usize];
        if !matches!(place, TcpConnectionState::Awaited) || self.close_deadline.is_some() {
            let why = format!("receiver {} has connected already", handshake.receiver);
            return self.listener.refuse_pair(pair, &why);
        }
        if self.listener.send_reply(&pair.frames, self.reply) {
            keepalive::set_timeout(&pair.credit, KEEPALIVE_TIMEOUT);
            *place = TcpConnectionState::Connected(
                Box::new(ReceiverConnection::new(pair, 0, self.registration)),
                0,
            );
        }
    }

    fn end_connection(&mut self, at: usize, over: ConnectionEnd) {
        self.gone_count += 1;
        self.receivers[at] = TcpConnectionState::Gone(match over {
            ConnectionEnd::Goodbye => "it has closed its end".to_owned(),
            ConnectionEnd::Broken(why) => why,
        });
    }

    /// Receivers that have connected and are there, and that are gone: one may come and go in one
    /// turn.
    fn receiver_counts(&self) -> (usize, usize) {
        (self.connected().count(), self.gone_count)
    }

    fn connected(&self) -> impl Iterator<Item = &ReceiverConnection> {
        self.receivers.iter().filter_map(|place| match place {
            TcpConnectionState::Connected(line, _) => Some(&**line),
            TcpConnectionState::Awaited | TcpConnectionState::Gone(_) => None,
        })
    }
}

/// The parts without their first bytes.
fn skip_bytes<const N: usize>(parts: [&[u8]; N], mut bytes: usize) -> [&[u8]; N] {
    parts.map(|part| {
        let (before, rest) = part.split_at(bytes.min(part.len()));
        bytes -= before.len();
        rest
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
            let rest = skip_bytes(parts, bytes).concat();
            assert_eq!(rest, b"headpayloadfill"[bytes..], "{bytes}");
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
        let (seat, counters) = (
            Registration::reserve().expect("a seat"),
            Arc::<EdgeCounters>::default(),
        );
        let terms = HandshakeTerms::new(FramingProtocol::Tcp, &spec);
        let door = Listener::bind(&spec, terms, seat, counters.clone()).expect("a free port");
        let address = door.address().expect("an address");
        let welcome = HandshakeReply {
            position: 0,
            frame_bytes_max: 1024,
            ring_bytes: 4096,
        };
        // Nobody sits on the seat: the only turns are these.
        let mut lines = TcpSenderState::new(door, spec.receiver_count, welcome, seat, counters);
        lines.set_armed(true);
        let connect = |way| {
            let hello = Handshake {
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
            stream.write_all(&hello.to_bytes()).expect("it has room");
            stream
        };
        let mut credit = connect(ConnectionPurpose::Credit);
        let (_, wakes) = lines.turn(Instant::now());
        assert!(
            !wakes,
            "a receiver with half of its connections has not come"
        );
        credit.read_exact(&mut [0; REPLY_BYTES]).expect("welcome");
        drop((connect(ConnectionPurpose::Frames), credit));
        let (_, wakes) = lines.turn(Instant::now());
        assert_eq!(lines.receiver_counts(), (0, 1));
        assert!(wakes);
    }
}
