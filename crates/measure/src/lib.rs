//! What a benchmark finds, apart from how it is run: results, and what is made of them.

mod histogram;
mod host;
mod outcome;

pub use histogram::Histogram;
pub use outcome::{Host, Latency, Outcome};
