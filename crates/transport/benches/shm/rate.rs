//! How many frames a second, for each length, and with several receivers.

use std::hint::spin_loop;
use std::time::Instant;

use crate::child::{Failure, Outcome};
use crate::lanes::{Lane, Put, contract_accept, contract_open, flood, ring_accept, sink, start};
use crate::{bare, medians, pin};

const LENGTHS: [usize; 6] = [64, 128, 256, 1024, 4096, 16384];

/// Bytes of a turn, and frames at most.
const TURN_BYTES: u64 = 1 << 30;
const TURN_FRAMES: u64 = 4_000_000;

fn frames(len: usize) -> u64 {
    (TURN_BYTES / len as u64).min(TURN_FRAMES)
}

/// One sender, one receiver.
pub fn one_to_one() -> Outcome {
    pin::to(1)?;
    println!("\none to one, 512 KB ring: million frames a second, and ratios");
    println!(
        "{:>6} {:>8} {:>8} {:>8} {:>8} {:>8} | {:>8} {:>8} {:>8}",
        "bytes", "put", "claim", "ring", "bare", "copy", "put/ring", "of bare", "of copy"
    );
    for len in LENGTHS {
        let [put, claim, ring, bare, copy] = medians(|| {
            Ok([
                between_processes(Lane::Put, len)?,
                between_processes(Lane::Claim, len)?,
                between_processes(Lane::Ring, len)?,
                bare::ring(len, frames(len) / 2)?,
                bare::copy(len, TURN_BYTES)?,
            ])
        })?;
        println!(
            "{len:>6} {put:>8.2} {claim:>8.2} {ring:>8.2} {bare:>8.2} {copy:>8.2} | \
             {:>8.2} {:>8.2} {:>8.2}",
            put / ring,
            put / bare,
            put / copy
        );
    }
    Ok(())
}

/// Million frames a second; the time of the first one's coming is small beside a turn's.
fn between_processes(lane: Lane, len: usize) -> Result<f64, Failure> {
    let count = frames(len);
    let mut sender = start("flood", lane, 0, [len as u64, count])?;
    let ticket = sender.control.take()?;
    let seconds = match lane {
        Lane::Put | Lane::Claim => {
            let mut end = contract_accept(1, ticket)?;
            sender.control.say(b'g')?;
            timed(|| sink(&mut end, count, spin_loop))?
        }
        Lane::Ring => {
            let mut end = ring_accept(ticket)?;
            sender.control.say(b'g')?;
            timed(|| sink(&mut end, count, spin_loop))?
        }
    };
    sender.ends_well()?;
    Ok(count as f64 / seconds / 1e6)
}

fn timed(work: impl FnOnce() -> Outcome) -> Result<f64, Failure> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

/// One sender, several receivers; those share the processors that are left.
pub fn one_to_many() -> Outcome {
    pin::to(0)?;
    let others = pin::count() - 1;
    println!(
        "\none to many by the contract: frames that the sender gets rid of, of one receiver's"
    );
    println!("(receivers run on {others} further processors, and yield when they have nothing)");
    println!(
        "{:>6} {:>9} {:>9} {:>9}",
        "bytes", "1 -> 1", "1 -> 2", "1 -> 3"
    );
    for len in [64, 256, 1024] {
        let [one, two, three] =
            medians(|| Ok([to_many(1, len)?, to_many(2, len)?, to_many(3, len)?]))?;
        let (two, three) = (two / one, three / one);
        println!("{len:>6} {one:>9.2} {two:>9.2} {three:>9.2}");
    }
    Ok(())
}

fn to_many(receivers: u32, len: usize) -> Result<f64, Failure> {
    let count = frames(len) / 4;
    let (out, tickets) = contract_open(receivers)?;
    let mut children = Vec::new();
    for (number, ticket) in (1..).zip(&tickets) {
        let numbers = [count, u64::from(receivers)];
        let mut child = start("sink", Lane::Put, processor(number), numbers)?;
        child.control.give(ticket)?;
        children.push(child);
    }
    drop(tickets);
    for child in &mut children {
        child.control.hear(b'r')?;
    }
    let seconds = timed(|| flood(&mut Put(out), len, count))?;
    for child in &mut children {
        child.ends_well()?;
    }
    Ok(count as f64 / seconds / 1e6)
}

/// Not the sender's.
fn processor(number: usize) -> usize {
    1 + (number - 1) % pin::count().saturating_sub(1).max(1)
}
