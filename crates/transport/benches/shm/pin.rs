//! Cores that the threads of the benchmark run on.

use std::sync::OnceLock;

use conformance::child::TestOutcome;
use control::cores;

/// Cores that the program may use, read at the beginning: a pinned thread sees only its own.
static ALL: OnceLock<Vec<u32>> = OnceLock::new();

/// Finds the usable cores, and prints them.
pub fn begin() -> TestOutcome {
    let all = ALL.get_or_init(cores::usable_cores);
    println!("processors {all:?}, {} turns", crate::TURNS);
    if all.len() < 2 {
        println!("one processor: sender and receiver take turns, no ratio means anything");
    }
    Ok(())
}

/// The core of this number, modulo their count.
pub fn processor(number: usize) -> u32 {
    let all = ALL.get().map_or(&[][..], Vec::as_slice);
    all.iter().cycle().nth(number).copied().unwrap_or(0)
}

/// Pins this thread to the core of this number.
pub fn to(number: usize) -> TestOutcome {
    Ok(cores::pin(processor(number))?)
}
