//! The lines of a sender: to each receiver one, and the frame that is going out on them.
//!
//! Shared between the thread that sends and the pump: whoever has the lock gets the frame further.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ring::frame::{ALIGN, HEADER_BYTES, Header, PAD, frame_bytes};

use super::credit::Over;
use super::door::Door;
use super::hello::{Hello, Welcome};
use super::line::{Line, Pair, write};
use super::pump::{Next, Seat};
use super::{LEAVES, LINGER, SILENCE, silence};
use crate::{Counters, Error, Loss};

/// The pump looks after a frame that is stuck when the sending thread has not come back for so long.
const PATIENCE: Duration = Duration::from_millis(1);

/// What both threads need.
pub(super) struct Lines {
    door: Door,
    places: Vec<Place>,
    seat: Seat,
    counters: Arc<Counters>,
    welcome: Welcome,
    /// The frame that is not out on every line, and its bytes; 0: there is none.
    rest: Vec<u64>,
    rest_bytes: usize,
    /// Since when the pump is to look after it, and how often the sending thread had come by then.
    stuck: Option<(Instant, u64)>,
    visits: u64,
    /// Receivers that are gone.
    gone: usize,
    /// Bytes of all frames so far.
    committed: u64,
    /// Where the slowest receiver was when it was last looked at.
    released: u64,
    /// The sending thread sleeps.
    is_armed: bool,
    /// The sending end was dropped: when to give up.
    leaves: Option<Instant>,
    has_said_goodbye: bool,
}

/// A receiver's.
enum Place {
    /// It has not connected.
    Awaited,
    /// It has; and the bytes of the rest that are out to it.
    Up(Box<Line>, usize),
    /// It is gone: why.
    Gone(String),
}

impl Lines {
    pub(super) fn new(
        door: Door,
        receivers: u32,
        welcome: Welcome,
        seat: Seat,
        counters: Arc<Counters>,
    ) -> Lines {
        Lines {
            door,
            places: (0..receivers).map(|_| Place::Awaited).collect(),
            seat,
            counters,
            rest: vec![0; (welcome.frame_bytes_max as usize + HEADER_BYTES).div_ceil(8)],
            welcome,
            rest_bytes: 0,
            stuck: None,
            visits: 0,
            gone: 0,
            committed: 0,
            released: 0,
            is_armed: false,
            leaves: None,
            has_said_goodbye: false,
        }
    }

    /// Whether a frame of so many bytes may begin now.
    pub(super) fn has_room(&mut self, bytes: usize) -> Result<bool, Error> {
        self.visits += 1;
        let is_out = self.go_on();
        let until = self.committed + bytes as u64;
        let most = self.welcome.ring_bytes;
        if !is_out || until > self.released + most {
            self.hear();
        }
        if let Some(loss) = self.all_lost() {
            return Err(Error::Lost(loss));
        }
        let is_awaited = |place: &Place| matches!(place, Place::Awaited);
        let is_complete = !self.places.iter().any(is_awaited);
        Ok(is_out && is_complete && until <= self.released + most)
    }

    /// Writes a new frame to every line. What is not out everywhere is kept, in exchange for the
    /// buffer of the last that was.
    pub(super) fn write(&mut self, frame: &mut Vec<u64>, bytes: usize) {
        debug_assert_eq!(self.rest_bytes, 0);
        self.begin(bytes);
        if !self.write_on([&bytemuck::cast_slice(frame)[..bytes]]) {
            std::mem::swap(frame, &mut self.rest);
            self.keep(bytes);
        }
    }

    /// The same, of a frame whose payload lies elsewhere; it is copied only if it is kept.
    pub(super) fn write_from(&mut self, header: Header, payload: &[u8]) {
        debug_assert_eq!(self.rest_bytes, 0);
        let bytes = frame_bytes(payload.len());
        let filling = &[0; ALIGN][..bytes - HEADER_BYTES - payload.len()];
        let header = header.to_word();
        self.begin(bytes);
        if !self.write_on([&header.to_ne_bytes(), payload, filling]) {
            self.rest[0] = header;
            let rest: &mut [u8] = bytemuck::cast_slice_mut(&mut self.rest);
            rest[HEADER_BYTES..][..payload.len()].copy_from_slice(payload);
            self.keep(bytes);
        }
    }

    /// So many bytes of the rest are not out everywhere.
    fn keep(&mut self, bytes: usize) {
        self.rest_bytes = bytes;
        if self.stuck.is_none() {
            self.stuck = Some((Instant::now(), self.visits));
            self.seat.call();
        }
    }

    /// Gets the rest further. `true`: it is out.
    pub(super) fn go_on(&mut self) -> bool {
        if self.rest_bytes > 0 {
            let rest = std::mem::take(&mut self.rest);
            let is_out = self.write_on([&bytemuck::cast_slice(&rest)[..self.rest_bytes]]);
            self.rest = rest;
            if is_out {
                self.rest_bytes = 0;
            }
        }
        self.rest_bytes == 0
    }

    fn begin(&mut self, bytes: usize) {
        self.committed += bytes as u64;
        for place in &mut self.places {
            if let Place::Up(_, sent) = place {
                *sent = 0;
            }
        }
    }

    /// Writes on, to every line. `true`: everything is out everywhere.
    fn write_on<const N: usize>(&mut self, parts: [&[u8]; N]) -> bool {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        let mut is_out = true;
        for at in 0..self.places.len() {
            let Place::Up(line, sent) = &mut self.places[at] else {
                continue;
            };
            while *sent < bytes {
                match write(&line.frames, behind(parts, *sent)) {
                    Ok(0) => break,
                    Ok(count) => *sent += count,
                    Err(error) => {
                        let over = line.over(error, self.committed);
                        self.lose(at, over);
                        break;
                    }
                }
            }
            if let Place::Up(_, sent) = self.places[at] {
                is_out &= sent == bytes;
            }
        }
        is_out
    }

    /// Hears how far the receivers are.
    pub(super) fn hear(&mut self) {
        for at in 0..self.places.len() {
            if let Place::Up(line, _) = &mut self.places[at]
                && let Err(over) = line.hear(self.committed)
            {
                self.lose(at, over);
            }
        }
        let slowest = self.up().map(Line::released).min();
        self.released = slowest.unwrap_or(self.committed);
        let queued = self.queued_bytes() as u64;
        self.counters.queued_bytes.store(queued, Ordering::Relaxed);
    }

    /// Finds connections that have ended.
    fn check(&mut self) {
        for at in 0..self.places.len() {
            if let Place::Up(line, _) = &self.places[at]
                && let Err(over) = line.check()
            {
                self.lose(at, over);
            }
        }
    }

    /// Bytes that the slowest receiver has not released.
    pub(super) fn queued_bytes(&self) -> usize {
        (self.committed - self.released) as usize
    }

    /// Whether nothing is under way to anybody.
    pub(super) fn is_drained(&self) -> bool {
        self.rest_bytes == 0 && self.queued_bytes() == 0
    }

    /// The sending thread is about to sleep until there is room, or is awake again.
    pub(super) fn set_armed(&mut self, is_armed: bool) {
        self.is_armed = is_armed;
    }

    /// The lines that the next frame waits for: for credit, and for room.
    pub(super) fn waited_for(&self) -> impl Iterator<Item = (&Line, bool)> {
        self.places.iter().filter_map(|place| match place {
            Place::Up(line, sent) => Some((&**line, *sent < self.rest_bytes)),
            Place::Awaited | Place::Gone(_) => None,
        })
    }

    /// Appends the receivers that are gone and not yet in the list.
    pub(super) fn list_lost(&self, lost: &mut Vec<u32>) {
        if self.gone == lost.len() {
            return;
        }
        for (number, place) in (0..).zip(&self.places) {
            if matches!(place, Place::Gone(_)) && !lost.contains(&number) {
                lost.push(number);
            }
        }
    }

    /// A loss, if there is no receiver left.
    fn all_lost(&self) -> Option<Loss> {
        let is_gone = |place: &Place| matches!(place, Place::Gone(_));
        if !self.places.iter().all(is_gone) {
            return None;
        }
        let (number, place) = (0..).zip(&self.places).last()?;
        let Place::Gone(why) = place else {
            return None;
        };
        Some(Loss {
            receiver: Some(number),
            why: why.clone(),
        })
    }

    /// The sending end was dropped.
    pub(super) fn leave(&mut self) {
        self.leaves = Some(Instant::now() + LINGER);
        self.say_goodbye();
        self.seat.call();
    }

    /// The last frame, which says that nothing follows. `true`: it is out.
    fn say_goodbye(&mut self) -> bool {
        if !self.go_on() {
            return false;
        }
        if !self.has_said_goodbye {
            self.has_said_goodbye = true;
            let header = Header {
                len: 0,
                kind: PAD,
                flags: LEAVES,
            };
            self.rest[0] = header.to_word();
            self.rest_bytes = HEADER_BYTES;
            self.begin(HEADER_BYTES);
        }
        self.go_on()
    }

    /// A turn of the pump. `true` beside the next one: the sending thread has to be woken.
    pub(super) fn turn(&mut self, now: Instant) -> (Next, bool) {
        let before = self.come_and_gone();
        while let Some((hello, pair)) = self.door.next(now) {
            self.admit(hello, pair);
        }
        self.hear();
        self.check();
        let had_rest = self.rest_bytes > 0;
        let is_out = self.go_on();
        let wakes = self.is_armed && (before != self.come_and_gone() || had_rest && is_out);
        if let Some(until) = self.leaves
            && (self.say_goodbye() || until <= now || self.up().next().is_none())
        {
            self.places.clear();
            return (Next::Leave, wakes);
        }
        let next = Next::OnEvent.or_at(self.leaves).or_at(self.door.due());
        (next.or_at(self.look_after_rest(now)), wakes)
    }

    /// When the pump has to come back for the rest. As long as the sending thread comes by or sleeps
    /// on the sockets itself, it is left to that.
    fn look_after_rest(&mut self, now: Instant) -> Option<Instant> {
        let (since, visits) = self.stuck?;
        let is_due = since + PATIENCE <= now;
        let is_left_alone = is_due && visits == self.visits && !self.is_armed;
        let rest_bytes = self.rest_bytes;
        for place in &mut self.places {
            if let Place::Up(line, sent) = place {
                line.watch(is_left_alone && *sent < rest_bytes, false);
            }
        }
        if is_due {
            let is_stuck = rest_bytes > 0 && !is_left_alone;
            self.stuck = is_stuck.then_some((now, self.visits));
        }
        self.stuck.map(|(since, _)| since + PATIENCE)
    }

    fn admit(&mut self, hello: Hello, pair: Pair) {
        let place = &mut self.places[hello.receiver as usize];
        if !matches!(place, Place::Awaited) || self.leaves.is_some() {
            let why = format!("receiver {} has connected already", hello.receiver);
            return self.door.refuse_pair(pair, &why);
        }
        if self.door.welcome(&pair.frames, self.welcome) {
            silence::end_after(&pair.credit, SILENCE);
            *place = Place::Up(Box::new(Line::new(pair, 0, self.seat)), 0);
        }
    }

    fn lose(&mut self, at: usize, over: Over) {
        self.gone += 1;
        self.places[at] = Place::Gone(match over {
            Over::Goodbye => "it has closed its end".to_owned(),
            Over::Broken(why) => why,
        });
    }

    /// Receivers that have connected and are there, and that are gone: one may come and go in one turn.
    fn come_and_gone(&self) -> (usize, usize) {
        (self.up().count(), self.gone)
    }

    fn up(&self) -> impl Iterator<Item = &Line> {
        self.places.iter().filter_map(|place| match place {
            Place::Up(line, _) => Some(&**line),
            Place::Awaited | Place::Gone(_) => None,
        })
    }
}

/// The parts without their first bytes.
fn behind<const N: usize>(parts: [&[u8]; N], mut bytes: usize) -> [&[u8]; N] {
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

    use super::super::hello::{ANSWER_BYTES, Hello, Protocol, Way};
    use super::*;
    use crate::{Batching, Spec};

    #[test]
    fn parts_go_on_behind_any_byte() {
        let parts = [&b"head"[..], b"", b"payload", b"fill"];
        for bytes in 0..=15 {
            let rest = behind(parts, bytes).concat();
            assert_eq!(rest, b"headpayloadfill"[bytes..], "{bytes}");
        }
    }

    #[test]
    fn a_receiver_that_comes_and_goes_in_one_turn_wakes_the_sender() {
        let spec = Spec {
            name: "Trades.0".into(),
            link: 7,
            receivers: 1,
            ring_bytes: 4096,
            batch: Batching::default(),
            token: *b"sixteen secret b",
            listen: std::net::Ipv4Addr::LOCALHOST.into(),
        };
        let (seat, counters) = (Seat::take().expect("a seat"), Arc::<Counters>::default());
        let terms = super::super::terms(Protocol::Tcp, &spec);
        let door = Door::open(&spec, terms, seat, counters.clone()).expect("a free port");
        let address = door.address().expect("an address");
        let welcome = Welcome {
            position: 0,
            frame_bytes_max: 1024,
            ring_bytes: 4096,
        };
        // Nobody sits on the seat: the only turns are these.
        let mut lines = Lines::new(door, spec.receivers, welcome, seat, counters);
        lines.set_armed(true);
        let connect = |way| {
            let hello = Hello {
                protocol: Protocol::Tcp,
                link: spec.link,
                receiver: 0,
                token: spec.token,
                instance: 1,
                position: 0,
                way,
                lifeline: 0,
            };
            let mut stream = TcpStream::connect(address).expect("the door listens");
            stream.write_all(&hello.to_bytes()).expect("it has room");
            stream
        };
        let mut credit = connect(Way::Credit);
        let (_, wakes) = lines.turn(Instant::now());
        assert!(
            !wakes,
            "a receiver with half of its connections has not come"
        );
        credit.read_exact(&mut [0; ANSWER_BYTES]).expect("welcome");
        drop((connect(Way::Frames), credit));
        let (_, wakes) = lines.turn(Instant::now());
        assert_eq!(lines.come_and_gone(), (0, 1));
        assert!(wakes);
    }
}
