//! The adapters of networks: TCP connections and UDP datagrams.
//!
//! `connector` gets one connection after the other, as server or client; `address` finds out where
//! they lead, and `wire` compares the formats of both ends. A server listens on the port that the
//! program asks for, and nothing else here listens.

mod address;
mod connector;
mod params;
pub mod tcp_sink;
pub mod tcp_source;
pub mod udp_sink;
pub mod udp_source;
mod verify;
mod wire_format;
