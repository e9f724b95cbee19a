//! What the benches share: bodies made by hand, a run time that only calls, C++ to compare with.
//!
//! A bench runs the contenders by turns, several times each, pinned to one processor, and prints
//! the medians and their ratio: on a machine that is busy with other things a ratio within one run
//! is what can be trusted.

pub mod bare_operator;
pub mod builders;
pub mod chain;
pub mod compiled_operator;
pub mod cpp;
pub mod kernels;
pub mod threaded_port;
pub mod turns;
