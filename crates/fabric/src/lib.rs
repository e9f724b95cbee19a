//! Remote memory and messages over libfabric.
//!
//! libfabric is found at run time ([`FabricLibrary`]), so nothing of it is needed to build, and a
//! host without it says which package has it. A [`FabricNode`] is one end of connections over one
//! of its providers (`verbs`, `tcp`, ...): it registers memory ([`PinnedMemory`]), posts writes,
//! reads and messages, and takes completions. Peers reach nothing before their request is accepted.
//!
//! The names are libfabric's where it has them: see its manual pages `fabric(7)`, `fi_endpoint(3)`,
//! `fi_rma(3)`, `fi_cq(3)`. This crate is the only one with unsafe calls of libfabric.

#![warn(missing_docs)]
#![expect(
    unsafe_code,
    reason = "calls of libfabric and memory that peers write are kept in this crate"
)]

mod abi;
mod datagram;
mod error;
mod library;
mod memory;
mod node;
mod ports;
mod provider;
mod rdma_node;
mod signal_handlers;
pub mod sim;

pub use error::FabricError;
pub use library::FabricLibrary;
pub use memory::PinnedMemory;
pub use node::FabricNode;
pub use ports::{FabricPort, list_ports};
pub use provider::{
    EndpointKind, FabricAddress, ProviderLimits, ProviderQuery, has_provider, provider_limits,
};
pub use rdma_node::{
    COMPLETIONS_PER_POLL, Completion, CompletionKind, ConnectionId, ConnectionRequest, FabricEvent,
    LocalSlice, PostOptions, RdmaNode, RegionId, RemoteAccess, RemoteMemory,
};
