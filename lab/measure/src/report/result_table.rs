//! The tables under the charts: figures, controls, ratios, noise.

use super::figures::{ResultTable, gbit_per_s};
use super::markup::{Markup, MarkupAttributes};
use super::number::{count, nanoseconds, percent, three_digits};
use crate::noise::spread;
use crate::{LatencyPercentiles, Outcome};

/// One column: its heading, whether it holds numbers, its cell for an outcome (empty if none).
struct TableColumn {
    head: &'static str,
    is_numeric: bool,
    cell: fn(&Outcome) -> String,
}

const KEYS: &[TableColumn] = &[
    column("path", false, |row| row.path.clone()),
    column("codec", false, |row| row.codec.clone().unwrap_or_default()),
    column("bytes", true, |row| text(row.size_bytes)),
    column("receivers", true, |row| text(row.receivers)),
    column("offered/s", true, |row| {
        row.rate_offered.map(count).unwrap_or_default()
    }),
];

/// The project that a result stands beside, where it is not a control of ours.
const PEERS: &[TableColumn] = &[column("peer", false, |row| {
    row.peer.clone().unwrap_or_default()
})];

const RATES: &[TableColumn] = &[
    column("Gbit/s", true, |row| {
        gbit_per_s(row).map(three_digits).unwrap_or_default()
    }),
    column("tuples/s", true, |row| {
        row.tuples_per_s.map(count).unwrap_or_default()
    }),
    column("control/s", true, |row| {
        row.control_tuples_per_s.map(count).unwrap_or_default()
    }),
];

const PERCENTILES: &[TableColumn] = &[
    column("p50", true, |row| time(row.latency_ns, |l| l.p50)),
    column("p90", true, |row| time(row.latency_ns, |l| l.p90)),
    column("p99", true, |row| time(row.latency_ns, |l| l.p99)),
    column("p99.9", true, |row| time(row.latency_ns, |l| l.p999)),
    column("p99.99", true, |row| time(row.latency_ns, |l| l.p9999)),
    column("max", true, |row| time(row.latency_ns, |l| l.max)),
    column("control p50", true, |row| {
        time(row.control_latency_ns, |l| l.p50)
    }),
    column("control p99", true, |row| {
        time(row.control_latency_ns, |l| l.p99)
    }),
];

const RATIO: &[TableColumn] = &[
    column("ratio", true, |row| {
        row.ratio.map(three_digits).unwrap_or_default()
    }),
    column("noise", true, |row| spread_text(&row.samples)),
    column("control's noise", true, |row| {
        spread_text(&row.control_samples)
    }),
    column("runs", true, |row| row.runs.to_string()),
    column("control", false, |row| {
        row.control.clone().unwrap_or_default()
    }),
];

/// Tables with more rows are folded.
const UNFOLDED_MAX: usize = 24;

/// Writes the table of those outcomes that could be measured; columns without a cell are left out.
pub fn write_table(page: &mut Markup, table: &ResultTable) {
    let rows: Vec<&Outcome> = table
        .rows
        .iter()
        .filter(|o| o.unavailable.is_none())
        .collect();
    if rows.is_empty() {
        return;
    }
    let all = [KEYS, PEERS, RATES, PERCENTILES, RATIO]
        .into_iter()
        .flatten();
    // One receiver is the rule, and not worth a column.
    let worth = |column: &TableColumn, row: &Outcome| match column.head {
        "receivers" => row.receivers > Some(1),
        _ => !(column.cell)(row).is_empty(),
    };
    let used = |column: &&TableColumn| rows.iter().any(|row| worth(column, row));
    let columns: Vec<&TableColumn> = all.filter(used).collect();
    // A long table is there for those who ask for it; a short one just is.
    let open: MarkupAttributes = match rows.len() {
        ..=UNFOLDED_MAX => &[("open", &"open")],
        _ => &[],
    };
    page.open("details", open)
        .text_element("summary", &[], summary(&table.release, rows.len()));
    page.open("div", &[("class", &"wide")]);
    write_grid(page, &columns, &rows);
    page.close().close().line();
}

fn summary(release: &str, count: usize) -> String {
    let results = if count == 1 { "result" } else { "results" };
    let summary = format!("{count} {results}: figure, control, ratio, noise");
    match release {
        "" => summary,
        release => format!("{release}, {summary}"),
    }
}

fn write_grid(page: &mut Markup, columns: &[&TableColumn], rows: &[&Outcome]) {
    let class = |column: &TableColumn| if column.is_numeric { "number" } else { "text" };
    page.open("table", &[]).open("thead", &[]).open("tr", &[]);
    for column in columns {
        page.text_element("th", &[("class", &class(column))], column.head);
    }
    page.close().close().line().open("tbody", &[]).line();
    for row in rows {
        page.open("tr", &[]);
        for column in columns {
            page.text_element("td", &[("class", &class(column))], (column.cell)(row));
        }
        page.close().line();
    }
    page.close().close();
}

const fn column(head: &'static str, number: bool, cell: fn(&Outcome) -> String) -> TableColumn {
    TableColumn {
        head,
        is_numeric: number,
        cell,
    }
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn time(latency: Option<LatencyPercentiles>, of: fn(&LatencyPercentiles) -> u64) -> String {
    let shown = |latency: LatencyPercentiles| nanoseconds(of(&latency) as f64);
    latency.map(shown).unwrap_or_default()
}

fn spread_text(samples: &[f64]) -> String {
    let shown = |share| format!("±{}", percent(share));
    spread(samples).map(shown).unwrap_or_default()
}
