//! A fabric for tests: nodes of one process, joined by a fabric that does whatever the rules of
//! [`RdmaNode`](crate::RdmaNode) allow, as a seed says.
//!
//! The fabric places the words of a write or message in any order and over several polls, stalls,
//! pauses one direction of a connection (so that credit is withheld), delays and loses completions
//! of a node's own operations, refuses operations and receive buffers for want of room, refuses
//! registrations, and breaks connections with half of a write placed. It holds back what a node has
//! sent before it closed a connection, and lets nodes fall silent or fail. Data is read when it is
//! placed, not when the operation is posted, so memory that is reused too early is seen. What it
//! does not do: place two writes of a connection out of order, tell a number before its data, or
//! lose what a peer has sent over a connection that goes on. A message without a receive buffer
//! that is large enough breaks its connection. Operations that were said to have others behind them
//! begin with those, or when one of those is refused.
//!
//! The fabric counts what nodes post ([`SimCounts`]), so that tests see what a protocol costs.
//!
//! # Progress
//! The fabric moves only while nodes are polled: each poll of any node moves a few words. A node
//! that operations are on the way to or from may not sleep.

mod fabric;
mod node;
mod rng;
mod transfers;

pub use fabric::{SimCounts, SimFabric, SimFabricFaults};
pub use node::SimNode;
