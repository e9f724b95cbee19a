//! The life of a PE: operators and their contract, regions, punctuation, timers, orderly shutdown.
//!
//! What comes in is a [`graph::Program`], a registry of operators and a [`abi::Backend`] that turns
//! typed expressions into something that runs; what goes out is a running PE. Nothing here has ever
//! seen source text or a code generator.

pub mod abi;
mod build;
mod operator;
mod row;
mod stop;
mod wait;
pub mod window;

pub use build::Build;
pub use operator::{Logic, Make, Operator, OperatorEntry, Outlet, Source, TimerId};
pub use row::Row;
pub use stop::Stop;
pub use wait::Room;
