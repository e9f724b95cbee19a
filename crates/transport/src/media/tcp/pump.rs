//! The pump: the one thread of a process that attends to what its TCP connections cannot leave to
//! the threads that use them.
//!
//! It lets receivers in, dials again where a connection broke, gets out what a thread that went off
//! computing left behind, and tells senders how far receivers are. Each end that needs it takes a
//! [`Seat`]; the pump gives whoever is called, has an event or is due a bounded turn.
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

use crate::{Bell, Error};

/// The seat of the pump's own bell; ends begin after it.
const BELL: u64 = 0;

/// Events taken at once.
const EVENTS: usize = 64;

/// Timers of the pump are so exact, in nanoseconds; the system's default is 50 µs.
const TIMER_SLACK: u64 = 1000;

static PUMP: Mutex<Option<&'static Pump>> = Mutex::new(None);

/// Whoever the pump attends to.
pub(crate) trait Attended: Send + Sync {
    /// One bounded turn: does whatever can be done now without waiting.
    fn turn(&self, now: Instant) -> Next;
}

/// When an end wants its next turn, if nothing happens before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Then.
    At(Instant),
    /// Not by itself.
    OnEvent,
    /// Never: the pump forgets it.
    Leave,
}

/// A place at the pump.
#[derive(Clone, Copy)]
pub(crate) struct Seat {
    pump: &'static Pump,
    number: u64,
}

struct Pump {
    epoll: OwnedFd,
    bell: Bell,
    next_seat: AtomicU64,
    orders: Mutex<Vec<Order>>,
}

enum Order {
    Attend(u64, Arc<dyn Attended>),
    Call(u64),
}

/// An end that has a seat.
struct Sitter {
    seat: u64,
    attended: Arc<dyn Attended>,
    due: Option<Instant>,
}

impl Next {
    /// The earlier of both.
    pub(crate) fn or_at(self, other: Option<Instant>) -> Next {
        match (self, other) {
            (Next::At(one), Some(other)) => Next::At(one.min(other)),
            (Next::OnEvent, Some(at)) => Next::At(at),
            (next, _) => next,
        }
    }
}

impl Seat {
    /// A free seat. Starts the pump when it is the first.
    ///
    /// # Errors
    /// The system has no thread or descriptor left.
    pub(crate) fn take() -> Result<Seat, Error> {
        let mut place = PUMP.lock().unwrap_or_else(PoisonError::into_inner);
        let pump = match *place {
            Some(pump) => pump,
            None => {
                let start = Pump::start();
                start.map_err(|error| Error::system("start the thread of TCP edges", error))?
            }
        };
        *place = Some(pump);
        let number = pump.next_seat.fetch_add(1, Ordering::Relaxed);
        Ok(Seat { pump, number })
    }

    /// Sits down: the first turn comes at once.
    pub(crate) fn sit(self, attended: Arc<dyn Attended>) {
        self.pump.order(Order::Attend(self.number, attended));
    }

    /// Asks for a turn.
    pub(crate) fn call(self) {
        self.pump.order(Order::Call(self.number));
    }

    /// Asks for a turn whenever something happens to a descriptor.
    pub(crate) fn watch(self, fd: impl AsFd, what: EventFlags) -> io::Result<()> {
        let data = EventData::new_u64(self.number);
        Ok(epoll::add(&self.pump.epoll, fd, data, what)?)
    }

    /// For something else than before.
    pub(crate) fn watch_for(self, fd: impl AsFd, what: EventFlags) {
        let data = EventData::new_u64(self.number);
        // It is watched, or its connection is over and nobody looks at it any more.
        let _ = epoll::modify(&self.pump.epoll, fd, data, what);
    }

    /// No longer.
    pub(crate) fn forget(self, fd: impl AsFd) {
        let _ = epoll::delete(&self.pump.epoll, fd);
    }
}

impl Pump {
    fn start() -> io::Result<&'static Pump> {
        let pump = Pump {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            bell: Bell::new()?,
            next_seat: AtomicU64::new(BELL + 1),
            orders: Mutex::new(Vec::new()),
        };
        let data = EventData::new_u64(BELL);
        epoll::add(&pump.epoll, &pump.bell, data, EventFlags::IN)?;
        // One for each process, for ever: as long as the process may open edges.
        let pump: &'static Pump = Box::leak(Box::new(pump));
        let thread = thread::Builder::new().name("thalweg-pump".to_owned());
        thread.spawn(move || pump.run())?;
        Ok(pump)
    }

    fn order(&self, order: Order) {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        orders.push(order);
        drop(orders);
        self.bell.ring();
    }

    fn run(&self) {
        let _ = rustix::thread::set_current_timer_slack(TIMER_SLACK.try_into().ok());
        let (mut sitters, mut orders) = (Vec::<Sitter>::new(), Vec::new());
        let mut events = Vec::with_capacity(EVENTS);
        loop {
            let due = sitters.iter().filter_map(|sitter| sitter.due).min();
            self.wait(due, &mut events);
            let now = Instant::now();
            for event in &events {
                match event.data.u64() {
                    BELL => {
                        self.bell.silence();
                    }
                    seat => call(&mut sitters, seat, now),
                }
            }
            self.take_orders(&mut sitters, &mut orders, now);
            let is_due = |sitter: &Sitter| sitter.due.is_some_and(|due| due <= now);
            sitters.retain_mut(|sitter| !is_due(sitter) || sitter.turn(now));
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

    fn take_orders(&self, sitters: &mut Vec<Sitter>, taken: &mut Vec<Order>, now: Instant) {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *orders, taken);
        drop(orders);
        for order in taken.drain(..) {
            match order {
                Order::Call(seat) => call(sitters, seat, now),
                Order::Attend(seat, attended) => {
                    let due = Some(now);
                    let place = sitters.partition_point(|sitter| sitter.seat < seat);
                    sitters.insert(
                        place,
                        Sitter {
                            seat,
                            attended,
                            due,
                        },
                    );
                }
            }
        }
    }
}

/// Sitters are in order of their seats.
fn call(sitters: &mut [Sitter], seat: u64, now: Instant) {
    if let Ok(at) = sitters.binary_search_by_key(&seat, |sitter| sitter.seat) {
        sitters[at].due = Some(now);
    }
}

impl Sitter {
    /// `false`: it leaves.
    fn turn(&mut self, now: Instant) -> bool {
        let next = self.attended.turn(now);
        self.due = match next {
            Next::At(at) => Some(at),
            Next::OnEvent | Next::Leave => None,
        };
        next != Next::Leave
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
        next: Mutex<Vec<Next>>,
    }

    impl Attended for Told {
        fn turn(&self, _now: Instant) -> Next {
            let _ = self.turns.send(());
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            next.pop().unwrap_or(Next::OnEvent)
        }
    }

    const PATIENCE: Duration = Duration::from_secs(20);

    #[test]
    fn turns_come_when_called_when_due_and_on_events() {
        let (turns, had_turn) = mpsc::channel();
        let soon = Instant::now() + Duration::from_millis(1);
        let next = Mutex::new(vec![Next::Leave, Next::OnEvent, Next::At(soon)]);
        let seat = Seat::take().expect("a seat");
        seat.sit(Arc::new(Told { turns, next }));
        let turn = || had_turn.recv_timeout(PATIENCE);
        assert_eq!(turn(), Ok(()), "the first");
        assert_eq!(turn(), Ok(()), "due");
        assert!(Instant::now() >= soon);
        let bell = Bell::new().expect("a bell");
        seat.watch(&bell, EventFlags::IN).expect("watched");
        bell.ring();
        assert_eq!(turn(), Ok(()), "an event");
        // It has left: the pump has dropped it, and with it its end of the channel.
        assert_eq!(turn(), Err(mpsc::RecvTimeoutError::Disconnected));
        seat.forget(&bell);
        seat.call();
    }

    #[test]
    fn a_call_is_a_turn() {
        let (turns, had_turn) = mpsc::channel();
        let seat = Seat::take().expect("a seat");
        let next = Mutex::new(vec![Next::Leave, Next::OnEvent]);
        seat.sit(Arc::new(Told { turns, next }));
        assert_eq!(had_turn.recv_timeout(PATIENCE), Ok(()));
        seat.call();
        assert_eq!(had_turn.recv_timeout(PATIENCE), Ok(()));
    }
}
