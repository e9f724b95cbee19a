//! Cost of the contract's dynamic calls: both ends on one thread, so that no end waits for a cache
//! line, by the thread's own clock, so that other programs do not matter.

use conformance::child::{TestFailure, TestOutcome};
use rustix::time::{ClockId, clock_gettime};

use crate::medians;
use crate::paths::{
    Put, Receives, Sends, contract_accept, contract_open, path_accept, path_open, ring_accept,
    ring_open, sink,
};
use crate::windows::windows;

/// Frames that are sent before they are taken.
const BURST: u64 = 256;

const BURSTS: u64 = 4000;

/// Prints nanoseconds a frame, there and back.
pub fn on_one_thread() -> TestOutcome {
    println!("\nboth ends on one thread, bursts of {BURST}: nanoseconds a frame");
    println!(
        "{:>6} {:>9} {:>9} {:>9} | {:>9} {:>9}",
        "bytes", "put", "claim", "ring", "put more", "claim"
    );
    for len in [8, 64, 256, 1024] {
        let [put, claim, ring] = medians(|| {
            let (mut out, mut tickets) = contract_open(1)?;
            let mut end = contract_accept(1, tickets.remove(0))?;
            let claim = bursts(&mut out, &mut end, len)?;
            let put = bursts(&mut Put(out), &mut end, len)?;
            let (mut out, mut tickets) = ring_open(1)?;
            let mut end = ring_accept(tickets.remove(0))?;
            Ok([put, claim, bursts(&mut out, &mut end, len)?])
        })?;
        let more = [put - ring, claim - ring];
        println!(
            "{len:>6} {put:>9.2} {claim:>9.2} {ring:>9.2} | {:>9.2} {:>9.2}",
            more[0], more[1]
        );
    }
    Ok(())
}

/// Prints nanoseconds a frame, there and back, of rings behind the table of C functions and of the
/// engine's own.
pub fn of_libraries() -> TestOutcome {
    println!("\nboth ends on one thread, bursts of {BURST}: nanoseconds a frame");
    println!("{:>6} {:>9} {:>9} {:>9}", "bytes", "C", "Rust", "shm");
    for len in [8, 64, 256] {
        let times = medians(|| {
            let mut times = [0.0; 3];
            for (time, path) in times.iter_mut().zip(crate::library::PATHS) {
                let (mut out, mut tickets) = path_open(path, 1)?;
                let mut end = path_accept(path, 1, tickets.remove(0))?;
                *time = bursts(&mut out, &mut end, len)?;
            }
            Ok(times)
        })?;
        let [c, rust, shm] = times;
        println!("{len:>6} {c:>9.2} {rust:>9.2} {shm:>9.2}");
    }
    Ok(())
}

/// Prints the nanoseconds of its own that each further receiver costs the sender for a frame.
pub fn of_the_sender() -> TestOutcome {
    println!("\nthe sender's own nanoseconds a frame, by number of receivers");
    println!("{:>6} {:>8} {:>8} {:>8} {:>8}", "bytes", "1", "2", "3", "6");
    for len in [64, 256, 1024] {
        let [one, two, three, six] = medians(|| {
            let cost = |receivers| sender_alone(receivers, len);
            Ok([cost(1)?, cost(2)?, cost(3)?, cost(6)?])
        })?;
        println!("{len:>6} {one:>8.2} {two:>8.2} {three:>8.2} {six:>8.2}");
    }
    Ok(())
}

fn sender_alone(receivers: u32, len: usize) -> Result<f64, TestFailure> {
    let (out, tickets) = contract_open(receivers)?;
    let ends = tickets.into_iter();
    let ends = ends.map(|ticket| contract_accept(receivers, ticket));
    let mut ends = ends.collect::<Result<Vec<_>, _>>()?;
    let (mut out, payload, mut time) = (Put(out), vec![3_u8; len], 0);
    let mut unused = windows(8);
    for _ in 0..BURSTS / 4 {
        let start = now();
        burst_out(&mut out, &payload)?;
        time += now() - start;
        for end in &mut ends {
            sink(std::slice::from_mut(end), BURST, &mut unused)?;
        }
    }
    Ok(time as f64 / (BURST * BURSTS / 4) as f64)
}

fn bursts(out: &mut impl Sends, end: &mut impl Receives, len: usize) -> Result<f64, TestFailure> {
    let payload = vec![3_u8; len];
    let mut unused = windows(8);
    let mut burst = |out: &mut _, end: &mut _| -> TestOutcome {
        burst_out(out, &payload)?;
        sink(std::slice::from_mut(end), BURST, &mut unused)
    };
    for _ in 0..BURSTS / 10 {
        burst(out, end)?;
    }
    let start = now();
    for _ in 0..BURSTS {
        burst(out, end)?;
    }
    Ok((now() - start) as f64 / (BURST * BURSTS) as f64)
}

fn burst_out(out: &mut impl Sends, payload: &[u8]) -> TestOutcome {
    for _ in 0..BURST {
        if !out.send(std::hint::black_box(payload))? {
            return Err("a burst does not fit".into());
        }
    }
    Ok(())
}

/// Nanoseconds for which this thread has run.
fn now() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
