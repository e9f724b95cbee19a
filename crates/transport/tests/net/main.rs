//! Media over TCP against faults of a network.
//!
//! The conformance suite tests every medium with well-behaved peers. Here are foreign connections
//! to a sender, senders and receivers that break the protocol, and connections that break.

extern crate thalweg_transport as transport;

mod batches;
mod broken_peers;
mod cuts;
mod edge;
mod numbered_frames;
mod proxy;
mod rails;
mod rdma_cuts;
mod rdma_rails;
mod strangers;
mod wire;
