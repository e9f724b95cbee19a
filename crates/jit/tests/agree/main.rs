//! Compiled code against the reference interpreter: the same values, faults, submissions and state.

mod rig;
mod scalars;
