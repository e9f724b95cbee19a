//! Processors that the threads of the benchmark run on.

use std::sync::OnceLock;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::child::Outcome;

/// Processors that the program may use, read at the beginning: a pinned thread sees only its own.
static ALL: OnceLock<Vec<usize>> = OnceLock::new();

/// Finds the usable processors, and prints them.
pub fn begin() -> Outcome {
    let set = sched_getaffinity(None)?;
    let all: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|cpu| set.is_set(*cpu))
        .collect();
    println!("processors {all:?}, {} turns", crate::TURNS);
    if all.len() < 2 {
        println!("one processor: sender and receiver take turns, no ratio means anything");
    }
    ALL.get_or_init(|| all);
    Ok(())
}

/// The processor of this number, modulo their count.
pub fn processor(number: usize) -> usize {
    ALL.get().map_or(0, |all| all[number % all.len()])
}

/// Pins this thread to the processor of this number.
pub fn to(number: usize) -> Outcome {
    on(processor(number))
}

/// Pins this thread to a processor.
pub fn on(processor: usize) -> Outcome {
    let mut set = CpuSet::new();
    set.set(processor);
    Ok(sched_setaffinity(None, &set)?)
}
