//! The medium between processes of one host: a ring in shared memory that has no name.
//!
//! With one receiver an edge is the point-to-point transport of Vega. With several, every receiver
//! gets every frame and the slowest sets the pace, as in SMX.
//!
//! ```text
//!   sender                                           receiver 0
//!     Writer ----- memory without a name, sealed ----- Reader
//!     socket ================ pair ================== socket     and a pair for each further one
//! ```
//! A ticket is the memory's descriptor and one end of a socket pair. A byte on the pair wakes the
//! other side. The pair also shows liveness: when a process ends, by whatever cause, the system
//! closes its end. So nothing has to be cleaned up after a SIGKILL, and no process has to be asked
//! whether it is alive. A process that carries a ticket to its receiver must close its own copies
//! of the descriptors afterwards, or the pair stays open with it.
//!
//! # Access
//! Nothing can be reached by name: a process without a ticket has no way in. Before a receiver maps
//! the memory, it checks three things: that a process of its own user made the socket pair, that
//! the memory is the one the ticket means, and that the memory is sealed, so that it cannot shrink
//! while it is mapped.

mod medium;
mod peer_sockets;

pub(super) use medium::ShmMedium;
