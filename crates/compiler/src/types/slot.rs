//! A result that is worked out when first asked for, and kept; it notices when it needs itself.

use std::cell::RefCell;

/// See the module.
#[derive(Debug)]
pub(crate) struct Slot<T>(RefCell<State<T>>);

#[derive(Debug)]
enum State<T> {
    Unasked,
    Busy,
    Done(Option<T>),
}

/// The computation asked for its own result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circular;

impl<T> Default for Slot<T> {
    fn default() -> Slot<T> {
        Slot(RefCell::new(State::Unasked))
    }
}

impl<T: Clone> Slot<T> {
    /// The result, computed now if it was never asked for. `None`: it failed and that was reported.
    pub fn get(&self, compute: impl FnOnce() -> Option<T>) -> Result<Option<T>, Circular> {
        match &*self.0.borrow() {
            State::Done(result) => return Ok(result.clone()),
            State::Busy => return Err(Circular),
            State::Unasked => {}
        }
        self.0.replace(State::Busy);
        let result = compute();
        self.0.replace(State::Done(result.clone()));
        Ok(result)
    }
}
