//! The word in which a thread says which operator it runs.

use std::sync::atomic::{AtomicU32, Ordering};

/// Operator and state of a thread, as its own code writes them and a signal handler reads them.
///
/// The low 31 bits are the operator's number, all of them set for none; the high bit says that the
/// thread waits.
#[derive(Debug)]
pub struct RunningOperator(AtomicU32);

const NONE: u32 = !WAITING;
const WAITING: u32 = 1 << 31;

impl Default for RunningOperator {
    fn default() -> RunningOperator {
        RunningOperator(AtomicU32::new(NONE))
    }
}

impl RunningOperator {
    /// Says that the thread runs this operator from now on. Returns the word as it was, for
    /// [`RunningOperator::restore`].
    #[inline]
    pub fn set(&self, operator: u32) -> u32 {
        let before = self.0.load(Ordering::Relaxed);
        self.0.store(operator, Ordering::Relaxed);
        before
    }

    /// Says again what a word said.
    #[inline]
    pub fn restore(&self, word: u32) {
        self.0.store(word, Ordering::Relaxed);
    }

    /// Says whether the thread waits.
    pub fn set_waiting(&self, waits: bool) {
        let word = self.0.load(Ordering::Relaxed);
        let word = if waits {
            word | WAITING
        } else {
            word & !WAITING
        };
        self.0.store(word, Ordering::Relaxed);
    }

    /// The word at the moment.
    #[inline]
    pub fn word(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Address of the word, for machine code that writes an operator's number there.
    pub fn address(&self) -> *const u32 {
        self.0.as_ptr()
    }

    /// The operator that a word names; `None` for none.
    pub fn operator(word: u32) -> Option<u32> {
        let operator = word & !WAITING;
        (operator != NONE).then_some(operator)
    }

    /// Whether a word says that the thread waits.
    pub fn is_waiting(word: u32) -> bool {
        word & WAITING != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_nest_and_waits_keep_the_operator() {
        let running = RunningOperator::default();
        assert_eq!(RunningOperator::operator(running.word()), None);
        let outer = running.set(4);
        let inner = running.set(9);
        running.set_waiting(true);
        assert!(RunningOperator::is_waiting(running.word()));
        assert_eq!(RunningOperator::operator(running.word()), Some(9));
        running.set_waiting(false);
        assert!(!RunningOperator::is_waiting(running.word()));
        running.restore(inner);
        assert_eq!(RunningOperator::operator(running.word()), Some(4));
        running.restore(outer);
        assert_eq!(RunningOperator::operator(running.word()), None);
    }
}
