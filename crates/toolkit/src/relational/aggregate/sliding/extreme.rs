//! The greatest or the least value, how often it is there, or what stands beside it.
//!
//! Only values that no later one surpasses can ever be the extreme: the rest is thrown away when the
//! one comes that surpasses it.
//!
//! ```text
//!   came  7 3 5 5 1 5 2     greatest: 7 5 5 5 2    the first one is the extreme; when it has left, 5
//! ```
//! What compares to nothing, a NaN, surpasses nothing and is not surpassed: it is the extreme as long as
//! it is the oldest value of all, and else it is passed over.

use std::cmp::Ordering;
use std::collections::VecDeque;

use graph::Fault;
use tuple::Value;

use super::{Sliding, tighten};
use crate::relational::aggregate::running::no_value;

/// What is asked for.
#[derive(Clone, Copy)]
pub enum Shown {
    /// The value itself, the first of equal ones.
    Value,
    /// The second argument of its tuple.
    Argument,
    /// How many values equal it.
    Count,
}

pub struct Extreme {
    shown: Shown,
    surpasses: fn(Ordering) -> bool,
    /// What no later value surpasses: each equals the next one or surpasses it.
    ranks: VecDeque<Ranked>,
    /// What compares to nothing.
    odd: VecDeque<Ranked>,
    came: u64,
    left: u64,
}

struct Ranked {
    /// How many values had come before it.
    at: u64,
    value: Value,
    other: Option<Value>,
}

impl Extreme {
    /// The greatest value, or the least one.
    pub fn new(is_greatest: bool, shown: Shown) -> Extreme {
        Extreme {
            shown,
            surpasses: if is_greatest {
                Ordering::is_gt
            } else {
                Ordering::is_lt
            },
            ranks: VecDeque::new(),
            odd: VecDeque::new(),
            came: 0,
            left: 0,
        }
    }

    /// What compares to nothing, if it is the oldest value of all.
    fn oldest_odd(&self) -> Option<&Ranked> {
        self.odd.front().filter(|odd| odd.at == self.left)
    }

    fn count(&self) -> usize {
        match self.ranks.front() {
            Some(first) if self.oldest_odd().is_none() => {
                let is_alike = |other: &Ranked| other.value.spl_eq(&first.value);
                self.ranks.partition_point(is_alike)
            }
            // A NaN does not even equal itself.
            _ => 0,
        }
    }
}

impl Sliding for Extreme {
    fn add(&mut self, value: Value, other: Option<Value>) {
        let at = self.came;
        self.came += 1;
        let is_odd = value.spl_cmp(&value).is_none();
        let queue = if is_odd {
            &mut self.odd
        } else {
            let surpassed = |last: &Ranked| value.spl_cmp(&last.value).is_some_and(self.surpasses);
            while self.ranks.back().is_some_and(surpassed) {
                self.ranks.pop_back();
            }
            &mut self.ranks
        };
        queue.push_back(Ranked { at, value, other });
    }

    fn forget(&mut self) {
        let is_it = |oldest: &Ranked| oldest.at == self.left;
        // It is in one of them, or was surpassed.
        let mut queues = [&mut self.ranks, &mut self.odd].into_iter();
        if let Some(queue) = queues.find(|queue| queue.front().is_some_and(is_it)) {
            queue.pop_front();
            tighten(queue);
        }
        self.left += 1;
    }

    fn result(&mut self) -> Result<Value, Fault> {
        let extreme = self.oldest_odd().or_else(|| self.ranks.front());
        let extreme = extreme.ok_or_else(no_value)?;
        match self.shown {
            Shown::Value => Ok(extreme.value.clone()),
            Shown::Argument => extreme.other.clone().ok_or_else(no_value),
            Shown::Count => Ok(Value::Int32(self.count() as i32)),
        }
    }

    fn clear(&mut self) {
        self.ranks.clear();
        self.odd.clear();
        (self.came, self.left) = (0, 0);
    }
}
