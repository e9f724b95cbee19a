//! Windows over event time: panes that begin at equal distances, overlap or leave gaps, and fire
//! when the watermark has passed their end.
//!
//! ```text
//!   duration 10, period 5          [0 ........ 10)
//!                                        [5 ........ 15)
//!                                              [10 ........ 20)
//!   event time 7 is in both of the first two; the watermark 12 fires the first
//! ```
//! A pane is kept for the discard age after its end. An item that comes for it meanwhile is late,
//! and the pane fires again with all its items at the next watermark. An item that is older than
//! the watermark by more than that age is in no pane any more. Each partition with new items fires
//! by itself.
//!
//! # Cost
//! An item that lies in several panes is kept once; or a partition of a pane keeps one item, into
//! which the observer merges those that come. A watermark looks at the panes whose end it has
//! passed and which are not discarded yet. The memory of a discarded pane serves the next one, and
//! its items are returned to the operator ([`PaneObserver::leave`]).

use std::collections::BTreeMap;

use eval::{Fault, Pane};
use graph::TimeInterval;
use tuple::EventTime;

use super::key_ids::KeyIds;
use super::shared_items::{PaneItems, SharedItems};

/// The operator's part of its panes: what happens when they fire and when items leave.
pub trait PaneObserver<T> {
    /// Processes a partition of a pane that has items since it fired last: all its items.
    fn fire(&mut self, pane: Pane, items: PaneItems<'_, T>) -> Result<(), Fault>;
    /// Merges an item into that of a partition of a pane. If the partition has none yet, returns
    /// the one that it keeps. Only for panes that keep one.
    ///
    /// # Errors
    /// The item cannot be merged, as if a sum overflows.
    fn merge(&mut self, kept: Option<&mut T>, item: &T) -> Result<Option<T>, Fault>;
    /// Takes an item back: no pane holds it any more.
    fn leave(&mut self, item: T);
}

/// All panes of one input port.
#[derive(Debug)]
pub struct Panes<T> {
    interval: TimeInterval,
    /// Whether a partition of a pane keeps one item, into which others are merged.
    is_merging: bool,
    open: OpenPanes,
    items: SharedItems<T>,
    watermark: Option<EventTime>,
}

/// The panes that take items.
#[derive(Debug, Default)]
struct OpenPanes {
    by_start: BTreeMap<i128, OpenPane>,
    /// Number of partitions in all panes.
    partition_count: usize,
    /// Discarded panes, whose memory is used again.
    spare: Vec<OpenPane>,
}

/// A pane that takes items.
#[derive(Debug, Default)]
struct OpenPane {
    key_ids: KeyIds,
    /// By key id, in the order of their first items. Partitions without an id are memory.
    partitions: Vec<PanePartition>,
    /// Whether an item has come since the pane fired.
    has_new_items: bool,
    /// Number of times that the pane has fired.
    fire_count: u64,
}

/// A partition of a pane.
#[derive(Debug, Default)]
struct PanePartition {
    item_indexes: Vec<u32>,
    /// Number of items that have come.
    item_count: u64,
    has_new_items: bool,
}

/// Indexes that a discarded partition keeps memory for: any partition may be the next one there,
/// also a small one.
const SPARE_INDEXES: usize = 256;

impl<T> Panes<T> {
    /// Windows without panes yet.
    pub fn new(interval: TimeInterval, is_merging: bool) -> Panes<T> {
        Panes {
            interval,
            is_merging,
            open: OpenPanes::default(),
            items: SharedItems::new(),
            watermark: None,
        }
    }

    /// Number of partitions in all panes.
    pub fn partition_count(&self) -> usize {
        self.open.partition_count
    }

    /// Number of partitions with items that have not fired, and of the items in these partitions.
    pub fn incomplete_counts(&self) -> (u64, u64) {
        let partitions = self.open.by_start.values().flat_map(OpenPane::partitions);
        let fresh = partitions.filter(|partition| partition.has_new_items);
        fresh.fold((0, 0), |(partitions, items), partition| {
            (partitions + 1, items + partition.item_count)
        })
    }

    /// Whether an item with this event time comes too late.
    pub fn is_too_late(&self, at: EventTime) -> bool {
        let is_before = |reached: EventTime| at.0 < reached.0 - self.interval.discard_ns;
        self.watermark.is_some_and(is_before)
    }

    /// Whether an item with this event time is in no pane: it comes too late, or lies between
    /// panes.
    pub fn is_outside_panes(&self, at: EventTime) -> bool {
        let has_gaps = self.interval.period_ns > self.interval.duration_ns;
        self.is_too_late(at) || (has_gaps && self.pane_starts(at).next().is_none())
    }

    /// Adds an item to its panes, if it is in any.
    ///
    /// # Errors
    /// The fault of the observer. The item is then in some of its panes or in none.
    pub fn insert(
        &mut self,
        key: &[u8],
        at: EventTime,
        item: T,
        observer: &mut impl PaneObserver<T>,
    ) -> Result<(), Fault> {
        if self.is_outside_panes(at) {
            observer.leave(item);
            return Ok(());
        }
        if self.is_merging {
            let mut starts = self.pane_starts(at);
            let merged =
                starts.try_for_each(|start| self.merge_into_pane(start, key, &item, observer));
            observer.leave(item);
            return merged;
        }
        let index = self.items.add(item);
        for start in self.pane_starts(at) {
            let partition = self.open.partition(start, key);
            partition.note_item();
            partition.item_indexes.push(index);
            self.items.add_reference(index);
        }
        Ok(())
    }

    fn merge_into_pane(
        &mut self,
        start: i128,
        key: &[u8],
        item: &T,
        observer: &mut impl PaneObserver<T>,
    ) -> Result<(), Fault> {
        let partition = self.open.partition(start, key);
        let kept = partition.item_indexes.first();
        let kept = kept.map(|&index| self.items.get_mut(index));
        let merged = observer.merge(kept, item);
        if merged.is_err() && partition.item_indexes.is_empty() {
            self.open.remove_empty(start, key);
            return merged.map(|_| ());
        }
        if let Some(first) = merged? {
            let index = self.items.add(first);
            self.items.add_reference(index);
            partition.item_indexes.push(index);
        }
        partition.note_item();
        Ok(())
    }

    /// Starts of the panes that an event time lies in, the earliest first.
    fn pane_starts(&self, at: EventTime) -> impl Iterator<Item = i128> + use<T> {
        let TimeInterval {
            duration_ns,
            period_ns,
            offset_ns,
            ..
        } = self.interval;
        let last = offset_ns + div_euclid(at.0 - offset_ns, period_ns) * period_ns;
        // Number of panes that begin before the last one and have not ended.
        let more = div_euclid(last - (at.0 - duration_ns) - 1, period_ns);
        (0..=more).rev().map(move |back| last - back * period_ns)
    }

    /// Advances the watermark: panes whose end it has passed fire, the earliest first, and those
    /// that are old enough are discarded.
    ///
    /// # Errors
    /// The fault of the observer.
    pub fn advance(
        &mut self,
        to: EventTime,
        observer: &mut impl PaneObserver<T>,
    ) -> Result<(), Fault> {
        self.watermark = Some(to);
        let TimeInterval {
            duration_ns,
            discard_ns,
            ..
        } = self.interval;
        let complete = self.open.by_start.range_mut(..=to.0 - duration_ns);
        for (&start, pane) in complete.filter(|(_, pane)| pane.has_new_items) {
            let end = EventTime(start + duration_ns);
            pane.fire(EventTime(start), end, &self.items, observer)?;
        }
        while let Some(first) = self.open.by_start.first_entry()
            && first.key() + duration_ns + discard_ns <= to.0
        {
            let mut pane = first.remove();
            self.open.partition_count -= pane.key_ids.len();
            pane.item_indexes()
                .filter_map(|index| self.items.release(index))
                .for_each(|item| observer.leave(item));
            pane.clear();
            self.open.spare.push(pane);
        }
        Ok(())
    }
}

/// Euclidean division: by one instruction if both numbers have 64 bits, as times up to 2262 do.
fn div_euclid(number: i128, divisor: i128) -> i128 {
    match (i64::try_from(number), i64::try_from(divisor)) {
        (Ok(number), Ok(divisor)) if divisor > 0 => number.div_euclid(divisor).into(),
        _ => number.div_euclid(divisor),
    }
}

impl OpenPanes {
    /// The partition of a key in the pane with this start, for an item that comes.
    fn partition(&mut self, start: i128, key: &[u8]) -> &mut PanePartition {
        let pane = self.by_start.entry(start);
        let pane = pane.or_insert_with(|| self.spare.pop().unwrap_or_default());
        let before = pane.key_ids.len();
        pane.has_new_items = true;
        let partition = pane.find_or_add(key);
        self.partition_count += pane.key_ids.len() - before;
        &mut pane.partitions[partition]
    }
}

impl OpenPanes {
    /// Removes the partition of a key that has got no item, as if none had come for it.
    fn remove_empty(&mut self, start: i128, key: &[u8]) {
        let Some(pane) = self.by_start.get_mut(&start) else {
            return;
        };
        if let Some(at) = pane.key_ids.find(key) {
            // It was added last, so the ids of the others stay without gaps.
            pane.key_ids.release(at);
            self.partition_count -= 1;
        }
        let has_new_items = pane.partitions().any(|partition| partition.has_new_items);
        pane.has_new_items = has_new_items;
        if pane.key_ids.is_empty()
            && let Some(mut pane) = self.by_start.remove(&start)
        {
            pane.clear();
            self.spare.push(pane);
        }
    }
}

impl PanePartition {
    /// Counts an item that has come.
    fn note_item(&mut self) {
        self.item_count += 1;
        self.has_new_items = true;
    }
}

impl OpenPane {
    /// Index of the partition of a key, which is added if there is none.
    fn find_or_add(&mut self, key: &[u8]) -> usize {
        let at = self.key_ids.find(key);
        let at = at.unwrap_or_else(|| self.key_ids.assign(key)) as usize;
        if at == self.partitions.len() {
            self.partitions.push(PanePartition::default());
        }
        at
    }

    fn fire<T>(
        &mut self,
        start: EventTime,
        end: EventTime,
        items: &SharedItems<T>,
        observer: &mut impl PaneObserver<T>,
    ) -> Result<(), Fault> {
        let pane = Pane::between(start, end, self.fire_count);
        self.has_new_items = false;
        self.fire_count += 1;
        for partition in &mut self.partitions[..self.key_ids.len()] {
            if std::mem::take(&mut partition.has_new_items) {
                observer.fire(pane, PaneItems::new(items, &partition.item_indexes))?;
            }
        }
        Ok(())
    }

    /// Partitions that are in use.
    fn partitions(&self) -> impl Iterator<Item = &PanePartition> {
        self.partitions[..self.key_ids.len()].iter()
    }

    /// Indexes of the items of all partitions.
    fn item_indexes(&self) -> impl Iterator<Item = u32> {
        self.partitions()
            .flat_map(|partition| partition.item_indexes.iter().copied())
    }

    /// Removes all partitions and keeps their memory.
    fn clear(&mut self) {
        for partition in &mut self.partitions[..self.key_ids.len()] {
            partition.item_indexes.clear();
            partition.item_indexes.shrink_to(SPARE_INDEXES);
            (partition.item_count, partition.has_new_items) = (0, false);
        }
        self.key_ids.clear();
        (self.has_new_items, self.fire_count) = (false, 0);
    }
}

#[cfg(test)]
mod tests {
    use eval::PaneTiming;

    use super::*;

    /// `start/end index: items` of each firing, and what has left since.
    #[derive(Default)]
    struct Journal(Vec<String>, Vec<i128>);

    impl PaneObserver<i128> for Journal {
        fn fire(&mut self, pane: Pane, items: PaneItems<'_, i128>) -> Result<(), Fault> {
            let items: Vec<_> = items.iter().map(|item| item.to_string()).collect();
            let (start, end, index) = (pane.start.0, pane.end.0, pane.index);
            assert_eq!(pane.timing == PaneTiming::OnComplete, index == 0);
            self.0
                .push(format!("{start}/{end} {index}: {}", items.join(" ")));
            Ok(())
        }

        fn merge(&mut self, kept: Option<&mut i128>, item: &i128) -> Result<Option<i128>, Fault> {
            let Some(kept) = kept else {
                return Ok(Some(*item));
            };
            *kept = kept
                .checked_add(*item)
                .ok_or_else(|| Fault::value("too much"))?;
            Ok(None)
        }

        fn leave(&mut self, item: i128) {
            self.1.push(item);
        }
    }

    struct Case(Panes<i128>, Journal);

    impl Case {
        fn new(duration_ns: i128, period_ns: i128, offset_ns: i128, discard_ns: i128) -> Case {
            let interval = TimeInterval {
                duration_ns,
                period_ns,
                offset_ns,
                discard_ns,
                attribute: 0,
                resolution: tuple::Resolution::Nanoseconds,
            };
            Case(Panes::new(interval, false), Journal::default())
        }

        fn insert(&mut self, key: &[u8], at: i128) {
            let inserted = self.0.insert(key, EventTime(at), at, &mut self.1);
            inserted.expect("nobody faults");
        }

        fn items(&mut self, times: &[i128]) {
            for &at in times {
                self.insert(&[(at % 2 == 0).into()], at);
            }
        }

        fn alone(&mut self, times: &[i128]) {
            for &at in times {
                self.insert(&[], at);
            }
        }

        fn fired(&mut self, to: i128) -> Vec<String> {
            let advanced = self.0.advance(EventTime(to), &mut self.1);
            advanced.expect("nobody faults");
            std::mem::take(&mut self.1.0)
        }
    }

    #[test]
    fn a_pane_fires_when_the_watermark_has_passed_its_end() {
        let mut case = Case::new(10, 10, 0, 0);
        case.alone(&[3, 9, 10, 19, 25]);
        assert!(case.fired(9).is_empty());
        assert_eq!(case.fired(10), ["0/10 0: 3 9"]);
        case.alone(&[12]);
        assert_eq!(case.fired(30), ["10/20 0: 10 19 12", "20/30 0: 25"]);
        assert!(case.fired(31).is_empty());
        assert_eq!(case.0.partition_count(), 0);
    }

    #[test]
    fn what_is_late_fires_a_pane_again_until_it_is_discarded() {
        let mut case = Case::new(10, 10, 0, 5);
        case.alone(&[3]);
        assert_eq!(case.fired(11), ["0/10 0: 3"]);
        case.alone(&[6, 5]);
        assert_eq!(case.fired(12), ["0/10 1: 3 6"]);
        case.alone(&[8, 9]);
        assert_eq!(case.fired(15), ["0/10 2: 3 6 8 9"]);
        // 9 is older than 15 by more than 5.
        case.alone(&[9]);
        assert!(case.fired(20).is_empty());
        // A pane whose first item is late completes at the next watermark.
        case.alone(&[15]);
        assert_eq!(case.fired(21), ["10/20 0: 15"]);
    }

    #[test]
    fn panes_overlap_or_leave_gaps_and_begin_at_the_offset() {
        let mut case = Case::new(10, 4, 2, 0);
        case.alone(&[7, -3]);
        let all = [
            "-10/0 0: -3",
            "-6/4 0: -3",
            "-2/8 0: 7",
            "2/12 0: 7",
            "6/16 0: 7",
        ];
        assert_eq!(case.fired(100), all);
        let mut case = Case::new(2, 5, 1, 0);
        case.alone(&[0, 1, 2, 3, 5, 6, 7, 8]);
        assert_eq!(case.fired(100), ["1/3 0: 1 2", "6/8 0: 6 7"]);
        let mut case = Case::new(5, 5, 0, 0);
        case.alone(&[-1, -5, -6]);
        assert_eq!(case.fired(0), ["-10/-5 0: -6", "-5/0 0: -1 -5"]);
    }

    #[test]
    fn partitions_fire_by_themselves_if_they_have_got_something() {
        let mut case = Case::new(10, 10, 0, 10);
        case.items(&[3, 4, 5]);
        assert_eq!(case.fired(10), ["0/10 0: 3 5", "0/10 0: 4"]);
        assert_eq!(case.0.partition_count(), 2);
        case.items(&[8]);
        assert_eq!(case.fired(11), ["0/10 1: 4 8"]);
    }

    #[test]
    fn what_has_not_fired_is_counted() {
        let mut case = Case::new(10, 10, 0, 10);
        assert_eq!(case.0.incomplete_counts(), (0, 0));
        case.items(&[1, 3, 4, 15]);
        assert_eq!(case.0.incomplete_counts(), (3, 4));
        case.fired(10);
        assert_eq!(case.0.incomplete_counts(), (1, 1));
        case.items(&[5]);
        assert_eq!(
            case.0.incomplete_counts(),
            (2, 4),
            "with what is late, all of it"
        );
    }

    #[test]
    fn an_item_comes_back_when_the_last_pane_that_held_it_is_discarded() {
        let mut case = Case::new(10, 5, 0, 3);
        case.items(&[1, 2, 6, 7]);
        let left = |case: &mut Case, to| {
            case.fired(to);
            std::mem::take(&mut case.1.1)
        };
        assert!(left(&mut case, 10).is_empty());
        assert_eq!(left(&mut case, 13), [1, 2]);
        case.items(&[12]);
        assert_eq!(left(&mut case, 18), [6, 7]);
        assert_eq!(left(&mut case, 100), [12]);
        assert_eq!(case.0.items.len(), (4, 0), "no more were kept at a time");
        assert_eq!(case.0.open.spare.len(), 3, "nor more panes open");
    }

    #[test]
    fn a_partition_keeps_one_item_into_which_others_are_merged() {
        let mut case = Case::new(10, 5, 0, 3);
        case.0.is_merging = true;
        case.items(&[1, 2, 6, 7, 9]);
        assert_eq!(case.0.incomplete_counts(), (6, 10), "each is in two panes");
        assert_eq!(case.fired(6), ["-5/5 0: 1", "-5/5 0: 2"]);
        assert_eq!(case.fired(10), ["0/10 0: 17", "0/10 0: 8"]);
        case.items(&[8]);
        assert_eq!(case.fired(11), ["0/10 1: 16"]);
        assert_eq!(case.fired(15), ["5/15 0: 14", "5/15 0: 16"]);
        case.fired(100);
        assert_eq!(case.0.items.len().1, 0, "all were given back");
    }

    #[test]
    fn a_pane_that_was_used_before_begins_anew() {
        let mut case = Case::new(10, 10, 0, 0);
        case.items(&[1, 2, 3]);
        assert_eq!(case.fired(10), ["0/10 0: 1 3", "0/10 0: 2"]);
        case.items(&[12]);
        assert_eq!(case.0.partition_count(), 1);
        assert_eq!(case.fired(20), ["10/20 0: 12"]);
        case.items(&[24, 21]);
        assert_eq!(case.fired(30), ["20/30 0: 24", "20/30 0: 21"]);
    }
}
