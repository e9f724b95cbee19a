//! The room where compiled code meets the rest of the program, and the only one with unsafe code.
//!
//! ```text
//!   handle --enter--> Env --entry point--> compiled code --Import--> imports (Values, submitting)
//!          <--leave--      <--status-----
//! ```
//! # Invariants
//! 1. Compiled code gets one address, that of an [`Env`], which lives in its handle.
//! 2. It reads and writes: the environment's first fields, its own stack, the arena, `Value`s whose
//!    variant its types say, the bytes of tuples. Everything else goes through a [`Import`].
//! 3. What it refers to by address as a constant is in the [`Pool`] or is the run time's (state,
//!    counters, the shutdown flag); handles keep the pool and the machine code alive.
//! 4. Imports do not unwind; a fault is stored in the environment and reported as a status.
//! 5. An `Env` is used by one thread at a time.

mod arena;
mod entry;
mod env;
mod frames;
mod import;
mod imports;
mod memory;
mod pool;
mod scratch;
pub mod shapes;
mod site;
mod slot;
mod temps;
mod words;

pub use entry::{Action, Entrance, Loop, Needs, Predicate, Projection};
pub use env::{NOBODY, offsets};
pub use import::Import;
pub use memory::Memory;
pub use pool::Pool;
pub use site::{Op, Operand, Site};
pub use words::View;

/// The addresses of an operator's scalar and of its other state variables.
pub fn state_parts(address: runtime::abi::StateAddress) -> (i64, i64) {
    // SAFETY: the run time hands the address out while it wires the PE, and is not inside the state
    // meanwhile; the vectors are not resized from then on.
    let state = unsafe { &mut *address.as_ptr() };
    let scalars = state.scalars.as_mut_ptr().expose_provenance() as i64;
    (
        scalars,
        state.values.as_mut_ptr().expose_provenance() as i64,
    )
}

/// How deep calls of user functions nest; as in the interpreter.
pub use graph::interp::MAX_CALL_DEPTH;
