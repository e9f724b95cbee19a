//! The receiving end of rum: reads batches into one buffer, polls frames where they lie, and goes on
//! where it was when the connection breaks.

use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ring::frame::{Batch, HEADER_BYTES, Header, PAD};

use super::batch::{HEAD_BYTES, Head, Key};
use super::behind::{Behind, Outcome};
use crate::media::tcp::end::End;
use crate::media::tcp::hello::Hello;
use crate::media::tcp::intake::{Intake, Read};
use crate::{Error, Inbound, Wait};

/// So often the sender may break the stream off at the same place before it is given up.
const BREAKS_MAX: u32 = 8;

/// Whoever has received so much at once is in a stream.
const STREAM_BYTES: u64 = 16 * 1024;

/// A receiver in a stream that has had nothing to do for so long says so: between batches there are
/// shorter pauses, and word takes as long as a batch.
const SETTLE: Duration = Duration::from_micros(5);

/// The receiving end.
pub(super) struct Receiving {
    behind: Arc<Behind>,
    intake: Intake,
    name: Arc<str>,
    hello: Hello,
    key: Key,
    /// Where frames come from; `None`: the connection is down.
    frames: Option<TcpStream>,
    /// The position after the last whole frame.
    expected: u64,
    /// The position after the last frame that was polled.
    polled: u64,
    /// Bytes to come of the batch.
    left: usize,
    /// Whether the last read was of a stream that goes on.
    is_stream: bool,
    /// Since when there is nothing to receive, in a stream.
    idle_since: Option<Instant>,
    /// When the connection was made.
    connected: Instant,
    /// Where the stream broke the last time, and what came of it.
    broken: Broken,
    patience: Duration,
    /// How the stream has ended, once it has; what came before is polled first.
    end: Option<End>,
}

/// The stream at a position at which it broke.
struct Broken {
    at: u64,
    /// The first time.
    since: Instant,
    /// How often it was the sender that broke it off.
    refusals: u32,
}

impl Broken {
    fn new(at: u64) -> Broken {
        Broken {
            at,
            since: Instant::now(),
            refusals: 0,
        }
    }
}

impl Receiving {
    pub(super) fn new(
        (frames, behind): (TcpStream, Arc<Behind>),
        intake: Intake,
        name: Arc<str>,
        hello: Hello,
        patience: Duration,
    ) -> Receiving {
        Receiving {
            behind,
            intake,
            name,
            key: Key::of(&hello),
            hello,
            frames: Some(frames),
            expected: 0,
            polled: 0,
            left: 0,
            is_stream: false,
            idle_since: None,
            connected: Instant::now(),
            broken: Broken::new(u64::MAX),
            patience,
            end: None,
        }
    }

    /// Reads what has come, and finds the whole frames in it.
    fn read(&mut self) {
        if self.end.is_some() {
            return;
        }
        let Some(frames) = &self.frames else {
            return self.see_outcome();
        };
        match self.intake.read(frames) {
            Read::Nothing => self.idle(),
            Read::Some => {
                let before = self.expected;
                self.take_frames();
                self.is_stream = self.expected - before >= STREAM_BYTES;
                self.idle_since = None;
            }
            Read::Full => self.take_frames(),
            Read::Over(why) => {
                self.take_frames();
                if self.frames.is_some() {
                    self.redial(why);
                }
            }
        }
    }

    /// There is nothing to receive: the sender is told so; after much, only if that lasts.
    fn idle(&mut self) {
        if !self.behind.has_news() {
            return;
        }
        if self.is_stream {
            let since = *self.idle_since.get_or_insert_with(Instant::now);
            self.is_stream = since.elapsed() < SETTLE;
        }
        if !self.is_stream {
            self.behind.idle();
        }
    }

    fn take_frames(&mut self) {
        if let Err(why) = self.find_frames() {
            let why = format!("it broke the stream off: {why}");
            self.see_break();
            self.broken.refusals += 1;
            if self.broken.refusals > BREAKS_MAX {
                let why = format!("{}: {why}, again and again", self.name);
                self.end = Some(End::Refused(why));
            }
            self.redial(why);
        }
    }

    /// Notes where the stream broke, unless it broke there just before.
    fn see_break(&mut self) {
        let has_held = self.connected.elapsed() > self.patience;
        if self.broken.at != self.expected || has_held {
            self.broken = Broken::new(self.expected);
        }
    }

    /// Takes whole frames, and the heads of batches between them.
    fn find_frames(&mut self) -> Result<(), String> {
        loop {
            let goes_on = match self.left {
                0 => self.take_head()?,
                left => {
                    let taken = self.intake.take_some(left)?;
                    self.left -= taken;
                    self.expected += taken as u64;
                    taken > 0
                }
            };
            if !goes_on {
                return Ok(());
            }
        }
    }

    /// Takes the head of the next batch, if it is there. `false`: nothing follows now.
    fn take_head(&mut self) -> Result<bool, String> {
        let Some(header) = self.intake.peek()? else {
            return Ok(false);
        };
        check_head(header, self.expected)?;
        Ok(self.intake.take(header) && !self.begin_batch()?)
    }

    /// The head of a batch was taken. `true`: it is the last one.
    fn begin_batch(&mut self) -> Result<bool, String> {
        let words = self.intake.last_words().unwrap_or_default();
        let head = Head::from_words(words, self.key, self.expected)?;
        self.expected = head.position;
        self.left = head.bytes as usize;
        if head.leaves {
            self.end = Some(End::goodbye());
        }
        Ok(head.leaves)
    }

    /// The connection broke: another one goes on after the last whole frame.
    fn redial(&mut self, why: String) {
        if self.end.is_some() {
            return;
        }
        self.see_break();
        let since = self.broken.since.elapsed();
        if since > self.patience {
            let why = format!("{why}, again and again for {since:?}");
            self.end = Some(End::Lost(why));
            return;
        }
        self.frames = None;
        self.intake.forget_torn();
        self.left = 0;
        let position = self.expected;
        self.behind.redial(
            Hello {
                position,
                ..self.hello
            },
            why,
        );
    }

    fn see_outcome(&mut self) {
        match self.behind.outcome() {
            None => {}
            Some(Outcome::Connected(frames)) => {
                self.connected = Instant::now();
                self.frames = Some(frames);
            }
            Some(Outcome::Lost(why)) => self.end = Some(End::Lost(why)),
        }
    }

    /// The end, once everything before it was polled.
    fn check_end(&self) -> Result<(), Error> {
        let Some(end) = self.end.as_ref().filter(|_| !self.intake.has_frames()) else {
            return Ok(());
        };
        self.behind.leave();
        Err(end.error())
    }
}

/// What begins a batch has to look like a head.
fn check_head(header: Header, expected: u64) -> Result<(), String> {
    let is_head = header.kind == PAD && header.len as usize == HEAD_BYTES - HEADER_BYTES;
    match is_head {
        true => Ok(()),
        false => Err(format!(
            "no batch begins where one should, at position {expected}"
        )),
    }
}

impl Inbound for Receiving {
    fn poll(&mut self) -> Result<Batch<'_>, Error> {
        self.read();
        self.check_end()?;
        self.polled = self.expected;
        Ok(self.intake.poll())
    }

    fn release(&mut self) {
        if self.intake.release() > 0 {
            self.behind.release(self.polled);
        }
    }
}

impl Wait for Receiving {
    fn arm(&mut self) -> Result<bool, Error> {
        self.read();
        let is_idle = self.end.is_none() && !self.intake.has_frames();
        if is_idle {
            self.behind.idle();
        }
        Ok(is_idle)
    }

    fn disarm(&mut self) {}

    fn sources<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        _writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        readable.push(self.behind.bell());
        readable.extend(self.frames.iter().map(|stream| stream.as_fd()));
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        self.behind.leave();
    }
}
