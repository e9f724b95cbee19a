//! Compiled code against the reference interpreter: the same values, faults, submissions and state.

mod bodies;
mod casts;
mod chains;
mod decimals;
mod fixed_point;
mod frames;
mod hub;
#[cfg(debug_assertions)]
mod lengths;
mod loops;
mod make;
mod normal_form;
mod random;
mod rig;
mod scalars;
mod strings;
mod tables;
