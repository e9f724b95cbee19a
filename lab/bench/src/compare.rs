//! `thalweg bench compare`: what changed between two releases.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use measure::compare::{
    ComparedFigure, ComparisonLine, Verdict, compare as compare_outcomes, hosts_differ,
};
use measure::report::{Release, count, nanoseconds, percent, three_digits};

use crate::failure::BenchFailure;
use crate::history::{HISTORY_FOLDER, load_release};
use crate::output::write_stdout;
use crate::text_columns::TextColumns;

/// Arguments of `thalweg bench compare`
#[derive(Debug, ClapArgs)]
pub struct CompareArgs {
    /// Results before: a file of results, a folder that holds one, or the name of a release
    pub a: String,

    /// Results after, in the same form
    pub b: String,

    /// Fail if a result is slower by more than so many percent, with all of its interval
    #[arg(long, value_name = "PERCENT", value_parser = percentage)]
    pub fail_on_slower: Option<f64>,

    /// One JSON object instead of a table
    #[arg(long)]
    pub json: bool,

    /// Where the results of releases are kept
    #[arg(long, value_name = "DIR", default_value = HISTORY_FOLDER)]
    pub history: PathBuf,
}

/// Prints a comparison of two results.
///
/// # Errors
/// Results cannot be read, or one is slower than `--fail-on-slower` allows.
pub fn compare(args: &CompareArgs) -> Result<(), BenchFailure> {
    let (a, b) = (
        load_release(&args.a, &args.history)?,
        load_release(&args.b, &args.history)?,
    );
    let rows = compare_outcomes(&a.outcomes, &b.outcomes);
    let differ = first_host(&a).zip(first_host(&b));
    let differ = differ.and_then(|(a, b)| hosts_differ(a, b));
    write_stdout(&match args.json {
        true => json(&a, &b, differ.as_deref(), &rows),
        false => text(&a, &b, differ.as_deref(), &rows),
    })?;
    let Some(percent) = args.fail_on_slower else {
        return Ok(());
    };
    let slower: Vec<String> = rows
        .iter()
        .filter(|row| row.is_slower_by(percent / 100.0))
        .map(title)
        .collect();
    match slower.is_empty() {
        true => Ok(()),
        false => Err(BenchFailure::Failed(format!(
            "slower by more than {percent} %: {}",
            slower.join("; ")
        ))),
    }
}

fn first_host(release: &Release) -> Option<&measure::Host> {
    release.outcomes.first().map(|outcome| &outcome.host)
}

fn json(a: &Release, b: &Release, differ: Option<&str>, rows: &[ComparisonLine]) -> String {
    let whole = serde_json::json!({
        "a": a.name,
        "b": b.name,
        "hosts_differ": differ,
        "rows": rows,
    });
    format!("{whole:#}\n")
}

fn text(a: &Release, b: &Release, differ: Option<&str>, rows: &[ComparisonLine]) -> String {
    let mut text = format!("A: {}\nB: {}\n", origin(a), origin(b));
    if let Some(differ) = differ {
        text += &format!(
            "The hosts differ ({differ}): ratios to the raw controls are compared, not rates.\n"
        );
    }
    text += "\n";
    let head = [
        "BENCH",
        "PATH",
        "CODEC",
        " BYTES",
        " RECEIVERS",
        " OFFERED",
        " A",
        " B",
        " CHANGE",
        " INTERVAL",
        "VERDICT",
    ];
    let mut table = TextColumns::new(&head);
    for row in rows {
        table.add_row(cells(row));
    }
    text += &table.to_text();
    text += &format!("\n{}\n", summary(rows));
    text
}

/// A release with the commit at which it was measured.
fn origin(release: &Release) -> String {
    let commit = release.outcomes.iter().find_map(|o| o.commit.as_deref());
    match commit {
        Some(commit) => format!("{}, commit {commit}", release.name),
        None => release.name.clone(),
    }
}

fn cells(row: &ComparisonLine) -> Vec<String> {
    let dash = || "-".to_owned();
    let figure = |value: Option<f64>| match (value, row.by) {
        (Some(value), Some(ComparedFigure::TuplesPerS)) => format!("{}/s", count(value)),
        (Some(value), Some(ComparedFigure::LatencyNs)) => nanoseconds(value),
        (Some(value), Some(ComparedFigure::Ratio)) => three_digits(value),
        _ => dash(),
    };
    let interval = row.change_low.zip(row.change_high);
    vec![
        row.bench.clone(),
        row.path.clone(),
        row.codec.clone().unwrap_or_else(dash),
        row.size_bytes.map_or_else(dash, |size| size.to_string()),
        row.receivers.map_or_else(dash, |n| n.to_string()),
        row.rate_offered
            .map_or_else(dash, |rate| format!("{rate}/s")),
        figure(row.a),
        figure(row.b),
        row.change.map_or_else(dash, signed_change),
        interval.map_or_else(dash, |(low, high)| {
            format!("{} to {}", signed_change(low), signed_change(high))
        }),
        row.verdict.description().to_owned(),
    ]
}

/// A ratio as a change, `+3.2 %`, or from 3 on as a factor, `×36`.
fn signed_change(ratio: f64) -> String {
    const FACTOR_FROM: f64 = 3.0;
    if ratio >= FACTOR_FROM {
        return format!("×{}", three_digits(ratio));
    }
    let sign = if ratio >= 1.0 { "+" } else { "" };
    format!("{sign}{}", percent(ratio - 1.0))
}

fn summary(rows: &[ComparisonLine]) -> String {
    let counts = Verdict::ALL.iter().filter_map(|verdict| {
        let count = rows.iter().filter(|row| row.verdict == *verdict).count();
        (count > 0).then(|| format!("{count} {}", verdict.description()))
    });
    let counts: Vec<String> = counts.collect();
    match counts.is_empty() {
        true => "Nothing to compare.".to_owned(),
        false => counts.join(", "),
    }
}

/// The case of a row in a few words, with its change.
fn title(row: &ComparisonLine) -> String {
    let codec = row.codec.as_deref().map(|codec| format!(" {codec}"));
    let size = row.size_bytes.map(|size| format!(" {size} B"));
    let receivers = row.receivers.map(|n| format!(" to {n}"));
    let rate = row.rate_offered.map(|rate| format!(" at {rate}/s"));
    let parts = [codec, size, receivers, rate].into_iter().flatten();
    let change = row
        .change
        .map(|change| format!(" {}", signed_change(change)));
    format!(
        "{} {}{}{}",
        row.bench,
        row.path,
        parts.collect::<String>(),
        change.unwrap_or_default()
    )
}

fn percentage(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("must be a number of percent, 0 to 100".to_owned()),
    }
}
