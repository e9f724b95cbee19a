//! Results of benchmarks, apart from how they are run: outcomes, statistics, comparisons, reports.

pub mod compare;
mod histogram;
mod host;
mod noise;
mod outcome;
pub mod report;
pub mod results;

pub use histogram::LatencyHistogram;
pub use outcome::{Host, LatencyPercentiles, Outcome};
