//! One result, with the control that was measured in the same run.

use serde::{Deserialize, Serialize};

/// What one benchmark found on one path at one size. A field that does not apply is null in JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The question: `throughput`, `latency`, `fanout`, ...
    pub bench: String,
    /// The channel that the stream takes: `fused`, `threaded`, `shm`, `rum`, `tcp`, ... Of
    /// benchmarks of fused code alone, which of several it is: `Filter`, `Aggregate`, ...
    pub path: String,
    /// How tuples cross: `facade` or `normal`.
    pub codec: Option<String>,
    /// Bytes of a tuple, as the documents count them: its attributes alone.
    pub size_bytes: Option<u64>,
    /// How many get each tuple.
    pub receivers: Option<u32>,
    /// Tuples a second that the source offers; null: as many as it can.
    pub rate_offered: Option<f64>,
    /// Tuples a second that came, of all receivers together: the median of the runs.
    pub tuples_per_s: Option<f64>,
    /// The same in 10⁹ bits a second: tuples · size · 8.
    pub gbit_per_s: Option<f64>,
    /// What the raw control did with the same bytes between the same runs: the median.
    pub control_tuples_per_s: Option<f64>,
    /// Of the throughput to the control's, or of the control's median latency to this one's: above
    /// 1 is better than the control. The median of the ratios of neighbouring runs.
    pub ratio: Option<f64>,
    /// One way or round trip, as the benchmark says, in nanoseconds.
    pub latency_ns: Option<LatencyPercentiles>,
    /// The control's.
    pub control_latency_ns: Option<LatencyPercentiles>,
    /// What the control is, in a few words.
    pub control: Option<String>,
    /// The project beside which it was measured, which is the control then: `rtrb`; null if the
    /// control is ours.
    #[serde(default)]
    pub peer: Option<String>,
    /// How often it was measured.
    pub runs: u32,
    /// Each run, in their order: tuples a second, or where latency is the question its median in
    /// nanoseconds. It says what noise there was.
    #[serde(default)]
    pub samples: Vec<f64>,
    /// The same of the control.
    #[serde(default)]
    pub control_samples: Vec<f64>,
    /// Why it cannot be measured here; then the figures are null.
    pub unavailable: Option<String>,
    /// Where it was measured.
    pub host: Host,
    /// The commit that was measured, `+` behind it if the tree was changed; null if unknown.
    pub commit: Option<String>,
    /// The command's options.
    pub options: Option<String>,
}

/// Percentiles in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencyPercentiles {
    /// Half of all are at most this.
    pub p50: u64,
    /// 90 % are at most this.
    pub p90: u64,
    /// 99 % are at most this.
    pub p99: u64,
    /// 99.9 % are at most this.
    pub p999: u64,
    /// 99.99 % are at most this.
    pub p9999: u64,
    /// The largest of all.
    pub max: u64,
}

/// The machine, as far as it moves figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The processor's name.
    pub processor: String,
    /// Cores that this process may run on.
    pub cores: u32,
    /// Release of the kernel.
    pub kernel: String,
    /// What huge pages there are.
    pub huge_pages: String,
    /// The frequency governor, if the machine tells.
    pub governor: Option<String>,
    /// The longest of the gaps that a spinning loop saw in a second, in nanoseconds.
    pub jitter_ns: Option<u64>,
}
