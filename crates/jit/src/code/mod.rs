//! The boundary between compiled code and the rest of the program: the only module of this crate
//! with unsafe code.
//!
//! ```text
//!   handle --enter--> Env --address--> compiled code --ImportedFunction--> import_bodies
//!          <--leave--     <--status--
//! ```
//! # Invariants
//! 1. Compiled code gets one address, that of an [`env::Env`], which lives in its handle.
//! 2. Compiled code reads and writes: the environment's first fields, its own stack, the arena,
//!    `Value`s whose variant its types say, the bytes of tuples. Everything else goes through an
//!    [`ImportedFunction`].
//! 3. Constants that compiled code refers to by address are in the [`ConstantPool`], static
//!    ([`decimal_tables`]), or belong to the run time (state, counters, the shutdown flag). Handles
//!    keep the pool and the machine code alive.
//! 4. Imported functions do not unwind: a fault is stored in the environment, and reported as a
//!    status.
//! 5. An `Env` is used by one thread at a time.

mod arena;
mod call_frames;
mod code_memory;
mod constant_pool;
pub mod decimal_tables;
mod env;
mod env_requirements;
mod fallback_run;
mod fallback_site;
mod flat_scalar;
mod import;
mod import_bodies;
mod machine_function;
mod number_kind;
mod parts_reader;
mod scratch;
mod temp_values;
pub mod value_layout;

pub use code_memory::CodeMemory;
pub use constant_pool::ConstantPool;
pub use env::{NO_INLINED_OPERATOR, offsets};
pub use env_requirements::EnvRequirements;
pub use fallback_site::{FallbackOp, FallbackSite, OperandPassing};
pub use import::ImportedFunction;
pub use machine_function::{JitBatchBody, JitBody, JitPredicate, JitProjection, MachineFunction};
pub use number_kind::NumberKind;
pub use parts_reader::RawSlice;

/// Addresses of an operator's state.
#[derive(Clone, Copy, Debug)]
pub struct StateAddresses {
    /// Address of the scalar variables.
    pub scalars: i64,
    /// Address of the other variables.
    pub values: i64,
    /// Address of the tables.
    pub tables: i64,
}

/// The addresses of an operator's state.
pub fn state_addresses(address: runtime::abi::StateAddress) -> StateAddresses {
    // SAFETY: the run time hands the address out while it wires the PE, and is not inside the state
    // meanwhile; the vectors are not resized from then on.
    let state = unsafe { &mut *address.as_ptr() };
    StateAddresses {
        scalars: state.scalars.as_mut_ptr().expose_provenance() as i64,
        values: state.values.as_mut_ptr().expose_provenance() as i64,
        tables: state.tables.as_mut_ptr().expose_provenance() as i64,
    }
}

/// Bound on nested calls of user functions, which is that of the interpreter.
pub use eval::interp::MAX_CALL_DEPTH;
