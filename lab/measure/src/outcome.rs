//! One result of a benchmark, with the control that was measured in the same run.

use serde::{Deserialize, Serialize};

/// The result of one benchmark on one path at one size. A field that does not apply is null in
/// JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Name of the benchmark: `throughput`, `latency`, `fanout`, ...
    pub bench: String,
    /// Path of the stream: `fused`, `threaded`, `shm`, `rum`, `tcp`, ... Of benchmarks of fused
    /// code, the operator or expression: `Filter`, `Aggregate`, ...
    pub path: String,
    /// Codec of the tuples between processes: `facade` or `normal`.
    pub codec: Option<String>,
    /// Bytes of a tuple's attributes, without frame and layout.
    pub size_bytes: Option<u64>,
    /// Number of receivers of each tuple.
    pub receivers: Option<u32>,
    /// Tuples a second that the source offers; null if it sends as fast as it can.
    pub rate_offered: Option<f64>,
    /// Tuples a second that arrived at all receivers together, the median of the runs.
    pub tuples_per_s: Option<f64>,
    /// Throughput in 10⁹ bits a second: tuples · size · 8.
    pub gbit_per_s: Option<f64>,
    /// Messages a second of the raw control, the median of its runs, which alternate with the
    /// others.
    pub control_tuples_per_s: Option<f64>,
    /// Throughput as a share of the control's, or the control's median latency as a share of this
    /// one's: above 1 is better than the control. The median of the ratios of neighbouring runs.
    pub ratio: Option<f64>,
    /// Percentiles of latencies in nanoseconds, one way or of round trips as the benchmark says.
    pub latency_ns: Option<LatencyPercentiles>,
    /// Percentiles of the control's latencies in nanoseconds.
    pub control_latency_ns: Option<LatencyPercentiles>,
    /// Most physical memory of the program in any run, in bytes.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
    /// Most physical memory of the control in any run, in bytes.
    #[serde(default)]
    pub control_memory_bytes: Option<u64>,
    /// Description of the control in a few words.
    pub control: Option<String>,
    /// Project that is the control, for instance `rtrb`; null if the control is a raw one.
    #[serde(default)]
    pub peer: Option<String>,
    /// Number of runs of the contender and of its control.
    pub runs: u32,
    /// Result of each run in order: tuples a second, or of latencies the median in nanoseconds. The
    /// spread of the runs is the noise.
    #[serde(default)]
    pub samples: Vec<f64>,
    /// Result of each run of the control, in the unit of `samples`.
    #[serde(default)]
    pub control_samples: Vec<f64>,
    /// Reason why it could not be measured here; all figures are null then.
    pub unavailable: Option<String>,
    /// Machine that it was measured on.
    pub host: Host,
    /// Commit that was measured, with `+` appended if the tree was changed; null if unknown.
    pub commit: Option<String>,
    /// Options of the command that measured it.
    pub options: Option<String>,
}

/// Percentiles of latencies, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencyPercentiles {
    /// Median: half of the latencies are at most this.
    pub p50: u64,
    /// Latency that 90 % do not exceed.
    pub p90: u64,
    /// Latency that 99 % do not exceed.
    pub p99: u64,
    /// Latency that 99.9 % do not exceed.
    pub p999: u64,
    /// Latency that 99.99 % do not exceed.
    pub p9999: u64,
    /// The largest of all latencies.
    pub max: u64,
}

/// Description of a machine, as far as it affects figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Model name of the processor.
    pub processor: String,
    /// Number of cores that this process may run on.
    pub cores: u32,
    /// Release of the Linux kernel.
    pub kernel: String,
    /// Setting of transparent huge pages, and the number of reserved ones.
    pub huge_pages: String,
    /// Frequency governor; null if the machine does not tell.
    pub governor: Option<String>,
    /// Longest gap between two readings of the clock by a loop that spins for a second, in
    /// nanoseconds.
    pub jitter_ns: Option<u64>,
}
