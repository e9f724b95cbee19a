//! Thalweg's own contenders: an SPL program as users run it, and its bare medium.

mod medium_contender;
mod program_contender;

use suite::StreamPath;

use crate::{BoxError, PeerTask};

/// One of Thalweg's contenders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnContender {
    /// An SPL program on a path: the whole engine.
    Program,
    /// The path's medium alone: frames of bytes by the transport contract.
    Medium,
}

impl OwnContender {
    /// Both contenders, the program first.
    pub const ALL: [OwnContender; 2] = [OwnContender::Program, OwnContender::Medium];

    /// The name of the contender in arguments.
    pub fn name(self) -> &'static str {
        match self {
            OwnContender::Program => "program",
            OwnContender::Medium => "medium",
        }
    }

    /// Does a task in the process of a turn; the lines of its output that are still to be printed.
    ///
    /// # Errors
    /// The program or the medium fails.
    pub fn run(self, path: StreamPath, task: &PeerTask) -> Result<String, BoxError> {
        match self {
            OwnContender::Program => program_contender::run(path, task),
            OwnContender::Medium => medium_contender::run(path, task),
        }
    }
}
