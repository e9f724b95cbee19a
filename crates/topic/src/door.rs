//! The door of a publisher: who comes, who is gone, on a thread of its own.
//!
//! The publisher's thread knows nothing of it but for the lines, on which it wakes subscribers that
//! sleep. Whom it waits for is told to the ring ([`ring::Admission`]), also while the publisher has
//! nothing to send or is held up by somebody who has just died.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use ring::{Admission, READERS_MAX};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::net::Shutdown;

use crate::error::Error;
use crate::name::Name;
use crate::socket::{self, Reached};
use crate::welcome::{self, Welcome};

/// How long nobody is let in when the system has no descriptor left.
const PAUSE: Duration = Duration::from_millis(50);

/// The sockets to the subscribers, by number.
#[derive(Clone)]
pub(crate) struct Lines(Arc<Mutex<Vec<Option<Arc<OwnedFd>>>>>);

impl Lines {
    fn new(places: u32) -> Lines {
        let empty = (0..places).map(|_| None);
        Lines(Arc::new(Mutex::new(empty.collect())))
    }

    fn with<T>(&self, use_them: impl FnOnce(&mut Vec<Option<Arc<OwnedFd>>>) -> T) -> T {
        use_them(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Wakes the sleepers of a set.
    pub(crate) fn wake(&self, sleepers: u64) {
        self.with(|lines| {
            let each = lines.iter().enumerate();
            let those = each.filter(|(number, _)| sleepers & 1 << number != 0);
            those
                .flat_map(|(_, line)| line)
                .for_each(|line| socket::wake(line));
        });
    }

    /// Ends the line of somebody who has broken the ring.
    pub(crate) fn cut(&self, reader: u32) {
        self.with(|lines| {
            if let Some(Some(line)) = lines.get(reader as usize) {
                // Its door finds it closed then; one that is closed already is as well.
                let _ = rustix::net::shutdown(&**line, Shutdown::Both);
            }
        });
    }

    /// Those who are in, with their numbers.
    fn all(&self) -> Vec<(u32, Arc<OwnedFd>)> {
        self.with(|lines| {
            let each = (0..).zip(lines.iter());
            each.filter_map(|(number, line)| Some((number, Arc::clone(line.as_ref()?))))
                .collect()
        })
    }
}

/// A door while its publisher is there.
pub(crate) struct Door {
    lines: Lines,
    end: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Door {
    /// Opens it: whoever waits for the topic is let in now, others as they come.
    pub(crate) fn open(
        name: Name,
        listener: OwnedFd,
        admission: Admission,
        ring: OwnedFd,
    ) -> Result<Door, Error> {
        let lines = Lines::new(admission.readers());
        let mut keeper = Doorkeeper {
            name,
            listener,
            admission,
            ring,
            lines: lines.clone(),
        };
        keeper.fetch_those_who_wait()?;
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let end = eventfd(0, flags).map_err(|error| Error::system("make an event", error))?;
        let end = Arc::new(end);
        let told = Arc::clone(&end);
        let thread = Builder::new().name("topic door".to_owned());
        let thread = thread
            .spawn(move || keeper.keep(&told))
            .map_err(|error| Error::system("start a thread", error))?;
        Ok(Door {
            lines,
            end,
            thread: Some(thread),
        })
    }

    /// The lines to those who are in.
    pub(crate) fn lines(&self) -> &Lines {
        &self.lines
    }

    /// How many are in.
    pub(crate) fn count(&self) -> usize {
        self.lines.with(|lines| lines.iter().flatten().count())
    }

    /// Closes it. Those who are in stay in, nobody else finds it.
    pub(crate) fn close(&mut self) {
        // Its count has room for one.
        let _ = rustix::io::write(&*self.end, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            // One that has panicked is closed too.
            let _ = thread.join();
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.close();
    }
}

struct Doorkeeper {
    name: Name,
    listener: OwnedFd,
    admission: Admission,
    ring: OwnedFd,
    lines: Lines,
}

impl Doorkeeper {
    /// Until the end.
    fn keep(mut self, end: &OwnedFd) {
        loop {
            let lines = self.lines.all();
            let mut fds = vec![
                PollFd::new(end, PollFlags::IN),
                PollFd::new(&self.listener, PollFlags::IN),
            ];
            fds.extend(
                lines
                    .iter()
                    .map(|(_, line)| PollFd::from_borrowed_fd(line.as_fd(), PollFlags::IN)),
            );
            let polled = poll(&mut fds, None);
            if !fds[0].revents().is_empty() {
                return;
            }
            let has_come = !fds[1].revents().is_empty();
            let stirred: Vec<_> = fds[2..].iter().map(|fd| !fd.revents().is_empty()).collect();
            if polled.is_err() {
                continue;
            }
            for ((number, line), stirs) in lines.iter().zip(stirred) {
                if stirs && socket::silence(line) {
                    self.let_out(*number);
                }
            }
            if has_come {
                self.let_all_in();
            }
        }
    }

    /// Lets in who came first: subscribers that were there before their publisher. One that finds the
    /// topic meanwhile comes by itself.
    fn fetch_those_who_wait(&mut self) -> Result<(), Error> {
        for place in 0..READERS_MAX {
            if let Reached::Line(socket) = socket::reach(&self.name.waiting(place)?)? {
                self.let_in(socket);
            }
        }
        self.let_all_in();
        Ok(())
    }

    fn let_all_in(&mut self) {
        loop {
            match socket::next(&self.listener) {
                Ok(Some(socket)) => self.let_in(socket),
                Ok(None) => return,
                // No descriptors, or no memory: others may give some back.
                Err(_) => return std::thread::sleep(PAUSE),
            }
        }
    }

    /// Lets somebody in, if he is of our user and there is a place. Whoever is not let in finds the
    /// connection closed.
    fn let_in(&mut self, socket: OwnedFd) {
        if socket::check_peer(&socket, &self.name).is_err() {
            return;
        }
        let receivers = self.admission.readers();
        let Some(reader) = self.free_place() else {
            let full = Welcome {
                reader: None,
                receivers,
            };
            // He is turned away, whether he hears it or not.
            let _ = welcome::send(&socket, full, &self.ring);
            return;
        };
        if self.admission.admit(reader).is_err() {
            return;
        }
        let welcome = Welcome {
            reader: Some(reader),
            receivers,
        };
        // Under one lock: whoever has the welcome may fall asleep at once, and is to be woken by this
        // line then.
        let sent = self.lines.with(|lines| {
            let sent = welcome::send(&socket, welcome, &self.ring);
            sent.map(|()| lines[reader as usize] = Some(Arc::new(socket)))
        });
        if sent.is_err() {
            self.admission.dismiss(reader);
        }
    }

    /// A place that nobody has, or that somebody has just left.
    fn free_place(&mut self) -> Option<u32> {
        let free = |lines: &mut Vec<Option<Arc<OwnedFd>>>| lines.iter().position(Option::is_none);
        let mut place = self.lines.with(free);
        if place.is_none() {
            for (number, line) in self.lines.all() {
                if socket::silence(&line) {
                    self.let_out(number);
                }
            }
            place = self.lines.with(free);
        }
        place.map(|place| place as u32)
    }

    fn let_out(&mut self, reader: u32) {
        self.admission.dismiss(reader);
        self.lines.with(|lines| lines[reader as usize] = None);
    }
}
