//! What a benchmark finds, apart from how it is run: results, and what is made of them.

pub mod compare;
mod histogram;
mod host;
mod noise;
mod outcome;
pub mod report;
pub mod results;

pub use histogram::LatencyHistogram;
pub use outcome::{Host, LatencyPercentiles, Outcome};
