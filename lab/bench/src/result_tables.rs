//! Results as tables on a terminal, one per benchmark.

use std::io::IsTerminal;

use measure::Outcome;

use crate::output::write_stderr;
use crate::plans_summary::plans_summary;
use crate::text_columns::TextColumns;

/// A function that writes a line per result to standard error, if that is a terminal.
pub fn progress_lines() -> impl FnMut(&Outcome) {
    let is_watched = std::io::stderr().is_terminal();
    move |outcome: &Outcome| {
        if is_watched {
            let (bench, path) = (&outcome.bench, &outcome.path);
            let size = outcome.size_bytes.map(|size| format!(" {size} B"));
            write_stderr(&format!(
                "{bench} {path}{}: done\n",
                size.unwrap_or_default()
            ));
        }
    }
}

/// A table per benchmark with notes below it, and the machine at the end.
pub fn result_tables(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    let mut rest = outcomes;
    while let Some(first) = rest.first() {
        let count = rest
            .iter()
            .take_while(|one| one.bench == first.bench)
            .count();
        let (own, others) = rest.split_at(count);
        let (table, notes) = (table(own), notes(own));
        text += &format!("{}\n{table}{notes}{}\n", first.bench, plans_summary(own));
        rest = others;
    }
    text + &outcomes.first().map(machine).unwrap_or_default()
}

/// The table of one benchmark, without the columns that would be empty.
fn table(outcomes: &[Outcome]) -> String {
    let filled = COLUMNS.iter().filter(|(_, cell)| {
        let cells = outcomes.iter().map(cell);
        cells.filter(Option::is_some).count() > 0
    });
    let filled: Vec<_> = filled.collect();
    let heads: Vec<_> = filled.iter().map(|(head, _)| *head).collect();
    let mut table = TextColumns::new(&heads);
    for outcome in outcomes {
        let cells = filled.iter().map(|(_, cell)| cell(outcome));
        table.add_row(cells.map(|cell| cell.unwrap_or("-".to_owned())).collect());
    }
    table.to_text()
}

/// The head of a column, and the text of a cell for an outcome.
type ResultColumn = (&'static str, fn(&Outcome) -> Option<String>);

const COLUMNS: [ResultColumn; 16] = [
    ("PATH", |one| Some(one.path.clone())),
    ("CODEC", |one| one.codec.clone()),
    (" BYTES", |one| one.size_bytes.map(|size| size.to_string())),
    (" RECEIVERS", |one| {
        let several = one.receivers.filter(|_| one.bench == "fanout");
        several.map(|count| count.to_string())
    }),
    (" OFFERED/S", |one| {
        one.rate_offered.map(|rate| rate.to_string())
    }),
    (" M TUPLES/S", |one| one.tuples_per_s.map(millions)),
    (" GBIT/S", |one| {
        one.gbit_per_s.map(|rate| format!("{rate:.2}"))
    }),
    (" CONTROL M/S", |one| one.control_tuples_per_s.map(millions)),
    (" P50 µS", |one| one.latency_ns.map(|ns| micros(ns.p50))),
    (" P99 µS", |one| one.latency_ns.map(|ns| micros(ns.p99))),
    (" P99.9 µS", |one| one.latency_ns.map(|ns| micros(ns.p999))),
    (" MAX µS", |one| one.latency_ns.map(|ns| micros(ns.max))),
    (" CONTROL P50 µS", |one| {
        one.control_latency_ns.map(|ns| micros(ns.p50))
    }),
    (" MB", |one| one.memory_bytes.map(megabytes)),
    (" CONTROL MB", |one| one.control_memory_bytes.map(megabytes)),
    (" RATIO", |one| one.ratio.map(|ratio| format!("{ratio:.2}"))),
];

fn millions(rate: f64) -> String {
    format!("{:.3}", rate / 1e6)
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

fn micros(ns: u64) -> String {
    format!("{:.2}", ns as f64 / 1e3)
}

/// The controls of the paths, and the reasons why paths could not be measured; paths of one control
/// or reason share a line.
fn notes(outcomes: &[Outcome]) -> String {
    let mut notes: Vec<(String, Vec<&str>)> = Vec::new();
    for one in outcomes {
        let note = match (&one.unavailable, &one.control) {
            (Some(why), _) => format!("not measured: {why}"),
            (None, Some(control)) => format!("beside a {control}"),
            (None, None) => continue,
        };
        match notes.iter_mut().find(|(other, _)| *other == note) {
            Some((_, paths)) if paths.contains(&&*one.path) => {}
            Some((_, paths)) => paths.push(&one.path),
            None => notes.push((note, vec![&one.path])),
        }
    }
    let lines = notes.iter();
    lines
        .map(|(note, paths)| format!("  {}: {note}\n", paths.join(", ")))
        .collect()
}

/// The machine, and the commit that was measured.
fn machine(outcome: &Outcome) -> String {
    let host = &outcome.host;
    let jitter = host
        .jitter_ns
        .map(|ns| format!(", gaps of up to {} µs", ns / 1000));
    let commit = outcome.commit.as_deref().unwrap_or("unknown");
    format!(
        "{}, {} cores, Linux {}, huge pages {}{}; commit {commit}\n",
        host.processor,
        host.cores,
        host.kernel,
        host.huge_pages,
        jitter.unwrap_or_default(),
    )
}
