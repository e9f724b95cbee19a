//! Connecting again: dials until there is a connection, or no hope.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rustix::event::epoll::EventFlags;

use crate::media::tcp::dial::{Dial, Dialled};
use crate::media::tcp::hello::Hello;
use crate::media::tcp::line::Pair;
use crate::media::tcp::pump::Seat;

/// Between two tries to connect: at first, and at most.
const PAUSE_MIN: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(200);

/// A try without an answer is given up after so long, and the next one made.
const TRY: Duration = Duration::from_secs(1);

/// Tries to connect to a sender.
pub(super) struct Redial {
    address: SocketAddr,
    hello: Hello,
    /// How the connection was lost.
    why: String,
    patience: Duration,
    /// When there is no hope any more.
    until: Instant,
    /// The try under way.
    dial: Option<Dial>,
    /// When it is given up, or the next one begins.
    next: Instant,
    pause: Duration,
    /// What came of the last one.
    last: String,
}

impl Redial {
    /// After a connection was lost, for a while.
    pub(super) fn new(
        address: SocketAddr,
        hello: Hello,
        why: String,
        patience: Duration,
    ) -> Redial {
        let now = Instant::now();
        Redial {
            address,
            hello,
            why,
            patience,
            until: now + patience,
            dial: None,
            next: now,
            pause: PAUSE_MIN,
            last: "no answer".to_owned(),
        }
    }

    /// When to come back, if nothing happens before.
    pub(super) fn due(&self) -> Instant {
        self.next.min(self.until)
    }

    /// A step. `None`: there is more to wait for.
    ///
    /// # Errors
    /// There is no hope: why.
    pub(super) fn step(&mut self, seat: Seat, now: Instant) -> Result<Option<Pair>, String> {
        if self.next <= now {
            self.next = now + TRY;
            match Dial::start(self.address, self.hello) {
                Ok(dial) => self.dial = Some(dial),
                Err(error) => self.failed(&error, now)?,
            }
        }
        match self.dial.as_mut().map(Dial::step) {
            None => {}
            Some(Ok(None)) => self.watch(seat),
            Some(Ok(Some(Dialled::Connected(pair, _)))) => {
                seat.forget(&pair.frames);
                seat.forget(&pair.credit);
                return Ok(Some(pair));
            }
            Some(Ok(Some(Dialled::Refused(why)))) => self.rest(why, now),
            Some(Err(error)) => self.failed(&error, now)?,
        }
        if self.until > now {
            return Ok(None);
        }
        Err(format!(
            "{}, and for {:?} no connection to {} could be made again: {}",
            self.why, self.patience, self.address, self.last
        ))
    }

    fn failed(&mut self, error: &io::Error, now: Instant) -> Result<(), String> {
        if error.kind() == io::ErrorKind::ConnectionRefused {
            let (why, address) = (&self.why, self.address);
            return Err(format!("{why}, and nobody listens on {address} any more"));
        }
        self.rest(error.to_string(), now);
        Ok(())
    }

    /// The try has come to nothing.
    fn rest(&mut self, last: String, now: Instant) {
        self.last = last;
        self.dial = None;
        self.next = now + self.pause;
        self.pause = (self.pause * 2).min(PAUSE_MAX);
    }

    fn watch(&self, seat: Seat) {
        let Some((stream, writes)) = self.dial.as_ref().and_then(Dial::waits_for) else {
            return;
        };
        let flags = match writes {
            true => EventFlags::OUT,
            false => EventFlags::IN,
        };
        // Another connection than before, or waiting for something else.
        if seat.watch(stream, flags).is_err() {
            seat.watch_for(stream, flags);
        }
    }
}
