//! Comparison of two runs of the benchmarks, with noise taken into account.
//!
//! Results are matched by benchmark, path, codec, size, receivers, offered rate and peer. On the
//! same host their figures are compared. On hosts that differ, their ratios to the raw controls are
//! compared, since absolute figures then tell more of the hosts than of the program. Ratios are
//! compared only if both results name the same control. `interval` tells a change from noise.

mod interval;

use std::collections::HashMap;

use interval::change_interval;
use serde::Serialize;

use crate::{Host, Outcome};

/// One row of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonLine {
    /// Name of the benchmark, for instance `throughput`.
    pub bench: String,
    /// Path that the stream takes.
    pub path: String,
    /// Codec of the tuples: `facade` or `normal`.
    pub codec: Option<String>,
    /// Bytes of a tuple's attributes.
    pub size_bytes: Option<u64>,
    /// Number of receivers of each tuple.
    pub receivers: Option<u32>,
    /// Tuples a second that the source offers.
    pub rate_offered: Option<f64>,
    /// Project that Thalweg was measured beside.
    pub peer: Option<String>,
    /// Figure that was compared; null if there was none to compare.
    pub by: Option<ComparedFigure>,
    /// Value of the figure in A: the geometric mean of the runs, or the result if it has one run.
    pub a: Option<f64>,
    /// Value of the figure in B, as in A.
    pub b: Option<f64>,
    /// Ratio of B to A; of latencies A to B, so that above 1 is always better.
    pub change: Option<f64>,
    /// Lower end of the 99 % interval of `change`; null if the noise is not known.
    pub change_low: Option<f64>,
    /// Upper end of the 99 % interval of `change`; null if the noise is not known.
    pub change_high: Option<f64>,
    /// Conclusion from the change and its interval.
    pub verdict: Verdict,
}

/// The figure by which two results are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparedFigure {
    /// Throughput in tuples a second.
    TuplesPerS,
    /// The median latency in nanoseconds.
    LatencyNs,
    /// The ratio to the raw control of the same run.
    Ratio,
}

/// The conclusion of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval is above 1.
    Faster,
    /// The whole interval is below 1.
    Slower,
    /// The interval contains 1.
    NoChange,
    /// A side has fewer than two runs on record, so noise is not known.
    NoiseUnknown,
    /// The hosts differ and so do the controls, so no figure of A can be compared with one of B.
    OtherControl,
    /// B lacks the result, or could not measure it.
    OnlyInA,
    /// A lacks the result, or could not measure it.
    OnlyInB,
}

impl Verdict {
    /// All verdicts in the order of summaries: changes first.
    pub const ALL: [Verdict; 7] = [
        Verdict::Slower,
        Verdict::Faster,
        Verdict::NoChange,
        Verdict::NoiseUnknown,
        Verdict::OtherControl,
        Verdict::OnlyInA,
        Verdict::OnlyInB,
    ];

    /// The verdict in words, as tables and summaries print it.
    pub fn description(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::NoChange => "no change within noise",
            Verdict::NoiseUnknown => "noise not known",
            Verdict::OtherControl => "beside another control",
            Verdict::OnlyInA => "only in A",
            Verdict::OnlyInB => "only in B",
        }
    }
}

impl ComparisonLine {
    /// Whether the result is slower by more than `share`, with its whole interval.
    pub fn is_slower_by(&self, share: f64) -> bool {
        let beyond = self.change_high.is_some_and(|high| high < 1.0 - share);
        self.verdict == Verdict::Slower && beyond
    }
}

/// Compares all results of A and B: first those of A in their order, then those that only B has.
///
/// # Example
/// ```
/// use thalweg_measure::Outcome;
/// use thalweg_measure::compare::{Verdict, compare};
///
/// let outcome = |rate: f64| Outcome {
///     bench: "throughput".to_owned(),
///     tuples_per_s: Some(rate),
///     samples: vec![0.99 * rate, rate, 1.01 * rate],
///     ..Outcome::default()
/// };
/// let lines = compare(&[outcome(1e6)], &[outcome(2e6)]);
/// assert_eq!(lines[0].verdict, Verdict::Faster);
/// ```
pub fn compare(a: &[Outcome], b: &[Outcome]) -> Vec<ComparisonLine> {
    let (a, b) = (keyed_outcomes(a), keyed_outcomes(b));
    let others: HashMap<&ResultKey, &Outcome> = b.iter().map(|(key, o)| (key, *o)).collect();
    let known: HashMap<&ResultKey, &Outcome> = a.iter().map(|(key, o)| (key, *o)).collect();
    let rows = a
        .iter()
        .map(|(key, outcome)| comparison_row(Some(outcome), others.get(key).copied()));
    let new = b.iter().filter(|(key, _)| !known.contains_key(key));
    let new = new.map(|(_, outcome)| comparison_row(None, Some(outcome)));
    rows.chain(new).flatten().collect()
}

/// The differences between the hosts of two runs, in words; `None` if the hosts are alike.
pub fn hosts_differ(a: &Host, b: &Host) -> Option<String> {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "not known".to_owned());
    let facts = [
        ("processor", a.processor.clone(), b.processor.clone()),
        ("cores", a.cores.to_string(), b.cores.to_string()),
        ("kernel", a.kernel.clone(), b.kernel.clone()),
        ("huge pages", a.huge_pages.clone(), b.huge_pages.clone()),
        ("governor", text(&a.governor), text(&b.governor)),
    ];
    // Jitter is left out: it is another one each second.
    let different = facts.iter().filter(|(_, a, b)| a != b);
    let words: Vec<String> = different
        .map(|(name, a, b)| format!("{name} {a} in A, {b} in B"))
        .collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// The fields by which results are matched. The last counts earlier results with equal fields.
type ResultKey = (
    String,
    String,
    Option<String>,
    Option<u64>,
    Option<u32>,
    Option<u64>,
    Option<String>,
    usize,
);

fn keyed_outcomes(outcomes: &[Outcome]) -> Vec<(ResultKey, &Outcome)> {
    let mut seen: HashMap<ResultKey, usize> = HashMap::new();
    let key = |outcome: &Outcome| {
        let mut key: ResultKey = (
            outcome.bench.clone(),
            outcome.path.clone(),
            outcome.codec.clone(),
            outcome.size_bytes,
            outcome.receivers,
            outcome.rate_offered.map(f64::to_bits),
            outcome.peer.clone(),
            0,
        );
        let nth = seen.entry(key.clone()).or_default();
        key.7 = *nth;
        *nth += 1;
        key
    };
    outcomes.iter().map(key).zip(outcomes).collect()
}

/// The row of a pair; `None` if neither side could be measured.
fn comparison_row(a: Option<&Outcome>, b: Option<&Outcome>) -> Option<ComparisonLine> {
    let measured = |o: &&Outcome| o.unavailable.is_none();
    let (a, b) = (a.filter(measured), b.filter(measured));
    let either = a.or(b)?;
    let mut row = ComparisonLine {
        bench: either.bench.clone(),
        path: either.path.clone(),
        codec: either.codec.clone(),
        size_bytes: either.size_bytes,
        receivers: either.receivers,
        rate_offered: either.rate_offered,
        peer: either.peer.clone(),
        by: None,
        a: None,
        b: None,
        change: None,
        change_low: None,
        change_high: None,
        verdict: Verdict::NoiseUnknown,
    };
    match (a, b) {
        (Some(a), Some(b)) => set_verdict(&mut row, a, b),
        (Some(a), None) => set_one_sided(&mut row, a, Verdict::OnlyInA),
        (None, Some(b)) => set_one_sided(&mut row, b, Verdict::OnlyInB),
        (None, None) => return None,
    }
    Some(row)
}

fn set_one_sided(row: &mut ComparisonLine, outcome: &Outcome, verdict: Verdict) {
    let by = absolute_figure(outcome);
    let value = figure_value(outcome, by);
    (row.by, row.verdict) = (value.map(|_| by), verdict);
    match verdict {
        Verdict::OnlyInA => row.a = value,
        _ => row.b = value,
    }
}

fn set_verdict(row: &mut ComparisonLine, a: &Outcome, b: &Outcome) {
    let by = match hosts_differ(&a.host, &b.host) {
        Some(_) => ComparedFigure::Ratio,
        None => absolute_figure(a),
    };
    if by == ComparedFigure::Ratio && a.control != b.control {
        row.verdict = Verdict::OtherControl;
        return;
    }
    (row.a, row.b) = (figure_value(a, by), figure_value(b, by));
    row.by = row.a.and(row.b).map(|_| by);
    let turned = |change: f64| match by {
        ComparedFigure::LatencyNs => 1.0 / change,
        _ => change,
    };
    let plain = row.a.zip(row.b).map(|(a, b)| turned(b / a));
    row.change = plain.filter(|change| change.is_finite());
    let Some(found) = change_interval(&compared_runs(a, by), &compared_runs(b, by)) else {
        return;
    };
    // Means of the runs from here on, so that the change is what lies between the two.
    (row.a, row.b) = (Some(found.a), Some(found.b));
    let (low, high) = (turned(found.low), turned(found.high));
    let (low, high) = (low.min(high), low.max(high));
    row.change = Some(turned(found.change));
    (row.change_low, row.change_high) = (Some(low), Some(high));
    row.verdict = match (low > 1.0, high < 1.0) {
        (true, _) => Verdict::Faster,
        (_, true) => Verdict::Slower,
        _ => Verdict::NoChange,
    };
}

/// The figure of a result when it is not compared with a control.
fn absolute_figure(outcome: &Outcome) -> ComparedFigure {
    match outcome.latency_ns {
        Some(_) => ComparedFigure::LatencyNs,
        None => ComparedFigure::TuplesPerS,
    }
}

fn figure_value(outcome: &Outcome, by: ComparedFigure) -> Option<f64> {
    match by {
        ComparedFigure::TuplesPerS => outcome.tuples_per_s,
        ComparedFigure::LatencyNs => outcome.latency_ns.map(|latency| latency.p50 as f64),
        ComparedFigure::Ratio => outcome.ratio,
    }
}

/// The runs to compare: as they are, or each as a share of the control's neighbouring run.
fn compared_runs(outcome: &Outcome, by: ComparedFigure) -> Vec<f64> {
    if by != ComparedFigure::Ratio {
        return outcome.samples.clone();
    }
    if outcome.samples.len() != outcome.control_samples.len() {
        return Vec::new();
    }
    let pairs = outcome.samples.iter().zip(&outcome.control_samples);
    match outcome.latency_ns {
        // A shorter time is better; the ratio is turned in the record too.
        Some(_) => pairs.map(|(own, control)| control / own).collect(),
        None => pairs.map(|(own, control)| own / control).collect(),
    }
}
