//! Which figures a page has, and what goes into each: outcomes in, sections with charts out.
//!
//! The figures are those of the Streams 2.0 report, with its numbers; what it has no figure for
//! comes behind them. A section is there when a benchmark of its question ran, or could not run.

mod fanout;
mod latency;
mod question;
mod ratios;
mod release_lines;
mod section;
mod series;
mod throughput;

pub use question::{gbit_per_s, path_ladder, paths};
pub use section::{ReportSection, ResultTable};
pub use series::colour;

use super::release::Release;

/// All sections of a page, in their order. The last release is the one that the page is about.
pub fn sections(releases: &[Release]) -> Vec<ReportSection> {
    let Some(newest) = releases.last() else {
        return Vec::new();
    };
    let outcomes = &newest.outcomes;
    let mut sections = throughput::sections(outcomes);
    sections.extend(fanout::sections(outcomes));
    sections.extend(latency::sections(outcomes));
    sections.extend(ratios::sections(outcomes));
    sections.extend(release_lines::sections(releases));
    let holds = |table: &ResultTable| !table.rows.is_empty();
    sections.retain(|section| section.tables.iter().any(holds));
    sections
}
