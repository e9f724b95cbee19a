//! Fixtures of the micro benchmarks: operators without a PE, fused chains, kernels, C++ to compare
//! with.
//!
//! A bench runs its contenders by turns, several times each, pinned to one processor, and prints
//! the medians and their ratio. On a busy machine only ratios within one run can be trusted.

pub mod bare_operator;
pub mod builders;
pub mod chain;
pub mod compiled_operator;
pub mod cpp;
pub mod kernels;
pub mod threaded_port;
pub mod turns;
