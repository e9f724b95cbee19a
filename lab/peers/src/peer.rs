//! A peer as data: name, version, settings, and the functions that run it.

use suite::StreamPath;

use crate::{BoxError, PeerQuestion, PeerTask};

/// A peer that is built in.
#[derive(Clone, Copy, Debug)]
pub struct BuiltInPeer {
    /// Name of the peer in options, in the table and in records.
    pub name: &'static str,
    /// Path of Thalweg that the peer is compared with.
    pub path: StreamPath,
    /// Function that gives the version of the peer.
    pub version: fn() -> String,
    /// Settings in one sentence; the module doc of the peer's file says more.
    pub settings: &'static str,
    /// Whether the latency of a single message can be measured.
    pub has_latency: bool,
    /// Function that does a task in the process of a turn; the lines of its output.
    pub run: fn(&PeerTask) -> Result<String, BoxError>,
    /// Function that runs the other process of a turn, if the turn has two.
    pub serve_partner: Option<ServePartner>,
}

/// A function that runs the other process of a turn.
pub type ServePartner = fn(&PeerTask) -> Result<(), BoxError>;

impl BuiltInPeer {
    /// Whether the peer can be asked this question.
    pub fn supports(&self, question: PeerQuestion) -> bool {
        question == PeerQuestion::Throughput || self.has_latency
    }
}

/// A line of the list: a peer, or the reason why it cannot run.
#[derive(Clone, Debug)]
pub struct PeerEntry {
    /// Name of the peer in the list.
    pub name: &'static str,
    /// Path of Thalweg that the peer is compared with.
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

    /// A peer that needs a feature when this program is built.
    pub fn not_built(name: &'static str, path: StreamPath, feature: &str) -> PeerEntry {
        let why = format!("not built in: build with --features {feature}, or --features all");
        PeerEntry {
            name,
            path,
            peer: Err(why),
        }
    }

    /// A peer that no registry has.
    pub fn missing(name: &'static str, path: StreamPath, why: &str) -> PeerEntry {
        PeerEntry {
            name,
            path,
            peer: Err(why.to_owned()),
        }
    }
}

/// The version of a crate in the workspace's lock file, with which this program was built. The
/// newest if there are several.
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
