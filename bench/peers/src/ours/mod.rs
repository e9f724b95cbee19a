//! Thalweg's own contenders: an SPL program as a user would run it, and its bare medium beside it.

mod medium;
mod program;

use suite::Path;

use crate::{Failure, Task};

/// One of Thalweg's contenders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ours {
    /// An SPL program on a path: the whole engine.
    Program,
    /// The path's medium alone: frames of bytes by the transport contract.
    Medium,
}

impl Ours {
    /// Both.
    pub const ALL: [Ours; 2] = [Ours::Program, Ours::Medium];

    /// As it is written in arguments.
    pub fn name(self) -> &'static str {
        match self {
            Ours::Program => "program",
            Ours::Medium => "medium",
        }
    }

    /// Does a task in the process of a turn; what came of it is printed, or to be printed.
    ///
    /// # Errors
    /// The program or the medium fails.
    pub fn run(self, path: Path, task: &Task) -> Result<String, Failure> {
        match self {
            Ours::Program => program::run(path, task),
            Ours::Medium => medium::run(path, task),
        }
    }
}
