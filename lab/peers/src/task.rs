//! The task of a contender in one turn, and its form as arguments of a process.

use std::fmt;
use std::str::FromStr;

use crate::BoxError;

/// The question that a turn answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerQuestion {
    /// Messages a second at full rate.
    Throughput,
    /// Time of one message from end to end, while no other is under way.
    Latency,
}

/// The task of one contender in one turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerTask {
    /// Question that the turn answers.
    pub question: PeerQuestion,
    /// Bytes of a message, a multiple of 8.
    pub bytes: usize,
    /// Number of messages of the turn.
    pub messages: u64,
    /// Prefix of all names of files and shared memory, by which they are removed: see
    /// [`crate::ScratchFolder`].
    pub scratch: String,
}

impl PeerTask {
    /// Words of a message.
    pub fn words(&self) -> usize {
        self.bytes / 8
    }

    /// Number of messages in a queue that is as large as the rings of Thalweg's media, at least 16.
    pub fn queue_messages(&self) -> usize {
        (QUEUE_BYTES / self.bytes).max(QUEUE_MIN)
    }

    /// The task as arguments of a command.
    pub fn to_args(&self) -> [String; 4] {
        [
            self.question.to_string(),
            self.bytes.to_string(),
            self.messages.to_string(),
            self.scratch.clone(),
        ]
    }

    /// Reads the arguments of a command.
    ///
    /// # Errors
    /// The arguments are not those of [`PeerTask::to_args`].
    pub fn from_args(args: &[String]) -> Result<PeerTask, BoxError> {
        let [question, bytes, messages, scratch] = args else {
            return Err("a task is a question, bytes, messages and a name".into());
        };
        Ok(PeerTask {
            question: question.parse()?,
            bytes: bytes.parse()?,
            messages: messages.parse()?,
            scratch: scratch.clone(),
        })
    }
}

/// Bytes of a queue whose size can be chosen.
pub const QUEUE_BYTES: usize = 512 * 1024;

/// Messages that a queue holds at least.
const QUEUE_MIN: usize = 16;

impl fmt::Display for PeerQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PeerQuestion::Throughput => "throughput",
            PeerQuestion::Latency => "latency",
        })
    }
}

impl FromStr for PeerQuestion {
    type Err = String;

    fn from_str(text: &str) -> Result<PeerQuestion, String> {
        let all = [PeerQuestion::Throughput, PeerQuestion::Latency];
        let found = all.into_iter().find(|one| one.to_string() == text);
        found.ok_or_else(|| format!("`{text}` is neither throughput nor latency"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_read_as_they_are_written() {
        for question in [PeerQuestion::Throughput, PeerQuestion::Latency] {
            let task = PeerTask {
                question,
                bytes: 64,
                messages: 5,
                scratch: "thalweg-peers-1-2".to_owned(),
            };
            assert_eq!(PeerTask::from_args(&task.to_args()).unwrap(), task);
        }
        assert!(PeerTask::from_args(&["throughput".to_owned()]).is_err());
        assert!("both".parse::<PeerQuestion>().is_err());
    }
}
