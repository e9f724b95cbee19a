//! The subscribing end of a topic: waits for a publisher, takes its messages where they lie.
//!
//! ```text
//!   Waiting --- a publisher comes ---> Greeted --- lets us in ---> Joined
//!      ^          or is there             |                          |
//!      +------- it is gone ---------------+-------- it ends ---------+
//! ```
//! Its door, a name at which publishers call when they open, stays open all the while: the next one may
//! come while we still take what the last one has left.

use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use ring::{READERS_MAX, Reader};
use rustix::event::Timespec;

use crate::error::Error;
use crate::name::Name;
use crate::socket::{self, LOOK_AGAIN, LOOKS, Reached};
use crate::welcome::{self, Found};

/// Polls in vain after which the clock is looked at ...
const VAIN_POLLS: u32 = 32;

/// ... and the time after which a death is looked for, which takes a system call.
const LOOK_AFTER: Duration = Duration::from_millis(100);

/// A subscriber of a topic.
pub struct Subscriber {
    name: Name,
    /// Before the line: whoever has let go of that touches the ring no more.
    stage: Stage,
    line: OwnedFd,
}

/// What happens on a topic, in this order, and again with the next publisher.
#[derive(Debug)]
pub enum Event<'a> {
    /// A publisher is there and has let us in: the next message that it sends is ours.
    Began(&'a Source),
    /// A message, where it lies: at an address that is a multiple of 8, until the call returns.
    Message(&'a [u8]),
    /// The publisher is gone, and all that it had completed was delivered. One that was opened since it
    /// was gone has found this subscriber, unless as many as can be in one ring wait for the topic.
    Ended(&'a Source),
}

/// A publisher, while it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    topic: String,
    user: u32,
    pid: i32,
    /// The number of the ring's file, which no other has while somebody reads in it.
    ring: u64,
}

/// What the line is.
#[expect(
    clippy::large_enum_variant,
    reason = "a subscriber has one, and each poll would go through the box"
)]
enum Stage {
    /// A name at which a publisher calls when it comes.
    Waiting,
    /// A connection to a publisher that has not answered yet, and the name at which it has called;
    /// `None`: it was found by its own name, and could still call.
    Greeted(Option<OwnedFd>),
    /// A connection to a publisher that has let us in; its end is the publisher's.
    Joined(Joined),
    /// What is left of the last one: no new one has been found yet.
    Lost,
}

struct Joined {
    reader: Reader,
    source: Source,
    /// Where the next publisher calls; `None`: others have all the places for that.
    door: Option<OwnedFd>,
    vain_polls: u32,
    /// When a death was looked for last.
    looked: Instant,
    /// Whether the line was found closed.
    is_left: bool,
}

impl Source {
    /// The topic.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// The publisher's process; 0: it is in another namespace of processes.
    pub fn pid(&self) -> i32 {
        self.pid
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SHM:{:x}:{}[{}]", self.pid, self.user, self.ring)
    }
}

impl Subscriber {
    /// Subscribes to a topic, whether it has a publisher or not. A publisher that is opened from now
    /// on finds this subscriber, and sends it everything.
    ///
    /// # Errors
    /// The name cannot be; too many wait for the topic; another user holds it.
    pub fn open(topic: &str) -> Result<Subscriber, Error> {
        let name = Name::new(topic)?;
        let (stage, line) = seek(&name)?;
        Ok(Subscriber { name, stage, line })
    }

    /// What has happened: all messages that are there, or the beginning or end of a publisher. How many
    /// events; 0: nothing now. Never blocks. The room of the messages is given back when it returns.
    ///
    /// # Errors
    /// The publisher has no place for us, is not to be trusted, or has broken the ring.
    #[inline]
    pub fn poll(&mut self, mut on: impl FnMut(Event<'_>)) -> Result<usize, Error> {
        if let Stage::Joined(joined) = &mut self.stage {
            let count = joined.take(&mut on);
            if count > 0 {
                return Ok(count);
            }
        }
        self.attend(&mut on)
    }

    /// Sleeps until there may be something to poll, or for so long.
    ///
    /// # Errors
    /// The system refuses.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<(), Error> {
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        match &mut self.stage {
            Stage::Joined(joined) => joined.sleep(&self.line, timeout.as_ref()),
            _ => socket::sleep(&self.line, timeout.as_ref()),
        }
    }

    /// Whether a publisher has let us in.
    pub fn is_joined(&self) -> bool {
        matches!(self.stage, Stage::Joined(_))
    }

    /// How often messages of this publisher were looked for in vain: if the number has grown with a
    /// poll that found some, they were waited for.
    #[inline]
    pub fn looks_in_vain(&self) -> u64 {
        match &self.stage {
            Stage::Joined(joined) => joined.reader.looks_in_vain(),
            _ => 0,
        }
    }

    /// No message was there.
    fn attend(&mut self, on: &mut dyn FnMut(Event<'_>)) -> Result<usize, Error> {
        match &mut self.stage {
            Stage::Waiting => {
                if let Some((line, has_called)) = next_publisher(&self.line, &self.name)? {
                    let door = std::mem::replace(&mut self.line, line);
                    self.stage = Stage::Greeted(has_called.then_some(door));
                }
                Ok(0)
            }
            Stage::Greeted(_) => self.enter(on),
            Stage::Lost => self.seek_again().map(|()| 0),
            Stage::Joined(joined) => {
                if !joined.has_ended(&self.line)? {
                    return Ok(0);
                }
                let source = joined.source.clone();
                // Before the end is told: a publisher that is started because of it finds us.
                // If that fails, the next poll tries again and says why.
                let _ = self.leave();
                on(Event::Ended(&source));
                Ok(1)
            }
        }
    }

    /// Looks for the publisher's answer.
    fn enter(&mut self, on: &mut dyn FnMut(Event<'_>)) -> Result<usize, Error> {
        let found = welcome::look(&self.line);
        match found.map_err(|error| Error::system("hear the publisher", error))? {
            Found::Nothing => Ok(0),
            Found::End => self.leave().map(|()| 0),
            Found::Strange(why) => {
                let topic = self.name.topic().to_owned();
                Err(Error::Stranger { topic, why })
            }
            Found::Full { receivers } => {
                let topic = self.name.topic().to_owned();
                Err(Error::NoPlace { topic, receivers })
            }
            Found::Place { reader, ring } => {
                let mut joined = Joined::new(&self.name, &self.line, &ring, reader)?;
                joined.door = self.keep_door();
                on(Event::Began(&joined.source));
                self.stage = Stage::Joined(joined);
                Ok(1)
            }
        }
    }

    /// Where the next publisher calls, once one has let us in. It has called where it was going to by
    /// then: before it lets in who finds it by its own name.
    fn keep_door(&mut self) -> Option<OwnedFd> {
        if let Stage::Greeted(door @ Some(_)) = &mut self.stage {
            return door.take();
        }
        // Without one we look for the next publisher when this one has ended.
        take_door(&self.name).ok().flatten()
    }

    /// The publisher has gone.
    fn leave(&mut self) -> Result<(), Error> {
        // The ring is let go of before the line.
        let door = match std::mem::replace(&mut self.stage, Stage::Lost) {
            Stage::Joined(Joined { door, .. }) | Stage::Greeted(door) => door,
            _ => None,
        };
        match door {
            Some(door) => (self.stage, self.line) = (Stage::Waiting, door),
            None => self.seek_again()?,
        }
        Ok(())
    }

    fn seek_again(&mut self) -> Result<(), Error> {
        (self.stage, self.line) = seek(&self.name)?;
        Ok(())
    }
}

impl Joined {
    fn new(name: &Name, line: &OwnedFd, ring: &OwnedFd, reader: u32) -> Result<Joined, Error> {
        let pid = socket::check_peer(line, name)?;
        let reader = ring::join(ring.as_fd(), reader).map_err(Error::Join)?;
        let file =
            rustix::fs::fstat(ring).map_err(|error| Error::system("look at the ring", error))?;
        let source = Source {
            topic: name.topic().to_owned(),
            user: name.user(),
            pid,
            ring: file.st_ino,
        };
        Ok(Joined {
            reader,
            source,
            door: None,
            vain_polls: 0,
            looked: Instant::now(),
            is_left: false,
        })
    }

    #[inline]
    fn take(&mut self, on: &mut impl FnMut(Event<'_>)) -> usize {
        let mut count = 0;
        for frame in self.reader.poll() {
            on(Event::Message(frame.bytes));
            count += 1;
        }
        if count > 0 {
            self.reader.release();
        }
        count
    }

    /// Whether the publisher is gone and nothing of it is left. First whether it is gone: what it has
    /// committed is in the ring then.
    fn has_ended(&mut self, line: &OwnedFd) -> Result<bool, Error> {
        if let Some(fault) = self.reader.fault() {
            return Err(Error::Broken(fault));
        }
        self.vain_polls = (self.vain_polls + 1) % VAIN_POLLS;
        if self.vain_polls == 0 && self.looked.elapsed() >= LOOK_AFTER {
            self.looked = Instant::now();
            self.is_left |= socket::silence(line);
        }
        let is_over = self.is_left || self.reader.is_closed();
        let has_ended = is_over && !self.reader.has_more();
        // That look may have found one.
        match self.reader.fault() {
            Some(fault) => Err(Error::Broken(fault)),
            None => Ok(has_ended),
        }
    }

    fn sleep(&mut self, line: &OwnedFd, timeout: Option<&Timespec>) -> Result<(), Error> {
        if self.is_left || !self.reader.arm() {
            return Ok(());
        }
        let slept = socket::sleep(line, timeout);
        self.reader.disarm();
        self.is_left |= socket::silence(line);
        slept
    }
}

/// A publisher, or a place to wait for one. Whoever takes a place looks once more whether there is one:
/// a publisher first takes its name and then looks at the places, so one of the two sees the other.
fn seek(name: &Name) -> Result<(Stage, OwnedFd), Error> {
    if let Some(line) = find_publisher(name)? {
        return Ok((Stage::Greeted(None), line));
    }
    let Some(door) = take_door(name)? else {
        let topic = name.topic().to_owned();
        return Err(Error::Crowded { topic });
    };
    match find_publisher(name)? {
        Some(line) => earlier(door, line, name),
        None => Ok((Stage::Waiting, door)),
    }
}

/// A place to wait; `None`: others have them all.
fn take_door(name: &Name) -> Result<Option<OwnedFd>, Error> {
    for place in 0..READERS_MAX {
        if let Some(door) = socket::take(&name.waiting(place)?)? {
            return Ok(Some(door));
        }
    }
    Ok(None)
}

/// The first of two connections to a publisher: it may have called at the door before it was found, and
/// what it has sent since goes there.
fn earlier(door: OwnedFd, line: OwnedFd, name: &Name) -> Result<(Stage, OwnedFd), Error> {
    let pid = socket::check_peer(&line, name)?;
    loop {
        let called = socket::next(&door);
        match called.map_err(|error| Error::system("let a publisher in", error))? {
            Some(called) if socket::check_peer(&called, name).is_ok_and(|it| it == pid) => {
                return Ok((Stage::Greeted(Some(door)), called));
            }
            Some(_) => {}
            // It may still call there, and is not to let us in twice: the door is closed.
            None => return Ok((Stage::Greeted(None), line)),
        }
    }
}

fn find_publisher(name: &Name) -> Result<Option<OwnedFd>, Error> {
    let address = name.publisher()?;
    for _ in 0..LOOKS {
        match socket::reach(&address)? {
            Reached::Line(line) => {
                socket::check_peer(&line, name)?;
                return Ok(Some(line));
            }
            Reached::Nobody => return Ok(None),
            Reached::Busy => std::thread::sleep(LOOK_AGAIN),
        }
    }
    Err(Error::silent(name))
}

/// The next publisher, and whether it has called. Others are turned away; they may have stood in its way, so it is
/// looked for then.
fn next_publisher(door: &OwnedFd, name: &Name) -> Result<Option<(OwnedFd, bool)>, Error> {
    let mut has_strangers = false;
    loop {
        let line = socket::next(door);
        match line.map_err(|error| Error::system("let a publisher in", error))? {
            Some(line) if socket::check_peer(&line, name).is_err() => has_strangers = true,
            None if has_strangers => return Ok(find_publisher(name)?.map(|line| (line, false))),
            line => return Ok(line.map(|line| (line, true))),
        }
    }
}
