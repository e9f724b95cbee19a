//! The three stages of a trip by hand, on whatever ways there are between them.
//!
//! ```text
//!   | when it was due | payload |       a message; the relay copies it, the sink reads all of it
//! ```

use std::hint::black_box;

use transport::{Idle, Strategy, Wait};

use super::super::payload::Payload;
use crate::latency::RoundTrip;
use crate::pace::{Monotonic, Waiting, paced};
use crate::{Error, control::now_ns, cores};

/// Which messages, how many, how fast, and how threads wait for them.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// What each message holds besides its time.
    pub payload: Payload,
    /// How many.
    pub messages: u64,
    /// How many a second.
    pub rate: f64,
    /// How relay and sink wait.
    pub idle: Strategy,
}

/// The end of a way that messages go into.
pub trait Sends {
    /// Sends a message; waits if there is no room.
    ///
    /// # Errors
    /// The way is broken.
    fn send(&mut self, message: &[u8]) -> Result<(), Error>;
}

/// The end that they come out of.
pub trait Takes: Wait {
    /// Takes a message if a whole one is there.
    ///
    /// # Errors
    /// The way is broken.
    fn take(&mut self, message: &mut [u8]) -> Result<bool, Error>;
}

/// Bytes of the time.
const STAMP: usize = RoundTrip::STAMP_BYTES as usize;

impl Task {
    /// Words that say it in a command.
    pub const WORDS: usize = 4;

    /// Bytes of a message.
    pub fn message_bytes(self) -> usize {
        STAMP + self.payload.bytes()
    }

    fn message(self) -> Vec<u8> {
        vec![0; self.message_bytes()]
    }

    fn fill(self, number: u64, due_ns: i64, message: &mut [u8]) {
        message[..STAMP].copy_from_slice(&due_ns.to_le_bytes());
        self.payload.fill(number, &mut message[STAMP..]);
    }

    /// The idling of one of so many loops of a process: as the run time would have it.
    fn idle(self, loops: usize) -> Result<Idle, Error> {
        let may_spin = loops < cores::all().len();
        let idle = Idle::new(self.idle, may_spin);
        idle.map_err(|error| Error::system("make a descriptor to sleep on", error))
    }
}

/// What the sink has seen.
#[derive(Debug, Default)]
pub struct Trips {
    took_ns: Vec<i64>,
    sum: i64,
}

impl Trips {
    /// A message that has come back; in the order of the sink in SPL.
    fn add(&mut self, payload: Payload, message: &[u8]) {
        let (due, rest) = message
            .split_first_chunk::<STAMP>()
            .unwrap_or((&[0; STAMP], &[]));
        self.sum = self.sum.wrapping_add(payload.sum(rest));
        self.took_ns.push(now_ns() - i64::from_le_bytes(*due));
    }

    /// Says how long each took, and what they add up to.
    pub fn print(&self) {
        let lines = self.took_ns.iter().map(|ns| format!("took {ns}\n"));
        println!("{}sum {}", lines.collect::<String>(), self.sum);
    }
}

/// The source.
///
/// # Errors
/// The way is broken.
pub fn source(task: Task, to: &mut impl Sends) -> Result<(), Error> {
    let mut message = task.message();
    let pace = (task.rate, task.messages);
    paced(&Monotonic, Waiting::Asleep, pace, |number, due_ns| {
        task.fill(number, due_ns, &mut message);
        to.send(&message)
    })
}

/// The relay, one of so many loops of its process.
///
/// # Errors
/// A way is broken.
pub fn relay(
    task: Task,
    loops: usize,
    from: &mut impl Takes,
    to: &mut impl Sends,
) -> Result<(), Error> {
    let (mut message, mut idle) = (task.message(), task.idle(loops)?);
    for _ in 0..task.messages {
        next(from, &mut idle, &mut message)?;
        to.send(&message)?;
    }
    Ok(())
}

/// The sink, one of so many loops of its process.
///
/// # Errors
/// The way is broken.
pub fn sink(task: Task, loops: usize, from: &mut impl Takes) -> Result<Trips, Error> {
    let (mut message, mut idle) = (task.message(), task.idle(loops)?);
    let mut trips = Trips::default();
    for _ in 0..task.messages {
        next(from, &mut idle, &mut message)?;
        trips.add(task.payload, &message);
    }
    Ok(trips)
}

/// Waits for the next message.
fn next(from: &mut impl Takes, idle: &mut Idle, message: &mut [u8]) -> Result<(), Error> {
    while !from.take(message)? {
        if !idle.pass() {
            let ends: &mut [&mut dyn Wait; 1] = &mut [from];
            let slept = idle.park(ends, None);
            slept.map_err(|(_, error)| Error::new(format!("cannot wait: {error}")))?;
        }
    }
    idle.worked();
    Ok(())
}

/// All three in one thread: calls of functions.
///
/// # Errors
/// None.
pub fn by_calls(task: Task) -> Result<(), Error> {
    let (mut message, mut trips) = (task.message(), Trips::default());
    let pace = (task.rate, task.messages);
    paced(&Monotonic, Waiting::Awake, pace, |number, due_ns| {
        task.fill(number, due_ns, &mut message);
        relay_call(task.payload, black_box(&message), &mut trips);
        Ok(())
    })?;
    trips.print();
    Ok(())
}

#[inline(never)]
fn relay_call(payload: Payload, message: &[u8], trips: &mut Trips) {
    sink_call(payload, black_box(message), trips);
}

#[inline(never)]
fn sink_call(payload: Payload, message: &[u8], trips: &mut Trips) {
    trips.add(payload, message);
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Messages get through a way whole and in their order, whoever sleeps.
    pub fn gets_through(mut to: impl Sends + Send, mut from: impl Takes, idle: Strategy) {
        let task = Task {
            payload: Payload::of(22),
            messages: 500,
            rate: 1e6,
            idle,
        };
        let trips = std::thread::scope(|scope| {
            scope.spawn(move || source(task, &mut to).unwrap());
            sink(task, 1, &mut from).unwrap()
        });
        let mut expected = Trips::default();
        let mut message = task.message();
        for number in 0..task.messages {
            task.fill(number, 0, &mut message);
            expected.add(task.payload, &message);
        }
        assert_eq!(trips.sum, expected.sum);
        assert_eq!(trips.took_ns.len(), expected.took_ns.len());
        assert!(trips.took_ns.iter().all(|ns| *ns >= 0));
    }
}
