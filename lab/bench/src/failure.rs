//! Why a command of the laboratory did not succeed.

use std::fmt;

/// A failure in one sentence, with its exit status.
#[derive(Debug)]
pub enum BenchFailure {
    /// A measurement, a file or the system failed: status 1.
    Failed(String),
    /// The command was used wrongly: status 2.
    Usage(String),
}

impl BenchFailure {
    /// The exit status of the process.
    pub fn exit_status(&self) -> u8 {
        match self {
            BenchFailure::Failed(_) => 1,
            BenchFailure::Usage(_) => 2,
        }
    }
}

impl fmt::Display for BenchFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (BenchFailure::Failed(sentence) | BenchFailure::Usage(sentence)) = self;
        f.write_str(sentence)
    }
}

impl From<suite::Error> for BenchFailure {
    fn from(error: suite::Error) -> BenchFailure {
        BenchFailure::Failed(error.to_string())
    }
}
