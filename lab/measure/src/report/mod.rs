//! Reports: results as JSON, CSV, Markdown, and as one page with the figures of the Streams 2.0
//! report.
//!
//! ```text
//! outcomes ──figures──> sections of charts ──draw──> SVG ──page──> index.html
//!     ├──csv──> results.csv
//!     └───────> results.json
//! ```
//! The page is self-contained: no network, no scripts. It is well-formed XML besides, which is how
//! the tests read it. `published` holds the values that the source documents print.

mod axis_scale;
mod bar_chart;
mod chart;
mod csv;
mod draw_chart;
mod figures;
mod markdown;
mod markup;
mod number;
mod page;
mod published;
mod release;
mod result_table;
mod write_report;

pub use markdown::markdown;
pub use number::{count, nanoseconds, percent, three_digits};
pub use release::Release;
pub use write_report::{ReportFiles, write, write_releases};
