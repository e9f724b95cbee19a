//! From types as written to [`tuple::Type`]: names resolved, tuple types concatenated, bounds
//! folded.
//!
//! Definitions are resolved when first asked for and kept; one that comes back to itself while it
//! is being resolved is circular.

mod cast;
mod describe;
mod limit;
mod named;
mod primitive;
mod resolve;
mod tuple_body;

pub use cast::castable;
pub(crate) use describe::{add_type_difference, difference, kind_of};
pub(crate) use named::{formal_in_default, static_type_of_stream, stream_names};
pub(crate) use primitive::primitive;
