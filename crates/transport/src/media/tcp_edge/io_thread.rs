//! The pump: the one thread of a process that attends to what its TCP connections cannot leave to
//! the threads that use them.
//!
//! It lets receivers in, dials again where a connection broke, gets out what a thread that went off
//! computing left behind, and tells senders how far receivers are. Each end that needs it takes a
//! [`Registration`]; the pump gives whoever is called, has an event or is due a bounded turn.
//!
//! ```text
//!   ends --call--> orders + bell --\
//!   sockets -----------------------> epoll --> turn of each end that is up --> due again, or not
//! ```
//! # Cost
//! With nothing due it sleeps without a period. A turn allocates nothing once an end is warm.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::{Error, Wakeup};

/// The seat of the pump's own bell; ends begin after it.
const WAKEUP_NUMBER: u64 = 0;

/// Events taken at once.
const EVENTS_PER_WAIT_MAX: usize = 64;

/// Timers of the pump are so exact, in nanoseconds; the system's default is 50 µs.
const TIMER_SLACK_NS: u64 = 1000;

static IO_THREAD: Mutex<Option<&'static IoThread>> = Mutex::new(None);

/// Whoever the pump attends to.
pub(crate) trait IoTask: Send + Sync {
    /// One bounded turn: does whatever can be done now without waiting.
    fn turn(&self, now: Instant) -> NextTurn;
}

/// When an end wants its next turn, if nothing happens before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextTurn {
    /// Then.
    At(Instant),
    /// Not by itself.
    OnEvent,
    /// Never: the pump forgets it.
    Unregister,
}

/// A place at the pump.
#[derive(Clone, Copy)]
pub(crate) struct Registration {
    io_thread: &'static IoThread,
    number: u64,
}

struct IoThread {
    epoll: OwnedFd,
    wakeup: Wakeup,
    next_registration: AtomicU64,
    commands: Mutex<Vec<IoCommand>>,
}

enum IoCommand {
    AddTask(u64, Arc<dyn IoTask>),
    RequestTurn(u64),
}

/// An end that has a seat.
struct RegisteredTask {
    registration: u64,
    task: Arc<dyn IoTask>,
    next_turn_at: Option<Instant>,
}

impl NextTurn {
    /// The earlier of both.
    pub(crate) fn or_at(self, other: Option<Instant>) -> NextTurn {
        match (self, other) {
            (NextTurn::At(one), Some(other)) => NextTurn::At(one.min(other)),
            (NextTurn::OnEvent, Some(at)) => NextTurn::At(at),
            (next, _) => next,
        }
    }
}

impl Registration {
    /// A free seat. Starts the pump when it is the first.
    ///
    /// # Errors
    /// The system has no thread or descriptor left.
    pub(crate) fn reserve() -> Result<Registration, Error> {
        let mut place = IO_THREAD.lock().unwrap_or_else(PoisonError::into_inner);
        let pump = match *place {
            Some(pump) => pump,
            None => {
                let start = IoThread::start();
                start.map_err(|error| Error::system("start the thread of TCP edges", error))?
            }
        };
        *place = Some(pump);
        let number = pump.next_registration.fetch_add(1, Ordering::Relaxed);
        Ok(Registration {
            io_thread: pump,
            number,
        })
    }

    /// Sits down: the first turn comes at once.
    pub(crate) fn add_task(self, attended: Arc<dyn IoTask>) {
        self.io_thread
            .send_command(IoCommand::AddTask(self.number, attended));
    }

    /// Asks for a turn.
    pub(crate) fn request_turn(self) {
        self.io_thread
            .send_command(IoCommand::RequestTurn(self.number));
    }

    /// Asks for a turn whenever something happens to a descriptor.
    pub(crate) fn watch_fd(self, fd: impl AsFd, what: EventFlags) -> io::Result<()> {
        let data = EventData::new_u64(self.number);
        Ok(epoll::add(&self.io_thread.epoll, fd, data, what)?)
    }

    /// For something else than before.
    pub(crate) fn change_watch(self, fd: impl AsFd, what: EventFlags) {
        let data = EventData::new_u64(self.number);
        // It is watched, or its connection is over and nobody looks at it any more.
        let _ = epoll::modify(&self.io_thread.epoll, fd, data, what);
    }

    /// No longer.
    pub(crate) fn unwatch_fd(self, fd: impl AsFd) {
        let _ = epoll::delete(&self.io_thread.epoll, fd);
    }
}

impl IoThread {
    fn start() -> io::Result<&'static IoThread> {
        let pump = IoThread {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            wakeup: Wakeup::new()?,
            next_registration: AtomicU64::new(WAKEUP_NUMBER + 1),
            commands: Mutex::new(Vec::new()),
        };
        let data = EventData::new_u64(WAKEUP_NUMBER);
        epoll::add(&pump.epoll, &pump.wakeup, data, EventFlags::IN)?;
        // One for each process, for ever: as long as the process may open edges.
        let pump: &'static IoThread = Box::leak(Box::new(pump));
        let thread = thread::Builder::new().name("thalweg-pump".to_owned());
        thread.spawn(move || pump.run())?;
        Ok(pump)
    }

    fn send_command(&self, order: IoCommand) {
        let mut orders = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        orders.push(order);
        drop(orders);
        self.wakeup.wake();
    }

    fn run(&self) {
        let _ = rustix::thread::set_current_timer_slack(TIMER_SLACK_NS.try_into().ok());
        let (mut tasks, mut orders) = (Vec::<RegisteredTask>::new(), Vec::new());
        let mut events = Vec::with_capacity(EVENTS_PER_WAIT_MAX);
        loop {
            let due = tasks.iter().filter_map(|sitter| sitter.next_turn_at).min();
            self.wait(due, &mut events);
            let now = Instant::now();
            for event in &events {
                match event.data.u64() {
                    WAKEUP_NUMBER => {
                        self.wakeup.clear();
                    }
                    seat => schedule_turn(&mut tasks, seat, now),
                }
            }
            self.run_commands(&mut tasks, &mut orders, now);
            let is_due =
                |sitter: &RegisteredTask| sitter.next_turn_at.is_some_and(|due| due <= now);
            tasks.retain_mut(|sitter| !is_due(sitter) || sitter.turn(now));
        }
    }

    /// Sleeps until something happens or is due.
    fn wait(&self, due: Option<Instant>, events: &mut Vec<Event>) {
        events.clear();
        if let Some(due) = due {
            let left = due.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).ok();
            // epoll_wait would round up to milliseconds.
            let _ = poll(
                &mut [PollFd::new(&self.epoll, PollFlags::IN)],
                left.as_ref(),
            );
        }
        let at_once = Timespec::default();
        let timeout = due.map(|_| &at_once);
        // Interrupted: a turn without events.
        let _ = epoll::wait(&self.epoll, spare_capacity(events), timeout);
    }

    fn run_commands(
        &self,
        sitters: &mut Vec<RegisteredTask>,
        taken: &mut Vec<IoCommand>,
        now: Instant,
    ) {
        let mut orders = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *orders, taken);
        drop(orders);
        for order in taken.drain(..) {
            match order {
                IoCommand::RequestTurn(seat) => schedule_turn(sitters, seat, now),
                IoCommand::AddTask(seat, attended) => {
                    let due = Some(now);
                    let place = sitters.partition_point(|sitter| sitter.registration < seat);
                    sitters.insert(
                        place,
                        RegisteredTask {
                            registration: seat,
                            task: attended,
                            next_turn_at: due,
                        },
                    );
                }
            }
        }
    }
}

/// Sitters are in order of their seats.
fn schedule_turn(sitters: &mut [RegisteredTask], registration: u64, now: Instant) {
    if let Ok(at) = sitters.binary_search_by_key(&registration, |sitter| sitter.registration) {
        sitters[at].next_turn_at = Some(now);
    }
}

impl RegisteredTask {
    /// `false`: it leaves.
    fn turn(&mut self, now: Instant) -> bool {
        let next = self.task.turn(now);
        self.next_turn_at = match next {
            NextTurn::At(at) => Some(at),
            NextTurn::OnEvent | NextTurn::Unregister => None,
        };
        next != NextTurn::Unregister
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// Says when it has a turn, and does what it is told.
    struct Told {
        turns: mpsc::Sender<()>,
        next: Mutex<Vec<NextTurn>>,
    }

    impl IoTask for Told {
        fn turn(&self, _now: Instant) -> NextTurn {
            let _ = self.turns.send(());
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            next.pop().unwrap_or(NextTurn::OnEvent)
        }
    }

    const PATIENCE: Duration = Duration::from_secs(20);

    #[test]
    fn turns_come_when_called_when_due_and_on_events() {
        let (turns, had_turn) = mpsc::channel();
        let soon = Instant::now() + Duration::from_millis(1);
        let next = Mutex::new(vec![
            NextTurn::Unregister,
            NextTurn::OnEvent,
            NextTurn::At(soon),
        ]);
        let seat = Registration::reserve().expect("a seat");
        seat.add_task(Arc::new(Told { turns, next }));
        let turn = || had_turn.recv_timeout(PATIENCE);
        assert_eq!(turn(), Ok(()), "the first");
        assert_eq!(turn(), Ok(()), "due");
        assert!(Instant::now() >= soon);
        let bell = Wakeup::new().expect("a bell");
        seat.watch_fd(&bell, EventFlags::IN).expect("watched");
        bell.wake();
        assert_eq!(turn(), Ok(()), "an event");
        // It has left: the pump has dropped it, and with it its end of the channel.
        assert_eq!(turn(), Err(mpsc::RecvTimeoutError::Disconnected));
        seat.unwatch_fd(&bell);
        seat.request_turn();
    }

    #[test]
    fn a_call_is_a_turn() {
        let (turns, had_turn) = mpsc::channel();
        let seat = Registration::reserve().expect("a seat");
        let next = Mutex::new(vec![NextTurn::Unregister, NextTurn::OnEvent]);
        seat.add_task(Arc::new(Told { turns, next }));
        assert_eq!(had_turn.recv_timeout(PATIENCE), Ok(()));
        seat.request_turn();
        assert_eq!(had_turn.recv_timeout(PATIENCE), Ok(()));
    }
}
