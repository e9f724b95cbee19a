//! Streams between two hosts that several paths join, each of a rate of its own.
//!
//! The hosts are network namespaces that the tests make: see [`control::HostPaths`]. Where that is
//! not permitted, the tests say that they are passed over. All tests of the process use one pair of
//! hosts, one test at a time, because the process's IO thread is of one host.

extern crate thalweg_transport as transport;

mod hosts;
mod mptcp;
#[path = "../net/numbered_frames.rs"]
mod numbered_frames;
mod rails;
