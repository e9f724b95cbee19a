//! The door of a sender: listens, hears out whoever connects, and refuses whoever is not expected.
//!
//! Whoever connects is a guest until it has said a whole [`Hello`], and a receiver until it has made
//! both of its connections. There are places for all receivers, which may well come at the same
//! moment, and for few others, and little time: somebody who connects and says nothing holds nobody
//! up. Nothing is allocated for a guest, and a refused one is told why.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::epoll::EventFlags;

use super::hello::{Answer, HELLO_BYTES, Hello, Terms, Way, Welcome};
use super::line::Pair;
use super::pump::Seat;
use crate::{Counters, Error, Spec};

/// Guests at a time beside the receivers; the one that has waited longest makes room for the next.
const STRANGERS: usize = 16;

/// So long a guest may take for its hello. A receiver says it at once, but on a machine with more
/// processes than cores it may be a while until it runs again.
const PATIENCE: Duration = Duration::from_secs(5);

/// After an error of the system, such as no descriptor left, so long nobody is let in.
const PAUSE: Duration = Duration::from_millis(100);

/// Connections taken in one turn.
const ACCEPTS: usize = 32;

/// A listening socket and its guests.
pub(crate) struct Door {
    listener: TcpListener,
    terms: Terms,
    guests: Vec<Guest>,
    /// Guests, and halves, at a time.
    places: usize,
    /// Connections for credit whose receivers have yet to make the other one.
    halves: Vec<Half>,
    /// When to listen again.
    pause: Option<Instant>,
    seat: Seat,
    counters: Arc<Counters>,
}

struct Guest {
    stream: TcpStream,
    bytes: [u8; HELLO_BYTES],
    filled: usize,
    until: Instant,
}

struct Half {
    hello: Hello,
    credit: TcpStream,
    until: Instant,
}

/// What a guest turns out to be.
enum Heard {
    /// It has not said everything.
    Waits,
    /// It is gone.
    Left(String),
    /// It is not let in.
    Stranger(String),
    /// It has the token.
    Friend(Hello),
}

impl Door {
    /// Listens on a free port.
    ///
    /// # Errors
    /// The address is not one of this host, or the system has no descriptor left.
    pub(crate) fn open(
        spec: &Spec,
        terms: Terms,
        seat: Seat,
        counters: Arc<Counters>,
    ) -> Result<Door, Error> {
        let tried = || format!("listen on {} for {}", spec.listen, spec.name);
        let listener = TcpListener::bind((spec.listen, 0)).and_then(|listener| {
            listener.set_nonblocking(true)?;
            seat.watch(&listener, EventFlags::IN)?;
            Ok(listener)
        });
        let places = spec.receivers as usize + STRANGERS;
        Ok(Door {
            listener: listener.map_err(|error| Error::system(tried(), error))?,
            terms,
            guests: Vec::with_capacity(places),
            places,
            halves: Vec::with_capacity(places),
            pause: None,
            seat,
            counters,
        })
    }

    /// Where receivers reach it.
    ///
    /// # Errors
    /// The system does not say.
    pub(crate) fn address(&self) -> Result<SocketAddr, Error> {
        let address = self.listener.local_addr();
        address.map_err(|error| Error::system("find out the port of an edge", error))
    }

    /// The next receiver that has made both connections, if there is one now. Whoever calls welcomes
    /// or refuses it, and calls again until there is none.
    pub(crate) fn next(&mut self, now: Instant) -> Option<(Hello, Pair)> {
        self.take_connections(now);
        self.halves.retain(|half| half.until > now);
        while let Some((hello, stream)) = self.next_friend(now) {
            match hello.way {
                Way::Credit => self.keep_half(hello, stream, now),
                Way::Frames => {
                    if let Some(pair) = self.complete(&hello, stream) {
                        return Some((hello, pair));
                    }
                }
            }
        }
        None
    }

    /// The next guest that has shown the token.
    fn next_friend(&mut self, now: Instant) -> Option<(Hello, TcpStream)> {
        let mut at = 0;
        while at < self.guests.len() {
            let heard = self.guests[at].hear(now, &self.terms);
            if let Heard::Waits = heard {
                at += 1;
                continue;
            }
            let stream = self.guests.remove(at).stream;
            match heard {
                Heard::Friend(hello) => return Some((hello, stream)),
                Heard::Stranger(why) => self.refuse(stream, &why),
                Heard::Left(why) => self.note(&stream, &why),
                Heard::Waits => {}
            }
        }
        None
    }

    fn keep_half(&mut self, hello: Hello, credit: TcpStream, now: Instant) {
        // What matters is said on the other connection.
        let welcome = Welcome {
            position: hello.position,
            frame_bytes_max: 0,
            ring_bytes: 0,
        };
        self.seat.watch_for(&credit, EventFlags::empty());
        if !self.welcome(&credit, welcome) {
            return;
        }
        // One that it has made before is over, whether we have noticed or not.
        self.halves.retain(|half| !half.is_of(&hello));
        if self.halves.len() == self.places {
            self.halves.remove(0);
        }
        let until = now + PATIENCE;
        self.halves.push(Half {
            hello,
            credit,
            until,
        });
    }

    fn complete(&mut self, hello: &Hello, frames: TcpStream) -> Option<Pair> {
        let Some(at) = self.halves.iter().position(|half| half.is_of(hello)) else {
            self.refuse(frames, "the connection for credit comes first");
            return None;
        };
        let credit = self.halves.remove(at).credit;
        Some(Pair { frames, credit })
    }

    /// When it has to look again, if nothing happens before.
    pub(crate) fn due(&self) -> Option<Instant> {
        let guests = self.guests.iter().map(|guest| guest.until);
        let halves = self.halves.iter().map(|half| half.until);
        guests.chain(halves).chain(self.pause).min()
    }

    /// Lets a guest in. `false`: it is gone.
    pub(crate) fn welcome(&self, mut stream: &TcpStream, welcome: Welcome) -> bool {
        let bytes = Answer::Welcome(welcome).to_bytes();
        // A new connection has room for so much.
        let is_said = stream.write_all(&bytes).is_ok();
        is_said && stream.set_nodelay(true).is_ok()
    }

    /// Tells a receiver why it is not let in.
    pub(crate) fn refuse_pair(&self, pair: Pair, why: &str) {
        self.refuse(pair.frames, why);
    }

    /// Tells a guest why it is not let in.
    fn refuse(&self, mut stream: TcpStream, why: &str) {
        self.note(&stream, why);
        let answer = Answer::Refused(why.to_owned());
        let _ = stream.write_all(&answer.to_bytes());
        let _ = stream.shutdown(std::net::Shutdown::Write);
        // What it had sent is read, or the system would cut the connection before the answer is.
        let _ = stream.read(&mut [0; 1024]);
    }

    fn note(&self, stream: &TcpStream, why: &str) {
        self.seat.forget(stream);
        let from = match stream.peer_addr() {
            Ok(address) => address.to_string(),
            Err(_) => "somebody".to_owned(),
        };
        self.counters.refused(format!("{from} was refused: {why}"));
    }

    fn take_connections(&mut self, now: Instant) {
        if self.pause.is_some_and(|until| until > now) {
            return;
        }
        if self.pause.take().is_some() {
            self.seat.watch_for(&self.listener, EventFlags::IN);
        }
        for _ in 0..ACCEPTS {
            match self.listener.accept() {
                Ok((stream, _)) => self.seat_guest(stream, now),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // Given up before it was accepted.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => {
                    self.seat.watch_for(&self.listener, EventFlags::empty());
                    self.pause = Some(now + PAUSE);
                    return;
                }
            }
        }
    }

    fn seat_guest(&mut self, stream: TcpStream, now: Instant) {
        let is_ready = stream.set_nonblocking(true).is_ok();
        let events = EventFlags::IN | EventFlags::RDHUP;
        if !is_ready || self.seat.watch(&stream, events).is_err() {
            return;
        }
        if self.guests.len() == self.places {
            let longest = self.guests.remove(0).stream;
            self.refuse(longest, "too many connect at a time");
        }
        self.guests.push(Guest {
            stream,
            bytes: [0; HELLO_BYTES],
            filled: 0,
            until: now + PATIENCE,
        });
    }
}

impl Half {
    /// Whether the receiving end that says this has made it.
    fn is_of(&self, hello: &Hello) -> bool {
        (self.hello.receiver, self.hello.instance) == (hello.receiver, hello.instance)
    }
}

impl Guest {
    /// Reads on.
    fn hear(&mut self, now: Instant, terms: &Terms) -> Heard {
        loop {
            match self.stream.read(&mut self.bytes[self.filled..]) {
                Ok(0) => return Heard::Left("it left before it had said who it is".to_owned()),
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Heard::Left(error.to_string()),
            }
            match Hello::parse(&self.bytes[..self.filled], terms) {
                Ok(Some(hello)) => return Heard::Friend(hello),
                Ok(None) => {}
                Err(why) => return Heard::Stranger(why),
            }
        }
        if self.until <= now {
            let why = format!("it did not say who it is within {PATIENCE:?}");
            return Heard::Stranger(why);
        }
        Heard::Waits
    }
}
