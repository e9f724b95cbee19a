//! One way at a low rate: half of there and back, against bare cache lines: one with a number and
//! those of the message. The second time (`moving`) the lines of the message are others each time,
//! as they are in any ring; that alone takes longer.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use conformance::child::{ControlSocket, TestFailure, TestOutcome};
use control::Backoff;
use thalweg_transport::{ReceivingEnd, SendingEnd};

use crate::paths::{MeasuredPath, add_up, contract_accept, contract_open, start};
use crate::{medians, pin};

const TRIPS: u64 = 20_000;

/// Pause between two trips, for a low rate.
const PAUSE: Duration = Duration::from_micros(1);

/// Prints the nanoseconds of one way and their ratio to the control.
pub fn ping_pong() -> TestOutcome {
    pin::to(1)?;
    println!("\none way at a low rate, nanoseconds, and the ratio of the medians");
    println!(
        "{:>6} {:>8} {:>8} {:>8} | {:>8} {:>8} {:>8} {:>6} | {:>8} {:>8} {:>8} {:>6}",
        "bytes",
        "p50",
        "p99",
        "p99.9",
        "bare p50",
        "p99",
        "p99.9",
        "ratio",
        "moving",
        "p99",
        "p99.9",
        "ratio"
    );
    for len in [8, 56, 248, 1000] {
        let times = medians(|| {
            let ours = between_processes(len)?;
            let (same, moving) = (between_lines(len, STAY)?, between_lines(len, 1)?);
            let times = [ours, same, moving];
            Ok(std::array::from_fn::<_, 9, _>(|at| times[at / 3][at % 3]))
        })?;
        print!("{len:>6}");
        for (at, percentiles) in times.chunks(3).enumerate() {
            percentiles.iter().for_each(|time| print!(" {time:>8.0}"));
            match at {
                0 => print!(" |"),
                1 => print!(" {:>6.2} |", times[0] / percentiles[0]),
                _ => println!(" {:>6.2}", times[0] / percentiles[0]),
            }
        }
    }
    Ok(())
}

/// Median, 99th and 99.9th percentile of half the trips' nanoseconds.
pub fn percentiles(mut trips: Vec<u64>) -> [f64; 3] {
    trips.sort_unstable();
    let at = |per_mille: usize| trips[trips.len() * per_mille / 1000] as f64 / 2.0;
    [at(500), at(990), at(999)]
}

/// Makes trips and times each; `there` and `back` are the two ways.
fn time(
    mut there: impl FnMut(u64) -> TestOutcome,
    mut back: impl FnMut(u64) -> TestOutcome,
) -> Result<[f64; 3], TestFailure> {
    let mut trips = Vec::with_capacity(TRIPS as usize);
    for trip in 1..=TRIPS {
        let start = Instant::now();
        there(trip)?;
        back(trip)?;
        trips.push(start.elapsed().as_nanos() as u64);
        while start.elapsed() < PAUSE {
            spin_loop();
        }
    }
    Ok(percentiles(trips))
}

fn between_processes(len: usize) -> Result<[f64; 3], TestFailure> {
    let (mut out, tickets) = contract_open(1)?;
    let mut child = start("echo", MeasuredPath::Put, 0, [len as u64, 0])?;
    child.control.give(&tickets[0])?;
    drop(tickets);
    let mut end = contract_accept(1, child.control.take()?)?;
    let payload = vec![7; len];
    let times = time(|_| put(&mut *out, &payload), |_| take(&mut *end).map(drop))?;
    child.ends_well()?;
    Ok(times)
}

/// The child's side: sends every frame back.
pub fn echo(control: &mut ControlSocket, len: usize) -> TestOutcome {
    let mut end = contract_accept(1, control.take()?)?;
    let (mut out, tickets) = contract_open(1)?;
    control.give(&tickets[0])?;
    drop(tickets);
    let payload = vec![7; len];
    for _ in 0..TRIPS {
        take(&mut *end)?;
        put(&mut *out, &payload)?;
    }
    let mut backoff = Backoff::default();
    while !out.is_drained()? {
        backoff.wait();
    }
    Ok(())
}

/// Sends a frame, waiting for room.
pub fn put(out: &mut dyn SendingEnd, payload: &[u8]) -> TestOutcome {
    while !out.try_write(1, 0, payload)? {
        spin_loop();
    }
    Ok(())
}

/// Waits for a frame and reads it.
pub fn take(end: &mut dyn ReceivingEnd) -> Result<u64, TestFailure> {
    let mut backoff = Backoff::default();
    loop {
        let mut found = None;
        for frame in end.poll()? {
            found = Some(add_up(frame.bytes));
        }
        if let Some(sum) = found {
            end.release();
            return Ok(sum);
        }
        backoff.wait();
    }
}

/// Each way carries a message of `len` bytes, from the beginning of a cache line on, and a line
/// with its number. The message's lines change after `stay` trips, and both from time to time: how
/// far a line is from both cores depends on its address.
fn between_lines(len: usize, stay: u64) -> Result<[f64; 3], TestFailure> {
    let (there, back) = (Way::new(len, stay), Way::new(len, stay));
    thread::scope(|scope| {
        let echoes = scope.spawn(|| -> TestOutcome {
            pin::to(0)?;
            for trip in 1..=TRIPS {
                there.receive(trip);
                back.send(trip);
            }
            Ok(())
        });
        let times = time(
            |trip| {
                there.send(trip);
                Ok(())
            },
            |trip| {
                back.receive(trip);
                Ok(())
            },
        );
        echoes.join().map_err(|_| "the echo panicked")??;
        times
    })
}

/// Words of a pair of cache lines.
#[repr(align(128))]
#[derive(Default)]
struct Line([AtomicU64; 16]);

/// Messages for one way, some pages of them, and the line with the last one's number for each.
struct Way {
    lines: Vec<[Line; LINES]>,
    numbers: Vec<Line>,
    words: usize,
    /// Trips that use one set of cache lines for the message.
    stay: u64,
}

const PLACES: usize = 128;

/// Pairs of cache lines of a message, at most.
const LINES: usize = 8;

/// Trips that use one line for the number.
const STAY: u64 = 500;

impl Way {
    fn new(len: usize, stay: u64) -> Way {
        Way {
            lines: (0..PLACES).map(|_| Default::default()).collect(),
            numbers: (0..PLACES).map(|_| Line::default()).collect(),
            words: len / 8,
            stay,
        }
    }

    /// The words of a message, and its number.
    fn place(&self, trip: u64) -> (impl Iterator<Item = &AtomicU64>, &AtomicU64) {
        let place = |stay| (trip / stay * 37) as usize % PLACES;
        let words = self.lines[place(self.stay)].iter().flat_map(|line| &line.0);
        (words.take(self.words), &self.numbers[place(STAY)].0[0])
    }

    fn send(&self, trip: u64) {
        let (words, number) = self.place(trip);
        words.for_each(|word| word.store(trip, Ordering::Relaxed));
        number.store(trip, Ordering::Release);
    }

    fn receive(&self, trip: u64) {
        let (mut words, number) = self.place(trip);
        let mut backoff = Backoff::default();
        while number.load(Ordering::Acquire) != trip {
            backoff.wait();
        }
        assert!(words.all(|word| word.load(Ordering::Relaxed) == trip));
    }
}
