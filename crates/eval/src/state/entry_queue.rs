//! A sorted queue of a table's entries.
//!
//! ```text
//!   arrived   what was put in since the last entry was taken out; in no order
//!   run       in order, the first at the end: what had arrived while nothing else was there
//!   heap      a binary heap, the first at the top: what came later
//! ```
//! So a window that is put in as a whole and taken out as a whole is sorted once. The place of the
//! item that was taken from the top stays vacant until the next call, for in a window that slides
//! another one comes: it costs one way down the heap. An item is a word for its key, its number in
//! the order of arrival, and its entry's id: mostly, comparing two items reads no entry.

use std::cmp::Ordering;
use std::collections::TryReserveError;

use tuple::Value;

use super::pages::EntryId;

/// The order of entries, by the keys of two of them, the most significant first.
pub(super) trait CompareEntries {
    /// Whether equal words mean equal keys.
    fn has_whole_keys(&self) -> bool;

    /// Order of the keys of two entries.
    fn compare(&self, a: EntryId, b: EntryId) -> Ordering;
}

/// A sorted queue of entries; of those with equal keys, the one that came first is first.
#[derive(Debug, Default)]
pub(super) struct EntryQueue {
    arrived: Vec<QueueItem>,
    run: Vec<QueueItem>,
    heap: Vec<QueueItem>,
    /// The item at the top of the heap has been taken out.
    has_vacancy: bool,
    next_number: u32,
}

/// An entry in the queue: `word of its key | number | id`, from the highest bits on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct QueueItem(u128);

impl QueueItem {
    fn new(key_word: u64, number: u32, id: EntryId) -> QueueItem {
        let behind = u64::from(number) << 32 | u64::from(id.word());
        QueueItem(u128::from(key_word) << 64 | u128::from(behind))
    }

    fn id(self) -> EntryId {
        EntryId::from_word(self.0 as u32).expect("an item has an entry")
    }

    fn number(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn with_number(self, number: u32) -> QueueItem {
        QueueItem::new((self.0 >> 64) as u64, number, self.id())
    }

    fn compare(self, other: QueueItem, entries: &impl CompareEntries) -> Ordering {
        if entries.has_whole_keys() || self.0 >> 64 != other.0 >> 64 {
            return self.cmp(&other);
        }
        let by_keys = entries.compare(self.id(), other.id());
        by_keys.then(self.cmp(&other))
    }

    fn is_before(self, other: QueueItem, entries: &impl CompareEntries) -> bool {
        self.compare(other, entries).is_lt()
    }
}

impl EntryQueue {
    /// Bytes of memory that the queue takes.
    pub(super) fn bytes(&self) -> usize {
        let items = self.arrived.capacity() + self.run.capacity() + self.heap.capacity();
        items * size_of::<QueueItem>()
    }

    /// Puts an entry in, given the word of its key.
    ///
    /// # Errors
    /// Memory is missing; the queue is as before.
    #[inline]
    pub(super) fn push(&mut self, key_word: u64, id: EntryId) -> Result<(), TryReserveError> {
        self.arrived.try_reserve(1)?;
        if !(self.run.is_empty() && self.heap.is_empty()) {
            // All that have arrived go there when the next one is taken out.
            self.heap.try_reserve(self.arrived.len() + 1)?;
        }
        if self.next_number == u32::MAX {
            self.number_anew();
        }
        let item = QueueItem::new(key_word, self.next_number, id);
        self.next_number += 1;
        self.arrived.push(item);
        Ok(())
    }

    /// Takes the first entry out.
    #[inline]
    pub(super) fn pop(&mut self, entries: &impl CompareEntries) -> Option<EntryId> {
        self.fill_vacancy(entries);
        if self.run.is_empty() && self.heap.is_empty() {
            self.sort_arrived(entries);
        }
        while let Some(item) = self.arrived.pop() {
            self.heap.push(item);
            self.sift_up(self.heap.len() - 1, entries);
        }
        let first = match self.is_run_first(entries)? {
            true => self.run.pop()?,
            false => {
                self.has_vacancy = true;
                self.heap[0]
            }
        };
        Some(first.id())
    }

    /// Fills the vacancy at the top of the heap with an item that arrived, or else the last one.
    fn fill_vacancy(&mut self, entries: &impl CompareEntries) {
        if !std::mem::take(&mut self.has_vacancy) {
            return;
        }
        if self.heap.len() == 1 {
            return self.heap.clear();
        }
        if let Some(item) = self.arrived.pop().or_else(|| self.heap.pop()) {
            self.heap[0] = item;
            self.sift_down(entries);
        }
    }

    /// Makes the items that arrived the run.
    fn sort_arrived(&mut self, entries: &impl CompareEntries) {
        std::mem::swap(&mut self.arrived, &mut self.run);
        if entries.has_whole_keys() {
            self.run
                .sort_unstable_by_key(|item| std::cmp::Reverse(*item));
        } else {
            self.run.sort_by(|a, b| b.compare(*a, entries));
        }
    }

    /// Whether the first item is that of the run; `None` if there is no item.
    fn is_run_first(&self, entries: &impl CompareEntries) -> Option<bool> {
        match (self.run.last(), self.heap.first()) {
            (Some(run), Some(heap)) => Some(run.is_before(*heap, entries)),
            (None, None) => None,
            (run, _) => Some(run.is_some()),
        }
    }

    fn sift_up(&mut self, mut at: usize, entries: &impl CompareEntries) {
        let item = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / 2;
            if !item.is_before(self.heap[parent], entries) {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = item;
    }

    /// Moves the item at the top to its place, if it is not the first: down to a leaf by the lesser
    /// child, then up. Then it mostly belongs far down, and so there is one comparison a level.
    fn sift_down(&mut self, entries: &impl CompareEntries) {
        let item = self.heap[0];
        let mut children = self.heap.iter().skip(1).take(2);
        if children.all(|child| item.is_before(*child, entries)) {
            return;
        }
        let mut at = 0;
        loop {
            let left = 2 * at + 1;
            let Some(&first) = self.heap.get(left) else {
                break;
            };
            let right = self.heap.get(left + 1);
            let goes_right = right.is_some_and(|right| right.is_before(first, entries));
            let child = left + usize::from(goes_right);
            self.heap[at] = self.heap[child];
            at = child;
        }
        self.heap[at] = item;
        self.sift_up(at, entries);
    }

    /// Numbers all items from 0 on, in the order in which they came.
    #[cold]
    fn number_anew(&mut self) {
        let parts = [&mut self.arrived, &mut self.run, &mut self.heap];
        let mut items: Vec<&mut QueueItem> = parts.into_iter().flatten().collect();
        items.sort_unstable_by_key(|item| item.number());
        self.next_number = 0;
        for item in items {
            *item = item.with_number(self.next_number);
            self.next_number += 1;
        }
    }
}

/// A word of a value whose order is that of values by [`Value::total_cmp`], where it differs.
pub(super) fn key_word(value: &Value, is_descending: bool) -> u64 {
    let word = match value {
        Value::RString(text) => first_bytes(text.as_bytes()),
        Value::Timestamp(time) => signed(time.seconds),
        Value::Float32(x) => float(f64::from(*x)),
        Value::Float64(x) => float(*x),
        Value::Uint64(x) => *x,
        value => match value.as_integer().map(i64::try_from) {
            Some(Ok(number)) => signed(number),
            _ => 0,
        },
    };
    if is_descending { !word } else { word }
}

/// Like [`key_word`], of an int64.
pub(super) fn int64_word(number: i64, is_descending: bool) -> u64 {
    let word = signed(number);
    if is_descending { !word } else { word }
}

/// Whether values of a type are equal in their order when their words are.
pub(super) fn has_whole_word(ty: &tuple::Type) -> bool {
    ty.is_integral() || matches!(ty, tuple::Type::Float32 | tuple::Type::Float64)
}

fn signed(number: i64) -> u64 {
    number as u64 ^ 1 << 63
}

/// Both zeros are equal, and NaNs come after everything.
fn float(number: f64) -> u64 {
    if number.is_nan() {
        return u64::MAX;
    }
    let bits = (number + 0.0).to_bits() as i64;
    // Negative numbers grow with falling bits.
    signed(bits ^ (bits >> 63 & i64::MAX))
}

fn first_bytes(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    let len = bytes.len().min(8);
    word[..len].copy_from_slice(&bytes[..len]);
    u64::from_be_bytes(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tuple::{Decimal64, Timestamp, Type};

    use super::*;

    /// Entries whose keys are in a list, from id 1 on.
    struct ListedKeys {
        keys: Vec<Value>,
        is_whole: bool,
        is_descending: bool,
    }

    impl CompareEntries for ListedKeys {
        fn has_whole_keys(&self) -> bool {
            self.is_whole
        }

        fn compare(&self, a: EntryId, b: EntryId) -> Ordering {
            let [a, b] = [a, b].map(|id| &self.keys[id.word() as usize - 1]);
            let order = a.total_cmp(b);
            if self.is_descending {
                order.reverse()
            } else {
                order
            }
        }
    }

    /// Values of one type: some equal, and all that is special in an order.
    fn keys() -> impl Strategy<Value = (Type, Vec<Value>)> {
        let float = prop_oneof![
            Just(f64::NAN),
            Just(-f64::NAN),
            Just(-0.0),
            Just(0.0),
            Just(f64::NEG_INFINITY),
            -3.0..3.0_f64,
        ];
        let number = prop_oneof![-3..3_i64, any::<i64>()];
        let stamp = (-2..2_i64, 0..2_u32).prop_map(|(seconds, nanos)| Timestamp {
            seconds,
            nanos,
            machine: 0,
        });
        let text = "[ab]{0,1}|same 8 by[ab]{0,2}";
        let of = |ty: Type, value: BoxedStrategy<Value>| {
            prop::collection::vec(value, 1..300).prop_map(move |keys| (ty.clone(), keys))
        };
        prop_oneof![
            of(Type::Float64, float.prop_map(Value::Float64).boxed()),
            of(Type::Int64, number.clone().prop_map(Value::Int64).boxed()),
            of(
                Type::Uint64,
                number.prop_map(|x| Value::Uint64(x as u64)).boxed()
            ),
            of(
                Type::RString,
                text.prop_map(|text| Value::RString(text.as_str().into()))
                    .boxed()
            ),
            of(Type::Timestamp, stamp.prop_map(Value::Timestamp).boxed()),
            of(
                Type::Decimal64,
                (-3..3_i64)
                    .prop_map(|x| Value::Decimal64(Decimal64::from_i64(x)))
                    .boxed()
            ),
        ]
    }

    proptest! {
        #[test]
        fn the_queue_is_a_sorted_list(
            (ty, keys) in keys(),
            is_descending in any::<bool>(),
            steps in prop::collection::vec((0..5_usize, 0..4_usize), 1..200),
            first_number in prop_oneof![Just(0), u32::MAX - 100..u32::MAX],
        ) {
            let entries = ListedKeys { keys, is_whole: has_whole_word(&ty), is_descending };
            let mut queue = EntryQueue { next_number: first_number, ..EntryQueue::default() };
            let mut list: Vec<EntryId> = Vec::new();
            let mut ids = (1..=entries.keys.len() as u32).filter_map(EntryId::from_word);
            for (pushes, pops) in steps {
                for id in ids.by_ref().take(pushes) {
                    let key = &entries.keys[id.word() as usize - 1];
                    queue.push(key_word(key, is_descending), id).expect("memory");
                    // Stable: behind all that are not greater.
                    let at = list.partition_point(|other| entries.compare(*other, id).is_le());
                    list.insert(at, id);
                }
                for _ in 0..pops {
                    let first = (!list.is_empty()).then(|| list.remove(0));
                    prop_assert_eq!(queue.pop(&entries), first);
                }
            }
        }
    }
}
