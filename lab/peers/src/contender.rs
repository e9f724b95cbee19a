//! The contenders of a comparison, and their turns, each in a process of its own.
//!
//! ```text
//!   thalweg-peers ──starts──> thalweg-peers turn CONTENDER TASK ──may start──> other process, PEs
//! ```
//! So a peer that crashes or hangs ends only its turn, and memory, threads and files of one turn do
//! not affect the next.

use std::fmt;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Duration;

use suite::StreamPath;

use crate::own_contenders::OwnContender;
use crate::peer::BuiltInPeer;
use crate::{BoxError, PeerQuestion, PeerTask, ScratchFolder, TURN, peers};

/// A peer, or a contender of Thalweg on a path.
#[derive(Clone, Copy, Debug)]
pub enum Contender {
    /// A peer that is built in.
    Peer(BuiltInPeer),
    /// A contender of Thalweg on a path.
    Own(OwnContender, StreamPath),
}

impl Contender {
    /// Does a task in this process; the lines of its output, see [`crate::turn_output`].
    ///
    /// # Errors
    /// The contender fails.
    pub fn run(&self, task: &PeerTask) -> Result<String, BoxError> {
        match self {
            Contender::Peer(peer) => (peer.run)(task),
            Contender::Own(ours, path) => ours.run(*path, task),
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Contender::Peer(peer) => f.write_str(peer.name),
            Contender::Own(ours, path) => write!(f, "thalweg/{}/{path}", ours.name()),
        }
    }
}

impl FromStr for Contender {
    type Err = String;

    fn from_str(text: &str) -> Result<Contender, String> {
        let parts: Vec<&str> = text.split('/').collect();
        if let ["thalweg", ours, path] = parts[..] {
            let ours = OwnContender::ALL.into_iter().find(|one| one.name() == ours);
            if let Some((ours, path)) = ours.zip(path.parse().ok()) {
                return Ok(Contender::Own(ours, path));
            }
        }
        let entry = peers::all_peers()
            .into_iter()
            .find(|entry| entry.name == text);
        let entry = entry.ok_or_else(|| format!("there is no contender `{text}`"))?;
        entry.peer.map(Contender::Peer)
    }
}

/// A way to run turns; tests simulate one.
pub trait RunTurn {
    /// Runs one turn of a contender; its output.
    ///
    /// # Errors
    /// The contender fails.
    fn run_turn(
        &self,
        contender: &Contender,
        question: PeerQuestion,
        bytes: usize,
        messages: u64,
    ) -> Result<String, BoxError>;
}

/// Runs each turn in a process of its own.
pub struct ProcessTurns;

/// Time after which a turn counts as hanging and its process ends itself.
const TURN_TIMEOUT: Duration = Duration::from_secs(60);

impl RunTurn for ProcessTurns {
    fn run_turn(
        &self,
        contender: &Contender,
        question: PeerQuestion,
        bytes: usize,
        messages: u64,
    ) -> Result<String, BoxError> {
        // Removed when the process has ended, and with it all processes that it has started.
        let scratch = ScratchFolder::new()?;
        let task = PeerTask {
            question,
            bytes,
            messages,
            scratch: scratch.name().to_owned(),
        };
        let output = Command::new(std::env::current_exe()?)
            .args([TURN, &contender.to_string()])
            .args(task.to_args())
            .stdin(Stdio::null())
            .output()?;
        if output.status.success() {
            return Ok(String::from_utf8(output.stdout)?);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("{contender} failed ({}): {}", output.status, said.trim()).into())
    }
}

/// Starts a thread that ends this process if its turn takes too long.
pub fn start_watchdog() {
    std::thread::spawn(|| {
        std::thread::sleep(TURN_TIMEOUT);
        eprintln!("no end after {} s", TURN_TIMEOUT.as_secs());
        std::process::exit(1);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contenders_are_read_as_they_are_written() {
        for text in [
            "thalweg/program/shm",
            "thalweg/medium/threaded",
            "std-sync-channel",
        ] {
            let contender: Contender = text.parse().unwrap();
            assert_eq!(contender.to_string(), text);
        }
        for text in ["thalweg/engine/shm", "thalweg/medium/pigeon", "pigeon", ""] {
            assert!(text.parse::<Contender>().is_err(), "{text}");
        }
    }
}
