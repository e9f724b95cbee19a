//! Lines of results: names with values, each followed by a comma and a space.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};

use measure::{LatencyHistogram, LatencyPercentiles};

/// A line of results that smx_perf does not have: those of smx_perf have nothing before their first
/// name.
pub(crate) struct ResultLine(String);

impl ResultLine {
    /// A line that begins with its subject.
    pub(crate) fn new(about: &str) -> ResultLine {
        ResultLine(format!("+ {about}: "))
    }

    /// Appends a name with its value.
    pub(crate) fn value(mut self, name: &str, value: impl Display) -> ResultLine {
        // Writing to a string does not fail.
        let _ = write!(self.0, "{name}={value}, ");
        self
    }

    /// Appends a rate in messages a second.
    pub(crate) fn rate(self, name: &str, rate: f64) -> ResultLine {
        self.value(name, format_args!("{rate:.6}"))
    }

    /// Appends the number of latencies, and their percentiles if there are any.
    pub(crate) fn latencies(self, all: &LatencyHistogram) -> ResultLine {
        let line = self.value("count", all.count());
        let Some(latency) = all.percentiles() else {
            return line;
        };
        let LatencyPercentiles {
            p50,
            p90,
            p99,
            p999,
            p9999,
            max,
        } = latency;
        let named = [
            ("p50", p50),
            ("p90", p90),
            ("p99", p99),
            ("p99.9", p999),
            ("p99.99", p9999),
            ("max", max),
        ];
        named
            .into_iter()
            .fold(line, |line, (name, value)| line.value(name, value))
    }

    /// Prints the line and flushes it.
    pub(crate) fn print(self, out: &mut dyn Write) -> io::Result<()> {
        print_line(out, &self.0)
    }
}

/// Prints a line and flushes it.
pub(crate) fn print_line(out: &mut dyn Write, line: &str) -> io::Result<()> {
    writeln!(out, "{line}")?;
    out.flush()
}
