//! Windows of an input port whose items leave by count, by a delta, by time or by markers.

use std::collections::VecDeque;

use eval::Fault;
use graph::{PartitionEviction, Policy, Window, WindowKind};
use tuple::{Layout, TupleRef, Value};

use super::delta;
use super::key_ids::KeyId;
use super::partition::{WindowItem, WindowPartition};
use super::partitions::Partitions;
use super::window_observer::{LeaveReason, WindowObserver};

/// An item on its way in, with what the policies look at.
#[derive(Debug)]
pub struct WindowArrival<'a, T> {
    /// The partition's key; empty if the window is not partitioned.
    pub key: &'a [u8],
    /// Nanoseconds on a clock that never goes back.
    pub now_ns: u64,
    /// The value of the eviction policy's delta attribute.
    pub evict_by: Option<Value>,
    /// The value of the trigger policy's delta attribute.
    pub trigger_by: Option<Value>,
    /// The item as the operator keeps it.
    pub item: T,
}

/// All windows of one input port.
#[derive(Debug)]
pub struct Windows<T> {
    is_sliding: bool,
    evict: Policy,
    trigger: Option<Policy>,
    is_partitioned: bool,
    partition_eviction: Option<PartitionEviction>,
    /// Seconds that an item stays in a sliding window with a time policy.
    lifetime: Option<f64>,
    partitions: Partitions<T>,
    /// Times of arrival, oldest first; kept only if items have a lifetime.
    item_ages: VecDeque<ItemAge>,
    items: usize,
    /// Whether a smaller delta value came after a larger one: eviction looks at every item from
    /// then on.
    is_unordered: bool,
}

/// Time of arrival of an item, and its partition.
#[derive(Clone, Copy, Debug)]
struct ItemAge {
    arrived_ns: u64,
    at: KeyId,
    serial: u64,
}

impl<T> Windows<T> {
    /// Empty windows, tumbling or sliding ones.
    pub fn new(window: &Window) -> Windows<T> {
        let is_timed = matches!(window.kind, WindowKind::TimeInterval | WindowKind::Session);
        debug_assert!(!is_timed, "those are panes and sessions");
        let partition = window.partition.as_ref();
        Windows {
            is_sliding: window.kind == WindowKind::Sliding,
            evict: window.evict.clone(),
            trigger: window.trigger.clone(),
            is_partitioned: partition.is_some(),
            partition_eviction: partition.and_then(|p| p.evict),
            lifetime: window.lifetime_s(),
            partitions: Partitions::new(),
            item_ages: VecDeque::new(),
            items: 0,
            is_unordered: false,
        }
    }

    /// Values of the delta attributes of a tuple: that of the eviction policy, and that of the
    /// trigger policy.
    pub fn deltas(&self, tuple: TupleRef<'_>, layout: &Layout) -> (Option<Value>, Option<Value>) {
        let value = |policy: Option<&Policy>| match policy {
            Some(Policy::Delta(index, _)) => Some(tuple.get(layout, *index as usize)),
            _ => None,
        };
        (value(Some(&self.evict)), value(self.trigger.as_ref()))
    }

    /// Number of items in all partitions.
    pub fn len(&self) -> usize {
        self.items
    }

    /// Whether no partition has an item.
    pub fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// Whether the time of arrival counts: if not, any time will do in [`WindowArrival`].
    pub fn is_timed(&self) -> bool {
        let is_aged = matches!(self.partition_eviction, Some(PartitionEviction::Age(_)));
        self.lifetime.is_some() || is_aged
    }

    /// Partitions that have items, oldest first.
    pub fn partitions(&self) -> impl Iterator<Item = &WindowPartition<T>> {
        self.partitions.iter()
    }

    /// Number of partitions that have items.
    pub fn partition_count(&self) -> usize {
        self.partitions.len()
    }

    /// Adds an item, and fires and evicts as the policies say.
    ///
    /// # Errors
    /// The fault of the observer. The item is then in its window or not, as far as it had got.
    pub fn insert(
        &mut self,
        arrival: WindowArrival<'_, T>,
        observer: &mut impl WindowObserver<T>,
    ) -> Result<(), Fault> {
        self.evict_old_partitions(arrival.now_ns, observer)?;
        if self.is_sliding {
            self.insert_sliding(arrival, observer)
        } else {
            self.insert_tumbling(arrival, observer)
        }
    }

    fn insert_tumbling(
        &mut self,
        arrival: WindowArrival<'_, T>,
        observer: &mut impl WindowObserver<T>,
    ) -> Result<(), Fault> {
        let mut at = self.partitions.find(arrival.key);
        match (&self.evict, &arrival.evict_by) {
            (Policy::Count(0), _) => return observer.leave(arrival.item, LeaveReason::Flushed),
            (Policy::Delta(_, amount), Some(value)) => {
                let oldest = at.and_then(|at| self.partitions.get(at).oldest());
                let oldest = oldest.and_then(|entry| entry.evict_by.as_ref());
                if oldest.is_some_and(|oldest| delta::exceeds(value, oldest, amount))
                    && let Some(full) = at.take()
                {
                    self.flush(full, observer)?;
                }
            }
            _ => {}
        }
        let at = self.push(at, arrival, observer)?;
        match (&self.evict, at) {
            (Policy::Count(n), Some(at)) if self.partitions.get(at).len() >= *n as usize => {
                self.flush(at, observer)
            }
            _ => Ok(()),
        }
    }

    fn insert_sliding(
        &mut self,
        arrival: WindowArrival<'_, T>,
        observer: &mut impl WindowObserver<T>,
    ) -> Result<(), Fault> {
        self.expire(arrival.now_ns, observer)?;
        let mut at = self.partitions.find(arrival.key);
        if let Some(at) = at {
            let partition = self.partitions.get_mut(at);
            if partition.delta_triggers(self.trigger.as_ref(), arrival.trigger_by.as_ref()) {
                observer.fire(Some(partition), self.items)?;
            }
        }
        if matches!(self.evict, Policy::Count(0)) {
            observer.leave(arrival.item, LeaveReason::Evicted)?;
        } else {
            if let Some(at) = at {
                self.evict_for_arrival(at, &arrival, observer)?;
            }
            at = self.push(at, arrival, observer)?;
        }
        if let Some(at) = at {
            let partition = self.partitions.get_mut(at);
            if partition.count_triggers(self.trigger.as_ref()) {
                return observer.fire(Some(partition), self.items);
            }
        }
        Ok(())
    }

    /// Evicts from a sliding window what the arriving item pushes out.
    fn evict_for_arrival(
        &mut self,
        at: KeyId,
        arrival: &WindowArrival<'_, T>,
        observer: &mut impl WindowObserver<T>,
    ) -> Result<(), Fault> {
        let partition = self.partitions.get_mut(at);
        match (&self.evict, &arrival.evict_by) {
            (Policy::Count(n), _) => {
                while partition.len() >= *n as usize
                    && let Some(entry) = partition.pop()
                {
                    self.items -= 1;
                    observer.leave(entry.item, LeaveReason::Evicted)?;
                }
            }
            (Policy::Delta(_, amount), Some(value)) => {
                self.is_unordered |= partition.newest_exceeds(value);
                while let Some(entry) = partition.take_exceeding(value, amount, self.is_unordered) {
                    self.items -= 1;
                    partition.set_full();
                    observer.leave(entry.item, LeaveReason::Evicted)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Puts the item into its partition, a new one if there is none, then evicts partitions that
    /// are too many. Returns the id of the partition, or `None` if it was evicted itself.
    fn push(
        &mut self,
        at: Option<KeyId>,
        arrival: WindowArrival<'_, T>,
        observer: &mut impl WindowObserver<T>,
    ) -> Result<Option<KeyId>, Fault> {
        let WindowArrival {
            key,
            now_ns,
            evict_by,
            trigger_by,
            item,
        } = arrival;
        let is_new = at.is_none();
        let at = at.unwrap_or_else(|| self.partitions.open(key));
        let partition = self.partitions.get_mut(at);
        let serial = partition.serial();
        partition.set_last_used(now_ns);
        partition.set_trigger_base(trigger_by);
        let merged = observer.merge(partition.newest_mut(), item);
        if merged.is_err() && is_new {
            self.partitions.close(at);
        }
        let partition = self.partitions.get_mut(at);
        match merged? {
            Some(item) => {
                let index = observer.insert_position(partition, &item);
                partition.insert(index, WindowItem { item, evict_by });
            }
            None => partition.count_merged(),
        }
        partition.update_full(&self.evict);
        self.items += 1;
        if self.lifetime.is_some() {
            self.item_ages.push_back(ItemAge {
                arrived_ns: now_ns,
                at,
                serial,
            });
        }
        if self.partition_eviction.is_some() {
            self.partitions.set_last_used(at);
            self.evict_partitions(observer)?;
        }
        Ok((self.partitions.get(at).serial() == serial).then_some(at))
    }

    /// Processes a window marker: flushes every partition of a `punct()` window.
    ///
    /// # Errors
    /// The fault of the observer.
    pub fn process_window_marker(
        &mut self,
        observer: &mut impl WindowObserver<T>,
    ) -> Result<(), Fault> {
        match self.evict {
            Policy::Punct => self.flush_all(observer),
            _ => Ok(()),
        }
    }

    /// Runs when the timer of [`Window::period_s`] has fired: flushes or triggers every partition.
    ///
    /// # Errors
    /// The fault of the observer.
    pub fn on_timer(
        &mut self,
        now_ns: u64,
        observer: &mut impl WindowObserver<T>,
    ) -> Result<(), Fault> {
        self.evict_old_partitions(now_ns, observer)?;
        if !self.is_sliding {
            return self.flush_all(observer);
        }
        self.expire(now_ns, observer)?;
        if self.partitions.is_empty() && !self.is_partitioned {
            return observer.fire(None, 0);
        }
        let total = self.items;
        self.partitions
            .iter()
            .try_for_each(|partition| observer.fire(Some(partition), total))
    }

    /// Lets all items leave whose time in a sliding window is over.
    ///
    /// # Errors
    /// The fault of the observer.
    pub fn expire(
        &mut self,
        now_ns: u64,
        observer: &mut impl WindowObserver<T>,
    ) -> Result<(), Fault> {
        let Some(seconds) = self.lifetime else {
            return Ok(());
        };
        let lifetime_ns = (seconds * 1e9) as u64;
        while let Some(oldest) = self.item_ages.front()
            && now_ns - oldest.arrived_ns > lifetime_ns
        {
            let ItemAge { at, serial, .. } = *oldest;
            self.item_ages.pop_front();
            let partition = self.partitions.get_mut(at);
            // Unless the item has left with its partition.
            if partition.serial() == serial
                && let Some(entry) = partition.pop()
            {
                self.items -= 1;
                observer.leave(entry.item, LeaveReason::Evicted)?;
            }
        }
        Ok(())
    }

    fn flush_all(&mut self, observer: &mut impl WindowObserver<T>) -> Result<(), Fault> {
        if self.partitions.is_empty() {
            return observer.fire(None, 0);
        }
        while let Some(at) = self.partitions.oldest() {
            self.flush(at, observer)?;
        }
        Ok(())
    }

    fn flush(&mut self, at: KeyId, observer: &mut impl WindowObserver<T>) -> Result<(), Fault> {
        observer.fire(Some(self.partitions.get(at)), self.items)?;
        self.remove(at, LeaveReason::Flushed, observer)
    }

    /// Removes a partition; its items leave.
    fn remove(
        &mut self,
        at: KeyId,
        cause: LeaveReason,
        observer: &mut impl WindowObserver<T>,
    ) -> Result<(), Fault> {
        let partition = self.partitions.get_mut(at);
        self.items -= partition.len();
        let mut items = std::iter::from_fn(|| partition.pop());
        let left = items.try_for_each(|entry| observer.leave(entry.item, cause));
        self.partitions.close(at);
        left
    }

    fn evict_partitions(&mut self, observer: &mut impl WindowObserver<T>) -> Result<(), Fault> {
        match self.partition_eviction {
            Some(PartitionEviction::Count(n)) => {
                while self.partitions.len() > n as usize {
                    self.evict_least_used(observer)?;
                }
            }
            Some(PartitionEviction::Tuples(n)) => {
                while self.items > n as usize {
                    self.evict_least_used(observer)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn evict_old_partitions(
        &mut self,
        now_ns: u64,
        observer: &mut impl WindowObserver<T>,
    ) -> Result<(), Fault> {
        let Some(PartitionEviction::Age(seconds)) = self.partition_eviction else {
            return Ok(());
        };
        let age_ns = (seconds * 1e9) as u64;
        while let Some(at) = self.partitions.least_used()
            && now_ns - self.partitions.get(at).last_used_ns() > age_ns
        {
            self.evict_least_used(observer)?;
        }
        Ok(())
    }

    /// Evicts the partition that was not used for the longest time.
    fn evict_least_used(&mut self, observer: &mut impl WindowObserver<T>) -> Result<(), Fault> {
        let Some(at) = self.partitions.least_used() else {
            return Ok(());
        };
        observer.evict_partition(self.partitions.get(at))?;
        self.remove(at, LeaveReason::PartitionEvicted, observer)
    }
}
