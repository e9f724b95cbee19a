//! The progress line: elapsed time and tuples per second of each source, on a terminal only.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::{output, terminal};

/// Time between two drawings of the line: four a second are read as motion.
const PERIOD: Duration = Duration::from_millis(250);

/// Whether the line is on the terminal now. Global, because [`before_print`] is a plain function.
static IS_DRAWN: AtomicBool = AtomicBool::new(false);

/// Whether the program's output ends inside a line.
static IS_MID_LINE: AtomicBool = AtomicBool::new(false);

/// Draws the progress line while a job runs. Does nothing unless standard error is a terminal that
/// understands escape sequences, and with `--quiet`.
pub struct ProgressLine {
    enabled: bool,
    started: Instant,
    last_counts: Vec<(String, u64)>,
    last_drawn: Instant,
}

impl ProgressLine {
    /// A progress line for a job that starts now.
    pub fn new() -> ProgressLine {
        let now = Instant::now();
        let enabled = !output::is_quiet() && terminal::supports_escapes(&std::io::stderr());
        ProgressLine {
            enabled,
            started: now,
            last_counts: Vec::new(),
            last_drawn: now,
        }
    }

    /// Time to wait for the job before the next [`ProgressLine::draw`]; `None`: for ever.
    pub fn period(&self) -> Option<Duration> {
        self.enabled.then_some(PERIOD)
    }

    /// Draws the line from the number of tuples that each source has submitted so far.
    pub fn draw(&mut self, sources: Vec<(String, u64)>) {
        if !self.enabled {
            return;
        }
        let seconds = self.last_drawn.elapsed().as_secs_f64().max(1e-3);
        let mut line = format!("{:6.1} s", self.started.elapsed().as_secs_f64());
        for (name, count) in &sources {
            let before = self
                .last_counts
                .iter()
                .find(|(n, _)| n == name)
                .map_or(0, |(_, count)| *count);
            let rate = count.saturating_sub(before) as f64 / seconds;
            line += &format!(
                "   {name} {} ({}/s)",
                short_number(*count as f64),
                short_number(rate)
            );
        }
        // A line that the program has begun is not overwritten. A progress line that wraps could
        // not be erased.
        let is_inside = IS_MID_LINE.load(Ordering::Relaxed) && std::io::stdout().is_terminal();
        if !is_inside {
            IS_DRAWN.store(true, Ordering::Relaxed);
            let columns = terminal::size(std::io::stderr()).map_or(0, |size| size.columns);
            let line = terminal::truncate(&line, columns.saturating_sub(1));
            let _ = std::io::stderr().write_all(format!("\r\x1b[K{line}").as_bytes());
        }
        self.last_counts = sources;
        self.last_drawn = Instant::now();
    }
}

/// Erases the line because the program is about to print these bytes.
pub fn before_print(printed: &[u8]) {
    erase();
    if let Some(last) = printed.last() {
        IS_MID_LINE.store(*last != b'\n', Ordering::Relaxed);
    }
}

/// Erases the line if it is drawn.
pub fn erase() {
    if IS_DRAWN.swap(false, Ordering::Relaxed) {
        let _ = std::io::stderr().write_all(b"\r\x1b[K");
    }
}

/// Formats a number with three significant digits and a unit: `12.3 k`, `4.56 M`.
pub fn short_number(number: f64) -> String {
    let (number, unit) = match number {
        n if n >= 1e9 => (n / 1e9, " G"),
        n if n >= 1e6 => (n / 1e6, " M"),
        n if n >= 1e3 => (n / 1e3, " k"),
        n => return format!("{n:.0}"),
    };
    let decimals = if number >= 100.0 {
        0
    } else if number >= 10.0 {
        1
    } else {
        2
    };
    format!("{number:.decimals$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::short_number;

    #[test]
    fn numbers_have_three_digits() {
        let shown: Vec<_> = [0.0, 999.0, 1_000.0, 12_345.0, 4_560_000.0, 7.8e11]
            .map(short_number)
            .into();
        assert_eq!(shown, ["0", "999", "1.00 k", "12.3 k", "4.56 M", "780 G"]);
    }
}
