//! Annotations: a table of all that the compiler knows, with the places where each may stand and
//! the values of its keys.
//!
//! The table is in [`table`], the rules between keys are in [`rules`]. An annotation that is not in
//! the table is a warning: other products have more.

mod check;
mod parallel;
mod ports;
mod reference;
mod rules;
mod table;
mod target;
mod value;

pub(crate) use check::{of_composite, of_definition, of_operator, override_with, parallel_region};
pub(crate) use parallel::{ChannelDistribution, ParallelRegion};
pub(crate) use ports::AnnotatedPorts;
pub(crate) use target::AnnotationTarget;
