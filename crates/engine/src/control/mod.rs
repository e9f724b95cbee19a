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

mod bundle;
pub mod connection;
mod messages;

pub use bundle::Bundle;
pub use messages::{EXIT_LAUNCHER_LOST, MessageFromPe, MessageToPe};
