//! Annotations: which there are, where each may stand, and what its keys may say.
//!
//! The table is in [`table`]; what keys of one annotation demand of each other is in `rules`. A
//! name that is not in the table is a warning: other products have more annotations.

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
