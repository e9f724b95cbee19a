//! The results of one release as Markdown tables, for a page of the documentation.
//!
//! ```text
//! outcomes ──by benchmark──> one table each: a row per path or size, one convention for all cells
//! ```

use super::figures::{gbit_per_s, paths};
use super::number::{nanoseconds, three_digits};
use super::release::Release;
use crate::{Host, Outcome};

/// The tables of a release, each under a heading of the second level. A benchmark without results
/// has no table.
///
/// # Example
/// ```
/// use measure::{Outcome, report};
/// # use thalweg_measure as measure;
///
/// let outcome = Outcome {
///     bench: "chain".to_owned(),
///     size_bytes: Some(64),
///     tuples_per_s: Some(3.5e8),
///     ratio: Some(1.25),
///     ..Outcome::default()
/// };
/// let release = report::Release { name: "0.1.0".to_owned(), outcomes: vec![outcome] };
/// assert!(report::markdown(&release).contains("| 64 | 350 | 1.25 |"));
/// ```
pub fn markdown(release: &Release) -> String {
    let outcomes = &release.outcomes;
    let of = |bench: &str| -> Vec<&Outcome> {
        let measured = outcomes.iter().filter(|one| one.unavailable.is_none());
        measured.filter(|one| one.bench == bench).collect()
    };
    let mut text = origin(release);
    text += &ladder(&of("throughput"));
    for (title, bench) in [
        ("Within a host, by size", "throughput"),
        ("Between hosts", "hosts"),
    ] {
        for codec in ["facade", "normal"] {
            text += &by_size(&format!("{title}, {codec} tuples"), &of(bench), codec);
        }
    }
    text += &fan_out(&of("fanout"));
    text += &chain(&of("chain"));
    text += &by_name("Operators", &of("operators"));
    text += &by_name("Expressions", &of("expressions"));
    text += &round_trips("Round trips within a host", &of("latency"));
    text += &round_trips("Round trips between hosts", &of("hosts-latency"));
    text
}

/// Where the results are from: release, machine, commit and command.
fn origin(release: &Release) -> String {
    let Some(first) = release.outcomes.first() else {
        return "There are no results.\n".to_owned();
    };
    let Host {
        processor,
        cores,
        kernel,
        huge_pages,
        jitter_ns,
        ..
    } = &first.host;
    let jitter = jitter_ns.map(|ns| format!(", gaps of up to {}", nanoseconds(ns as f64)));
    format!(
        "Release {}, commit {}, by `thalweg bench {}`: {processor}, {cores} cores, Linux {kernel}, \
         huge pages {huge_pages}{}.\n",
        release.name,
        first.commit.as_deref().unwrap_or("unknown"),
        first.options.as_deref().unwrap_or("all"),
        jitter.unwrap_or_default()
    )
}

/// The paths at 64 bytes, fastest first.
fn ladder(outcomes: &[&Outcome]) -> String {
    const SIZE: u64 = 64;
    let mut table = MarkdownTable::new(&["path", "million tuples/s", "Gbit/s", "ratio", "control"]);
    let sized = outcomes.iter().filter(|one| one.size_bytes == Some(SIZE));
    for one in sized.filter(|one| one.codec.as_deref() != Some("normal")) {
        table.add_row(vec![
            one.path.clone(),
            millions(one.tuples_per_s),
            gbit_per_s(one).map(three_digits).unwrap_or_default(),
            ratio(one),
            one.control.clone().unwrap_or_default(),
        ]);
    }
    table.to_text("The ladder at 64 bytes")
}

/// A row per size, a column per path; tuples without a codec count as facade tuples.
fn by_size(title: &str, outcomes: &[&Outcome], codec: &str) -> String {
    let is_of = |one: &&&Outcome| one.codec.as_deref().unwrap_or("facade") == codec;
    let rows: Vec<&Outcome> = outcomes.iter().filter(is_of).copied().collect();
    let paths = paths(rows.iter().copied());
    let mut table = MarkdownTable::new(&[&["bytes"][..], &paths].concat());
    for size in sorted(rows.iter().filter_map(|one| one.size_bytes)) {
        let cell = |path: &&str| {
            let mut found = rows.iter();
            let found = found.find(|one| one.path == **path && one.size_bytes == Some(size));
            found.map_or(String::new(), |one| rate_and_ratio(one))
        };
        let cells = paths.iter().map(cell);
        table.add_row([size.to_string()].into_iter().chain(cells).collect());
    }
    table.to_text(title)
}

/// A row per path and size, a column per number of receivers.
fn fan_out(outcomes: &[&Outcome]) -> String {
    let receivers = sorted(outcomes.iter().filter_map(|one| one.receivers));
    let head: Vec<String> = receivers.iter().map(|n| format!("to {n}")).collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = MarkdownTable::new(&[&["path", "bytes"][..], &head].concat());
    for path in paths(outcomes.iter().copied()) {
        for size in sorted(outcomes.iter().filter_map(|one| one.size_bytes)) {
            let own = outcomes.iter().filter(|one| one.path == path);
            let own: Vec<_> = own.filter(|one| one.size_bytes == Some(size)).collect();
            let cell = |n: &u32| {
                let found = own.iter().find(|one| one.receivers == Some(*n));
                found.map_or(String::new(), |one| rate_and_ratio(one))
            };
            let cells = receivers.iter().map(cell);
            let keys = [path.to_owned(), size.to_string()].into_iter();
            table.add_row(keys.chain(cells).collect());
        }
    }
    table.to_text("From one source to several receivers")
}

fn chain(outcomes: &[&Outcome]) -> String {
    let mut table = MarkdownTable::new(&["bytes", "million tuples/s", "ratio"]);
    for one in outcomes {
        let size = one.size_bytes.map_or(String::new(), |n| n.to_string());
        table.add_row(vec![size, millions(one.tuples_per_s), ratio(one)]);
    }
    table.to_text("Four fused operators in a row")
}

/// A row per operator or expression, which the path names.
fn by_name(title: &str, outcomes: &[&Outcome]) -> String {
    let mut table = MarkdownTable::new(&["name", "million tuples/s", "ratio"]);
    for one in outcomes {
        table.add_row(vec![
            one.path.clone(),
            millions(one.tuples_per_s),
            ratio(one),
        ]);
    }
    table.to_text(title)
}

fn round_trips(title: &str, outcomes: &[&Outcome]) -> String {
    let head = [
        "path",
        "tuples/s",
        "bytes",
        "p50",
        "p99",
        "p99.9",
        "max",
        "control p50",
        "ratio",
    ];
    let mut table = MarkdownTable::new(&head);
    for one in outcomes {
        let Some(took) = one.latency_ns else { continue };
        let control = one.control_latency_ns.map(|control| control.p50);
        let time = |ns: u64| nanoseconds(ns as f64);
        table.add_row(vec![
            one.path.clone(),
            one.rate_offered.map(three_digits).unwrap_or_default(),
            one.size_bytes
                .map_or(String::new(), |size| size.to_string()),
            time(took.p50),
            time(took.p99),
            time(took.p999),
            time(took.max),
            control.map(time).unwrap_or_default(),
            ratio(one),
        ]);
    }
    table.to_text(title)
}

/// Million tuples a second, and the ratio to the control in parentheses.
fn rate_and_ratio(outcome: &Outcome) -> String {
    let rate = millions(outcome.tuples_per_s);
    match outcome.ratio {
        Some(ratio) => format!("{rate} ({ratio:.2})"),
        None => rate,
    }
}

fn millions(tuples_per_s: Option<f64>) -> String {
    tuples_per_s.map_or(String::new(), |rate| three_digits(rate / 1e6))
}

fn ratio(outcome: &Outcome) -> String {
    let ratio = outcome.ratio;
    ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"))
}

fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// A table as Markdown writes it, with its heading.
struct MarkdownTable {
    lines: Vec<String>,
}

impl MarkdownTable {
    fn new(head: &[&str]) -> MarkdownTable {
        let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
        let rule = vec!["---".to_owned(); head.len()];
        MarkdownTable {
            lines: vec![line(&head), line(&rule)],
        }
    }

    fn add_row(&mut self, cells: Vec<String>) {
        self.lines.push(line(&cells));
    }

    /// Heading and table; the empty text if there are no rows.
    fn to_text(&self, title: &str) -> String {
        match self.lines.len() {
            ..=2 => String::new(),
            _ => format!("\n## {title}\n\n{}", self.lines.concat()),
        }
    }
}

fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}
