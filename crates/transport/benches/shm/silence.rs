//! The first frame after silence: the receiver has gone to sleep as a PE's loop does, and is woken.
//!
//! ```text
//!   process, core 1                             process, core 0
//!     waits; stamps; put  ====ring====>  asleep; woken; polls
//!     polls; looks at the clock  <==ring==  put
//! ```
//! There and back: the way back takes a few hundred nanoseconds, the rest is the waking.
//! Beside it what the system takes to wake a process by an eventfd, the same way.

use std::time::{Duration, Instant};

use conformance::child::{ControlSocket, TestFailure, TestOutcome};
use control::Backoff;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use thalweg_transport::{IdleStrategy, Idler, Waitable};

use crate::latency::{percentiles, put, take};
use crate::paths::{MeasuredPath, contract_accept, contract_open, start};
use crate::pin;

/// Length of a silence, and the number of trips after one.
pub type Silence = (Duration, u64);

/// Silences as they occur in streams.
pub const SHORT: [Silence; 2] = [
    (Duration::from_millis(1), 500),
    (Duration::from_millis(20), 100),
];

/// A silence after which a processor sleeps as deeply as it ever does. Takes most of a minute.
pub const LONG: [Silence; 1] = [(Duration::from_secs(1), 25)];

const LEN: usize = 56;

/// Prints the microseconds that the first frame takes.
pub fn first_frame(silences: &[Silence]) -> TestOutcome {
    pin::to(1)?;
    println!("\nthe first frame after silence, there and back, microseconds");
    println!(
        "{:>10} {:>8} {:>8} | {:>12} {:>8} {:>6}",
        "silent ms", "p50", "p99", "eventfd p50", "p99", "ratio"
    );
    for &(silence, trips) in silences {
        let ours = woken(silence, trips)?.map(|ns| ns / 1000.0);
        let bare = by_eventfd(silence, trips)?.map(|ns| ns / 1000.0);
        let ratio = ours[0] / bare[0];
        print!(
            "{:>10} {:>8.1} {:>8.1}",
            silence.as_millis(),
            ours[0],
            ours[1]
        );
        println!(" | {:>12.1} {:>8.1} {ratio:>6.2}", bare[0], bare[1]);
    }
    Ok(())
}

/// Median and 99th percentile of a trip, each after a silence.
fn time(
    silence: Duration,
    trips: u64,
    mut trip: impl FnMut() -> TestOutcome,
) -> Result<[f64; 2], TestFailure> {
    let mut times = Vec::new();
    for _ in 0..trips {
        std::thread::sleep(silence);
        let start = Instant::now();
        trip()?;
        // Percentiles are of one way.
        times.push(2 * start.elapsed().as_nanos() as u64);
    }
    let [p50, p99, _] = percentiles(times);
    Ok([p50, p99])
}

fn woken(silence: Duration, trips: u64) -> Result<[f64; 2], TestFailure> {
    let (mut out, tickets) = contract_open(1)?;
    let mut child = start("sleeper", MeasuredPath::Put, 0, [trips, 0])?;
    child.control.give(&tickets[0])?;
    drop(tickets);
    let mut end = contract_accept(1, child.control.take()?)?;
    let times = time(silence, trips, || {
        put(&mut *out, &[7; LEN])?;
        take(&mut *end).map(drop)
    })?;
    child.ends_well()?;
    Ok(times)
}

/// The child's side: sends every frame back, and sleeps in between.
pub fn sleeper(control: &mut ControlSocket, trips: usize) -> TestOutcome {
    let mut end = contract_accept(1, control.take()?)?;
    let (mut out, tickets) = contract_open(1)?;
    control.give(&tickets[0])?;
    drop(tickets);
    let mut idle = Idler::new(IdleStrategy::Adaptive, true)?;
    for _ in 0..trips {
        while end.poll()?.next().is_none() {
            if !idle.spin_or_yield() {
                let ends: &mut [&mut dyn Waitable; 1] = &mut [&mut *end];
                let slept = idle.park(ends, None);
                slept.map_err(|(_, error)| error)?;
            }
        }
        end.release();
        idle.reset();
        put(&mut *out, &[7; LEN])?;
    }
    let mut backoff = Backoff::default();
    while !out.is_drained()? {
        backoff.wait();
    }
    Ok(())
}

/// Median and 99th percentile between threads that use two eventfds and nothing else: the waking
/// thread spins for the answer.
fn by_eventfd(silence: Duration, trips: u64) -> Result<[f64; 2], TestFailure> {
    let flags = EventfdFlags::NONBLOCK;
    let (there, back) = (eventfd(0, flags)?, eventfd(0, flags)?);
    std::thread::scope(|scope| {
        let answers = scope.spawn(|| -> TestOutcome {
            pin::to(0)?;
            for _ in 0..trips {
                poll(&mut [PollFd::new(&there, PollFlags::IN)], None)?;
                rustix::io::read(&there, &mut [0; 8])?;
                rustix::io::write(&back, &1_u64.to_ne_bytes())?;
            }
            Ok(())
        });
        let times = time(silence, trips, || {
            rustix::io::write(&there, &1_u64.to_ne_bytes())?;
            while rustix::io::read(&back, &mut [0; 8]).is_err() {
                std::hint::spin_loop();
            }
            Ok(())
        });
        answers.join().map_err(|_| "the sleeper panicked")??;
        times
    })
}
