//! Samples of one region: a ring that a signal handler of the thread which runs it writes and
//! another thread drains.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::running_operator::RunningOperator;

/// Samples that the ring holds: four seconds of a busy thread at 250 a second.
const CAPACITY: usize = 1_024;

/// An instruction that a thread was about to run, and what the thread said that it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSample {
    /// Address of the instruction; 0 if the machine's contexts are not known.
    pub instruction: usize,
    /// The word of [`RunningOperator`].
    pub running: u32,
}

/// The samples of what one thread at a time runs, and the word in which that thread says what.
#[derive(Debug)]
pub struct CpuSamples {
    /// Which operator the thread runs.
    pub running: RunningOperator,
    /// Empty until a timer is started.
    slots: OnceLock<Box<[SampleSlot]>>,
    /// Number of samples written; the handler alone writes it.
    written: AtomicU64,
    /// Number of samples taken out; threads that drain take turns.
    taken: AtomicU64,
    drains: Mutex<()>,
    /// Processor time that the samples stand for, those that found the ring full included.
    cpu_ns: AtomicU64,
}

#[derive(Debug, Default)]
struct SampleSlot {
    instruction: AtomicUsize,
    running: AtomicU32,
}

impl Default for CpuSamples {
    fn default() -> CpuSamples {
        CpuSamples {
            running: RunningOperator::default(),
            slots: OnceLock::new(),
            written: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            drains: Mutex::new(()),
            cpu_ns: AtomicU64::new(0),
        }
    }
}

impl CpuSamples {
    /// Makes room for samples.
    pub(crate) fn allocate(&self) {
        self.slots
            .get_or_init(|| (0..CAPACITY).map(|_| SampleSlot::default()).collect());
    }

    /// Processor time that all samples stand for, in nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        self.cpu_ns.load(Ordering::Acquire)
    }

    /// Notes a sample that stands for so much processor time. To be called by the handler of the
    /// thread that runs the region, which only one thread does at a time; neither blocks nor
    /// allocates.
    pub(crate) fn record(&self, instruction: usize, period_ns: u64) {
        self.cpu_ns.fetch_add(period_ns, Ordering::Release);
        let Some(slots) = self.slots.get() else {
            return;
        };
        let written = self.written.load(Ordering::Relaxed);
        if written - self.taken.load(Ordering::Acquire) >= CAPACITY as u64 {
            return;
        }
        let slot = &slots[written as usize % CAPACITY];
        slot.instruction.store(instruction, Ordering::Relaxed);
        slot.running.store(self.running.word(), Ordering::Relaxed);
        self.written.store(written + 1, Ordering::Release);
    }

    /// Takes all samples out, the oldest first.
    pub fn drain(&self, mut take: impl FnMut(CpuSample)) {
        let _turn = self.drains.lock().unwrap_or_else(PoisonError::into_inner);
        let written = self.written.load(Ordering::Acquire);
        let slots = self.slots.get().map_or(&[][..], |slots| slots);
        for at in self.taken.load(Ordering::Relaxed)..written {
            let slot = &slots[at as usize % CAPACITY];
            take(CpuSample {
                instruction: slot.instruction.load(Ordering::Relaxed),
                running: slot.running.load(Ordering::Relaxed),
            });
            self.taken.store(at + 1, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_out_in_order_and_a_full_ring_counts() {
        let samples = CpuSamples::default();
        samples.allocate();
        for turn in 0..3 {
            samples.running.set(turn);
            (0..CAPACITY + 2).for_each(|at| samples.record(at, 4));
            let mut seen = Vec::new();
            samples.drain(|sample| seen.push(sample));
            let expected = (0..CAPACITY).map(|instruction| CpuSample {
                instruction,
                running: turn,
            });
            assert!(seen.into_iter().eq(expected));
            let all = (CAPACITY as u64 + 2) * u64::from(turn + 1);
            assert_eq!(samples.cpu_ns(), 4 * all);
        }
    }
}
