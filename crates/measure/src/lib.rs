//! What a benchmark finds, apart from how it is run: results, and what is made of them.

mod outcome;

pub use outcome::{Host, Latency, Outcome};
