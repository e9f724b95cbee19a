//! Trace and log messages of the operators, one line each on standard error.
//!
//! ```text
//! 2024-05-01T12:00:00.123456Z WARN  Trades [parse] 3 records skipped
//! ```

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use eval::TraceLevel;

/// The levels up to which messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceLevels {
    /// Trace messages up to this level.
    pub trace: TraceLevel,
    /// Log messages up to this level.
    pub log: TraceLevel,
}

impl Default for TraceLevels {
    /// No traces; logs of errors and warnings.
    fn default() -> TraceLevels {
        TraceLevels {
            trace: TraceLevel::Off,
            log: TraceLevel::Warn,
        }
    }
}

/// Writer of trace and log messages.
pub(crate) struct MessageLog {
    pub levels: TraceLevels,
    sink: Mutex<Box<dyn Write + Send>>,
}

impl MessageLog {
    pub fn new(levels: TraceLevels, sink: Box<dyn Write + Send>) -> MessageLog {
        let sink = Mutex::new(sink);
        MessageLog { levels, sink }
    }

    /// Writes a message. An error of the sink is ignored: it stops no operator.
    pub fn write(&self, level: TraceLevel, operator: &str, aspect: &str, message: &str) {
        let time = jiff::Timestamp::now();
        let name = level_name(level);
        let aspect = if aspect.is_empty() {
            String::new()
        } else {
            format!("[{aspect}] ")
        };
        let line = format!("{time:.6} {name:<5} {operator} {aspect}{message}\n");
        let _ = self.print(line.as_bytes());
    }

    /// Writes a text between messages.
    ///
    /// # Errors
    /// The error of the system.
    pub fn print(&self, text: &[u8]) -> io::Result<()> {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        sink.write_all(text)
    }
}

/// The level of a name in a config clause: `tracing: debug`.
pub(crate) fn parse_level(name: &str) -> Option<TraceLevel> {
    Some(match name.rsplit('.').next()? {
        "off" => TraceLevel::Off,
        "error" => TraceLevel::Error,
        "warn" => TraceLevel::Warn,
        "info" => TraceLevel::Info,
        "debug" => TraceLevel::Debug,
        "trace" => TraceLevel::Trace,
        _ => return None,
    })
}

fn level_name(level: TraceLevel) -> &'static str {
    match level {
        TraceLevel::Off => "OFF",
        TraceLevel::Error => "ERROR",
        TraceLevel::Warn => "WARN",
        TraceLevel::Info => "INFO",
        TraceLevel::Debug => "DEBUG",
        TraceLevel::Trace => "TRACE",
    }
}
