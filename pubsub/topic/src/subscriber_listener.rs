//! The door of a publisher: who comes, who is gone, on a thread of its own.
//!
//! The publisher's thread knows nothing of it but for the lines, on which it wakes subscribers that
//! sleep. Whom it waits for is told to the ring ([`ring::ReaderAdmission`]), also while the
//! publisher has nothing to send or is held up by somebody who has just died.

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

/// How long nobody is let in when the system has no descriptor left.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(50);

/// The sockets to the subscribers, by number.
#[derive(Clone)]
pub(crate) struct SubscriberSockets(Arc<Mutex<Vec<Option<Arc<OwnedFd>>>>>);

impl SubscriberSockets {
    fn new(places: u32) -> SubscriberSockets {
        let empty = (0..places).map(|_| None);
        SubscriberSockets(Arc::new(Mutex::new(empty.collect())))
    }

    fn with_locked<T>(&self, use_them: impl FnOnce(&mut Vec<Option<Arc<OwnedFd>>>) -> T) -> T {
        use_them(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Wakes the sleepers of a set.
    pub(crate) fn wake(&self, sleepers: u64) {
        self.with_locked(|lines| {
            let each = lines.iter().enumerate();
            let those = each.filter(|(number, _)| sleepers & 1 << number != 0);
            those
                .flat_map(|(_, line)| line)
                .for_each(|line| socket::wake(line));
        });
    }

    /// Ends the line of somebody who has broken the ring.
    pub(crate) fn disconnect(&self, reader: u32) {
        self.with_locked(|lines| {
            if let Some(Some(line)) = lines.get(reader as usize) {
                // Its door finds it closed then; one that is closed already is as well.
                let _ = rustix::net::shutdown(&**line, Shutdown::Both);
            }
        });
    }

    /// Those who are in, with their numbers.
    fn connected(&self) -> Vec<(u32, Arc<OwnedFd>)> {
        self.with_locked(|lines| {
            let each = (0..).zip(lines.iter());
            each.filter_map(|(number, line)| Some((number, Arc::clone(line.as_ref()?))))
                .collect()
        })
    }
}

/// A door while its publisher is there.
pub(crate) struct SubscriberListener {
    sockets: SubscriberSockets,
    stop_event: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl SubscriberListener {
    /// Opens it: whoever waits for the topic is let in now, others as they come.
    pub(crate) fn start(
        name: TopicName,
        listener: OwnedFd,
        admission: ReaderAdmission,
        ring: OwnedFd,
    ) -> Result<SubscriberListener, Error> {
        let lines = SubscriberSockets::new(admission.readers());
        let mut listener_thread = SubscriberListenerThread {
            name,
            listener,
            admission,
            ring,
            sockets: lines.clone(),
        };
        listener_thread.admit_waiting()?;
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let end = eventfd(0, flags).map_err(|error| Error::system("make an event", error))?;
        let end = Arc::new(end);
        let thread_stop_event = Arc::clone(&end);
        let thread = Builder::new().name("topic door".to_owned());
        let thread = thread
            .spawn(move || listener_thread.run(&thread_stop_event))
            .map_err(|error| Error::system("start a thread", error))?;
        Ok(SubscriberListener {
            sockets: lines,
            stop_event: end,
            thread: Some(thread),
        })
    }

    /// The lines to those who are in.
    pub(crate) fn sockets(&self) -> &SubscriberSockets {
        &self.sockets
    }

    /// How many are in.
    pub(crate) fn subscriber_count(&self) -> usize {
        self.sockets
            .with_locked(|lines| lines.iter().flatten().count())
    }

    /// Closes it. Those who are in stay in, nobody else finds it.
    pub(crate) fn stop(&mut self) {
        // Its count has room for one.
        let _ = rustix::io::write(&*self.stop_event, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            // One that has panicked is closed too.
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
    /// Until the end.
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
                    .map(|(_, line)| PollFd::from_borrowed_fd(line.as_fd(), PollFlags::IN)),
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
            for ((number, line), is_readable) in sockets.iter().zip(readable) {
                if is_readable && socket::drain_wakeups(line) {
                    self.dismiss(*number);
                }
            }
            if has_come {
                self.accept_all();
            }
        }
    }

    /// Lets in who came first: subscribers that were there before their publisher. One that finds
    /// the topic meanwhile comes by itself.
    fn admit_waiting(&mut self) -> Result<(), Error> {
        for place in 0..READERS_MAX {
            if let ConnectOutcome::Connected(socket) =
                socket::try_connect(&self.name.waiting_address(place)?)?
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
                // No descriptors, or no memory: others may give some back.
                Err(_) => return std::thread::sleep(ACCEPT_RETRY_PAUSE),
            }
        }
    }

    /// Lets somebody in, if he is of our user and there is a place. Whoever is not let in finds the
    /// connection closed.
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
            // He is turned away, whether he hears it or not.
            let _ = topic_handshake::send(&socket, full, &self.ring);
            return;
        };
        if self.admission.admit(reader).is_err() {
            return;
        }
        let welcome = TopicHandshake {
            reader: Some(reader),
            receivers,
        };
        // Under one lock: whoever has the welcome may fall asleep at once, and is to be woken by
        // this line then.
        let sent = self.sockets.with_locked(|lines| {
            let sent = topic_handshake::send(&socket, welcome, &self.ring);
            sent.map(|()| lines[reader as usize] = Some(Arc::new(socket)))
        });
        if sent.is_err() {
            self.admission.dismiss(reader);
        }
    }

    /// A place that nobody has, or that somebody has just left.
    fn find_free_reader(&mut self) -> Option<u32> {
        let free = |lines: &mut Vec<Option<Arc<OwnedFd>>>| lines.iter().position(Option::is_none);
        let mut place = self.sockets.with_locked(free);
        if place.is_none() {
            for (number, line) in self.sockets.connected() {
                if socket::drain_wakeups(&line) {
                    self.dismiss(number);
                }
            }
            place = self.sockets.with_locked(free);
        }
        place.map(|place| place as u32)
    }

    fn dismiss(&mut self, reader: u32) {
        self.admission.dismiss(reader);
        self.sockets
            .with_locked(|lines| lines[reader as usize] = None);
    }
}
