//! Who takes part, and how one turn of it is had: a process of its own.
//!
//! ```text
//!   thalweg-peers ──starts──> thalweg-peers turn CONTENDER TASK ──may start──> the other process, PEs
//! ```
//! So a peer that crashes or hangs ends its turn and nothing else, and what it has allocated,
//! started or left does not meet the next one.

use std::fmt;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Duration;

use suite::StreamPath;

use crate::own_contenders::OwnContender;
use crate::peer::BuiltInPeer;
use crate::{BoxError, PeerQuestion, PeerTask, ScratchFolder, TURN, peers};

/// A peer, or one of ours on a path.
#[derive(Clone, Copy, Debug)]
pub enum Contender {
    /// A peer.
    Peer(BuiltInPeer),
    /// One of ours.
    Own(OwnContender, StreamPath),
}

impl Contender {
    /// Does a task in this process; the lines that say what came of it.
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

/// What has turns done.
pub trait RunTurn {
    /// One turn of a contender; what it has printed.
    ///
    /// # Errors
    /// It fails.
    fn run_turn(
        &self,
        contender: &Contender,
        question: PeerQuestion,
        bytes: usize,
        messages: u64,
    ) -> Result<String, BoxError>;
}

/// Each turn in a process of its own.
pub struct ProcessTurns;

/// A turn that takes longer hangs.
const TURN_TIMEOUT: Duration = Duration::from_secs(60);

impl RunTurn for ProcessTurns {
    fn run_turn(
        &self,
        contender: &Contender,
        question: PeerQuestion,
        bytes: usize,
        messages: u64,
    ) -> Result<String, BoxError> {
        // Cleared away when the process has ended, and with it everybody that it has started.
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

/// Ends this process when the turn that it does takes too long.
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
