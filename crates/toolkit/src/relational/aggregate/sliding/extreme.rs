//! The greatest or the least value, how often it is there, or what stands beside it.
//!
//! Only values that no later one surpasses can ever be the extreme: the rest is thrown away when
//! the one comes that surpasses it.
//!
//! ```text
//!   came  7 3 5 5 1 5 2     greatest: 7 5 5 5 2    the first one is the extreme; when it has left, 5
//! ```
//! What compares to nothing, a NaN, surpasses nothing and is not surpassed: it is the extreme as
//! long as it is the oldest value of all, and else it is passed over.

use std::cmp::Ordering;
use std::collections::VecDeque;

use eval::Fault;
use tuple::Value;

use super::capacity::shrink_excess;
use super::sliding_function::SlidingFunction;
use crate::relational::aggregate::running_function::no_value;

/// What is asked for.
#[derive(Clone, Copy)]
pub enum ExtremeResult {
    /// The value itself, the first of equal ones.
    Value,
    /// The second argument of its tuple.
    Argument,
    /// How many values equal it.
    Count,
}

pub struct SlidingExtreme {
    result_kind: ExtremeResult,
    surpasses: fn(Ordering) -> bool,
    /// What no later value surpasses: each equals the next one or surpasses it.
    candidates: VecDeque<ExtremeCandidate>,
    /// What compares to nothing.
    unordered: VecDeque<ExtremeCandidate>,
    added_count: u64,
    removed_count: u64,
}

struct ExtremeCandidate {
    /// How many values had come before it.
    seq: u64,
    value: Value,
    other: Option<Value>,
}

impl SlidingExtreme {
    /// The greatest value, or the least one.
    pub fn new(is_greatest: bool, shown: ExtremeResult) -> SlidingExtreme {
        SlidingExtreme {
            result_kind: shown,
            surpasses: if is_greatest {
                Ordering::is_gt
            } else {
                Ordering::is_lt
            },
            candidates: VecDeque::new(),
            unordered: VecDeque::new(),
            added_count: 0,
            removed_count: 0,
        }
    }

    /// What compares to nothing, if it is the oldest value of all.
    fn oldest_unordered(&self) -> Option<&ExtremeCandidate> {
        self.unordered
            .front()
            .filter(|odd| odd.seq == self.removed_count)
    }

    fn count(&self) -> usize {
        match self.candidates.front() {
            Some(first) if self.oldest_unordered().is_none() => {
                let is_alike = |other: &ExtremeCandidate| other.value.spl_eq(&first.value);
                self.candidates.partition_point(is_alike)
            }
            // A NaN does not even equal itself.
            _ => 0,
        }
    }
}

impl SlidingFunction for SlidingExtreme {
    fn add(&mut self, value: Value, other: Option<Value>) {
        let at = self.added_count;
        self.added_count += 1;
        let is_odd = value.spl_cmp(&value).is_none();
        let queue = if is_odd {
            &mut self.unordered
        } else {
            let surpassed =
                |last: &ExtremeCandidate| value.spl_cmp(&last.value).is_some_and(self.surpasses);
            while self.candidates.back().is_some_and(surpassed) {
                self.candidates.pop_back();
            }
            &mut self.candidates
        };
        queue.push_back(ExtremeCandidate {
            seq: at,
            value,
            other,
        });
    }

    fn remove_oldest(&mut self) {
        let is_it = |oldest: &ExtremeCandidate| oldest.seq == self.removed_count;
        // It is in one of them, or was surpassed.
        let mut queues = [&mut self.candidates, &mut self.unordered].into_iter();
        if let Some(queue) = queues.find(|queue| queue.front().is_some_and(is_it)) {
            queue.pop_front();
            shrink_excess(queue);
        }
        self.removed_count += 1;
    }

    fn result(&mut self) -> Result<Value, Fault> {
        let extreme = self.oldest_unordered().or_else(|| self.candidates.front());
        let extreme = extreme.ok_or_else(no_value)?;
        match self.result_kind {
            ExtremeResult::Value => Ok(extreme.value.clone()),
            ExtremeResult::Argument => extreme.other.clone().ok_or_else(no_value),
            ExtremeResult::Count => Ok(Value::Int32(self.count() as i32)),
        }
    }

    fn clear(&mut self) {
        self.candidates.clear();
        self.unordered.clear();
        (self.added_count, self.removed_count) = (0, 0);
    }
}
