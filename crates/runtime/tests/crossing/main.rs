//! Streams between two PEs in one process: what crosses, how it ends, what is said when it breaks.

extern crate thalweg_runtime as runtime;

mod drain;
mod faults;
mod operators;
mod order;
mod owned_tuples;
mod pass_limit;
mod queue;
mod strict_medium;
