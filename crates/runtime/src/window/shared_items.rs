//! Items that several panes hold, each kept once. When the last pane releases an item it is
//! returned, and a later item takes its index.

/// Items of all panes, with counts of their references.
#[derive(Debug)]
pub struct SharedItems<T> {
    items: Vec<SharedItem<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct SharedItem<T> {
    /// The item; `None` in a free slot.
    item: Option<T>,
    reference_count: u32,
}

impl<T> SharedItems<T> {
    /// A collection without items yet.
    pub fn new() -> SharedItems<T> {
        let (slots, free) = (Vec::new(), Vec::new());
        SharedItems { items: slots, free }
    }

    /// Adds an item without references, and returns its index.
    pub fn add(&mut self, item: T) -> u32 {
        let slot = SharedItem {
            item: Some(item),
            reference_count: 0,
        };
        if let Some(at) = self.free.pop() {
            self.items[at as usize] = slot;
            return at;
        }
        self.items.push(slot);
        self.items.len() as u32 - 1
    }

    /// Counts one more reference to the item.
    pub fn add_reference(&mut self, at: u32) {
        self.items[at as usize].reference_count += 1;
    }

    /// Removes a reference, and returns the item if that was the last one.
    pub fn release(&mut self, at: u32) -> Option<T> {
        let slot = &mut self.items[at as usize];
        slot.reference_count -= 1;
        if slot.reference_count > 0 {
            return None;
        }
        self.free.push(at);
        slot.item.take()
    }

    /// Number of slots, and of those that hold an item.
    #[cfg(test)]
    pub fn len(&self) -> (usize, usize) {
        (self.items.len(), self.items.len() - self.free.len())
    }

    /// An item, for changes.
    pub fn get_mut(&mut self, at: u32) -> &mut T {
        let item = self.items[at as usize].item.as_mut();
        item.expect("who asks for an item holds it")
    }

    fn get(&self, at: u32) -> &T {
        let item = self.items[at as usize].item.as_ref();
        item.expect("who asks for an item holds it")
    }
}

/// The items of a partition of a pane, in the order in which they came.
#[derive(Debug)]
pub struct PaneItems<'a, T> {
    items: &'a SharedItems<T>,
    indexes: &'a [u32],
}

impl<'a, T> PaneItems<'a, T> {
    pub(super) fn new(items: &'a SharedItems<T>, indexes: &'a [u32]) -> PaneItems<'a, T> {
        PaneItems { items, indexes }
    }

    /// Number of items in the partition.
    pub fn len(&self) -> usize {
        self.indexes.len()
    }

    /// Whether the partition has no item.
    pub fn is_empty(&self) -> bool {
        self.indexes.is_empty()
    }

    /// An item, by its order of arrival.
    pub fn get(&self, at: usize) -> Option<&'a T> {
        let index = self.indexes.get(at)?;
        Some(self.items.get(*index))
    }

    /// Number of items that satisfy a condition, if they stand before all that do not.
    pub fn partition_point(&self, mut holds: impl FnMut(&T) -> bool) -> usize {
        self.indexes
            .partition_point(|index| holds(self.items.get(*index)))
    }

    /// Items in the order in which they came.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &'a T> + ExactSizeIterator + Clone {
        let items = self.items;
        self.indexes.iter().map(move |index| items.get(*index))
    }
}
