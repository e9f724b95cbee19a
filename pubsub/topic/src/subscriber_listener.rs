//! The listener of a publisher: a thread that admits subscribers and notices those that are gone.
//!
//! The publisher's own thread uses only the sockets, on which it wakes sleeping subscribers. The
//! listener tells the ring which subscribers to wait for ([`ring::ReaderAdmission`]), also while
//! the publisher has nothing to send or is held up by a subscriber that has just died.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use ring::{READERS_MAX, ReaderAdmission};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::net::Shutdown;

use crate::error::Error;
use crate::socket::{self, ConnectOutcome};
use crate::topic_handshake::{self, TopicHandshake};
use crate::topic_name::TopicName;

/// Pause without accepting when the system has no descriptor left.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(50);

/// Sockets to the subscribers, by the number of their reader.
#[derive(Clone)]
pub(crate) struct SubscriberSockets(Arc<Mutex<Vec<Option<Arc<OwnedFd>>>>>);

impl SubscriberSockets {
    fn new(readers: u32) -> SubscriberSockets {
        let empty = (0..readers).map(|_| None);
        SubscriberSockets(Arc::new(Mutex::new(empty.collect())))
    }

    fn with_locked<T>(&self, use_them: impl FnOnce(&mut Vec<Option<Arc<OwnedFd>>>) -> T) -> T {
        use_them(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Wakes the subscribers of this set.
    pub(crate) fn wake(&self, sleepers: u64) {
        self.with_locked(|sockets| {
            let each = sockets.iter().enumerate();
            let sleeping = each.filter(|(number, _)| sleepers & 1 << number != 0);
            sleeping
                .flat_map(|(_, socket)| socket)
                .for_each(|socket| socket::wake(socket));
        });
    }

    /// Closes the connection to a subscriber that has broken the ring.
    pub(crate) fn disconnect(&self, reader: u32) {
        self.with_locked(|sockets| {
            if let Some(Some(socket)) = sockets.get(reader as usize) {
                // The listener finds it closed then; so it does if it is closed already.
                let _ = rustix::net::shutdown(&**socket, Shutdown::Both);
            }
        });
    }

    /// Connected subscribers, with their numbers.
    fn connected(&self) -> Vec<(u32, Arc<OwnedFd>)> {
        self.with_locked(|sockets| {
            let each = (0..).zip(sockets.iter());
            each.filter_map(|(number, socket)| Some((number, Arc::clone(socket.as_ref()?))))
                .collect()
        })
    }
}

/// The listener thread of a publisher, stopped when it is dropped.
pub(crate) struct SubscriberListener {
    sockets: SubscriberSockets,
    stop_event: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl SubscriberListener {
    /// Starts the thread. Subscribers that wait for the topic are admitted now, others as they
    /// come.
    pub(crate) fn start(
        name: TopicName,
        listener: OwnedFd,
        admission: ReaderAdmission,
        ring: OwnedFd,
    ) -> Result<SubscriberListener, Error> {
        let sockets = SubscriberSockets::new(admission.readers());
        let mut listener_thread = SubscriberListenerThread {
            name,
            listener,
            admission,
            ring,
            sockets: sockets.clone(),
        };
        listener_thread.admit_waiting()?;
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let stop_event =
            eventfd(0, flags).map_err(|error| Error::system("make an event", error))?;
        let stop_event = Arc::new(stop_event);
        let thread_stop_event = Arc::clone(&stop_event);
        let thread = Builder::new().name("topic listener".to_owned());
        let thread = thread
            .spawn(move || listener_thread.run(&thread_stop_event))
            .map_err(|error| Error::system("start a thread", error))?;
        Ok(SubscriberListener {
            sockets,
            stop_event,
            thread: Some(thread),
        })
    }

    /// Sockets to the connected subscribers.
    pub(crate) fn sockets(&self) -> &SubscriberSockets {
        &self.sockets
    }

    /// Number of connected subscribers.
    pub(crate) fn subscriber_count(&self) -> usize {
        self.sockets
            .with_locked(|sockets| sockets.iter().flatten().count())
    }

    /// Stops the thread. Connected subscribers stay connected; no other finds the topic.
    pub(crate) fn stop(&mut self) {
        // The event's counter has room for one more.
        let _ = rustix::io::write(&*self.stop_event, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has stopped, too.
            let _ = thread.join();
        }
    }
}

impl Drop for SubscriberListener {
    fn drop(&mut self) {
        self.stop();
    }
}

struct SubscriberListenerThread {
    name: TopicName,
    listener: OwnedFd,
    admission: ReaderAdmission,
    ring: OwnedFd,
    sockets: SubscriberSockets,
}

impl SubscriberListenerThread {
    /// Serves subscribers until the stop event.
    fn run(mut self, stop_event: &OwnedFd) {
        loop {
            let sockets = self.sockets.connected();
            let mut fds = vec![
                PollFd::new(stop_event, PollFlags::IN),
                PollFd::new(&self.listener, PollFlags::IN),
            ];
            fds.extend(
                sockets
                    .iter()
                    .map(|(_, socket)| PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN)),
            );
            let polled = poll(&mut fds, None);
            if !fds[0].revents().is_empty() {
                return;
            }
            let has_come = !fds[1].revents().is_empty();
            let readable: Vec<_> = fds[2..].iter().map(|fd| !fd.revents().is_empty()).collect();
            if polled.is_err() {
                continue;
            }
            for ((number, socket), is_readable) in sockets.iter().zip(readable) {
                if is_readable && socket::drain_wakeups(socket) {
                    self.dismiss(*number);
                }
            }
            if has_come {
                self.accept_all();
            }
        }
    }

    /// Admits subscribers that waited for the topic before this publisher. One that finds the topic
    /// meanwhile connects by itself.
    fn admit_waiting(&mut self) -> Result<(), Error> {
        for reader in 0..READERS_MAX {
            if let ConnectOutcome::Connected(socket) =
                socket::try_connect(&self.name.waiting_address(reader)?)?
            {
                self.admit(socket);
            }
        }
        self.accept_all();
        Ok(())
    }

    fn accept_all(&mut self) {
        loop {
            match socket::accept(&self.listener) {
                Ok(Some(socket)) => self.admit(socket),
                Ok(None) => return,
                // Without descriptors or memory: other processes may return some.
                Err(_) => return std::thread::sleep(ACCEPT_RETRY_PAUSE),
            }
        }
    }

    /// Admits a subscriber of this user, if the ring has a free reader. One that is not admitted
    /// finds the connection closed.
    fn admit(&mut self, socket: OwnedFd) {
        if socket::check_peer(&socket, &self.name).is_err() {
            return;
        }
        let receivers = self.admission.readers();
        let Some(reader) = self.find_free_reader() else {
            let full = TopicHandshake {
                reader: None,
                receivers,
            };
            // The subscriber is refused, whether it receives this or not.
            let _ = topic_handshake::send(&socket, full, &self.ring);
            return;
        };
        if self.admission.admit(reader).is_err() {
            return;
        }
        let handshake = TopicHandshake {
            reader: Some(reader),
            receivers,
        };
        // Under one lock: a subscriber that has the handshake may fall asleep at once, and must
        // then be woken by this socket.
        let sent = self.sockets.with_locked(|sockets| {
            let sent = topic_handshake::send(&socket, handshake, &self.ring);
            sent.map(|()| sockets[reader as usize] = Some(Arc::new(socket)))
        });
        if sent.is_err() {
            self.admission.dismiss(reader);
        }
    }

    /// Number of a reader that is free, or whose subscriber has just left.
    fn find_free_reader(&mut self) -> Option<u32> {
        let free =
            |sockets: &mut Vec<Option<Arc<OwnedFd>>>| sockets.iter().position(Option::is_none);
        let mut reader = self.sockets.with_locked(free);
        if reader.is_none() {
            for (number, socket) in self.sockets.connected() {
                if socket::drain_wakeups(&socket) {
                    self.dismiss(number);
                }
            }
            reader = self.sockets.with_locked(free);
        }
        reader.map(|reader| reader as u32)
    }

    fn dismiss(&mut self, reader: u32) {
        self.admission.dismiss(reader);
        self.sockets
            .with_locked(|sockets| sockets[reader as usize] = None);
    }
}
