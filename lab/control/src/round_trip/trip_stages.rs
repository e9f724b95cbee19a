//! The three stages of a trip by hand, on whatever ways there are between them.
//!
//! ```text
//!   | when it was due | payload |       a message; the relay copies it, the sink reads all of it
//! ```

use std::hint::black_box;

use transport::{IdleStrategy, Idler, Waitable};

use crate::pace::{MonotonicClock, PaceWait, send_at_pace};
use crate::payload::Payload;
use crate::sink::now_ns;
use crate::{Error, cores};

/// Which messages, how many, how fast, and how threads wait for them.
#[derive(Clone, Copy, Debug)]
pub struct RoundTripTask {
    /// What each message holds besides its time.
    pub payload: Payload,
    /// How many.
    pub messages: u64,
    /// How many a second.
    pub rate: f64,
    /// How relay and sink wait.
    pub idle: IdleStrategy,
}

/// The end of a way that messages go into.
pub trait SendMessage {
    /// Sends a message; waits if there is no room.
    ///
    /// # Errors
    /// The way is broken.
    fn send(&mut self, message: &[u8]) -> Result<(), Error>;
}

/// The end that they come out of.
pub trait TakeMessage: Waitable {
    /// Takes a message if a whole one is there.
    ///
    /// # Errors
    /// The way is broken.
    fn try_take(&mut self, message: &mut [u8]) -> Result<bool, Error>;
}

/// Bytes at the start of a message that hold the time when it was due, an `i64` in nanoseconds.
pub const STAMP_BYTES: usize = size_of::<i64>();

impl RoundTripTask {
    /// Words that say it in a command.
    pub const WORDS: usize = 4;

    /// Bytes of a message.
    pub fn message_bytes(self) -> usize {
        STAMP_BYTES + self.payload.bytes()
    }

    fn new_message(self) -> Vec<u8> {
        vec![0; self.message_bytes()]
    }

    fn fill(self, number: u64, due_ns: i64, message: &mut [u8]) {
        message[..STAMP_BYTES].copy_from_slice(&due_ns.to_le_bytes());
        self.payload.fill(number, &mut message[STAMP_BYTES..]);
    }

    /// The idling of one of so many loops of a process: as the run time would have it.
    fn idle(self, loops: usize) -> Result<Idler, Error> {
        let may_spin = loops < cores::usable_cores().len();
        let idle = Idler::new(self.idle, may_spin);
        idle.map_err(|error| Error::system("make a descriptor to sleep on", error))
    }
}

/// What the sink has seen.
#[derive(Debug, Default)]
pub struct TripRecorder {
    trip_ns: Vec<i64>,
    sum: i64,
}

impl TripRecorder {
    /// A message that has come back; in the order of the sink in SPL.
    fn record(&mut self, payload: Payload, message: &[u8]) {
        let (due, rest) = message
            .split_first_chunk::<STAMP_BYTES>()
            .unwrap_or((&[0; STAMP_BYTES], &[]));
        self.sum = self.sum.wrapping_add(payload.sum(rest));
        self.trip_ns.push(now_ns() - i64::from_le_bytes(*due));
    }

    /// Says how long each took, and what they add up to.
    pub fn print_trips(&self) {
        let lines = self.trip_ns.iter().map(|ns| format!("took {ns}\n"));
        println!("{}sum {}", lines.collect::<String>(), self.sum);
    }
}

/// The source.
///
/// # Errors
/// The way is broken.
pub fn run_source(task: RoundTripTask, to: &mut impl SendMessage) -> Result<(), Error> {
    let mut message = task.new_message();
    let pace = (task.rate, task.messages);
    send_at_pace(&MonotonicClock, PaceWait::Sleep, pace, |number, due_ns| {
        task.fill(number, due_ns, &mut message);
        to.send(&message)
    })
}

/// The relay, one of so many loops of its process.
///
/// # Errors
/// A way is broken.
pub fn run_relay(
    task: RoundTripTask,
    loops: usize,
    from: &mut impl TakeMessage,
    to: &mut impl SendMessage,
) -> Result<(), Error> {
    let (mut message, mut idle) = (task.new_message(), task.idle(loops)?);
    for _ in 0..task.messages {
        take_next(from, &mut idle, &mut message)?;
        to.send(&message)?;
    }
    Ok(())
}

/// The sink, one of so many loops of its process.
///
/// # Errors
/// The way is broken.
pub fn run_sink(
    task: RoundTripTask,
    loops: usize,
    from: &mut impl TakeMessage,
) -> Result<TripRecorder, Error> {
    let (mut message, mut idle) = (task.new_message(), task.idle(loops)?);
    let mut trips = TripRecorder::default();
    for _ in 0..task.messages {
        take_next(from, &mut idle, &mut message)?;
        trips.record(task.payload, &message);
    }
    Ok(trips)
}

/// Waits for the next message.
fn take_next(
    from: &mut impl TakeMessage,
    idle: &mut Idler,
    message: &mut [u8],
) -> Result<(), Error> {
    while !from.try_take(message)? {
        if !idle.spin_or_yield() {
            let ends: &mut [&mut dyn Waitable; 1] = &mut [from];
            let slept = idle.park(ends, None);
            slept.map_err(|(_, error)| Error::new(format!("cannot wait: {error}")))?;
        }
    }
    idle.reset();
    Ok(())
}

/// All three in one thread: calls of functions.
///
/// # Errors
/// None.
pub fn run_by_calls(task: RoundTripTask) -> Result<(), Error> {
    let (mut message, mut trips) = (task.new_message(), TripRecorder::default());
    let pace = (task.rate, task.messages);
    send_at_pace(&MonotonicClock, PaceWait::Spin, pace, |number, due_ns| {
        task.fill(number, due_ns, &mut message);
        relay_call(task.payload, black_box(&message), &mut trips);
        Ok(())
    })?;
    trips.print_trips();
    Ok(())
}

#[inline(never)]
fn relay_call(payload: Payload, message: &[u8], trips: &mut TripRecorder) {
    sink_call(payload, black_box(message), trips);
}

#[inline(never)]
fn sink_call(payload: Payload, message: &[u8], trips: &mut TripRecorder) {
    trips.record(payload, message);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Messages get through a way whole and in their order, whoever sleeps.
    pub fn gets_through(
        mut to: impl SendMessage + Send,
        mut from: impl TakeMessage,
        idle: IdleStrategy,
    ) {
        let task = RoundTripTask {
            payload: Payload::with_bytes(22),
            messages: 500,
            rate: 1e6,
            idle,
        };
        let trips = std::thread::scope(|scope| {
            scope.spawn(move || run_source(task, &mut to).unwrap());
            run_sink(task, 1, &mut from).unwrap()
        });
        let mut expected = TripRecorder::default();
        let mut message = task.new_message();
        for number in 0..task.messages {
            task.fill(number, 0, &mut message);
            expected.record(task.payload, &message);
        }
        assert_eq!(trips.sum, expected.sum);
        assert_eq!(trips.trip_ns.len(), expected.trip_ns.len());
        assert!(trips.trip_ns.iter().all(|ns| *ns >= 0));
    }
}
