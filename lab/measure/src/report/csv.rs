//! Results as comma-separated values: a row per outcome, as RFC 4180 says.
//!
//! Numbers are written so that they read back unchanged. A null is an empty field. Samples are one
//! field, separated by spaces. The first column is the release, empty if there is only one.

use crate::{LatencyPercentiles, Outcome};

/// The names of the columns, in order.
pub const COLUMNS: [&str; 39] = [
    "release",
    "bench",
    "path",
    "codec",
    "size_bytes",
    "receivers",
    "rate_offered",
    "tuples_per_s",
    "gbit_per_s",
    "control_tuples_per_s",
    "ratio",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p99_ns",
    "latency_p999_ns",
    "latency_p9999_ns",
    "latency_max_ns",
    "control_latency_p50_ns",
    "control_latency_p90_ns",
    "control_latency_p99_ns",
    "control_latency_p999_ns",
    "control_latency_p9999_ns",
    "control_latency_max_ns",
    "memory_bytes",
    "control_memory_bytes",
    "control",
    "peer",
    "runs",
    "samples",
    "control_samples",
    "unavailable",
    "host_processor",
    "host_cores",
    "host_kernel",
    "host_huge_pages",
    "host_governor",
    "host_jitter_ns",
    "commit",
    "options",
];

/// All outcomes of all releases as CSV, with a head.
pub fn csv_text<'a>(releases: impl Iterator<Item = (&'a str, &'a [Outcome])>) -> String {
    let mut text = line(&COLUMNS.map(str::to_owned));
    for (release, outcomes) in releases {
        for outcome in outcomes {
            text += &line(&outcome_fields(release, outcome));
        }
    }
    text
}

fn outcome_fields(release: &str, outcome: &Outcome) -> Vec<String> {
    let mut fields = vec![
        release.to_owned(),
        outcome.bench.clone(),
        outcome.path.clone(),
        optional_text(&outcome.codec),
        optional_text(&outcome.size_bytes),
        optional_text(&outcome.receivers),
        optional_text(&outcome.rate_offered),
        optional_text(&outcome.tuples_per_s),
        optional_text(&outcome.gbit_per_s),
        optional_text(&outcome.control_tuples_per_s),
        optional_text(&outcome.ratio),
    ];
    fields.extend(percentiles(outcome.latency_ns));
    fields.extend(percentiles(outcome.control_latency_ns));
    let host = &outcome.host;
    fields.extend([
        optional_text(&outcome.memory_bytes),
        optional_text(&outcome.control_memory_bytes),
        optional_text(&outcome.control),
        optional_text(&outcome.peer),
        outcome.runs.to_string(),
        sample_list(&outcome.samples),
        sample_list(&outcome.control_samples),
        optional_text(&outcome.unavailable),
        host.processor.clone(),
        host.cores.to_string(),
        host.kernel.clone(),
        host.huge_pages.clone(),
        optional_text(&host.governor),
        optional_text(&host.jitter_ns),
        optional_text(&outcome.commit),
        optional_text(&outcome.options),
    ]);
    fields
}

fn percentiles(latency: Option<LatencyPercentiles>) -> [String; 6] {
    let of = |get: fn(&LatencyPercentiles) -> u64| optional_text(&latency.as_ref().map(get));
    [
        of(|l| l.p50),
        of(|l| l.p90),
        of(|l| l.p99),
        of(|l| l.p999),
        of(|l| l.p9999),
        of(|l| l.max),
    ]
}

fn optional_text(value: &Option<impl ToString>) -> String {
    value.as_ref().map(ToString::to_string).unwrap_or_default()
}

fn sample_list(samples: &[f64]) -> String {
    let samples: Vec<String> = samples.iter().map(f64::to_string).collect();
    samples.join(" ")
}

fn line(fields: &[String]) -> String {
    let fields: Vec<String> = fields.iter().map(|field| quote_field(field)).collect();
    fields.join(",") + "\r\n"
}

fn quote_field(field: &str) -> String {
    match field.contains(['"', ',', '\r', '\n']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}
