//! An operator's state at a fixed address, which compiled code may know.
//!
//! # Who may touch the state
//! 1. The run time, through [`StateCell::borrow`], while it is inside a call of the operator.
//! 2. Compiled code of the operator, while it is being called.
//! 3. Compiled code of another operator of the same [`super::ThreadChains`] that inlines this one,
//!    while it is being called. The members belong to one thread and stand in no loop, so 3
//!    never overlaps with 1 or 2.
//!
//! Neither vector of a [`State`] is ever resized after wiring, so their elements have fixed
//! addresses too.

use std::ptr::NonNull;

use eval::State;

/// Owner of a state that never moves in memory.
#[derive(Debug)]
pub struct StateCell {
    state: NonNull<State>,
}

/// Address of a state. Only compiled code dereferences it, by the rules of this module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateAddress(NonNull<State>);

impl StateCell {
    /// Moves a state to the address at which it stays.
    pub fn new(state: State) -> StateCell {
        let state = NonNull::from(Box::leak(Box::new(state)));
        StateCell { state }
    }

    /// The state, for a call by rule 1.
    pub fn borrow(&mut self) -> &mut State {
        // SAFETY: `new` made the pointer from a box that only `drop` frees. `&mut self` excludes
        // another `borrow`, and the module's rules exclude compiled code.
        #[expect(unsafe_code, reason = "the address is shared with compiled code")]
        unsafe {
            self.state.as_mut()
        }
    }

    /// Address of the state, valid as long as the cell lives.
    pub fn address(&self) -> StateAddress {
        StateAddress(self.state)
    }
}

impl StateAddress {
    /// The address as a pointer, for rules 2 and 3.
    pub fn as_ptr(self) -> *mut State {
        self.0.as_ptr()
    }
}

impl Drop for StateCell {
    fn drop(&mut self) {
        // SAFETY: `new` leaked this box, and nothing else frees it.
        #[expect(unsafe_code, reason = "takes back what `new` leaked")]
        drop(unsafe { Box::from_raw(self.state.as_ptr()) });
    }
}

// SAFETY: it owns the state, which is `Send`; the pointer is not tied to a thread.
#[expect(unsafe_code, reason = "an owning pointer")]
unsafe impl Send for StateCell where State: Send {}

// SAFETY: an address alone gives no access.
#[expect(unsafe_code, reason = "an address alone gives no access")]
unsafe impl Send for StateAddress {}

#[cfg(test)]
mod tests {
    use eval::State;

    use super::StateCell;

    #[test]
    fn the_address_survives_a_move() {
        let mut cell = StateCell::new(State::default());
        cell.borrow().scalars.push([7, 0]);
        let address = cell.address();
        let mut moved = Box::new(cell);
        assert_eq!(moved.address(), address);
        assert_eq!(moved.borrow().scalars, [[7, 0]]);
    }
}
