//! The subscribing end of a topic: waits for a publisher, takes its messages where they lie.
//!
//! ```text
//!   Waiting --- a publisher comes ---> Greeted --- lets us in ---> Joined
//!      ^          or is there             |                          |
//!      +------- it is gone ---------------+-------- it ends ---------+
//! ```
//! Its door, a name at which publishers call when they open, stays open all the while: the next one
//! may come while we still take what the last one has left.

use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use ring::{READERS_MAX, Reader};
use rustix::event::Timespec;

use crate::error::Error;
use crate::socket::{self, CONNECT_ATTEMPTS_MAX, CONNECT_RETRY_PAUSE, ConnectOutcome};
use crate::topic_handshake::{self, TopicHandshakeOutcome};
use crate::topic_name::TopicName;

/// Polls in vain after which the clock is looked at ...
const LIVENESS_CHECK_POLLS: u32 = 32;

/// ... and the time after which a death is looked for, which takes a system call.
const LIVENESS_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// A subscriber of a topic.
pub struct Subscriber {
    name: TopicName,
    /// Before the line: whoever has let go of that touches the ring no more.
    state: SubscriberState,
    socket: OwnedFd,
}

/// What happens on a topic, in this order, and again with the next publisher.
#[derive(Debug)]
pub enum TopicEvent<'a> {
    /// A publisher is there and has let us in: the next message that it sends is ours.
    Began(&'a TopicSource),
    /// A message, where it lies: at an address that is a multiple of 8, until the call returns.
    Message(&'a [u8]),
    /// The publisher is gone, and all that it had completed was delivered. One that was opened
    /// since it was gone has found this subscriber, unless as many as can be in one ring wait for
    /// the topic.
    Ended(&'a TopicSource),
}

/// A publisher, while it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicSource {
    topic: String,
    user: u32,
    pid: i32,
    /// The number of the ring's file, which no other has while somebody reads in it.
    ring_inode: u64,
}

/// What the line is.
#[expect(
    clippy::large_enum_variant,
    reason = "a subscriber has one, and each poll would go through the box"
)]
enum SubscriberState {
    /// A name at which a publisher calls when it comes.
    Waiting,
    /// A connection to a publisher that has not answered yet, and the name at which it has called;
    /// `None`: it was found by its own name, and could still call.
    Connected(Option<OwnedFd>),
    /// A connection to a publisher that has let us in; its end is the publisher's.
    Joined(JoinedPublisher),
    /// What is left of the last one: no new one has been found yet.
    Disconnected,
}

struct JoinedPublisher {
    reader: Reader,
    source: TopicSource,
    /// Where the next publisher calls; `None`: others have all the places for that.
    waiting_socket: Option<OwnedFd>,
    empty_polls: u32,
    /// When a death was looked for last.
    last_liveness_check: Instant,
    /// Whether the line was found closed.
    is_socket_closed: bool,
}

impl TopicSource {
    /// The topic.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// The publisher's process; 0: it is in another namespace of processes.
    pub fn pid(&self) -> i32 {
        self.pid
    }
}

impl fmt::Display for TopicSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SHM:{:x}:{}[{}]", self.pid, self.user, self.ring_inode)
    }
}

impl Subscriber {
    /// Subscribes to a topic, whether it has a publisher or not. A publisher that is opened from
    /// now on finds this subscriber, and sends it everything.
    ///
    /// # Errors
    /// The name cannot be; too many wait for the topic; another user holds it.
    pub fn open(topic: &str) -> Result<Subscriber, Error> {
        let name = TopicName::new(topic)?;
        let (stage, line) = find_or_wait(&name)?;
        Ok(Subscriber {
            name,
            state: stage,
            socket: line,
        })
    }

    /// What has happened: all messages that are there, or the beginning or end of a publisher. How
    /// many events; 0: nothing now. Never blocks. The room of the messages is given back when it
    /// returns.
    ///
    /// # Errors
    /// The publisher has no place for us, is not to be trusted, or has broken the ring.
    #[inline]
    pub fn poll(&mut self, mut on: impl FnMut(TopicEvent<'_>)) -> Result<usize, Error> {
        if let SubscriberState::Joined(joined) = &mut self.state {
            let count = joined.deliver_messages(&mut on);
            if count > 0 {
                return Ok(count);
            }
        }
        self.poll_connection(&mut on)
    }

    /// Sleeps until there may be something to poll, or for so long.
    ///
    /// # Errors
    /// The system refuses.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<(), Error> {
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        match &mut self.state {
            SubscriberState::Joined(joined) => {
                joined.wait_for_frames(&self.socket, timeout.as_ref())
            }
            _ => socket::wait_readable(&self.socket, timeout.as_ref()),
        }
    }

    /// Whether a publisher has let us in.
    pub fn is_joined(&self) -> bool {
        matches!(self.state, SubscriberState::Joined(_))
    }

    /// How often messages of this publisher were looked for in vain: if the number has grown with a
    /// poll that found some, they were waited for.
    #[inline]
    pub fn empty_poll_count(&self) -> u64 {
        match &self.state {
            SubscriberState::Joined(joined) => joined.reader.empty_poll_count(),
            _ => 0,
        }
    }

    /// No message was there.
    fn poll_connection(&mut self, on: &mut dyn FnMut(TopicEvent<'_>)) -> Result<usize, Error> {
        match &mut self.state {
            SubscriberState::Waiting => {
                if let Some((publisher_socket, has_called)) =
                    accept_publisher(&self.socket, &self.name)?
                {
                    let waiting_socket = std::mem::replace(&mut self.socket, publisher_socket);
                    self.state = SubscriberState::Connected(has_called.then_some(waiting_socket));
                }
                Ok(0)
            }
            SubscriberState::Connected(_) => self.poll_handshake(on),
            SubscriberState::Disconnected => self.reconnect().map(|()| 0),
            SubscriberState::Joined(joined) => {
                if !joined.has_ended(&self.socket)? {
                    return Ok(0);
                }
                let source = joined.source.clone();
                // Before the end is told: a publisher that is started because of it finds us.
                // If that fails, the next poll tries again and says why.
                let _ = self.disconnect();
                on(TopicEvent::Ended(&source));
                Ok(1)
            }
        }
    }

    /// Looks for the publisher's answer.
    fn poll_handshake(&mut self, on: &mut dyn FnMut(TopicEvent<'_>)) -> Result<usize, Error> {
        let found = topic_handshake::try_receive(&self.socket);
        match found.map_err(|error| Error::system("hear the publisher", error))? {
            TopicHandshakeOutcome::Pending => Ok(0),
            TopicHandshakeOutcome::Closed => self.disconnect().map(|()| 0),
            TopicHandshakeOutcome::Invalid(why) => {
                let topic = self.name.topic().to_owned();
                Err(Error::InvalidHandshake { topic, reason: why })
            }
            TopicHandshakeOutcome::Full { receivers } => {
                let topic = self.name.topic().to_owned();
                Err(Error::PublisherFull { topic, receivers })
            }
            TopicHandshakeOutcome::Admitted { reader, ring } => {
                let mut joined = JoinedPublisher::new(&self.name, &self.socket, &ring, reader)?;
                joined.waiting_socket = self.keep_waiting_socket();
                on(TopicEvent::Began(&joined.source));
                self.state = SubscriberState::Joined(joined);
                Ok(1)
            }
        }
    }

    /// Where the next publisher calls, once one has let us in. It has called where it was going to
    /// by then: before it lets in who finds it by its own name.
    fn keep_waiting_socket(&mut self) -> Option<OwnedFd> {
        if let SubscriberState::Connected(door @ Some(_)) = &mut self.state {
            return door.take();
        }
        // Without one we look for the next publisher when this one has ended.
        bind_waiting_name(&self.name).ok().flatten()
    }

    /// The publisher has gone.
    fn disconnect(&mut self) -> Result<(), Error> {
        // The ring is let go of before the line.
        let waiting_socket = match std::mem::replace(&mut self.state, SubscriberState::Disconnected)
        {
            SubscriberState::Joined(JoinedPublisher {
                waiting_socket: door,
                ..
            })
            | SubscriberState::Connected(door) => door,
            _ => None,
        };
        match waiting_socket {
            Some(door) => (self.state, self.socket) = (SubscriberState::Waiting, door),
            None => self.reconnect()?,
        }
        Ok(())
    }

    fn reconnect(&mut self) -> Result<(), Error> {
        (self.state, self.socket) = find_or_wait(&self.name)?;
        Ok(())
    }
}

impl JoinedPublisher {
    fn new(
        name: &TopicName,
        line: &OwnedFd,
        ring: &OwnedFd,
        reader: u32,
    ) -> Result<JoinedPublisher, Error> {
        let pid = socket::check_peer(line, name)?;
        let reader = ring::join_ring(ring.as_fd(), reader).map_err(Error::Join)?;
        let file =
            rustix::fs::fstat(ring).map_err(|error| Error::system("look at the ring", error))?;
        let source = TopicSource {
            topic: name.topic().to_owned(),
            user: name.user(),
            pid,
            ring_inode: file.st_ino,
        };
        Ok(JoinedPublisher {
            reader,
            source,
            waiting_socket: None,
            empty_polls: 0,
            last_liveness_check: Instant::now(),
            is_socket_closed: false,
        })
    }

    #[inline]
    fn deliver_messages(&mut self, on: &mut impl FnMut(TopicEvent<'_>)) -> usize {
        let mut count = 0;
        for frame in self.reader.poll() {
            on(TopicEvent::Message(frame.bytes));
            count += 1;
        }
        if count > 0 {
            self.reader.release();
        }
        count
    }

    /// Whether the publisher is gone and nothing of it is left. First whether it is gone: what it
    /// has committed is in the ring then.
    fn has_ended(&mut self, line: &OwnedFd) -> Result<bool, Error> {
        if let Some(fault) = self.reader.fault() {
            return Err(Error::RingBroken(fault));
        }
        self.empty_polls = (self.empty_polls + 1) % LIVENESS_CHECK_POLLS;
        if self.empty_polls == 0 && self.last_liveness_check.elapsed() >= LIVENESS_CHECK_INTERVAL {
            self.last_liveness_check = Instant::now();
            self.is_socket_closed |= socket::drain_wakeups(line);
        }
        let is_over = self.is_socket_closed || self.reader.is_closed();
        let has_ended = is_over && !self.reader.has_more();
        // That look may have found one.
        match self.reader.fault() {
            Some(fault) => Err(Error::RingBroken(fault)),
            None => Ok(has_ended),
        }
    }

    fn wait_for_frames(&mut self, line: &OwnedFd, timeout: Option<&Timespec>) -> Result<(), Error> {
        if self.is_socket_closed || !self.reader.arm() {
            return Ok(());
        }
        let slept = socket::wait_readable(line, timeout);
        self.reader.disarm();
        self.is_socket_closed |= socket::drain_wakeups(line);
        slept
    }
}

/// A publisher, or a place to wait for one. Whoever takes a place looks once more whether there is
/// one: a publisher first takes its name and then looks at the places, so one of the two sees the
/// other.
fn find_or_wait(name: &TopicName) -> Result<(SubscriberState, OwnedFd), Error> {
    if let Some(publisher_socket) = find_publisher(name)? {
        return Ok((SubscriberState::Connected(None), publisher_socket));
    }
    let Some(waiting_socket) = bind_waiting_name(name)? else {
        let topic = name.topic().to_owned();
        return Err(Error::TooManyWaiting { topic });
    };
    match find_publisher(name)? {
        Some(publisher_socket) => prefer_waiting_connection(waiting_socket, publisher_socket, name),
        None => Ok((SubscriberState::Waiting, waiting_socket)),
    }
}

/// A place to wait; `None`: others have them all.
fn bind_waiting_name(name: &TopicName) -> Result<Option<OwnedFd>, Error> {
    for place in 0..READERS_MAX {
        if let Some(door) = socket::bind_name(&name.waiting_address(place)?)? {
            return Ok(Some(door));
        }
    }
    Ok(None)
}

/// The first of two connections to a publisher: it may have called at the door before it was found,
/// and what it has sent since goes there.
fn prefer_waiting_connection(
    waiting_socket: OwnedFd,
    publisher_socket: OwnedFd,
    name: &TopicName,
) -> Result<(SubscriberState, OwnedFd), Error> {
    let pid = socket::check_peer(&publisher_socket, name)?;
    loop {
        let called = socket::accept(&waiting_socket);
        match called.map_err(|error| Error::system("let a publisher in", error))? {
            Some(called) if socket::check_peer(&called, name).is_ok_and(|it| it == pid) => {
                return Ok((SubscriberState::Connected(Some(waiting_socket)), called));
            }
            Some(_) => {}
            // It may still call there, and is not to let us in twice: the door is closed.
            None => return Ok((SubscriberState::Connected(None), publisher_socket)),
        }
    }
}

fn find_publisher(name: &TopicName) -> Result<Option<OwnedFd>, Error> {
    let address = name.publisher_address()?;
    for _ in 0..CONNECT_ATTEMPTS_MAX {
        match socket::try_connect(&address)? {
            ConnectOutcome::Connected(line) => {
                socket::check_peer(&line, name)?;
                return Ok(Some(line));
            }
            ConnectOutcome::Refused => return Ok(None),
            ConnectOutcome::Busy => std::thread::sleep(CONNECT_RETRY_PAUSE),
        }
    }
    Err(Error::unresponsive(name.topic()))
}

/// The next publisher, and whether it has called. Others are turned away; they may have stood in
/// its way, so it is looked for then.
fn accept_publisher(
    waiting_socket: &OwnedFd,
    name: &TopicName,
) -> Result<Option<(OwnedFd, bool)>, Error> {
    let mut has_strangers = false;
    loop {
        let line = socket::accept(waiting_socket);
        match line.map_err(|error| Error::system("let a publisher in", error))? {
            Some(line) if socket::check_peer(&line, name).is_err() => has_strangers = true,
            None if has_strangers => return Ok(find_publisher(name)?.map(|line| (line, false))),
            line => return Ok(line.map(|line| (line, true))),
        }
    }
}
