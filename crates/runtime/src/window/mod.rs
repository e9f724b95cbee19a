//! The window engine: keeps the items of a port's window, partition by partition, and decides when
//! they leave and when the window is processed.
//!
//! One engine serves every combination of an eviction policy, a trigger policy, and an optional
//! partition with its own eviction ([`graph::Window`]); windows over event time are [`Panes`] or
//! [`SessionWindows`].
//! [`Windows`] is generic over the items. An operator's [`WindowObserver`] says what happens when
//! an item leaves and when a window fires.
//!
//! # Steps when an item arrives
//! ```text
//! tumbling  delta: flush if far from the oldest -> insert -> partition eviction -> count: flush
//! sliding   delta trigger -> eviction -> insert -> partition eviction -> count trigger
//! ```
//! A flush fires the window and then lets every item leave; an empty partition is removed. A
//! sliding trigger fires and keeps the items. Time policies fire from a timer
//! ([`Windows::on_timer`]); items that are too old leave before anything else happens
//! ([`Windows::expire`]).
//!
//! # Cost
//! A hash look-up of the partition for each item; all else takes constant time, however many
//! partitions there are. No allocation once partitions and their queues have reached their size.
//!
//! # Example
//! ```
//! # extern crate thalweg_runtime as runtime;
//! use eval::Fault;
//! use graph::{Policy, Window, WindowKind};
//! use runtime::window::{LeaveReason, WindowArrival, WindowObserver, WindowPartition, Windows};
//!
//! /// Sums the items of each window.
//! #[derive(Default)]
//! struct Sums(Vec<i32>);
//!
//! impl WindowObserver<i32> for Sums {
//!     fn fire(
//!         &mut self,
//!         partition: Option<&WindowPartition<i32>>,
//!         _total: usize,
//!     ) -> Result<(), Fault> {
//!         self.0.push(partition.into_iter().flat_map(|items| items.iter()).sum());
//!         Ok(())
//!     }
//!
//!     fn leave(&mut self, _item: i32, _cause: LeaveReason) -> Result<(), Fault> {
//!         Ok(())
//!     }
//! }
//!
//! let window = Window {
//!     kind: WindowKind::Tumbling,
//!     evict: Policy::Count(2),
//!     trigger: None,
//!     partition: None,
//!     pos: graph::Pos::default(),
//! };
//! let mut windows = Windows::new(&window);
//! let mut sums = Sums::default();
//! for item in 1..=4 {
//!     let arrival = WindowArrival { key: b"", now_ns: 0, evict_by: None, trigger_by: None, item };
//!     windows.insert(arrival, &mut sums).unwrap();
//! }
//! assert_eq!(sums.0, [3, 7]);
//! ```

mod delta;
mod event_time_windows;
mod key;
mod key_ids;
mod panes;
mod partition;
mod partitions;
mod sessions;
mod shared_items;
mod window_observer;
mod windows;

pub use delta::exceeds;
pub use event_time_windows::EventTimeWindows;
pub use key::{encode_key, encode_key_prefix, hash_key};
pub use key_ids::{KeyId, KeyIds};
pub use panes::{PaneObserver, Panes};
pub use partition::{WindowItem, WindowPartition};
pub use sessions::SessionWindows;
pub use shared_items::PaneItems;
pub use window_observer::{LeaveReason, WindowObserver};
pub use windows::{WindowArrival, Windows};
