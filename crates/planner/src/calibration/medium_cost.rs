//! The cost of tuples on one medium.

use super::CostFit;

/// The cost of tuples on a medium with its settings, from one operator to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct MediumCost {
    /// The operators that the medium joined when it was measured.
    pub reach: MediumReach,
    /// Name of the medium; `fused` for a call within a thread, `ring` for a threaded port.
    pub medium: String,
    /// Settings of the medium's own, as a plan has them: words `key=value` with a blank between
    /// them.
    pub settings: String,
    /// Time from a tuple to the next by size, in nanoseconds.
    pub fit: CostFit,
    /// Median time from an operator to the next, in nanoseconds, of tuples that come one by one.
    pub latency_ns: f64,
    /// Half the range of the turns, as percent of their median: the largest of all sizes. `None`:
    /// there was one turn, which has no range.
    pub noise_percent: Option<f64>,
}

/// The operators that a medium joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MediumReach {
    /// Operators of one process, or of two processes of one host.
    WithinHost,
    /// Operators of two hosts.
    BetweenHosts,
}

impl MediumReach {
    /// Both, with the words that lines of a calibration begin with.
    pub(super) const WORDS: [(MediumReach, &str); 2] = [
        (MediumReach::WithinHost, "within"),
        (MediumReach::BetweenHosts, "between"),
    ];
}

impl MediumCost {
    /// Predicted time from a tuple of `bytes` bytes to the next, in nanoseconds.
    pub fn tuple_ns(&self, bytes: u64) -> f64 {
        self.fit.at(bytes)
    }
}
