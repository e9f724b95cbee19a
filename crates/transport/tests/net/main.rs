//! Media over TCP against what a network may do to them.
//!
//! The conformance suite says how every medium behaves among friends; here are strangers at the
//! door, senders and receivers that break their word, and connections that break.

extern crate thalweg_transport as transport;

mod batches;
mod broken_peers;
mod cuts;
mod edge;
mod proxy;
mod strangers;
mod wire;
