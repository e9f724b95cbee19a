//! From types as written to [`tuple::Type`]: names resolved, tuple types concatenated, bounds
//! folded.
//!
//! Definitions are resolved when first asked for and kept; one that comes back to itself while it
//! is being resolved is circular.

mod cast;
mod describe;
mod lazy_result;
mod limit;
mod named;
mod resolve;
mod tuple_body;

pub use cast::castable;
pub(crate) use describe::{difference, kind_of};
pub(crate) use lazy_result::LazyResult;
pub(crate) use named::TypeDefinitions;
pub(crate) use resolve::{integer, primitive};
