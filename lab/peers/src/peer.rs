//! What there is to know of a peer, and how to have it do a task.

use suite::StreamPath;

use crate::{BoxError, PeerQuestion, PeerTask};

/// A peer that is built in.
#[derive(Clone, Copy, Debug)]
pub struct BuiltInPeer {
    /// Its name in options, in the table and in records.
    pub name: &'static str,
    /// The path of Thalweg's that does the same.
    pub path: StreamPath,
    /// Its version.
    pub version: fn() -> String,
    /// How it is used, in one sentence; the module doc of its file says more.
    pub settings: &'static str,
    /// Whether a message can be timed alone.
    pub has_latency: bool,
    /// Does a task in the process of a turn; the lines that say what came of it.
    pub run: fn(&PeerTask) -> Result<String, BoxError>,
    /// The other process of a turn, if it has two.
    pub serve_partner: Option<ServePartner>,
}

/// Is the other process of a turn.
pub type ServePartner = fn(&PeerTask) -> Result<(), BoxError>;

impl BuiltInPeer {
    /// Whether it can be asked that.
    pub fn supports(&self, question: PeerQuestion) -> bool {
        question == PeerQuestion::Throughput || self.has_latency
    }
}

/// A line of the list: a peer, or why there is none.
#[derive(Clone, Debug)]
pub struct PeerEntry {
    /// The peer's name.
    pub name: &'static str,
    /// The path of Thalweg's that it stands beside.
    pub path: StreamPath,
    /// The peer, or why it cannot run here and what would help.
    pub peer: Result<BuiltInPeer, String>,
}

impl PeerEntry {
    /// A peer that can run.
    pub fn built_in(peer: BuiltInPeer) -> PeerEntry {
        PeerEntry {
            name: peer.name,
            path: peer.path,
            peer: Ok(peer),
        }
    }

    /// A peer that somebody has to ask for when this program is built.
    pub fn not_built(name: &'static str, path: StreamPath, feature: &str) -> PeerEntry {
        let why = format!("not built in: build with --features {feature}, or --features all");
        PeerEntry {
            name,
            path,
            peer: Err(why),
        }
    }

    /// A peer that is not to be had.
    pub fn missing(name: &'static str, path: StreamPath, why: &str) -> PeerEntry {
        PeerEntry {
            name,
            path,
            peer: Err(why.to_owned()),
        }
    }
}

/// The version of a crate in the workspace's lock file: what this program was built with.
///
/// With several versions of a crate it is the newest.
pub fn locked_version(package: &str) -> String {
    let lock = include_str!("../../../Cargo.lock");
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines();
    let mut found = "unknown";
    while lines.any(|line| line == name) {
        let version = lines
            .next()
            .and_then(|line| line.strip_prefix("version = "));
        found = version.map_or(found, |version| version.trim_matches('"'));
    }
    found.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_lock_file() {
        assert_eq!(locked_version("thalweg-peers"), env!("CARGO_PKG_VERSION"));
        assert_eq!(locked_version("no-such-crate"), "unknown");
    }

    #[test]
    fn what_is_not_built_says_how_to_build_it() {
        let why = PeerEntry::not_built("x", StreamPath::Threaded, "feature-x").peer;
        assert!(why.unwrap_err().contains("--features feature-x"));
    }
}
