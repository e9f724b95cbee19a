//! Lock-free rings that carry frames between threads and between processes.
//!
//! A ring has one writer and one or more readers. Every reader gets every frame, and the slowest
//! reader limits the writer. A ring holds frames ([`frame`]), which have the same layout on every
//! medium and are built and read in place: [`Writer::claim`] and [`Writer::commit`],
//! [`Reader::poll`] and [`Reader::release`]. No call blocks or wakes a thread. An end that is about
//! to sleep calls `arm`, and the other end then says which end must be woken.
//!
//! A pool of threads that run what rings bring shares two more words: [`ClaimWord`] says which
//! thread runs a piece of work, [`ThreadLevel`] which thread is to be woken for it.
//!
//! # Example
//! ```
//! use thalweg_ring::{RingShape, private_ring};
//!
//! let (mut writer, mut readers) = private_ring(RingShape { bytes: 64 * 1024, readers: 1 })?;
//! writer.claim(5).expect("an empty ring has room").copy_from_slice(b"hello");
//! writer.commit(1, 0, 5);
//! let frames: Vec<_> = readers[0].poll().map(|frame| frame.bytes).collect();
//! assert_eq!(frames, [b"hello"]);
//! readers[0].release();
//! # Ok::<(), std::io::Error>(())
//! ```

#![warn(missing_docs)]
#![expect(
    unsafe_code,
    reason = "lock-free code and mapped memory are kept in this crate"
)]

mod admission;
mod claim_word;
#[cfg(not(any(loom, miri)))]
pub mod counters;
#[cfg(not(loom))]
pub mod external_grant;
pub mod failpoints;
pub mod frame;
pub mod grant;
mod live_readers;
mod mapped_memory;
mod memory_barrier;
#[cfg(not(any(loom, miri)))]
mod page_policy;
#[cfg(not(any(loom, miri)))]
mod peer;
mod prefetch;
mod private_ring;
mod reader;
mod retaining_reader;
mod ring_fault;
#[cfg(not(loom))]
mod ring_monitor;
mod segment;
#[cfg(not(any(loom, miri)))]
mod shared_ring;
#[cfg(not(any(loom, miri)))]
mod shared_words;
mod sync;
#[cfg(all(test, not(loom)))]
mod tests;
mod thread_level;
mod writer;

pub use admission::ReaderAdmission;
pub use claim_word::ClaimWord;
#[cfg(not(any(loom, miri)))]
pub use page_policy::PagePolicy;
#[cfg(not(any(loom, miri)))]
pub use peer::{Peer, socket_peer};
pub use prefetch::{PREFETCH_BYTES, prefetch_ahead};
pub use private_ring::{RingShape, private_ring};
pub use reader::Reader;
pub use retaining_reader::{RetainingReader, retaining_ring};
pub use ring_fault::RingFault;
#[cfg(not(loom))]
pub use ring_monitor::{RingMonitor, RingOccupancy};
pub use segment::{CAPACITY_MAX, CAPACITY_MIN, READERS_MAX};
#[cfg(not(any(loom, miri)))]
pub use shared_ring::{JoinError, join_ring, shared_ring, shared_ring_with_pages};
#[cfg(not(any(loom, miri)))]
pub use shared_words::SharedWords;
pub use thread_level::ThreadLevel;
pub use writer::Writer;
