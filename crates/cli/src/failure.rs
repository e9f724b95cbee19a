//! Why a sub-command failed, which decides its exit status.

/// Why a sub-command failed.
#[derive(Debug)]
pub enum CommandFailure {
    /// The program or its run failed, and everything is reported already; exit status 1.
    Reported,
    /// The program or its run failed, for the reason in this sentence; exit status 1.
    Program(String),
    /// The command line is wrong, for the reason in this sentence; exit status 2.
    Usage(String),
}

impl From<engine::Error> for CommandFailure {
    fn from(error: engine::Error) -> CommandFailure {
        CommandFailure::Program(error.to_string())
    }
}
