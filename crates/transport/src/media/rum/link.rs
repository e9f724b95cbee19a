//! A sender's link: its ring's frames, and the outlets through which they go to the receivers.
//!
//! Shared between the sending thread and the pump; whoever has the lock sends. The sending thread
//! never waits for the lock: when the pump has it, the pump is sending.
//!
//! # When a batch goes out
//! To a receiver that is idle (it has released everything that is out) soon; else when it is full; else
//! when it has waited long enough: the sending thread sends it the shortest batching time after
//! the last one when it comes by with another frame, the pump the longest time after its first frame:
//! see [`Due`].

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ring::Keeper;
use rustix::io::Errno;

use super::batch::Key;
use super::due::{Due, Left, Which};
use super::guard::Guard;
use super::outlet::{Outlet, Source, Then};
use super::place::{Down, Peer, Place};
use crate::media::tcp::LINGER;
use crate::media::tcp::credit::Over;
use crate::media::tcp::door::Door;
use crate::media::tcp::hello::{Hello, Welcome};
use crate::media::tcp::line::{Line, Pair};
use crate::media::tcp::pump::{Next, Seat};
use crate::media::tcp::silence;
use crate::{Batching, Counters, Loss};

/// After so many lone batches the receivers are heard, needed or not.
const UNHEARD: u32 = 16;

/// What the sending thread and the pump share.
pub(super) struct Link {
    pub(super) keeper: Keeper,
    door: Door,
    places: Vec<Place>,
    seat: Seat,
    counters: Arc<Counters>,
    frame_bytes_max: u32,
    /// So long a receiver may take to connect again.
    patience: Duration,
    /// Where frames only fill the ring's end, the last time.
    pad_at: u64,
    due: Due,
    /// Batches that the sending thread has sent since it heard the receivers.
    unheard: u32,
    guard: Guard,
    /// The sending thread sleeps until there is room.
    is_armed: bool,
    /// The sending end was dropped: when to give up.
    leaves: Option<Instant>,
    /// Receivers came or went so often.
    changes: u64,
}

/// What a link is made of.
pub(super) struct Parts {
    pub(super) keeper: Keeper,
    pub(super) door: Door,
    pub(super) receivers: u32,
    pub(super) seat: Seat,
    pub(super) counters: Arc<Counters>,
    pub(super) batch: Batching,
    pub(super) frame_bytes_max: u32,
    pub(super) patience: Duration,
}

impl Link {
    pub(super) fn new(parts: Parts) -> Link {
        let time_max = parts.batch.time_max.max(parts.batch.time_min);
        let batch = Batching {
            time_max,
            ..parts.batch
        };
        Link {
            keeper: parts.keeper,
            door: parts.door,
            places: (0..parts.receivers).map(|_| Place::Awaited).collect(),
            seat: parts.seat,
            counters: parts.counters,
            frame_bytes_max: parts.frame_bytes_max,
            patience: parts.patience,
            pad_at: u64::MAX,
            due: Due::new(batch, Instant::now()),
            unheard: 0,
            guard: Guard::new(time_max),
            is_armed: false,
            leaves: None,
            changes: 0,
        }
    }

    /// From here on frames fill the ring's end.
    pub(super) fn set_pad(&mut self, pad_at: u64) {
        self.pad_at = pad_at;
    }

    /// A look of the sending thread at a batch that is not full. `None`: all of it is out that can go.
    pub(super) fn look(&mut self, now: Instant) -> Option<Left> {
        let what = match self.due.look(now) {
            Ok(what) => what,
            Err(left) => {
                self.look_after();
                return Some(left);
            }
        };
        // What goes out anyway does not wait until everybody was heard, nor do they each time.
        let is_out = what != Which::Idle && self.send(what);
        self.unheard += 1;
        if !is_out || self.unheard == UNHEARD {
            self.hear();
        }
        if !is_out {
            self.send(what);
        }
        self.due.settle_after(now);
        // For receivers that are not connected there is nothing to do.
        if self.due.opened().is_some() || self.up().any(Outlet::is_blocked) {
            self.look_after();
        }
        self.due.left(now)
    }

    /// Sends a full batch of a sending thread that is likely to go on: the pump looks after whatever
    /// it commits from now on. When that was, and how many bytes of it wait for the next one.
    pub(super) fn send_full(&mut self, then: Then) -> (Instant, usize) {
        self.send_then(Which::All, then);
        let now = Instant::now();
        self.due.close_full(now);
        self.look_after();
        let left = self.up().map(Outlet::held_back).max();
        (now, left.unwrap_or_default())
    }

    /// The pump has to look after what is not out.
    pub(super) fn look_after(&mut self) {
        if self.guard.begin() {
            self.keeper.disarm();
            self.seat.call();
        }
    }

    /// Sends what is to go out. `true`: everything is out.
    pub(super) fn send(&mut self, what: Which) -> bool {
        self.send_then(what, Then::Nothing)
    }

    fn send_then(&mut self, what: Which, then: Then) -> bool {
        let committed = self.keeper.committed();
        let (mut is_out, mut waits, mut has_sent) = (true, false, false);
        for at in 0..self.places.len() {
            let Place::Up(outlet) = &mut self.places[at] else {
                is_out &= self.places[at].is_gone();
                continue;
            };
            let goes = match what {
                Which::Blocked => false,
                Which::Idle => outlet.is_idle(),
                Which::Lone => outlet.is_nearly_idle(),
                Which::All => true,
            };
            if !outlet.is_out(committed) && (goes || outlet.is_blocked()) {
                let source = Source {
                    keeper: &self.keeper,
                    pad_at: self.pad_at,
                };
                match outlet.send(&source, then) {
                    Ok(sent) => {
                        has_sent |= sent.bytes > 0;
                        let batches = &self.counters.batches;
                        batches.fetch_add(sent.batches, Ordering::Relaxed);
                    }
                    Err(error) => self.fail(at, error),
                }
            }
            match &self.places[at] {
                Place::Up(outlet) => {
                    is_out &= outlet.is_out(committed);
                    waits |= outlet.waits(committed);
                }
                other => is_out &= other.is_gone(),
            }
        }
        if has_sent {
            self.due.sent(Instant::now());
        }
        if !waits {
            self.due.close();
        }
        is_out
    }

    /// Hears how far the receivers are, and gives the room back that nobody wants any more.
    pub(super) fn hear(&mut self) {
        self.unheard = 0;
        for at in 0..self.places.len() {
            if let Place::Up(outlet) = &mut self.places[at]
                && let Err(over) = outlet.hear()
            {
                self.lose(at, over);
            }
        }
        self.release();
    }

    /// Finds connections that have ended.
    fn check(&mut self) {
        for at in 0..self.places.len() {
            if let Place::Up(outlet) = &self.places[at]
                && let Err(over) = outlet.line.check()
            {
                self.lose(at, over);
            }
        }
    }

    fn release(&mut self) {
        let committed = self.keeper.committed();
        let mut slowest = (committed, 0);
        for (number, place) in (0..).zip(&self.places) {
            if let Some(released) = place.released() {
                slowest = slowest.min((released, number));
            }
        }
        if slowest.0 != self.keeper.released() {
            self.keeper.release(slowest.0);
        }
        let counters = &self.counters;
        let queued = committed - slowest.0;
        counters.queued_bytes.store(queued, Ordering::Relaxed);
        counters.slowest.store(slowest.1, Ordering::Relaxed);
    }

    /// Bytes that the slowest receiver has not released.
    pub(super) fn queued_bytes(&self) -> usize {
        (self.keeper.committed() - self.keeper.released()) as usize
    }

    /// How often receivers came or went.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// The sending thread is about to sleep until there is room, or is awake again.
    pub(super) fn set_armed(&mut self, is_armed: bool) {
        self.is_armed = is_armed;
        if !is_armed && self.up().any(Outlet::is_blocked) {
            // It may go off computing with what it has slept on.
            self.look_after();
        }
    }

    /// The lines that room may come from: by credit, and by taking what is on its way.
    pub(super) fn waited_for(&self) -> impl Iterator<Item = (&Line, bool)> {
        self.up().map(|outlet| (&outlet.line, outlet.is_blocked()))
    }

    /// Appends the receivers that are gone and not yet in the list.
    pub(super) fn list_lost(&self, lost: &mut Vec<u32>) {
        for (number, place) in (0..).zip(&self.places) {
            if place.is_gone() && !lost.contains(&number) {
                lost.push(number);
            }
        }
    }

    /// A loss, if there is no receiver left.
    pub(super) fn all_lost(&self) -> Option<Loss> {
        match (0..).zip(&self.places).last()? {
            (number, Place::Gone(why)) if self.places.iter().all(Place::is_gone) => Some(Loss {
                receiver: Some(number),
                why: why.clone(),
            }),
            _ => None,
        }
    }

    /// The sending end was dropped: the pump gets out what is left.
    pub(super) fn leave(&mut self) {
        self.leaves = Some(Instant::now() + LINGER);
        self.say_goodbye();
        self.seat.call();
    }

    fn say_goodbye(&mut self) {
        let committed = self.keeper.committed();
        for at in 0..self.places.len() {
            let source = Source {
                keeper: &self.keeper,
                pad_at: self.pad_at,
            };
            if let Place::Up(outlet) = &mut self.places[at]
                && let Err(error) = outlet.say_goodbye(&source)
            {
                self.fail(at, error);
            }
            // Whoever has connected never, or has everything, is no reason to stay.
            let is_done = match &self.places[at] {
                Place::Awaited => committed == 0,
                Place::Up(outlet) => {
                    outlet.has_said_goodbye() && outlet.line.released() == committed
                }
                Place::Down(down) => down.released == committed,
                Place::Gone(_) => true,
            };
            if is_done {
                self.set_place(at, Place::Gone("the sender has left".to_owned()));
            }
        }
    }

    /// A turn of the pump. `true` beside the next one: the sending thread has to be woken.
    pub(super) fn turn(&mut self, now: Instant) -> (Next, bool) {
        let before = (self.keeper.released(), self.changes);
        while let Some((hello, pair)) = self.door.next(now) {
            self.admit(hello, pair);
        }
        self.hear();
        self.check();
        self.give_up(now);
        let committed = self.keeper.committed();
        let has_frames = self.up().any(|outlet| !outlet.is_out(committed));
        if has_frames {
            let what = self.due.pump(now, self.guard.is_close());
            self.send(what);
            self.guard.sent(what == Which::All);
        } else {
            self.due.close();
        }
        if self.guard.is_on() && self.due.opened().is_none() {
            self.keeper.ask();
        }
        let wakes = self.is_armed && before != (self.keeper.released(), self.changes);
        if let Some(until) = self.leaves {
            self.say_goodbye();
            if until <= now || self.places.iter().all(Place::is_gone) {
                self.places.clear();
                return (Next::Leave, wakes);
            }
        }
        let next = Next::OnEvent.or_at(self.leaves).or_at(self.door.due());
        let next = next.or_at(self.next_give_up());
        let next = next.or_at(self.next_look(now, committed));
        (next.or_at(self.next_early(committed)), wakes)
    }

    /// When the pump has to come back for frames whose receiver is idle.
    fn next_early(&self, committed: u64) -> Option<Instant> {
        let goes = |outlet: &Outlet| outlet.waits(committed) && outlet.is_idle();
        let is_early = self.guard.is_close() && self.up().any(goes);
        is_early.then(|| self.due.settled())
    }

    /// When the pump has to come back for frames that are not out; it has seen those up to an index.
    fn next_look(&mut self, now: Instant, committed: u64) -> Option<Instant> {
        let waits = |outlet: &Outlet| outlet.waits(committed);
        let opened = self.due.opened().filter(|_| self.up().any(waits));
        let next = self.guard.next(opened, now);
        if next.is_none() && self.guard.is_on() {
            // Whoever commits the next frame calls, unless there is one that was not seen.
            if self.keeper.arm(committed) {
                self.guard.end();
            } else {
                return Some(now + self.guard.soon());
            }
        }
        let (is_close, is_armed) = (self.guard.is_close(), self.is_armed);
        let leaves = self.leaves.is_some();
        for place in &mut self.places {
            if let Place::Up(outlet) = place {
                let is_credit_wanted = leaves || is_close && !outlet.is_out(committed);
                let is_room_wanted = outlet.is_blocked() && !is_armed;
                outlet.line.watch(is_room_wanted, is_credit_wanted);
            }
        }
        next
    }

    fn admit(&mut self, hello: Hello, pair: Pair) {
        let place = &self.places[hello.receiver as usize];
        let position = match place.resume(&hello) {
            Ok(position) => position,
            Err(why) => return self.door.refuse_pair(pair, &why),
        };
        let (is_first, released) = (matches!(place, Place::Awaited), place.released());
        let welcome = Welcome {
            position,
            frame_bytes_max: self.frame_bytes_max,
            ring_bytes: self.keeper.capacity() as u64,
        };
        let Ok(address) = pair.frames.peer_addr() else {
            return;
        };
        if !is_first {
            self.counters.reconnects.fetch_add(1, Ordering::Relaxed);
        }
        if !self.door.welcome(&pair.frames, welcome) {
            return;
        }
        let lifeline = (hello.lifeline != 0).then(|| {
            let mut lifeline = address;
            lifeline.set_port(hello.lifeline);
            lifeline
        });
        let peer = Peer {
            instance: hello.instance,
            address,
            lifeline,
        };
        silence::end_after(&pair.credit, self.patience);
        let line = Line::new(pair, released.unwrap_or_default(), self.seat);
        let outlet = Outlet::new(line, Key::of(&hello), peer, position);
        self.set_place(hello.receiver as usize, Place::Up(Box::new(outlet)));
    }

    fn fail(&mut self, at: usize, error: Errno) {
        self.lose(at, Over::Broken(error.to_string().to_lowercase()));
    }

    /// The connection is over; the receiver may come back unless it has said goodbye.
    fn lose(&mut self, at: usize, over: Over) {
        let Place::Up(outlet) = &mut self.places[at] else {
            return;
        };
        // Its last words may have come on the other connection meanwhile, and say more.
        let over = match outlet.hear() {
            Err(Over::Goodbye) => Over::Goodbye,
            _ => over,
        };
        let place = match over {
            Over::Goodbye => Place::Gone("it has closed its end".to_owned()),
            Over::Broken(why) => Place::Down(Box::new(Down::new(outlet, why))),
        };
        self.set_place(at, place);
        // The pump knocks, and gives up in time.
        self.seat.call();
    }

    /// Looks after receivers that are away.
    fn give_up(&mut self, now: Instant) {
        for at in 0..self.places.len() {
            if let Place::Down(down) = &mut self.places[at]
                && let Some(why) = down.look(self.seat, self.patience, now)
            {
                self.set_place(at, Place::Gone(why));
            }
        }
        self.release();
    }

    fn next_give_up(&self) -> Option<Instant> {
        let down = self.places.iter().filter_map(|place| match place {
            Place::Down(down) => Some(down.due(self.patience)),
            _ => None,
        });
        down.min()
    }

    fn set_place(&mut self, at: usize, place: Place) {
        self.places[at] = place;
        self.changes += 1;
    }

    fn up(&self) -> impl Iterator<Item = &Outlet> {
        self.places.iter().filter_map(|place| match place {
            Place::Up(outlet) => Some(&**outlet),
            _ => None,
        })
    }
}
