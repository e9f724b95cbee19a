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

mod bundle;
pub mod connection;
mod messages;

pub use bundle::Bundle;
pub use messages::{EXIT_LAUNCHER_LOST, MessageFromPe, MessageToPe};
