//! Operators of [`graph::OperatorRole::Boundary`]: exports, whose streams leave a job, and imports,
//! by which streams enter it.
//!
//! A stream that one operator exports and another imports within the same program is joined here,
//! by stream id or by properties and a subscription: the importing operator gets an input port.
//! Streams of other jobs are not available; an import that nothing in the program matches stays a
//! source without tuples.

mod boundary_annotation;
mod exported_properties;
mod join;

pub(crate) use boundary_annotation::annotate_boundaries;
pub(crate) use join::join_imports;
