//! Benchmarks: SPL programs whose sinks measure, each beside a raw control in the same run.
//!
//! ```text
//!   throughput, latency, ...      which programs, on which paths, at which sizes
//!        |            |
//!      job          control       a process each: `thalweg run`, or the same bytes by hand
//!        \            /
//!         arrivals                what their sinks print
//!            |
//!         contest                 by turns, medians, the median of neighbours' ratios
//!            |
//!      measure::Outcome
//! ```
//! Both contenders are processes of the same command, fill and read every byte, and print the same
//! line; the sums in it have to agree. So neither can save itself work that the other does.

pub mod control;
pub mod cores;

mod arrivals;
mod bench;
mod contest;
mod error;
mod fanout;
mod fused;
mod hosts;
mod job;
mod latency;
mod pace;
mod path;
mod schema;
mod throughput;

pub use arrivals::{Arrivals, Run};
pub use bench::{Bench, Settings, commit};
pub use contest::{Length, median};
pub use error::Error;
pub use fanout::{Fanout, fanout};
pub use fused::{CHAIN_SIZES, chain, expressions, operators};
pub use hosts::{HOSTS_PATHS, hosts};
pub use latency::{RoundTrip, latency};
pub use path::{Codec, Path};
pub use schema::Schema;
pub use throughput::{Throughput, plan, program, throughput};
