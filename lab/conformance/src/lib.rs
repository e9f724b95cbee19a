//! The conformance suite of media: behaviours that every medium shows, and media that are each
//! broken in one way, by which the suite itself is tested.
//!
//! ```text
//!   cargo test -p thalweg-transport --test conformance   every medium of Thalweg's own
//!   thalweg medium check LIBRARY                         a library, by thalweg-conformance
//! ```
//! [`tests_of`] lists the tests of a medium. Tests between processes start the running program
//! again as a child, so a program that runs them begins with [`play_child`].

mod behaviours;
pub mod broken;
pub mod child;
mod compiled;
mod granting;
pub mod kill;
mod play;
mod rails;
mod rdma_modes;
mod reference;
mod reference_ends;
mod rig;
mod script;
mod single;
mod suite;

pub use crate::child::{TestFailure, TestOutcome};
pub use crate::rails::Rails;
pub use crate::rdma_modes::RDMA_CHANNEL;
pub use crate::rig::{MediumTest, Rig};
pub use crate::single::Single;
pub use crate::suite::{play_child, tests_of};
