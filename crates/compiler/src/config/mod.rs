//! Config clauses: their fifteen kinds, where each may stand, and which values it takes.
//!
//! Config of a composite holds for all operators that it expands to; the innermost wins, for
//! `placement` in each of its three subjects: the host, who shares it, who shares the process. What
//! concerns the ports of one operator (`threadedPort`, `viewable`) is its own.

mod clause;
mod combination;
mod effect;
mod entries;
mod hosts;
mod placement;
mod ports;
mod text;

pub use entries::CONFIG_KINDS;
pub(crate) use entries::{
    composite_config, invocation_config, operator_config, override_with, program_config,
};
