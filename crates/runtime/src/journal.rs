//! Trace and log messages of the operators, one line each on standard error.
//!
//! ```text
//! 2024-05-01T12:00:00.123456Z WARN  Trades [parse] 3 records skipped
//! ```

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use graph::TraceLevel;

/// What is written and what is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Trace messages up to this level.
    pub trace: TraceLevel,
    /// Log messages up to this level.
    pub log: TraceLevel,
}

impl Default for Levels {
    /// No traces; logs of errors and warnings.
    fn default() -> Levels {
        Levels {
            trace: TraceLevel::Off,
            log: TraceLevel::Warn,
        }
    }
}

/// Writes messages.
pub(crate) struct Journal {
    pub levels: Levels,
    sink: Mutex<Box<dyn Write + Send>>,
}

impl Journal {
    pub fn new(levels: Levels, sink: Box<dyn Write + Send>) -> Journal {
        let sink = Mutex::new(sink);
        Journal { levels, sink }
    }

    /// Writes a message. That it cannot be written is nobody's fault and stops nothing.
    pub fn write(&self, level: TraceLevel, operator: &str, aspect: &str, message: &str) {
        let time = jiff::Timestamp::now();
        let name = name(level);
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
    /// What the system says.
    pub fn print(&self, text: &[u8]) -> io::Result<()> {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        sink.write_all(text)
    }
}

/// The level of a name in a config clause: `tracing: debug`.
pub(crate) fn level(name: &str) -> Option<TraceLevel> {
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

fn name(level: TraceLevel) -> &'static str {
    match level {
        TraceLevel::Off => "OFF",
        TraceLevel::Error => "ERROR",
        TraceLevel::Warn => "WARN",
        TraceLevel::Info => "INFO",
        TraceLevel::Debug => "DEBUG",
        TraceLevel::Trace => "TRACE",
    }
}
