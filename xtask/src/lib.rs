//! The project's own chores, as a library so that tests can call them.
//!
//! [`tidy`] holds the style that no compiler checks, [`map`] the map of the crates in
//! `ARCHITECTURE.md`, [`modules`] the arrows and circles between modules; [`sizes`] counts the
//! lines of files and functions and the words of docs; [`vwap`] generates the input of the VWAP
//! example.

pub mod map;
pub mod modules;
pub mod sizes;
pub mod tidy;
pub mod vwap;
