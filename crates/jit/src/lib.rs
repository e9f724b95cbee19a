//! Typed expressions, statements and fused chains as machine code.
//!
//! Floor 4. [`Jit`] is a [`runtime::abi::Backend`]: the run time hands it every body of a PE while
//! that is wired, it makes one module of machine code of them with Cranelift, and the handles that
//! it gave out call into that. What a body means is what [`eval::interp`] makes of it; compiled
//! code gives the same bits, the same faults and the same submissions.
//!
//! ```text
//!   Scope + Body --lower--> CLIF --Cranelift--> machine code --ImportedFunction--> code::imports
//! ```
//! # Values in compiled code
//! Scalars are in registers, strings and lists of scalars are an address and a length, tuples are
//! one value an attribute or a place in flat memory, everything else is the address of a
//! [`tuple::Value`]: see [`type_parts`] and [`lowered_value`]. Whatever has no code of its own is
//! left to a [`code::Site`], so that every typed program can be compiled.

mod backend;
mod chains;
#[expect(
    unsafe_code,
    reason = "the room where compiled code meets the rest of the program"
)]
mod code;
mod error;
mod jit;
mod lower;
mod lowered_value;
mod module;
mod options;
mod perf_map;
mod type_parts;

pub use error::Error;
pub use jit::Jit;
pub use lower::MachineCodeListing;
pub use options::JitOptions;
