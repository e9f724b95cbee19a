//! Typed expressions, statements and chains of operators as machine code.
//!
//! [`Jit`] is a [`runtime::abi::Backend`]: while a PE is wired, the run time hands it every body.
//! It compiles them to one module of machine code with Cranelift, and the handles that it returned
//! call into that module. [`eval::interp`] defines what a body means; compiled code gives the same
//! bits, the same faults and the same submissions.
//!
//! ```text
//!   scope, body --lower--> CLIF --Cranelift--> machine code --> code::import_bodies
//! ```
//!
//! # Values in compiled code
//! Scalars are in registers, strings and lists of scalars are an address and a length, tuples are
//! one value an attribute or a place in flat memory, everything else is the address of a
//! [`tuple::Value`]: see [`type_parts`] and [`lowered_value`]. Whatever has no code of its own is
//! left to a [`code::FallbackSite`], so that every typed program can be compiled.

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
