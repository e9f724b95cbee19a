//! From types as written to [`tuple::Type`]: names resolved, tuple types concatenated, bounds folded.
//!
//! Definitions are resolved when first asked for and kept; one that comes back to itself while it is
//! being resolved is circular.

mod cast;
mod describe;
mod limit;
mod named;
mod resolve;
mod slot;
mod tuple_body;

pub use cast::castable;
pub(crate) use describe::{difference, kind_of};
pub(crate) use named::Definitions;
pub(crate) use resolve::{integer, primitive};
pub(crate) use slot::Slot;
