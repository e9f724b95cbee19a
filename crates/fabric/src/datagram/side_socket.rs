//! The socket beside two endpoints: its peer's messages, its end, and who is asleep.
//!
//! # Why no wake-up is lost
//! A side tells that it sleeps, and then looks for what has come a last time. The other side posts,
//! counts that, and then looks whether its peer sleeps; when word of that comes, the watcher notes
//! it and then looks at the count. So of a post and such a word that cross each other, one sees the
//! other, and the peer is woken; perhaps once too often, which is harmless.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::EventfdFlags;

use super::shm_region::ShmRegion;
use super::socket_messages::{ASLEEP, MADE, SocketMessage, WAKE, refusal, take_message};
use crate::error::FabricError;

/// Most bytes that are read from a socket at a time: all of a request.
const READ_BYTES: usize = 1024;

/// Descriptors by which the watcher wakes the threads of a node.
pub(crate) struct NodeSignals {
    /// Readable when a peer has posted something.
    wake: OwnedFd,
    /// Readable when there are messages.
    events: OwnedFd,
    has_events: AtomicBool,
}

impl NodeSignals {
    pub(crate) fn new() -> Result<NodeSignals, FabricError> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let no_fd = |error| FabricError::System(format!("make an event descriptor: {error}"));
        Ok(NodeSignals {
            wake: rustix::event::eventfd(0, flags).map_err(no_fd)?,
            events: rustix::event::eventfd(0, flags).map_err(no_fd)?,
            has_events: AtomicBool::new(false),
        })
    }

    /// The descriptors: of posts and of messages.
    pub(crate) fn fds(&self) -> [BorrowedFd<'_>; 2] {
        [self.wake.as_fd(), self.events.as_fd()]
    }

    /// Tells the node's threads of an event that no socket has brought.
    pub(crate) fn tell_own_events(&self) {
        self.tell_events();
    }

    /// Tells the node of messages, and wakes its threads.
    pub(super) fn tell_events(&self) {
        self.has_events.store(true, Ordering::SeqCst);
        add(&self.events);
        add(&self.wake);
    }

    /// Whether there are messages since the last call.
    pub(crate) fn take_events(&self) -> bool {
        if !self.has_events.load(Ordering::Acquire) {
            return false;
        }
        // The descriptor is emptied before the sockets are looked at, so nothing is missed.
        take(&self.events);
        self.has_events.swap(false, Ordering::SeqCst)
    }

    /// Whether a call of [`NodeSignals::take_events`] would find messages.
    pub(crate) fn has_events(&self) -> bool {
        self.has_events.load(Ordering::SeqCst)
    }

    /// Forgets earlier wake-ups, before the last look at what has come.
    pub(crate) fn forget_wakes(&self) {
        take(&self.wake);
    }
}

fn add(counter: &OwnedFd) {
    // The counter is full only if nobody has read it, and is readable then.
    let _ = rustix::io::write(counter, &1u64.to_ne_bytes());
}

fn take(counter: &OwnedFd) {
    let _ = rustix::io::read(counter, &mut [0u8; 8]);
}

/// Bytes and messages for which a socket has room at once, so that none is allocated while an edge
/// runs: each side tells once that it sleeps, and is woken once, before it is heard.
const INPUT_BYTES: usize = 1024;
const MESSAGES: usize = 64;

/// One end of a socket beside two endpoints.
pub(crate) struct SideSocket {
    stream: TcpStream,
    signals: Arc<NodeSignals>,
    state: Mutex<SocketState>,
    /// Whether the peer has told that it sleeps and was not woken since.
    is_peer_asleep: AtomicBool,
    /// Whether this side has told that it sleeps and was not woken since.
    is_sleep_told: AtomicBool,
    /// Number of this side's posts, and of those when the peer was woken last.
    posts: AtomicU64,
    woken_posts: AtomicU64,
}

struct SocketState {
    input: VecDeque<u8>,
    /// Whether the peer has to send a request first.
    is_asked: bool,
    messages: VecDeque<SocketMessage>,
    /// Why the socket has ended; `Some(None)` once that was told.
    end: Option<Option<String>>,
    /// Shared memory whose locks are opened when the peer has ended.
    regions: Vec<ShmRegion>,
}

impl SideSocket {
    /// Takes over a socket that is connected. `is_asked`: the peer sends a request.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn new(
        stream: TcpStream,
        signals: &Arc<NodeSignals>,
        is_asked: bool,
    ) -> std::io::Result<SideSocket> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(SideSocket {
            stream,
            signals: signals.clone(),
            state: Mutex::new(SocketState {
                input: VecDeque::with_capacity(INPUT_BYTES),
                is_asked,
                messages: VecDeque::with_capacity(MESSAGES),
                end: None,
                regions: Vec::new(),
            }),
            is_peer_asleep: AtomicBool::new(false),
            is_sleep_told: AtomicBool::new(false),
            posts: AtomicU64::new(0),
            woken_posts: AtomicU64::new(0),
        })
    }

    fn state(&self) -> MutexGuard<'_, SocketState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends bytes that fit into the socket's buffer. A peer that is gone is told by its end.
    pub(crate) fn send(&self, bytes: &[u8]) {
        let _ = (&self.stream).write_all(bytes);
    }

    /// Tells the peer that the connection is made.
    pub(crate) fn send_made(&self) {
        self.send(&[MADE]);
    }

    /// Tells the peer that it is refused, and why.
    pub(crate) fn send_refusal(&self, why: &str) {
        self.send(&refusal(why));
    }

    /// The next message of the peer.
    pub(crate) fn next_message(&self) -> Option<SocketMessage> {
        self.state().messages.pop_front()
    }

    /// Why the socket has ended, once, when all messages are taken.
    pub(crate) fn take_end(&self) -> Option<String> {
        let mut state = self.state();
        match state.messages.is_empty() {
            true => state.end.as_mut()?.take(),
            false => None,
        }
    }

    /// Keeps the shared memory of both endpoints, whose locks a killed peer may hold.
    pub(crate) fn keep_regions(&self, regions: Vec<ShmRegion>) {
        let mut state = self.state();
        state.regions = regions;
        if state.end.is_some() {
            state.open_locks();
        }
    }

    /// Counts a post of this side, and wakes a peer that sleeps.
    #[inline]
    pub(crate) fn count_post(&self) {
        self.posts.fetch_add(1, Ordering::SeqCst);
        if self.is_peer_asleep.load(Ordering::SeqCst) {
            self.wake_peer();
        }
    }

    #[cold]
    fn wake_peer(&self) {
        if self.is_peer_asleep.swap(false, Ordering::SeqCst) {
            let posts = self.posts.load(Ordering::SeqCst);
            self.woken_posts.store(posts, Ordering::SeqCst);
            self.send(&[WAKE]);
        }
    }

    /// Tells the peer that this side is about to sleep, unless it knows.
    pub(crate) fn tell_sleep(&self) {
        if !self.is_sleep_told.swap(true, Ordering::SeqCst) {
            self.send(&[ASLEEP]);
        }
    }

    /// Ends the socket: the peer sees its end.
    pub(crate) fn close(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Reads what has come. For the watcher.
    pub(super) fn read(&self) {
        // To end a socket is an event of it.
        if self.state().end.is_some() {
            return;
        }
        let mut bytes = [0; READ_BYTES];
        loop {
            let end = match (&self.stream).read(&mut bytes) {
                Ok(0) => "the peer has closed the connection".to_owned(),
                Ok(len) => match self.take_bytes(&bytes[..len]) {
                    Ok(()) => continue,
                    Err(why) => format!("the peer has broken the rules of its socket: {why}"),
                },
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => format!("the peer has closed the connection: {error}"),
            };
            self.close();
            self.end(end);
            return;
        }
    }

    fn take_bytes(&self, bytes: &[u8]) -> Result<(), String> {
        let mut state = self.state();
        let SocketState {
            input,
            is_asked,
            messages,
            ..
        } = &mut *state;
        input.extend(bytes);
        let mut is_told = false;
        while let Some(message) = take_message(input, is_asked)? {
            match message {
                SocketMessage::Asleep => {
                    self.is_peer_asleep.store(true, Ordering::SeqCst);
                    let woken = self.woken_posts.load(Ordering::SeqCst);
                    if self.posts.load(Ordering::SeqCst) != woken {
                        self.wake_peer();
                    }
                }
                SocketMessage::Wake => {
                    self.is_sleep_told.store(false, Ordering::SeqCst);
                    add(&self.signals.wake);
                }
                other => {
                    messages.push_back(other);
                    is_told = true;
                }
            }
        }
        drop(state);
        if is_told {
            self.signals.tell_events();
        }
        Ok(())
    }

    fn end(&self, why: String) {
        let mut state = self.state();
        state.end.get_or_insert(Some(why));
        state.open_locks();
        drop(state);
        self.signals.tell_events();
    }
}

impl SocketState {
    fn open_locks(&self) {
        for region in &self.regions {
            region.open_lock();
        }
    }
}

impl AsFd for SideSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    #[test]
    fn the_end_of_a_socket_is_told_once() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (peer, _) = listener.accept().unwrap();
        let signals = Arc::new(NodeSignals::new().unwrap());
        let socket = SideSocket::new(stream, &signals, false).unwrap();
        socket.read();
        assert!(!signals.take_events());
        drop(peer);
        while !signals.take_events() {
            socket.read();
        }
        socket.read();
        assert!(!signals.take_events(), "the end is told again");
        let end = socket.take_end().unwrap();
        assert!(end.contains("the peer has closed the connection"), "{end}");
    }
}
