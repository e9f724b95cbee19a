//! Streams that leave a job and come in again: operators of [`graph::OperatorRole::Boundary`].
//!
//! What one such operator exports and another imports within the same program is joined here, by
//! stream id or by properties and a subscription, as if the stream had been named: the importing
//! operator gets an input port. Streams of other jobs are not there; an import that nothing in the
//! program matches stays a source without tuples.

mod boundary_annotation;
mod exported_properties;
mod join;

pub(crate) use boundary_annotation::annotate_boundaries;
pub(crate) use join::join_imports;
