//! The project's own chores, as a library so that tests can call them.
//!
//! [`tidy`] holds the style that no compiler checks; [`vwap`] generates the input of the VWAP
//! example.

pub mod map;
pub mod modules;
pub mod tidy;
pub mod vwap;
