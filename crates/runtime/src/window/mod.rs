//! The window engine: keeps the items of a port's window, partition by partition, and says when
//! they leave and when the window is to be processed.
//!
//! One engine for every combination: an eviction policy, a trigger policy, an optional partition
//! with its own eviction ([`graph::Window`]). What is kept ([`Windows`] is generic over it), what
//! happens when an item leaves and when a window fires is the operator's business: its [`Observer`].
//!
//! # Order of things on arrival of an item
//! ```text
//! tumbling   delta: flush if too far from the oldest -> insert -> partition eviction -> count: flush
//! sliding    delta trigger -> eviction -> insert -> partition eviction -> count trigger
//! ```
//! A flush fires the window and then lets every item leave; an empty partition is removed. A sliding
//! trigger fires and keeps the items. Time policies fire from a timer ([`Windows::tick`]); items
//! that are too old leave before anything else happens ([`Windows::expire`]).
//!
//! # Cost
//! A hash look-up of the partition per item; no allocation once partitions and their queues have
//! reached their size.

mod delta;
mod key;
mod partition;

use std::collections::BTreeMap;

use graph::{Fault, PartitionEviction, Policy, Window, WindowKind};
use indexmap::IndexMap;
use tuple::{Layout, TupleRef, Value};

pub use delta::exceeds;
pub use key::{encode_first, encode_key};
pub use partition::{Entry, Partition};

/// What an operator does with its window.
pub trait Observer<T> {
    /// The window is processed: a tumbling one is about to be emptied, a sliding one is triggered.
    /// `None` is a window without any item. `total` counts the items of all partitions.
    fn fire(&mut self, partition: Option<&Partition<T>>, total: usize) -> Result<(), Fault>;
    /// An item has left its window.
    fn leave(&mut self, item: T, cause: Cause) -> Result<(), Fault>;
    /// Before which item of its partition a new one is put; at the end by default.
    fn place(&self, partition: &Partition<T>, item: &T) -> usize {
        let _ = item;
        partition.len()
    }
    /// A partition is about to be evicted with its items.
    fn evict_partition(&mut self, partition: &Partition<T>) -> Result<(), Fault> {
        let _ = partition;
        Ok(())
    }
}

/// Why an item leaves its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The eviction policy of a sliding window; also an item that a window of `count(0)` never took.
    Evicted,
    /// The flush of a tumbling window, after it has fired.
    Flushed,
    /// Its partition was evicted.
    Partition,
}

/// An item on its way in, with what the policies look at.
#[derive(Debug)]
pub struct Arrival<'a, T> {
    /// The partition's key; empty if the window is not partitioned.
    pub key: &'a [u8],
    /// Nanoseconds on a clock that never goes back.
    pub now_ns: u64,
    /// The value of the eviction policy's delta attribute.
    pub evict_by: Option<Value>,
    /// The value of the trigger policy's delta attribute.
    pub trigger_by: Option<Value>,
    /// The item.
    pub item: T,
}

/// All windows of one input port.
#[derive(Debug)]
pub struct Windows<T> {
    kind: WindowKind,
    evict: Policy,
    trigger: Option<Policy>,
    partitioned: bool,
    partition_eviction: Option<PartitionEviction>,
    /// Seconds that an item stays in a sliding window, if time says so.
    lifetime: Option<f64>,
    partitions: IndexMap<Box<[u8]>, Partition<T>>,
    /// Partitions by the number of their last insertion; kept only for partition eviction.
    by_use: BTreeMap<u64, Box<[u8]>>,
    uses: u64,
    items: usize,
    /// A smaller delta value came after a larger one: eviction looks at every item from then on.
    unordered: bool,
    /// Emptied partitions, to be used again.
    spare: Vec<Partition<T>>,
}

impl<T> Windows<T> {
    /// Empty windows.
    pub fn new(window: &Window) -> Windows<T> {
        let partition = window.partition.as_ref();
        Windows {
            kind: window.kind,
            evict: window.evict.clone(),
            trigger: window.trigger.clone(),
            partitioned: partition.is_some(),
            partition_eviction: partition.and_then(|p| p.evict),
            lifetime: window.lifetime(),
            partitions: IndexMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
            items: 0,
            unordered: false,
            spare: Vec::new(),
        }
    }

    /// Values of the delta attributes of a tuple: eviction's and trigger's.
    pub fn deltas(&self, tuple: TupleRef<'_>, layout: &Layout) -> (Option<Value>, Option<Value>) {
        let value = |policy: Option<&Policy>| match policy {
            Some(Policy::Delta(index, _)) => Some(tuple.get(layout, *index as usize)),
            _ => None,
        };
        (value(Some(&self.evict)), value(self.trigger.as_ref()))
    }

    /// Items in all partitions.
    pub fn len(&self) -> usize {
        self.items
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// The partitions, oldest first.
    pub fn partitions(&self) -> impl ExactSizeIterator<Item = &Partition<T>> {
        self.partitions.values()
    }

    /// A partition by key.
    pub fn partition(&self, key: &[u8]) -> Option<&Partition<T>> {
        self.partitions.get(key)
    }

    /// An item has come.
    ///
    /// # Errors
    /// What the observer returns; the item is then in its window or not, as far as it had got.
    pub fn insert(
        &mut self,
        arrival: Arrival<'_, T>,
        observer: &mut impl Observer<T>,
    ) -> Result<(), Fault> {
        self.evict_old_partitions(arrival.now_ns, observer)?;
        match self.kind {
            WindowKind::Tumbling => self.insert_tumbling(arrival, observer),
            WindowKind::Sliding => self.insert_sliding(arrival, observer),
        }
    }

    fn insert_tumbling(
        &mut self,
        arrival: Arrival<'_, T>,
        observer: &mut impl Observer<T>,
    ) -> Result<(), Fault> {
        let key = arrival.key;
        match (&self.evict, &arrival.evict_by) {
            (Policy::Count(0), _) => return observer.leave(arrival.item, Cause::Flushed),
            (Policy::Delta(_, amount), Some(value)) => {
                let oldest = self.partitions.get(key).and_then(Partition::oldest);
                let oldest = oldest.and_then(|entry| entry.evict_by.as_ref());
                if oldest.is_some_and(|oldest| delta::exceeds(value, oldest, amount)) {
                    self.flush(key, observer)?;
                }
            }
            _ => {}
        }
        self.push(arrival, observer)?;
        let size = self.partitions.get(key).map_or(0, Partition::len);
        match self.evict {
            Policy::Count(n) if size >= n as usize => self.flush(key, observer),
            _ => Ok(()),
        }
    }

    fn insert_sliding(
        &mut self,
        arrival: Arrival<'_, T>,
        observer: &mut impl Observer<T>,
    ) -> Result<(), Fault> {
        let key = arrival.key;
        self.expire(arrival.now_ns, observer)?;
        if let Some(partition) = self.partitions.get_mut(key)
            && partition.delta_triggers(self.trigger.as_ref(), arrival.trigger_by.as_ref())
        {
            observer.fire(Some(partition), self.items)?;
        }
        if matches!(self.evict, Policy::Count(0)) {
            observer.leave(arrival.item, Cause::Evicted)?;
        } else {
            self.make_room(&arrival, observer)?;
            self.push(arrival, observer)?;
        }
        if let Some(partition) = self.partitions.get_mut(key)
            && partition.count_triggers(self.trigger.as_ref())
        {
            return observer.fire(Some(partition), self.items);
        }
        Ok(())
    }

    /// Evicts from a sliding window what the arriving item pushes out.
    fn make_room(
        &mut self,
        arrival: &Arrival<'_, T>,
        observer: &mut impl Observer<T>,
    ) -> Result<(), Fault> {
        let Some(partition) = self.partitions.get_mut(arrival.key) else {
            return Ok(());
        };
        match (&self.evict, &arrival.evict_by) {
            (Policy::Count(n), _) => {
                while partition.len() >= *n as usize
                    && let Some(entry) = partition.pop()
                {
                    self.items -= 1;
                    observer.leave(entry.item, Cause::Evicted)?;
                }
            }
            (Policy::Delta(_, amount), Some(value)) => {
                self.unordered |= partition.newest_exceeds(value);
                while let Some(entry) = partition.take_beyond(value, amount, self.unordered) {
                    self.items -= 1;
                    partition.set_full();
                    observer.leave(entry.item, Cause::Evicted)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Puts the item into its partition, then lets partitions go that are too many.
    fn push(
        &mut self,
        arrival: Arrival<'_, T>,
        observer: &mut impl Observer<T>,
    ) -> Result<(), Fault> {
        let Arrival {
            key,
            now_ns,
            evict_by,
            trigger_by,
            item,
        } = arrival;
        self.uses += 1;
        if !self.partitions.contains_key(key) {
            let mut fresh = self.spare.pop().unwrap_or_default();
            fresh.set_serial(self.uses);
            self.partitions.insert(key.into(), fresh);
        }
        let partition = &mut self.partitions[key];
        let last_use = partition.touch(self.uses, now_ns);
        partition.set_trigger_base(trigger_by);
        let at = observer.place(partition, &item);
        partition.insert(
            at,
            Entry {
                item,
                arrived_ns: now_ns,
                evict_by,
            },
        );
        partition.note_fullness(&self.evict);
        self.items += 1;
        if self.partition_eviction.is_some() {
            let key = self.by_use.remove(&last_use).unwrap_or_else(|| key.into());
            self.by_use.insert(self.uses, key);
            self.evict_partitions(observer)?;
        }
        Ok(())
    }

    /// A window marker has come: flushes every partition of a `punct()` window.
    pub fn marker(&mut self, observer: &mut impl Observer<T>) -> Result<(), Fault> {
        match self.evict {
            Policy::Punct => self.flush_all(observer),
            _ => Ok(()),
        }
    }

    /// The timer of [`Window::period`] has fired: flushes or triggers every partition.
    pub fn tick(&mut self, now_ns: u64, observer: &mut impl Observer<T>) -> Result<(), Fault> {
        self.evict_old_partitions(now_ns, observer)?;
        if self.kind == WindowKind::Tumbling {
            return self.flush_all(observer);
        }
        self.expire(now_ns, observer)?;
        if self.partitions.is_empty() && !self.partitioned {
            return observer.fire(None, 0);
        }
        let total = self.items;
        self.partitions
            .values()
            .try_for_each(|partition| observer.fire(Some(partition), total))
    }

    /// Lets every item leave whose time in a sliding window is over.
    pub fn expire(&mut self, now_ns: u64, observer: &mut impl Observer<T>) -> Result<(), Fault> {
        let Some(seconds) = self.lifetime else {
            return Ok(());
        };
        let lifetime_ns = (seconds * 1e9) as u64;
        for partition in self.partitions.values_mut() {
            while partition
                .oldest()
                .is_some_and(|e| now_ns - e.arrived_ns > lifetime_ns)
            {
                let Some(entry) = partition.pop() else { break };
                self.items -= 1;
                observer.leave(entry.item, Cause::Evicted)?;
            }
        }
        Ok(())
    }

    fn flush_all(&mut self, observer: &mut impl Observer<T>) -> Result<(), Fault> {
        if self.partitions.is_empty() {
            return observer.fire(None, 0);
        }
        while let Some((key, _)) = self.partitions.first() {
            let key = key.clone();
            self.flush(&key, observer)?;
        }
        Ok(())
    }

    fn flush(&mut self, key: &[u8], observer: &mut impl Observer<T>) -> Result<(), Fault> {
        if let Some(partition) = self.partitions.get(key) {
            observer.fire(Some(partition), self.items)?;
        }
        self.remove(key, Cause::Flushed, observer)
    }

    /// Removes a partition; its items leave.
    fn remove(
        &mut self,
        key: &[u8],
        cause: Cause,
        observer: &mut impl Observer<T>,
    ) -> Result<(), Fault> {
        let Some(mut partition) = self.partitions.shift_remove(key) else {
            return Ok(());
        };
        self.by_use.remove(&partition.last_use());
        self.items -= partition.len();
        while let Some(entry) = partition.pop() {
            observer.leave(entry.item, cause)?;
        }
        partition.reset();
        self.spare.push(partition);
        Ok(())
    }

    fn evict_partitions(&mut self, observer: &mut impl Observer<T>) -> Result<(), Fault> {
        match self.partition_eviction {
            Some(PartitionEviction::Count(n)) => {
                while self.partitions.len() > n as usize {
                    self.evict_first_partition(observer)?;
                }
            }
            Some(PartitionEviction::Tuples(n)) => {
                while self.items > n as usize {
                    self.evict_first_partition(observer)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn evict_old_partitions(
        &mut self,
        now_ns: u64,
        observer: &mut impl Observer<T>,
    ) -> Result<(), Fault> {
        let Some(PartitionEviction::Age(seconds)) = self.partition_eviction else {
            return Ok(());
        };
        let age_ns = (seconds * 1e9) as u64;
        while let Some(key) = self.by_use.values().next()
            && now_ns - self.partitions[key].used_ns() > age_ns
        {
            self.evict_first_partition(observer)?;
        }
        Ok(())
    }

    /// Evicts the partition that was not used for the longest time.
    fn evict_first_partition(&mut self, observer: &mut impl Observer<T>) -> Result<(), Fault> {
        let Some((_, key)) = self.by_use.pop_first() else {
            return Ok(());
        };
        observer.evict_partition(&self.partitions[&key])?;
        self.remove(&key, Cause::Partition, observer)
    }
}
