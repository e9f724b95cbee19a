//! A door in front of an operator: a test says how many may pass, and sees how many have come.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

use tuple::Value;

/// The handle by which a test lets tuples pass.
#[derive(Clone)]
pub struct PassLimit {
    key: i64,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    counts: Mutex<Counts>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    came: u64,
    may_pass: u64,
}

/// Operators find their doors here, by a parameter.
static PASS_LIMITS: LazyLock<Mutex<HashMap<i64, PassLimit>>> = LazyLock::new(Mutex::default);

impl PassLimit {
    /// A closed door, and the parameter by which an operator finds it.
    pub fn closed() -> PassLimit {
        let mut limits = lock(&PASS_LIMITS);
        let key = limits.len() as i64;
        let state = Arc::default();
        limits.insert(key, PassLimit { key, state });
        limits[&key].clone()
    }

    /// `door`, for a parameter.
    pub fn param(&self) -> (&'static str, Value) {
        ("door", Value::Int64(self.key))
    }

    /// The door of a parameter.
    pub fn of(key: i128) -> PassLimit {
        lock(&PASS_LIMITS)[&(key as i64)].clone()
    }

    /// Waits until the caller may pass.
    pub fn pass(&self) {
        let mut counts = lock(&self.state.counts);
        counts.came += 1;
        let number = counts.came;
        self.state.changed.notify_all();
        while counts.may_pass < number {
            let woken = self.state.changed.wait(counts);
            counts = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets `count` more tuples pass.
    pub fn lets(&self, count: u64) {
        let mut counts = lock(&self.state.counts);
        counts.may_pass = counts.may_pass.saturating_add(count);
        self.state.changed.notify_all();
    }

    /// Lets all tuples pass from now on.
    pub fn opens(&self) {
        self.lets(u64::MAX);
    }

    /// How many have come.
    pub fn came(&self) -> u64 {
        lock(&self.state.counts).came
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
