//! A section of the page: charts, and the table of the results that they draw.

use crate::Outcome;
use crate::report::bar_chart::BarChart;
use crate::report::chart::Chart;

/// A part of the page: charts, and the table under them.
#[derive(Debug, Clone, Default)]
pub struct ReportSection {
    /// Its anchor.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Which figure of which document it redraws; empty if none.
    pub source: String,
    /// What it shows, in a sentence or two.
    pub description: String,
    /// Its pictures; empty if nothing could be measured.
    pub charts: Vec<Chart>,
    /// Its picture of ratios, for benchmarks without sizes.
    pub bars: Option<BarChart>,
    /// What the pictures are made of.
    pub tables: Vec<ResultTable>,
}

/// Results under a picture.
#[derive(Debug, Clone, Default)]
pub struct ResultTable {
    /// The release they are of; empty if there is only one.
    pub release: String,
    /// The results.
    pub rows: Vec<Outcome>,
}

impl From<Vec<Outcome>> for ResultTable {
    fn from(rows: Vec<Outcome>) -> ResultTable {
        ResultTable {
            rows,
            ..ResultTable::default()
        }
    }
}
