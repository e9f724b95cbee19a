//! The subscribing end of a topic: waits for a publisher, and takes its messages in place.
//!
//! ```text
//!   Waiting --- a publisher comes ---> Connected --- admits it ---> Joined
//!      ^          or is there              |                          |
//!      +------- it is gone ----------------+-------- it ends ---------+
//! ```
//! A subscriber has a waiting name, at which publishers connect when they open. It stays bound all
//! the while: the next publisher may come while messages of the last one are still being taken.

use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use ring::{READERS_MAX, Reader};
use rustix::event::Timespec;

use crate::error::Error;
use crate::socket::{self, CONNECT_ATTEMPTS_MAX, CONNECT_RETRY_PAUSE, ConnectOutcome};
use crate::topic_handshake::{self, TopicHandshakeOutcome};
use crate::topic_name::TopicName;

/// Empty polls after which the clock is looked at, which costs more than a poll.
const LIVENESS_CHECK_POLLS: u32 = 32;

/// Time between two checks whether the publisher has died, each of which is a system call.
const LIVENESS_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The subscribing end of a topic.
pub struct Subscriber {
    name: TopicName,
    /// Dropped before the socket: a subscriber whose socket is closed must not touch the ring any
    /// more.
    state: SubscriberState,
    socket: OwnedFd,
}

/// Events of a topic, in this order, and again with the next publisher.
#[derive(Debug)]
pub enum TopicEvent<'a> {
    /// A publisher has admitted this subscriber: the next message that it sends will come.
    Began(&'a TopicSource),
    /// A message, in place: at an address that is a multiple of 8, valid until the callback
    /// returns.
    Message(&'a [u8]),
    /// The publisher is gone, and every message that it had completed was delivered. A publisher
    /// that was opened since then has found this subscriber, unless as many as one ring can serve
    /// wait for the topic.
    Ended(&'a TopicSource),
}

/// Identity of a publisher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicSource {
    topic: String,
    user: u32,
    pid: i32,
    /// Inode of the ring's file, unique while a process reads in it.
    ring_inode: u64,
}

/// State of a subscriber, which says what its socket is.
#[expect(
    clippy::large_enum_variant,
    reason = "a subscriber has one, and each poll would go through the box"
)]
enum SubscriberState {
    /// The socket is the waiting name, at which a publisher connects when it opens.
    Waiting,
    /// The socket is a connection to a publisher that has not answered yet. The field is the
    /// waiting name at which the publisher has connected; `None`: it was found by its own name, and
    /// could still connect.
    Connected(Option<OwnedFd>),
    /// The socket is a connection to a publisher that has admitted this subscriber.
    Joined(JoinedPublisher),
    /// The socket is that of the last publisher: no new one has been found yet.
    Disconnected,
}

struct JoinedPublisher {
    reader: Reader,
    source: TopicSource,
    /// Waiting name for the next publisher; `None`: other subscribers have all of them.
    waiting_socket: Option<OwnedFd>,
    empty_polls: u32,
    /// Time of the last check whether the publisher has died.
    last_liveness_check: Instant,
    /// Whether the socket was found closed.
    is_socket_closed: bool,
}

impl TopicSource {
    /// Name of the topic.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// Process id of the publisher; 0: it is in another namespace of processes.
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
    /// now on finds this subscriber and sends it every message.
    ///
    /// # Errors
    /// The name is invalid or held by another user, or too many subscribers wait for the topic.
    pub fn open(topic: &str) -> Result<Subscriber, Error> {
        let name = TopicName::new(topic)?;
        let (state, socket) = find_or_wait(&name)?;
        Ok(Subscriber {
            name,
            state,
            socket,
        })
    }

    /// Calls `on` for each event that has happened: all messages that are there, or the beginning
    /// or end of a publisher. Returns the number of events; 0: none now. Never blocks. The room of
    /// the messages is released before it returns.
    ///
    /// # Errors
    /// The publisher serves as many subscribers as it may, is not to be trusted, or has broken the
    /// ring.
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

    /// Sleeps until there may be an event, or until the timeout.
    ///
    /// # Errors
    /// The system call to wait has failed.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<(), Error> {
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        match &mut self.state {
            SubscriberState::Joined(joined) => {
                joined.wait_for_frames(&self.socket, timeout.as_ref())
            }
            _ => socket::wait_readable(&self.socket, timeout.as_ref()),
        }
    }

    /// Whether a publisher has admitted this subscriber.
    pub fn is_joined(&self) -> bool {
        matches!(self.state, SubscriberState::Joined(_))
    }

    /// Number of looks for messages of this publisher that found none. If it has grown between two
    /// polls, the subscriber has waited for the messages of the second one.
    #[inline]
    pub fn empty_poll_count(&self) -> u64 {
        match &self.state {
            SubscriberState::Joined(joined) => joined.reader.empty_poll_count(),
            _ => 0,
        }
    }

    /// Looks at the socket after a poll that found no message.
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
                // Before the end is reported: a publisher that is started because of it finds this
                // subscriber. If that fails, the next poll tries again and reports the error.
                let _ = self.disconnect();
                on(TopicEvent::Ended(&source));
                Ok(1)
            }
        }
    }

    /// Looks for the publisher's handshake.
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

    /// The waiting name for the next publisher, once one has admitted this subscriber. The current
    /// publisher has connected to it by then if it was going to: before it admits subscribers that
    /// find it by its own name.
    fn keep_waiting_socket(&mut self) -> Option<OwnedFd> {
        if let SubscriberState::Connected(waiting_socket @ Some(_)) = &mut self.state {
            return waiting_socket.take();
        }
        // Without a waiting name, the next publisher is looked for when this one has ended.
        bind_waiting_name(&self.name).ok().flatten()
    }

    /// Leaves a publisher that is gone.
    fn disconnect(&mut self) -> Result<(), Error> {
        // The ring is dropped before the socket.
        let waiting_socket = match std::mem::replace(&mut self.state, SubscriberState::Disconnected)
        {
            SubscriberState::Joined(JoinedPublisher { waiting_socket, .. })
            | SubscriberState::Connected(waiting_socket) => waiting_socket,
            _ => None,
        };
        match waiting_socket {
            Some(waiting_socket) => {
                (self.state, self.socket) = (SubscriberState::Waiting, waiting_socket)
            }
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
        socket: &OwnedFd,
        ring: &OwnedFd,
        reader: u32,
    ) -> Result<JoinedPublisher, Error> {
        let pid = socket::check_peer(socket, name)?;
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

    /// Whether the publisher is gone and no message of it is left. Checks first whether it is gone:
    /// all that it has committed is in the ring then.
    fn has_ended(&mut self, socket: &OwnedFd) -> Result<bool, Error> {
        if let Some(fault) = self.reader.fault() {
            return Err(Error::RingBroken(fault));
        }
        self.empty_polls = (self.empty_polls + 1) % LIVENESS_CHECK_POLLS;
        if self.empty_polls == 0 && self.last_liveness_check.elapsed() >= LIVENESS_CHECK_INTERVAL {
            self.last_liveness_check = Instant::now();
            self.is_socket_closed |= socket::drain_wakeups(socket);
        }
        let is_over = self.is_socket_closed || self.reader.is_closed();
        let has_ended = is_over && !self.reader.has_more();
        // The look for frames may have found a fault.
        match self.reader.fault() {
            Some(fault) => Err(Error::RingBroken(fault)),
            None => Ok(has_ended),
        }
    }

    fn wait_for_frames(
        &mut self,
        socket: &OwnedFd,
        timeout: Option<&Timespec>,
    ) -> Result<(), Error> {
        if self.is_socket_closed || !self.reader.arm() {
            return Ok(());
        }
        let slept = socket::wait_readable(socket, timeout);
        self.reader.disarm();
        self.is_socket_closed |= socket::drain_wakeups(socket);
        slept
    }
}

/// A connection to the publisher, or a waiting name. A subscriber that takes a waiting name looks
/// once more for a publisher: a publisher first takes its name and then connects to the waiting
/// names, so one of the two sees the other.
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

/// Binds a free waiting name. `None`: other subscribers have all of them.
fn bind_waiting_name(name: &TopicName) -> Result<Option<OwnedFd>, Error> {
    for place in 0..READERS_MAX {
        if let Some(waiting_socket) = socket::bind_name(&name.waiting_address(place)?)? {
            return Ok(Some(waiting_socket));
        }
    }
    Ok(None)
}

/// Chooses the first of two connections to a publisher: it may have connected to the waiting name
/// before it was found, and frames sent since then go there.
fn prefer_waiting_connection(
    waiting_socket: OwnedFd,
    publisher_socket: OwnedFd,
    name: &TopicName,
) -> Result<(SubscriberState, OwnedFd), Error> {
    let pid = socket::check_peer(&publisher_socket, name)?;
    loop {
        let accepted = socket::accept(&waiting_socket);
        match accepted.map_err(|error| Error::system("let a publisher in", error))? {
            Some(accepted) if socket::check_peer(&accepted, name).is_ok_and(|it| it == pid) => {
                return Ok((SubscriberState::Connected(Some(waiting_socket)), accepted));
            }
            Some(_) => {}
            // The publisher may still connect there, and must not admit this subscriber twice: the
            // waiting name is closed.
            None => return Ok((SubscriberState::Connected(None), publisher_socket)),
        }
    }
}

fn find_publisher(name: &TopicName) -> Result<Option<OwnedFd>, Error> {
    let address = name.publisher_address()?;
    for _ in 0..CONNECT_ATTEMPTS_MAX {
        match socket::try_connect(&address)? {
            ConnectOutcome::Connected(socket) => {
                socket::check_peer(&socket, name)?;
                return Ok(Some(socket));
            }
            ConnectOutcome::Refused => return Ok(None),
            ConnectOutcome::Busy => std::thread::sleep(CONNECT_RETRY_PAUSE),
        }
    }
    Err(Error::unresponsive(name.topic()))
}

/// Accepts the next publisher. `true`: it has connected by itself. Other processes are turned away;
/// they may have been in its way, so it is looked for then.
fn accept_publisher(
    waiting_socket: &OwnedFd,
    name: &TopicName,
) -> Result<Option<(OwnedFd, bool)>, Error> {
    let mut has_strangers = false;
    loop {
        let socket = socket::accept(waiting_socket);
        match socket.map_err(|error| Error::system("let a publisher in", error))? {
            Some(socket) if socket::check_peer(&socket, name).is_err() => has_strangers = true,
            None if has_strangers => return Ok(find_publisher(name)?.map(|socket| (socket, false))),
            socket => return Ok(socket.map(|socket| (socket, true))),
        }
    }
}
