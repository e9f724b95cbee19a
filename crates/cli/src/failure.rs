//! Why a command did not succeed, and so its exit status.

/// Why a command did not succeed.
#[derive(Debug)]
pub enum CommandFailure {
    /// The program or its run failed; everything has been said.
    Reported,
    /// The program or its run failed, in one sentence.
    Program(String),
    /// The command was used wrongly, in one sentence.
    Usage(String),
}

impl From<engine::Error> for CommandFailure {
    fn from(error: engine::Error) -> CommandFailure {
        CommandFailure::Program(error.to_string())
    }
}
