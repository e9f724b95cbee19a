//! Connections over providers that have only endpoints without any (`FI_EP_RDM`): a socket beside
//! each pair of endpoints.
//!
//! ```text
//!   connects                          socket                         listens
//!   endpoint opened  --- name of the endpoint, data of the request --->
//!                                                     request told, endpoint opened
//!                    <-- name of the endpoint, data of the answer  ----
//!   connection told  --- made ---------------------------------------->  connection told
//!                    <-- asleep, awake --------------------------------> as often as needed
//!                    --- end ------------------------------------------> closed
//! ```
//! Each connection has endpoints of its own, so a receive buffer is filled by its peer alone. The
//! endpoint of a peer is opened, which for `shm` maps its memory, when its request is accepted.
//!
//! # Threads
//! One thread of the process ([`socket_watcher`]) reads all sockets. It notes requests, answers and
//! ends for the node ([`side_socket`]), and wakes peers that have told that they sleep: such
//! providers have no descriptor to sleep on.
//!
//! # Killed peers
//! The end of a socket tells of a killed peer at once. Memory that `shm` shares has locks that a
//! killed peer may hold; they are opened then ([`shm_region`]).

mod live_endpoints;
mod shm_region;
mod side_socket;
mod socket_messages;
mod socket_watcher;

pub(crate) use live_endpoints::{KeepOpen, LiveEndpoint, NearPeer};
pub(crate) use shm_region::ShmRegion;
pub(crate) use side_socket::{NodeSignals, SideSocket};
pub(crate) use socket_messages::{NAME_BYTES_MAX, SocketMessage, answer, request};
pub(crate) use socket_watcher::{Watch, WatchedSocket, watch_listener};
