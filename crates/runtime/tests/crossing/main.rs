//! Streams between two PEs in one process: what crosses, how it ends, what is said when it breaks.

extern crate thalweg_runtime as runtime;

mod door;
mod drain;
mod ends;
mod faults;
mod made;
mod operators;
mod order;
mod queue;
