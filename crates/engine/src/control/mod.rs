//! The protocol between the launcher of a job and its PEs.
//!
//! Each PE process starts with one end of a socket pair as its standard input, so no path or
//! address exists that another process could reach. The launcher starts all PEs, passes the tickets
//! of crossings from senders to receivers, says when to begin, and learns how each PE ended.
//!
//! ```text
//!   PE 0 (sends crossing 0)       launcher                  PE 1 (receives crossing 0)
//!     |<-------- Bundle, Begin ----|---- Bundle, Begin ------->|    compile, cut
//!     |--------- Ticket, Opened -->|                           |    open its senders
//!     |                            |<--------------- Opened ---|
//!     |                            |---- Ticket -------------->|
//!     |<-------- Accept -----------|---- Accept -------------->|    accept receivers, wire
//!     |--------- Ready ----------->|<---------------- Ready ---|
//!     |<-------- Go ---------------|---- Go ------------------>|    run
//!     |                           ...                          |
//!     |--------- Stopping -------->|---- Stop ---------------->|    an operator called shutdown()
//!     |--------- Ended ----------->|<---------------- Ended ---|    exit
//! ```
//!
//! No PE runs before all are ready, so a failed set-up is reported before the first tuple. A
//! connection that closes without `Ended` means to the launcher that the PE has died. To a PE, a
//! closed connection means that the launcher has died, and the PE exits.
//!
//! If the PEs are ranks of an MPI job, the launcher is part of rank 0, whose PE alone is its child.
//! The others connect to it. How they find it goes from PE 0 to them over the medium
//! ([`RankContact`]):
//!
//! ```text
//!   PE 0                           launcher                  rank 1
//!     |<-------- Share ------------|                           |    join: wait for all ranks
//!     |--------- contact (MPI) ------------------------------->|
//!     |                            |<---- handshake, 3 times --|    control, output, errors
//!     |                            |----- answer, 3 times ---->|
//!     |<-------- Bundle, Begin ----|---- Bundle, Begin ------->|    as above from here on
//!     |                           ...                          |
//!     |--------- Ended ----------->|<---------------- Ended ---|
//!     |<-------- close ------------|---- close --------------->|    leave the ranks together
//! ```

mod bundle;
pub mod connection;
mod messages;
mod rank_contact;

pub use bundle::{Bundle, absolute};
pub use messages::{EXIT_LAUNCHER_LOST, MessageFromPe, MessageToPe, RankShare};
pub use rank_contact::{ANSWER_BYTES, HANDSHAKE_BYTES, RankContact, RankHandshake, RankSocketKind};
