//! The three stages of a round trip by hand: source, relay and sink, on any medium between them.
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

/// The task of all stages: messages, rate, and how threads wait.
#[derive(Clone, Copy, Debug)]
pub struct RoundTripTask {
    /// Layout of the bytes after the time stamp.
    pub payload: Payload,
    /// Number of messages to send.
    pub messages: u64,
    /// Messages a second that the source sends.
    pub rate: f64,
    /// How relay and sink wait for messages.
    pub idle: IdleStrategy,
}

/// The sending end of a medium.
pub trait SendMessage {
    /// Sends a message; waits if there is no room.
    ///
    /// # Errors
    /// The connection is broken.
    fn send(&mut self, message: &[u8]) -> Result<(), Error>;
}

/// The receiving end of a medium.
pub trait TakeMessage: Waitable {
    /// Takes a message if a whole one has arrived; `false` if none has.
    ///
    /// # Errors
    /// The connection is broken.
    fn try_take(&mut self, message: &mut [u8]) -> Result<bool, Error>;
}

/// Bytes at the start of a message that hold the time when it was due, an `i64` in nanoseconds.
pub const STAMP_BYTES: usize = size_of::<i64>();

impl RoundTripTask {
    /// Number of words that describe a task on a command line.
    pub const WORDS: usize = 4;

    /// Size of a message in bytes, with its time stamp.
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

    /// The idler of one of `loops` loops of a process, which may spin if there are more cores than
    /// loops, as in the run time.
    fn idle(self, loops: usize) -> Result<Idler, Error> {
        let may_spin = loops < cores::usable_cores().len();
        let idle = Idler::new(self.idle, may_spin);
        idle.map_err(|error| Error::system("make a descriptor to sleep on", error))
    }
}

/// The round trips that a sink has seen.
#[derive(Debug, Default)]
pub struct TripRecorder {
    trip_ns: Vec<i64>,
    sum: i64,
}

impl TripRecorder {
    /// Records a message that has come back: first its sum, then its time, as the SPL sink does.
    fn record(&mut self, payload: Payload, message: &[u8]) {
        let (due, rest) = message
            .split_first_chunk::<STAMP_BYTES>()
            .unwrap_or((&[0; STAMP_BYTES], &[]));
        self.sum = self.sum.wrapping_add(payload.sum(rest));
        self.trip_ns.push(now_ns() - i64::from_le_bytes(*due));
    }

    /// Prints the nanoseconds of each trip and the sum of the payloads.
    pub fn print_trips(&self) {
        let lines = self.trip_ns.iter().map(|ns| format!("took {ns}\n"));
        println!("{}sum {}", lines.collect::<String>(), self.sum);
    }
}

/// Runs the source: sends all messages at the task's rate.
///
/// # Errors
/// The connection is broken.
pub fn run_source(task: RoundTripTask, to: &mut impl SendMessage) -> Result<(), Error> {
    let mut message = task.new_message();
    let pace = (task.rate, task.messages);
    send_at_pace(&MonotonicClock, PaceWait::Sleep, pace, |number, due_ns| {
        task.fill(number, due_ns, &mut message);
        to.send(&message)
    })
}

/// Runs the relay, one of `loops` loops of its process: sends back each message.
///
/// # Errors
/// One of the connections is broken.
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

/// Runs the sink, one of `loops` loops of its process: records each message.
///
/// # Errors
/// The connection is broken.
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

/// Waits for the next message by the task's strategy.
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

/// Runs all three stages in one thread, where each hands on a message by a call.
///
/// # Errors
/// None; the type is that of the other roles.
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

    /// Messages arrive whole and in order, whether the receiver sleeps or not.
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
