//! What a benchmark finds, apart from how it is run: results, and what is made of them.

pub mod compare;
mod histogram;
mod host;
mod noise;
mod outcome;
pub mod report;
pub mod results;

pub use histogram::Histogram;
pub use outcome::{Host, Latency, Outcome};
