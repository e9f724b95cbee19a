//! Items that several panes hold, each kept once. When the last pane lets go of one it comes back, and
//! its place is that of a later one.

/// The items of all panes.
#[derive(Debug)]
pub struct Held<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot<T> {
    /// There is none in a free slot.
    item: Option<T>,
    holders: u32,
}

impl<T> Held<T> {
    /// None yet.
    pub fn new() -> Held<T> {
        let (slots, free) = (Vec::new(), Vec::new());
        Held { slots, free }
    }

    /// An item has come; nobody holds it yet.
    pub fn add(&mut self, item: T) -> u32 {
        let slot = Slot {
            item: Some(item),
            holders: 0,
        };
        if let Some(at) = self.free.pop() {
            self.slots[at as usize] = slot;
            return at;
        }
        self.slots.push(slot);
        self.slots.len() as u32 - 1
    }

    /// One more holds the item.
    pub fn hold(&mut self, at: u32) {
        self.slots[at as usize].holders += 1;
    }

    /// One holds the item no more; it comes back if that was the last one.
    pub fn release(&mut self, at: u32) -> Option<T> {
        let slot = &mut self.slots[at as usize];
        slot.holders -= 1;
        if slot.holders > 0 {
            return None;
        }
        self.free.push(at);
        slot.item.take()
    }

    /// Items, and room for further ones.
    #[cfg(test)]
    pub fn len(&self) -> (usize, usize) {
        (self.slots.len(), self.slots.len() - self.free.len())
    }

    fn get(&self, at: u32) -> &T {
        let item = self.slots[at as usize].item.as_ref();
        item.expect("who asks for an item holds it")
    }
}

/// The items of a partition of a pane, in the order in which they came.
#[derive(Debug)]
pub struct Items<'a, T> {
    held: &'a Held<T>,
    rows: &'a [u32],
}

impl<'a, T> Items<'a, T> {
    pub(super) fn new(held: &'a Held<T>, rows: &'a [u32]) -> Items<'a, T> {
        Items { held, rows }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// One of them.
    pub fn get(&self, at: usize) -> Option<&'a T> {
        let row = self.rows.get(at)?;
        Some(self.held.get(*row))
    }

    /// How many of them satisfy a condition, if they stand before all that do not.
    pub fn partition_point(&self, mut holds: impl FnMut(&T) -> bool) -> usize {
        self.rows.partition_point(|row| holds(self.held.get(*row)))
    }

    /// All of them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &'a T> + ExactSizeIterator + Clone {
        let held = self.held;
        self.rows.iter().map(move |row| held.get(*row))
    }
}
