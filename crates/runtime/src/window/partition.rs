//! A partition of a window: a queue of items, and the state of the policies.

use std::collections::VecDeque;

use graph::Policy;
use tuple::Value;

use super::delta;

/// An item in a window.
#[derive(Debug)]
pub struct WindowItem<T> {
    /// The item as the operator gave it.
    pub item: T,
    /// Value of the eviction policy's delta attribute.
    pub evict_by: Option<Value>,
}

/// Items of one partition, oldest first.
#[derive(Debug)]
pub struct WindowPartition<T> {
    entries: VecDeque<WindowItem<T>>,
    /// Number of items that were merged into others.
    merged: usize,
    /// Whether a sliding window has been full at least once.
    is_full: bool,
    /// Items since the last count trigger.
    since_trigger: u32,
    /// The delta trigger's value at its last firing, or that of the first item.
    trigger_base: Option<Value>,
    serial: u64,
    last_used_ns: u64,
}

impl<T> Default for WindowPartition<T> {
    fn default() -> WindowPartition<T> {
        WindowPartition {
            entries: VecDeque::new(),
            merged: 0,
            is_full: false,
            since_trigger: 0,
            trigger_base: None,
            serial: 0,
            last_used_ns: 0,
        }
    }
}

impl<T> WindowPartition<T> {
    /// The items that are kept, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator + Clone {
        self.entries.iter().map(|entry| &entry.item)
    }

    /// Number of items that have come and not left.
    pub fn len(&self) -> usize {
        self.entries.len() + self.merged
    }

    /// Whether no item is kept.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Number of the partition, from 1, which no other partition of the window ever has: one that
    /// was evicted and returns has another.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    pub(super) fn set_serial(&mut self, serial: u64) {
        self.serial = serial;
    }

    /// Whether a sliding window has been full before; until then it is incomplete.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    pub(super) fn oldest(&self) -> Option<&WindowItem<T>> {
        self.entries.front()
    }

    pub(super) fn newest_mut(&mut self) -> Option<&mut T> {
        self.entries.back_mut().map(|entry| &mut entry.item)
    }

    /// Counts an item that was merged into another one.
    pub(super) fn count_merged(&mut self) {
        self.merged += 1;
    }

    /// An item that is kept, by index.
    pub fn get(&self, at: usize) -> Option<&T> {
        self.entries.get(at).map(|entry| &entry.item)
    }

    /// Number of kept items that satisfy a condition, if they stand before all that do not.
    pub fn partition_point(&self, mut holds: impl FnMut(&T) -> bool) -> usize {
        self.entries.partition_point(|entry| holds(&entry.item))
    }

    pub(super) fn insert(&mut self, at: usize, entry: WindowItem<T>) {
        if at < self.entries.len() {
            self.entries.insert(at, entry);
        } else {
            self.entries.push_back(entry);
        }
    }

    pub(super) fn pop(&mut self) -> Option<WindowItem<T>> {
        self.entries.pop_front()
    }

    /// Removes all items and keeps their memory.
    pub(super) fn reset(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.clear();
        *self = WindowPartition {
            entries,
            ..WindowPartition::default()
        };
    }

    /// Notes the time at which the last item came.
    pub(super) fn set_last_used(&mut self, now_ns: u64) {
        self.last_used_ns = now_ns;
    }

    pub(super) fn last_used_ns(&self) -> u64 {
        self.last_used_ns
    }

    pub(super) fn set_full(&mut self) {
        self.is_full = true;
    }

    /// Notes after an insertion whether the window now counts as full.
    pub(super) fn update_full(&mut self, evict: &Policy) {
        self.is_full |= match evict {
            Policy::Count(n) => self.len() >= *n as usize,
            Policy::Time(_) => true,
            Policy::Delta(..) | Policy::Punct | Policy::Interval(_) | Policy::Session(_) => false,
        };
    }

    /// Sets the base of a delta trigger, if this is the first item.
    pub(super) fn set_trigger_base(&mut self, value: Option<Value>) {
        if self.trigger_base.is_none() {
            self.trigger_base = value;
        }
    }

    /// Whether the value of an arriving item fires the delta trigger; the base then moves to it.
    pub(super) fn delta_triggers(
        &mut self,
        trigger: Option<&Policy>,
        value: Option<&Value>,
    ) -> bool {
        let (Some(Policy::Delta(_, amount)), Some(value)) = (trigger, value) else {
            return false;
        };
        let fires = self
            .trigger_base
            .as_ref()
            .is_some_and(|b| delta::exceeds(value, b, amount));
        if fires {
            self.trigger_base = Some(value.clone());
        }
        fires
    }

    /// Counts an item for the count trigger. Returns whether it fires.
    pub(super) fn count_triggers(&mut self, trigger: Option<&Policy>) -> bool {
        let Some(Policy::Count(every)) = trigger else {
            return false;
        };
        self.since_trigger += 1;
        let fires = self.since_trigger >= *every;
        if fires {
            self.since_trigger = 0;
        }
        fires
    }

    /// Whether the newest item's value is greater than the arriving one's.
    pub(super) fn newest_exceeds(&self, value: &Value) -> bool {
        let newest = self
            .entries
            .back()
            .and_then(|entry| entry.evict_by.as_ref());
        newest.is_some_and(|newest| newest.total_cmp(value).is_gt())
    }

    /// Takes out one item that is too far from the arriving value: the oldest, or, where the order
    /// is not kept, any.
    pub(super) fn take_exceeding(
        &mut self,
        value: &Value,
        amount: &Value,
        anywhere: bool,
    ) -> Option<WindowItem<T>> {
        let beyond = |entry: &WindowItem<T>| {
            entry
                .evict_by
                .as_ref()
                .is_some_and(|old| delta::exceeds(value, old, amount))
        };
        let at = if anywhere {
            self.entries.iter().position(beyond)
        } else {
            self.entries.front().is_some_and(beyond).then_some(0)
        };
        self.entries.remove(at?)
    }
}
