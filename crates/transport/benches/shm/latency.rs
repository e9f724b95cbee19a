//! One way at a low rate: half of there and back, against two bare cache lines each way.

use std::hint::spin_loop;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use thalweg_transport::{Inbound, Outbound};

use crate::bare::Line;
use crate::child::{Control, Failure, Outcome};
use crate::lanes::{Lane, Patience, add_up, contract_accept, contract_open, start};
use crate::{medians, pin};

const TRIPS: u64 = 20_000;

/// Between two trips: the rate is low.
const PAUSE: Duration = Duration::from_micros(1);

/// Prints nanoseconds and their ratio.
pub fn ping_pong() -> Outcome {
    pin::to(1)?;
    println!("\none way at a low rate, nanoseconds, and the ratio of the medians");
    println!(
        "{:>6} {:>8} {:>8} {:>8} | {:>8} {:>8} {:>8} | {:>6}",
        "bytes", "p50", "p99", "p99.9", "bare p50", "p99", "p99.9", "ratio"
    );
    for len in [8, 56, 248, 1000] {
        let [a, b, c, d, e, f] = medians(|| {
            let (ours, bare) = (between_processes(len)?, between_lines()?);
            Ok([ours[0], ours[1], ours[2], bare[0], bare[1], bare[2]])
        })?;
        let ratio = a / d;
        println!("{len:>6} {a:>8.0} {b:>8.0} {c:>8.0} | {d:>8.0} {e:>8.0} {f:>8.0} | {ratio:>6.2}");
    }
    Ok(())
}

/// Median, 99th and 99.9th percentile of half the trips' nanoseconds.
fn percentiles(mut trips: Vec<u64>) -> [f64; 3] {
    trips.sort_unstable();
    let at = |per_mille: usize| trips[trips.len() * per_mille / 1000] as f64 / 2.0;
    [at(500), at(990), at(999)]
}

/// Makes trips and times each; `there` and `back` are the ways.
fn time(
    mut there: impl FnMut(u64) -> Outcome,
    mut back: impl FnMut(u64) -> Outcome,
) -> Result<[f64; 3], Failure> {
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

fn between_processes(len: usize) -> Result<[f64; 3], Failure> {
    let (mut out, tickets) = contract_open(1)?;
    let mut child = start("echo", Lane::Put, 0, [len as u64, 0])?;
    child.control.give(&tickets[0])?;
    drop(tickets);
    let mut end = contract_accept(1, child.control.take()?)?;
    let payload = vec![7; len];
    let times = time(|_| put(&mut *out, &payload), |_| take(&mut *end).map(drop))?;
    child.ends_well()?;
    Ok(times)
}

/// The child's side: sends back what comes.
pub fn echo(control: &mut Control, len: usize) -> Outcome {
    let mut end = contract_accept(1, control.take()?)?;
    let (mut out, tickets) = contract_open(1)?;
    control.give(&tickets[0])?;
    drop(tickets);
    let payload = vec![7; len];
    for _ in 0..TRIPS {
        take(&mut *end)?;
        put(&mut *out, &payload)?;
    }
    let mut patience = Patience::new();
    while !out.is_drained()? {
        patience.wait();
    }
    Ok(())
}

fn put(out: &mut dyn Outbound, payload: &[u8]) -> Outcome {
    while !out.put(1, 0, payload)? {
        spin_loop();
    }
    Ok(())
}

fn take(end: &mut dyn Inbound) -> Result<u64, Failure> {
    let mut patience = Patience::new();
    loop {
        let mut found = None;
        for frame in end.poll()? {
            found = Some(add_up(frame.bytes));
        }
        if let Some(sum) = found {
            end.release();
            return Ok(sum);
        }
        patience.wait();
    }
}

/// Each way a line with the message and a line with its number.
fn between_lines() -> Result<[f64; 3], Failure> {
    let (there, back) = (<[Line; 2]>::default(), <[Line; 2]>::default());
    thread::scope(|scope| {
        let echoes = scope.spawn(|| -> Outcome {
            pin::to(0)?;
            for trip in 1..=TRIPS {
                receive(&there, trip);
                send(&back, trip);
            }
            Ok(())
        });
        let times = time(
            |trip| {
                send(&there, trip);
                Ok(())
            },
            |trip| {
                receive(&back, trip);
                Ok(())
            },
        );
        echoes.join().map_err(|_| "the echo panicked")??;
        times
    })
}

fn send(lines: &[Line; 2], trip: u64) {
    lines[0].0.store(trip, Ordering::Relaxed);
    lines[1].0.store(trip, Ordering::Release);
}

fn receive(lines: &[Line; 2], trip: u64) {
    let mut patience = Patience::new();
    while lines[1].0.load(Ordering::Acquire) != trip {
        patience.wait();
    }
    assert_eq!(lines[0].0.load(Ordering::Relaxed), trip);
}
