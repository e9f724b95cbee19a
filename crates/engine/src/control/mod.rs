//! What the launcher of a job and its PEs say to each other.
//!
//! Each PE process is started with one end of a socket pair as its standard input, so there is no
//! path and no address that somebody else could reach. The launcher starts them all, hands around
//! the tickets of the crossing edges, says when to begin, and learns how each one ended.
//!
//! ```text
//!   PE 0 (sends link 0)           launcher                  PE 1 (receives link 0)
//!     |<-------- Bundle, Begin ----|---- Bundle, Begin ------->|    compile, cut
//!     |--------- Ticket, Opened -->|                           |    open what it sends
//!     |                            |<--------------- Opened ---|
//!     |                            |---- Ticket -------------->|
//!     |<-------- Accept -----------|---- Accept -------------->|    accept what it receives, wire
//!     |--------- Ready ----------->|<---------------- Ready ---|
//!     |<-------- Go ---------------|---- Go ------------------>|    run
//!     |                           ...                          |
//!     |--------- Stopping -------->|---- Stop ---------------->|    an operator called shutdown()
//!     |--------- Ended ----------->|<---------------- Ended ---|    exit
//! ```
//!
//! Nobody begins before all are ready, so what cannot be set up is said before the first tuple. A
//! connection that closes without `Ended` is the death of its PE; to a PE it is the death of the
//! launcher, and it ends.

pub mod connection;

use serde::{Deserialize, Serialize};

use crate::bundle::Bundle;
use crate::unfired_windows::UnfiredWindows;

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

/// How one receiver of a link reaches its sender.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct CrossingTicket {
    /// The crossing's number in the plan.
    pub link: u32,
    /// The receiver's number.
    pub receiver: u32,
    /// What the medium wrote.
    pub bytes: Vec<u8>,
}

/// How a PE ended by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PeEnding {
    /// What failed, the first one first; empty: nothing.
    pub failures: Vec<PeFailure>,
    /// Nobody reads its output any more: no reason to say anything.
    pub is_quiet: bool,
    /// What its windows held in the end, if nothing failed.
    pub leftovers: Vec<UnfiredWindows>,
}

/// What failed in a PE.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct PeFailure {
    /// Where and what, as a fused job would say it.
    pub line: String,
    /// It was noticed at a crossing edge, so perhaps it only follows from another PE's death.
    pub is_crossing: bool,
}
