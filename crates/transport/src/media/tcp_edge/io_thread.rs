//! The IO thread: the one thread of a process that serves its TCP connections where the threads
//! that use them cannot.
//!
//! It accepts receivers, connects again where a connection broke, sends bytes that a busy thread
//! left behind, and reports credit to senders. Each end that needs it takes a [`Registration`]; the
//! IO thread gives a bounded turn to each task that asked for one, has an event, or is due.
//!
//! ```text
//!   ends --request--> commands, wakeup --\
//!   sockets ------------------------------> epoll --> turn of each task concerned --> next turn
//! ```
//! # Cost
//! With nothing due it sleeps without a timeout. A turn allocates nothing once an end is warm.

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

/// Number of the IO thread's own wakeup; registrations begin after it.
const WAKEUP_NUMBER: u64 = 0;

/// Most events taken with one call.
const EVENTS_PER_WAIT_MAX: usize = 64;

/// Commands for which there is room at once, so that a sender that asks for its first turn late
/// allocates nothing: more than most processes have edges that ask at a time.
const COMMANDS_WAITING: usize = 16;

/// Precision of the IO thread's timers in nanoseconds; the system's default is 50 µs.
const TIMER_SLACK_NS: u64 = 1000;

static IO_THREAD: Mutex<Option<&'static IoThread>> = Mutex::new(None);

/// A task that the IO thread attends to.
pub(crate) trait IoTask: Send + Sync {
    /// Takes one bounded turn: does everything that can be done now without waiting.
    fn turn(&self, now: Instant) -> NextTurn;
}

/// Time at which a task wants its next turn, if no event comes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextTurn {
    /// At this time, or earlier if an event comes.
    At(Instant),
    /// When an event comes or a turn is requested.
    OnEvent,
    /// Never: the IO thread forgets the task.
    Unregister,
}

/// A task's number at the IO thread.
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

/// A task and the time of its next turn.
struct RegisteredTask {
    registration: u64,
    task: Arc<dyn IoTask>,
    next_turn_at: Option<Instant>,
}

impl NextTurn {
    /// The earlier of the two times.
    pub(crate) fn or_at(self, other: Option<Instant>) -> NextTurn {
        match (self, other) {
            (NextTurn::At(one), Some(other)) => NextTurn::At(one.min(other)),
            (NextTurn::OnEvent, Some(at)) => NextTurn::At(at),
            (next, _) => next,
        }
    }
}

impl Registration {
    /// Reserves a number. Starts the IO thread when it is the first.
    pub(crate) fn reserve() -> Result<Registration, Error> {
        let mut started = IO_THREAD.lock().unwrap_or_else(PoisonError::into_inner);
        let io_thread = match *started {
            Some(io_thread) => io_thread,
            None => {
                let start = IoThread::start();
                start.map_err(|error| Error::system("start the thread of TCP edges", error))?
            }
        };
        *started = Some(io_thread);
        let number = io_thread.next_registration.fetch_add(1, Ordering::Relaxed);
        Ok(Registration { io_thread, number })
    }

    /// Adds the task of this number; its first turn comes at once.
    pub(crate) fn add_task(self, task: Arc<dyn IoTask>) {
        self.io_thread
            .send_command(IoCommand::AddTask(self.number, task));
    }

    /// Requests a turn for this task.
    pub(crate) fn request_turn(self) {
        self.io_thread
            .send_command(IoCommand::RequestTurn(self.number));
    }

    /// Requests a turn whenever one of these events happens to a descriptor.
    ///
    /// # Errors
    /// The descriptor is watched already, or the system has no memory.
    pub(crate) fn watch_fd(self, fd: impl AsFd, what: EventFlags) -> io::Result<()> {
        let data = EventData::new_u64(self.number);
        Ok(epoll::add(&self.io_thread.epoll, fd, data, what)?)
    }

    /// Watches a descriptor for other events than before.
    pub(crate) fn change_watch(self, fd: impl AsFd, what: EventFlags) {
        let data = EventData::new_u64(self.number);
        // The descriptor is watched, or its connection is over and no longer of interest.
        let _ = epoll::modify(&self.io_thread.epoll, fd, data, what);
    }

    /// Stops watching a descriptor.
    pub(crate) fn unwatch_fd(self, fd: impl AsFd) {
        let _ = epoll::delete(&self.io_thread.epoll, fd);
    }
}

impl IoThread {
    fn start() -> io::Result<&'static IoThread> {
        let io_thread = IoThread {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            wakeup: Wakeup::new()?,
            next_registration: AtomicU64::new(WAKEUP_NUMBER + 1),
            commands: Mutex::new(Vec::with_capacity(COMMANDS_WAITING)),
        };
        let data = EventData::new_u64(WAKEUP_NUMBER);
        epoll::add(&io_thread.epoll, &io_thread.wakeup, data, EventFlags::IN)?;
        // Leaked on purpose: one for each process, as long as the process may open edges.
        let io_thread: &'static IoThread = Box::leak(Box::new(io_thread));
        let thread = thread::Builder::new().name("thalweg-io".to_owned());
        thread.spawn(move || io_thread.run())?;
        Ok(io_thread)
    }

    fn send_command(&self, command: IoCommand) {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        commands.push(command);
        drop(commands);
        self.wakeup.wake();
    }

    fn run(&self) {
        let _ = rustix::thread::set_current_timer_slack(TIMER_SLACK_NS.try_into().ok());
        let mut tasks = Vec::<RegisteredTask>::new();
        let mut commands = Vec::with_capacity(COMMANDS_WAITING);
        let mut events = Vec::with_capacity(EVENTS_PER_WAIT_MAX);
        loop {
            let due = tasks.iter().filter_map(|task| task.next_turn_at).min();
            self.wait(due, &mut events);
            let now = Instant::now();
            for event in &events {
                match event.data.u64() {
                    WAKEUP_NUMBER => {
                        self.wakeup.clear();
                    }
                    number => schedule_turn(&mut tasks, number, now),
                }
            }
            self.run_commands(&mut tasks, &mut commands, now);
            let is_due = |task: &RegisteredTask| task.next_turn_at.is_some_and(|due| due <= now);
            tasks.retain_mut(|task| !is_due(task) || task.turn(now));
        }
    }

    /// Sleeps until an event comes or `due` is reached.
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
        // An interrupted call gives turns without events.
        let _ = epoll::wait(&self.epoll, spare_capacity(events), timeout);
    }

    fn run_commands(
        &self,
        tasks: &mut Vec<RegisteredTask>,
        taken: &mut Vec<IoCommand>,
        now: Instant,
    ) {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *commands, taken);
        drop(commands);
        for command in taken.drain(..) {
            match command {
                IoCommand::RequestTurn(number) => schedule_turn(tasks, number, now),
                IoCommand::AddTask(number, task) => {
                    let due = Some(now);
                    let at = tasks.partition_point(|task| task.registration < number);
                    tasks.insert(
                        at,
                        RegisteredTask {
                            registration: number,
                            task,
                            next_turn_at: due,
                        },
                    );
                }
            }
        }
    }
}

/// Makes the task of this number due now. Tasks are sorted by their numbers.
fn schedule_turn(tasks: &mut [RegisteredTask], registration: u64, now: Instant) {
    if let Ok(at) = tasks.binary_search_by_key(&registration, |task| task.registration) {
        tasks[at].next_turn_at = Some(now);
    }
}

impl RegisteredTask {
    /// Gives the task a turn. `false`: it unregisters.
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

    /// A task that reports its turns and returns the answers that it is given.
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
        let registration = Registration::reserve().expect("an IO thread");
        registration.add_task(Arc::new(Told { turns, next }));
        let turn = || had_turn.recv_timeout(PATIENCE);
        assert_eq!(turn(), Ok(()), "the first");
        assert_eq!(turn(), Ok(()), "due");
        assert!(Instant::now() >= soon);
        let wakeup = Wakeup::new().expect("a wakeup");
        registration
            .watch_fd(&wakeup, EventFlags::IN)
            .expect("watched");
        wakeup.wake();
        assert_eq!(turn(), Ok(()), "an event");
        // It has unregistered: the IO thread has dropped it, and with it its end of the channel.
        assert_eq!(turn(), Err(mpsc::RecvTimeoutError::Disconnected));
        registration.unwatch_fd(&wakeup);
        registration.request_turn();
    }

    #[test]
    fn a_call_is_a_turn() {
        let (turns, had_turn) = mpsc::channel();
        let registration = Registration::reserve().expect("an IO thread");
        let next = Mutex::new(vec![NextTurn::Unregister, NextTurn::OnEvent]);
        registration.add_task(Arc::new(Told { turns, next }));
        assert_eq!(had_turn.recv_timeout(PATIENCE), Ok(()));
        registration.request_turn();
        assert_eq!(had_turn.recv_timeout(PATIENCE), Ok(()));
    }
}
