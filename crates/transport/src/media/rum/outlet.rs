//! An outlet: what of a sender's ring has gone out to one receiver.
//!
//! ```text
//!   released         cursor            begun             committed
//!   --+----------------+-----------------+-----------------+
//!     | sent, may be   | of batches that | of the next     |
//!     | wanted again   | are going       | batch           |
//! ```

use ring::Keeper;
use rustix::io::Result;

use super::batch::{Head, Key};
use super::going::Going;
use super::place::Peer;
use crate::media::tcp::credit::Over;
use crate::media::tcp::line::Line;

/// A connected receiver's.
pub(super) struct Outlet {
    pub(super) line: Line,
    pub(super) peer: Peer,
    key: Key,
    /// Up to where frames are out or going.
    begun: u64,
    going: Going,
    /// Where the last batch began.
    began: u64,
    /// What the receiver expects after the last batch.
    expected: u64,
    /// The socket took no more.
    is_blocked: bool,
    has_said_goodbye: bool,
}

/// What follows on what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// Nothing that is known of: all of it goes out.
    Nothing,
    /// More, soon: what goes out are writes of so many bytes, and the rest with the next one.
    More(usize),
}

/// What of a ring can be sent.
pub(super) struct Source<'a> {
    pub(super) keeper: &'a Keeper,
    /// From here on frames only fill the ring's end, and need not be sent.
    pub(super) pad_at: u64,
}

/// What was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) batches: u64,
    pub(super) bytes: usize,
}

impl Outlet {
    /// To a receiver that expects this position next.
    pub(super) fn new(line: Line, key: Key, peer: Peer, position: u64) -> Outlet {
        Outlet {
            line,
            peer,
            key,
            begun: position,
            going: Going::default(),
            began: position,
            expected: position,
            is_blocked: false,
            has_said_goodbye: false,
        }
    }

    /// Up to where frames are out.
    pub(super) fn cursor(&self) -> u64 {
        self.going.cursor().unwrap_or(self.begun)
    }

    /// Whether the last write went only in part.
    pub(super) fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// Bytes that wait for a write to be worth it.
    pub(super) fn held_back(&self) -> usize {
        match self.is_blocked {
            true => 0,
            false => self.going.bytes(),
        }
    }

    /// Whether everything up to an index is out.
    pub(super) fn is_out(&self, committed: u64) -> bool {
        self.begun == committed && self.going.is_empty()
    }

    /// Whether something up to an index is not out that the socket may take.
    pub(super) fn waits(&self, committed: u64) -> bool {
        !self.is_out(committed) && !self.is_blocked
    }

    /// Whether the receiver has released everything that is out.
    pub(super) fn is_idle(&self) -> bool {
        self.line.released() == self.begun && self.going.is_empty()
    }

    /// Whether it has released everything but the last batch, and perhaps that.
    pub(super) fn is_nearly_idle(&self) -> bool {
        self.line.released() >= self.began && self.going.is_empty()
    }

    /// Whether the receiver was told that nothing follows.
    pub(super) fn has_said_goodbye(&self) -> bool {
        self.has_said_goodbye && self.going.is_empty()
    }

    /// Hears how far the receiver is. `true`: further.
    pub(super) fn hear(&mut self) -> std::result::Result<bool, Over> {
        self.line.hear(self.cursor())
    }

    /// Sends everything that is committed, as far as the socket takes it, and as far as what follows
    /// lets it. Begins as many batches as it says.
    pub(super) fn send(&mut self, source: &Source<'_>, then: Then) -> Result<Sent> {
        let mut sent = Sent::default();
        loop {
            while !self.going.is_full() && self.begin(source) {
                sent.batches += 1;
            }
            let bytes = self.going.bytes();
            let bytes = match then {
                Then::Nothing => bytes,
                Then::More(whole) if bytes < whole => 0,
                Then::More(whole) => whole,
            };
            self.is_blocked = false;
            if bytes == 0 {
                return Ok(sent);
            }
            let count = self.going.write(&self.line.frames, source.keeper, bytes)?;
            sent.bytes += count;
            if count == 0 {
                self.is_blocked = true;
                return Ok(sent);
            }
        }
    }

    /// Says that nothing follows, after everything else.
    pub(super) fn say_goodbye(&mut self, source: &Source<'_>) -> Result<()> {
        self.send(source, Then::Nothing)?;
        if self.is_out(source.keeper.committed()) && !self.has_said_goodbye {
            self.has_said_goodbye = true;
            self.start(self.begun, 0, true);
            self.send(source, Then::Nothing)?;
        }
        Ok(())
    }

    /// Begins the next batch: what lies in one piece. `false`: there is nothing to send.
    fn begin(&mut self, source: &Source<'_>) -> bool {
        let from = self.begun;
        let bytes = source.keeper.frames(from).len();
        let end = from + bytes as u64;
        if !(from..end).contains(&source.pad_at) {
            return self.start(from, bytes, false);
        }
        if from < source.pad_at {
            return self.start(from, (source.pad_at - from) as usize, false);
        }
        self.begun = end;
        self.begin(source)
    }

    /// `false`: there is nothing in it.
    fn start(&mut self, from: u64, bytes: usize, leaves: bool) -> bool {
        if bytes == 0 && !leaves {
            return false;
        }
        let head = Head {
            position: from,
            bytes: bytes as u32,
            leaves,
        };
        let to = from + bytes as u64;
        self.going
            .push(head.to_words(self.key, self.expected), from, to);
        (self.began, self.begun, self.expected) = (from, to, to);
        true
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Read;
    use std::net::TcpStream;

    use ring::Writer;
    use ring::frame::Batch;

    use super::super::batch::HEAD_BYTES;
    use super::*;
    use crate::media::tcp::hello::{Hello, Protocol, Way};
    use crate::media::tcp::line::Pair;
    use crate::media::tcp::loopback::pair;
    use crate::media::tcp::pump::Seat;

    const WHOLE: usize = 1000;

    fn key() -> Key {
        Key::of(&Hello {
            protocol: Protocol::Rum,
            link: 0,
            receiver: 0,
            token: [0; 16],
            instance: 0,
            position: 0,
            way: Way::Frames,
            lifeline: 0,
        })
    }

    /// An outlet, where its frames arrive, and where credit comes from.
    pub(in super::super) fn outlet() -> (Outlet, TcpStream, TcpStream) {
        let (frames, arrive) = pair();
        let address = frames.peer_addr().expect("an address");
        let (credit, far_credit) = pair();
        let line = Line::new(Pair { frames, credit }, 0, Seat::take().expect("a seat"));
        let peer = Peer {
            instance: 0,
            address,
            lifeline: None,
        };
        (Outlet::new(line, key(), peer, 0), arrive, far_credit)
    }

    pub(in super::super) fn commit(writer: &mut Writer, frames: usize) {
        for number in 0..frames {
            writer.claim(100).expect("room").fill(number as u8);
            writer.commit(1, 0, 100);
        }
    }

    #[test]
    fn what_does_not_fill_a_write_waits_for_the_next() {
        let (mut writer, keeper) = ring::keeping(1 << 16).expect("memory");
        let (mut outlet, mut arrive, _credit) = outlet();
        let source = |keeper| Source {
            keeper,
            pad_at: u64::MAX,
        };
        let send = |outlet: &mut Outlet, then| outlet.send(&source(&keeper), then);
        commit(&mut writer, 20);
        let sent = send(&mut outlet, Then::More(WHOLE)).expect("sent");
        assert_eq!(sent.batches, 1);
        let all = HEAD_BYTES + 20 * 112;
        assert_eq!(outlet.held_back(), all % WHOLE);
        assert!(!outlet.is_out(writer.committed()) && !outlet.is_blocked());
        commit(&mut writer, 5);
        send(&mut outlet, Then::More(WHOLE)).expect("nothing is sent");
        let all = all + HEAD_BYTES + 5 * 112;
        assert_eq!(outlet.held_back(), all - 2 * WHOLE);
        send(&mut outlet, Then::Nothing).expect("sent");
        assert!(outlet.is_out(writer.committed()));
        assert_eq!(outlet.cursor(), writer.committed());
        let mut bytes = vec![0; all];
        arrive.read_exact(&mut bytes).expect("it arrives");
        let numbers: Vec<u8> = Batch::new(&bytes).map(|frame| frame.bytes[0]).collect();
        assert_eq!(numbers, (0..20).chain(0..5).collect::<Vec<_>>());
    }
}
