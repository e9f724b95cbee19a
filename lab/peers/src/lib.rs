//! Thalweg beside its peers: other projects that hand messages from thread to thread or from
//! process to process. Each has the settings that its own people recommend. The result is one
//! table.
//!
//! ```text
//!   peer_comparison    by turns: the peer, an SPL program, its bare medium; medians, ratios
//!          |
//!      contender       one turn, in a process of its own
//!       |      |
//!    peers/  own_contenders/
//!       |      |
//!   peer_threads, peer_processes       both ends in one process, or in two
//!          |
//!      peer_ends       the same loops for all: fill every word, read every word
//!          |
//!   control::ControlSink               the arrivals, and the sum of all words
//! ```
//! A peer is a file in `peers/` and its line in `all_peers()` there. Its dependencies are behind a
//! feature of its name. A peer that is not built in, or not available, is listed with the reason.

pub mod contender;
pub mod nexmark;
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

/// An error of a peer or of the system.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The sub-command of this program that runs a turn.
pub const TURN: &str = "turn";

/// The sub-command of this program that is the other process of a turn.
pub const PARTNER: &str = "other";

/// The sub-command of this program that is a PE of an SPL program, as the engine's launcher calls
/// it.
pub const PE: &str = "pe";
