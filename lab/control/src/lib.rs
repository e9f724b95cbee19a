//! Raw controls: what threads, processes and sockets do with nothing in between, each once.
//!
//! ```text
//!   suite, micro, peers,         benchmarks: a contender and a control in the same run
//!   benches of ring, transport
//!          |
//!       control
//!         call_loop              between operators of a thread: a function that is not inlined
//!         word_ring              between threads and processes: a ring of plain words
//!         copy_blocks            between cores: blocks that change hands
//!         core_windows           times in which both sides had a core
//!         socket                 between hosts: writes of a message, or of 64 KB
//!         remote                 remote writes, and messages into posted buffers, by libfabric
//!         round_trip             source, relay and sink by hand, at an even pace
//!         net_namespace,         hosts of their own on this machine, and several paths
//!         host_paths             between two of them
//! ```
//! A control fills every byte of a [`Payload`] and its [`ControlSink`] adds up every byte, as the
//! contenders do, so neither side can save work that the other does. It knows no schema, no ports,
//! no codec, no counters and no shutdown.

pub mod cores;
pub mod pace;
pub mod remote;
pub mod round_trip;
pub mod socket;

mod arrivals;
mod backoff;
mod call_loop;
mod copy_blocks;
mod core_windows;
mod error;
mod host_paths;
mod median;
mod net_namespace;
mod payload;
mod sink;
mod word_ring;

pub use arrivals::{Arrivals, RunArrivals};
pub use backoff::{Backoff, SpinBackoff};
pub use call_loop::run_call_loop;
pub use copy_blocks::{BLOCK_BYTES, copy_blocks, copy_blocks_ns, pop_spinning};
pub use core_windows::CoreWindows;
pub use error::Error;
pub use host_paths::HostPaths;
pub use median::median;
pub use net_namespace::NetNamespace;
pub use payload::Payload;
pub use sink::{ControlSink, now_ns};
pub use word_ring::WordRing;
