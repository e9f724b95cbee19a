//! The figures of a page and their contents: from outcomes to sections with charts.
//!
//! The figures are those of the Streams 2.0 report, with its numbers. Benchmarks without a figure
//! in the report follow behind them. A section exists if its benchmark ran, or could not run.

mod fanout;
mod latency;
mod question;
mod rails;
mod ratios;
mod release_lines;
mod section;
mod series;
mod throughput;
mod vega;

pub use question::{gbit_per_s, path_ladder, paths};
pub use section::{ReportSection, ResultTable};
pub use series::colour;

use super::release::Release;

/// All sections of a page in order. The page is about the last release.
pub fn sections(releases: &[Release]) -> Vec<ReportSection> {
    let Some(newest) = releases.last() else {
        return Vec::new();
    };
    let outcomes = &newest.outcomes;
    let mut sections = throughput::sections(outcomes);
    sections.extend(fanout::sections(outcomes));
    sections.extend(latency::sections(outcomes));
    sections.extend(vega::sections(outcomes));
    sections.extend(rails::sections(outcomes));
    sections.extend(ratios::sections(outcomes));
    sections.extend(release_lines::sections(releases));
    let holds = |table: &ResultTable| !table.rows.is_empty();
    sections.retain(|section| section.tables.iter().any(holds));
    sections
}
