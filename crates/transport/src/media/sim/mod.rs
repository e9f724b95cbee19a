//! A medium for tests: another medium behind seeded faults.
//!
//! Mild faults are allowed by the contract but rare in an undisturbed run: a claim finds no room, a
//! flush has to be called again, frames come late and in small batches. Cuts end an edge at a
//! chosen frame, as the death of either side does: frames committed before are delivered, then both
//! sides report that the other one is lost.
//!
//! ```text
//!   claim   -> no room, one time in N           poll    -> nothing, one time in N
//!   flush   -> call again, one time in N                -> some of the frames, the rest later
//!   commit  -> cut after N frames                       -> cut after N frames
//! ```
//! Each seed gives its own faults, in the order of the calls. How the threads of the two sides
//! interleave is not seeded.

mod fault_rng;
mod faults;
mod medium;
mod receiver;
mod sender;

pub use faults::SimFaults;
pub use medium::{SEED, SEED_VARIABLE, SimMedium};
