//! The messages between the launcher of a job and its PEs.

use serde::{Deserialize, Serialize};

use super::bundle::Bundle;
use super::rank_contact::RankContact;
use crate::part::{CrossingTicket, PeEnding};
use crate::sources::RawPath;

/// A message from the launcher to a PE.
#[derive(Debug, Deserialize, Serialize)]
pub enum MessageToPe {
    /// Join the other ranks, and give them the contact of the launcher. Only to PE 0 of a job whose
    /// PEs are ranks, and first.
    Share(Box<RankShare>),
    /// The program and its plan; every PE of a job gets an equal bundle.
    Bundle(Box<Bundle>),
    /// The number of this PE. Carries the descriptor of the launcher's standard input, unless the
    /// PE is on another host.
    Begin(u32),
    /// How a receiver in this PE reaches its sender. Carries the medium's descriptors.
    Ticket(CrossingTicket),
    /// No more tickets follow: accept the receivers and wire the operators.
    Accept,
    /// Start running: every PE of the job is ready.
    Go,
    /// Shut down in an orderly way; before `Go`, exit without running.
    Stop,
    /// Send the tuple counts of the sources.
    Count,
}

/// The contact that PE 0 gives to the other ranks, and the medium over which it does.
#[derive(Debug, Deserialize, Serialize)]
pub struct RankShare {
    /// How the ranks reach the launcher.
    pub contact: RankContact,
    /// Name of the medium of the ranks.
    pub medium: String,
    /// Absolute paths of the folders in which its library is looked for.
    pub media_path: Vec<RawPath>,
}

/// A message from a PE to the launcher.
#[derive(Debug, Deserialize, Serialize)]
pub enum MessageFromPe {
    /// How a receiver reaches a sender in this PE. Carries the medium's descriptors.
    Ticket(CrossingTicket),
    /// No more tickets follow from this PE: its senders are open.
    Opened,
    /// The operators of this PE are wired.
    Ready,
    /// An operator of this PE, or a signal to its process, requests a shutdown of the job.
    Stopping,
    /// Number of tuples that each source in this PE has submitted, by operator name.
    Counts(Vec<(String, u64)>),
    /// The text of the PE's profile, if one was asked for.
    Profile(String),
    /// The PE has ended; it sends nothing else.
    Ended(PeEnding),
}

/// Exit status of a PE process that has lost its launcher; 3 is used for nothing else.
pub const EXIT_LAUNCHER_LOST: i32 = 3;
