//! Lines of results: names with values, each followed by a comma and a space.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};

use measure::{Histogram, Latency};

/// A line of our own: those of smx_perf have nothing before their first name.
pub(crate) struct Line(String);

impl Line {
    /// With what it is about before its names.
    pub(crate) fn new(about: &str) -> Line {
        Line(format!("+ {about}: "))
    }

    /// One more name.
    pub(crate) fn value(mut self, name: &str, value: impl Display) -> Line {
        // Writing to a text does not fail.
        let _ = write!(self.0, "{name}={value}, ");
        self
    }

    /// A rate, in messages a second.
    pub(crate) fn rate(self, name: &str, rate: f64) -> Line {
        self.value(name, format_args!("{rate:.6}"))
    }

    /// How many latencies there are, and their percentiles if there are any.
    pub(crate) fn latencies(self, all: &Histogram) -> Line {
        let line = self.value("count", all.count());
        let Some(latency) = all.latency() else {
            return line;
        };
        let Latency {
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

    /// Prints it.
    pub(crate) fn print(self, out: &mut dyn Write) -> io::Result<()> {
        print(out, &self.0)
    }
}

/// Prints a line at once.
pub(crate) fn print(out: &mut dyn Write, line: &str) -> io::Result<()> {
    writeln!(out, "{line}")?;
    out.flush()
}
