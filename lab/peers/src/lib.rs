//! Thalweg beside its peers: other projects that hand messages from thread to thread or from
//! process to process, each with the settings that its own people recommend, in one table.
//!
//! ```text
//!   compare        by turns: the peer, an SPL program, its bare medium; medians, neighbours' ratios
//!      |
//!   contender      one turn, in a process of its own
//!      |        \
//!   peers/       ours/
//!      |        /
//!   threads, processes -> ends       the same loops for all: fill every word, read every word
//!                           |
//!              control::ControlSink  what came when, and what it adds up to
//! ```
//! A peer is a file in `peers/` and its line in `all()` there. What it needs is behind a feature of
//! its name; a peer that is not built in, or cannot be had, is listed with the reason.

pub mod contender;
pub mod own_contenders;
pub mod peer;
pub mod peer_comparison;
pub mod peer_ends;
pub mod peer_processes;
pub mod peer_threads;
pub mod peers;
pub mod scratch_folder;
pub mod table;
pub mod task;
pub mod turn_output;

pub use control::{ControlSink, cores};
pub use peer::BuiltInPeer;
pub use scratch_folder::ScratchFolder;
pub use task::{PeerQuestion, PeerTask};

/// What went wrong, in words.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The command of this program that does a turn.
pub const TURN: &str = "turn";

/// The command of this program that is the other process of a turn.
pub const PARTNER: &str = "other";

/// The command of this program that is a PE of an SPL program: as the engine's launcher calls it.
pub const PE: &str = "pe";
