//! Whole runs of `thalweg bench` and `thalweg perf`, as a user makes them.

mod bench_cases;
mod calibrate;
mod comparisons;
mod dispatch;
mod perf;
mod scratch;
