//! A section of the page: charts, and the table of the results that they draw.

use crate::Outcome;
use crate::report::bar_chart::BarChart;
use crate::report::chart::Chart;

/// A part of the page: charts, and the table under them.
#[derive(Debug, Clone, Default)]
pub struct ReportSection {
    /// Anchor of the section on the page.
    pub id: String,
    /// Heading of the section.
    pub title: String,
    /// Figure and document that the section redraws; empty if none.
    pub source: String,
    /// Description in a sentence or two.
    pub description: String,
    /// Charts of the section; empty if nothing could be measured.
    pub charts: Vec<Chart>,
    /// Chart of ratios, for benchmarks without sizes.
    pub bars: Option<BarChart>,
    /// Tables of the results that the charts draw.
    pub tables: Vec<ResultTable>,
}

/// The results under a chart.
#[derive(Debug, Clone, Default)]
pub struct ResultTable {
    /// Release of the results; empty if there is only one.
    pub release: String,
    /// Results, a row each.
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
