//! The window engine: keeps the items of a port's window, partition by partition, and says when
//! they leave and when the window is to be processed.
//!
//! One engine for every combination: an eviction policy, a trigger policy, an optional partition
//! with its own eviction ([`graph::Window`]); but for windows over event time, which are [`Panes`].
//! What is kept ([`Windows`] is generic over it), what happens when an item leaves and when a
//! window fires is the operator's business: its [`WindowObserver`].
//!
//! # Order of things on arrival of an item
//! ```text
//! tumbling   delta: flush if too far from the oldest -> insert -> partition eviction -> count: flush
//! sliding    delta trigger -> eviction -> insert -> partition eviction -> count trigger
//! ```
//! A flush fires the window and then lets every item leave; an empty partition is removed. A
//! sliding trigger fires and keeps the items. Time policies fire from a timer
//! ([`Windows::on_timer`]); items that are too old leave before anything else happens
//! ([`Windows::expire`]).
//!
//! # Cost
//! A hash look-up of the partition per item, and the same time for everything else, however many
//! partitions there are; no allocation once partitions and their queues have reached their size.

mod delta;
mod key;
mod key_ids;
mod panes;
mod partition;
mod partitions;
mod shared_items;
mod window_observer;
mod windows;

pub use delta::exceeds;
pub use key::{encode_key, encode_key_prefix, hash_key};
pub use key_ids::{KeyId, KeyIds};
pub use panes::{PaneObserver, Panes};
pub use partition::{WindowItem, WindowPartition};
pub use shared_items::PaneItems;
pub use window_observer::{LeaveReason, WindowObserver};
pub use windows::{WindowArrival, Windows};
