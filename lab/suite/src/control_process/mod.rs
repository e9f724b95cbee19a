//! Raw controls: the same bytes with nothing in between, each in processes of its own.
//!
//! ```text
//!   bench ──starts──> thalweg-bench control ROLE BYTES TUPLES RECEIVERS ──starts──> receivers
//! ```
//! A control fills every byte of a message and its sink reads every byte, as the SPL programs do,
//! and prints the same line. It knows no schema, no ports, no codec, no counters, no shutdown.
//!
//! # Invariants
//! A control dies with the process that started it, and after two minutes by itself.

mod child;
mod commands;
pub(crate) mod operator_loops;
mod remote_trip;
mod role;
mod round_trip;

pub(crate) use commands::{Control, case_command, chain_command};
pub use role::serve_control;
