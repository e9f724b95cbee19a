//! One operator by itself, driven by hand: its input is given by calls, its output is recorded.
//!
//! All duties of the run time are done as in a PE (markers are counted and forwarded, logic clauses
//! run), but there are no threads: timers fire and sources run when they are told to.

mod output_recorder;
mod test_harness;

pub use output_recorder::HarnessOutput;
pub use test_harness::TestHarness;
