//! Fusion: the operators of each PE, by what the job and the program ask for.

mod by_placement;
mod colocated_block;
mod contradiction;
mod placement;
mod placement_rules;
mod whole_or_split;

pub(crate) use by_placement::by_placement;
pub use contradiction::in_config;
pub(crate) use placement::{OperatorPlacement, PlacementValue};
pub(crate) use placement_rules::PlacementRules;
pub(crate) use whole_or_split::{all, none};
