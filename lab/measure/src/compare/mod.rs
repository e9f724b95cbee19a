//! What changed from one run of the benchmarks to another, with noise taken into account.
//!
//! Results are matched by benchmark, path, codec, size, receivers, offered rate and peer. On the
//! same host their figures are compared; on hosts that differ, their ratios to the raw controls of
//! the same runs, because absolute figures then say more of the hosts than of the program; and
//! ratios only if the controls are the same, by what the results say of them. `change_interval`
//! says how a change is told from noise.

mod interval;

use std::collections::HashMap;

use serde::Serialize;

use crate::{Host, Outcome};
use interval::change_interval;

/// One row of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonLine {
    /// The question.
    pub bench: String,
    /// The channel that the stream takes.
    pub path: String,
    /// How tuples cross.
    pub codec: Option<String>,
    /// Bytes of a tuple.
    pub size_bytes: Option<u64>,
    /// How many get each tuple.
    pub receivers: Option<u32>,
    /// Tuples a second that the source offers.
    pub rate_offered: Option<f64>,
    /// The project beside which it was measured.
    pub peer: Option<String>,
    /// What was compared; null if there is nothing to compare.
    pub by: Option<ComparedFigure>,
    /// It in A: the geometric mean of the runs, or the result if there is but one.
    pub a: Option<f64>,
    /// It in B.
    pub b: Option<f64>,
    /// B to A, turned so that above 1 is better.
    pub change: Option<f64>,
    /// The lower end of its 99 % interval; null if noise is not known.
    pub change_low: Option<f64>,
    /// The upper end.
    pub change_high: Option<f64>,
    /// What follows.
    pub verdict: Verdict,
}

/// What two results are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparedFigure {
    /// Tuples a second.
    TuplesPerS,
    /// The median latency in nanoseconds.
    LatencyNs,
    /// The ratio to the raw control of the same run.
    Ratio,
}

/// What a comparison finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval is above 1.
    Faster,
    /// The whole interval is below 1.
    Slower,
    /// The interval holds 1.
    NoChange,
    /// A side has fewer than two runs on record, so noise is not known.
    NoiseUnknown,
    /// The hosts differ and so do the controls: no figure of one says anything of the other.
    OtherControl,
    /// B does not have it, or could not measure it.
    OnlyInA,
    /// A does not have it, or could not measure it.
    OnlyInB,
}

impl Verdict {
    /// All, the most telling first.
    pub const ALL: [Verdict; 7] = [
        Verdict::Slower,
        Verdict::Faster,
        Verdict::NoChange,
        Verdict::NoiseUnknown,
        Verdict::OtherControl,
        Verdict::OnlyInA,
        Verdict::OnlyInB,
    ];

    /// In words.
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
    /// Whether it is slower by more than a share, with all of its interval.
    pub fn is_slower_by(&self, share: f64) -> bool {
        let beyond = self.change_high.is_some_and(|high| high < 1.0 - share);
        self.verdict == Verdict::Slower && beyond
    }
}

/// Compares all results of A and B, in the order of A, then those that only B has.
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

/// What the hosts of two runs differ in, in words; none if they are alike.
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

/// What results are matched by; the last tells apart results that are alike in all of it.
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

/// The row of a pair; none if neither side could be measured.
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

/// What the figures of a result count when they are not compared to a control.
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

/// The runs as they are compared: each as it is, or as a share of its neighbour, the control's.
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
