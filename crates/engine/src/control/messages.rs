//! The messages between the launcher of a job and its PEs.

use serde::{Deserialize, Serialize};

use super::bundle::Bundle;
use crate::part::{CrossingTicket, PeEnding};

/// What the launcher says.
#[derive(Debug, Deserialize, Serialize)]
pub enum MessageToPe {
    /// What is to be run; the same for all.
    Bundle(Box<Bundle>),
    /// Which PE this is. Comes with the launcher's standard input.
    Begin(u32),
    /// How to reach the sender of a link. Comes with the medium's descriptors.
    Ticket(CrossingTicket),
    /// That were all tickets: wire.
    Accept,
    /// Run.
    Go,
    /// Stop in an orderly way; before `Go`: there is nothing to run any more.
    Stop,
    /// Say how much the sources have sent.
    Count,
}

/// What a PE says.
#[derive(Debug, Deserialize, Serialize)]
pub enum MessageFromPe {
    /// How to reach this PE for a link that it sends. Comes with the medium's descriptors.
    Ticket(CrossingTicket),
    /// That were all its tickets.
    Opened,
    /// It is wired.
    Ready,
    /// A shutdown was asked for in this PE, by an operator or a signal.
    Stopping,
    /// How many tuples each of its sources has sent.
    Counts(Vec<(String, u64)>),
    /// It is over.
    Ended(PeEnding),
}

/// The exit status of a PE without a launcher.
pub const EXIT_LAUNCHER_LOST: i32 = 3;
