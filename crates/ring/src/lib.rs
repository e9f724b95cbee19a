//! All lock-free code: rings between threads and between processes.
//!
//! A ring has one writer and one or more readers; every reader gets every frame, and the slowest
//! one holds the writer up. What lies in it is frames, [`frame`], the same on every medium. Frames
//! are built and read in place: [`Writer::claim`] and [`Writer::commit`], [`Reader::poll`] and
//! [`Reader::release`]. Nothing here blocks or wakes anybody; whoever wants to sleep arms an end,
//! and the other end tells whom to wake.
//!
//! # Example
//! ```
//! use thalweg_ring::{Shape, private};
//!
//! let (mut writer, mut readers) = private(Shape { bytes: 64 * 1024, readers: 1 })?;
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
    reason = "this is the room of lock-free code and of mapped memory"
)]

mod admission;
mod ahead;
mod barrier;
#[cfg(not(any(loom, miri)))]
pub mod counters;
mod fault;
pub mod frame;
#[cfg(not(loom))]
mod gauge;
pub mod grant;
mod keeper;
mod memory;
#[cfg(not(any(loom, miri)))]
mod pages;
#[cfg(not(any(loom, miri)))]
mod peer;
pub mod points;
mod reader;
mod segment;
#[cfg(not(any(loom, miri)))]
mod shared;
mod sync;
#[cfg(all(test, not(loom)))]
mod tests;
mod wiring;
#[cfg(not(any(loom, miri)))]
mod words;
mod writer;

pub use admission::Admission;
pub use ahead::{FETCH_BYTES, fetch_ahead};
pub use fault::Fault;
#[cfg(not(loom))]
pub use gauge::{Gauge, Level};
pub use keeper::{Keeper, keeping};
#[cfg(not(any(loom, miri)))]
pub use pages::Pages;
#[cfg(not(any(loom, miri)))]
pub use peer::{Peer, peer};
pub use reader::Reader;
pub use segment::{CAPACITY_MAX, CAPACITY_MIN, READERS_MAX};
#[cfg(not(any(loom, miri)))]
pub use shared::{JoinError, join, shared, shared_on};
pub use wiring::{Shape, private};
#[cfg(not(any(loom, miri)))]
pub use words::Words;
pub use writer::Writer;
