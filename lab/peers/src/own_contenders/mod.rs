//! Thalweg's own contenders: an SPL program as a user would run it, and its bare medium beside it.

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
    /// Both.
    pub const ALL: [OwnContender; 2] = [OwnContender::Program, OwnContender::Medium];

    /// As it is written in arguments.
    pub fn name(self) -> &'static str {
        match self {
            OwnContender::Program => "program",
            OwnContender::Medium => "medium",
        }
    }

    /// Does a task in the process of a turn; what came of it is printed, or to be printed.
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
