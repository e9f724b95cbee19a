//! A result that is computed when it is first asked for, and kept. It notices when its own
//! computation asks for it.

use std::cell::RefCell;

/// Slot for a result: pending, being computed, or done.
#[derive(Debug)]
pub(crate) struct LazyResult<T>(RefCell<LazyState<T>>);

#[derive(Debug)]
enum LazyState<T> {
    Pending,
    Computing,
    Done(Option<T>),
}

/// The computation asked for its own result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CircularDefinition;

impl<T> Default for LazyResult<T> {
    fn default() -> LazyResult<T> {
        LazyResult(RefCell::new(LazyState::Pending))
    }
}

impl<T: Clone> LazyResult<T> {
    /// The result, computed now if it was never asked for. `None`: it failed and that was reported.
    pub fn get(
        &self,
        compute: impl FnOnce() -> Option<T>,
    ) -> Result<Option<T>, CircularDefinition> {
        match &*self.0.borrow() {
            LazyState::Done(result) => return Ok(result.clone()),
            LazyState::Computing => return Err(CircularDefinition),
            LazyState::Pending => {}
        }
        self.0.replace(LazyState::Computing);
        let result = compute();
        self.0.replace(LazyState::Done(result.clone()));
        Ok(result)
    }
}
