//! An order of a table's entries: a list through two links in each.

use super::pages::{EntryId, Pages};

/// Link of no entry: the end of the list.
const NO_ENTRY: u32 = 0;

/// The entries from the first to the last.
#[derive(Debug)]
pub(super) struct EntryOrder {
    /// Where an entry's links are, in units of 4 bytes: the entry before, the entry behind.
    links: usize,
    first: u32,
    last: u32,
}

impl EntryOrder {
    /// An order of no entries, whose links are at an offset in bytes.
    pub(super) fn new(offset: u32) -> EntryOrder {
        EntryOrder {
            links: offset as usize / 4,
            first: NO_ENTRY,
            last: NO_ENTRY,
        }
    }

    pub(super) fn first(&self) -> Option<EntryId> {
        to_option(self.first)
    }

    pub(super) fn last(&self) -> Option<EntryId> {
        to_option(self.last)
    }

    /// The entry behind another.
    pub(super) fn after(&self, pages: &Pages, id: EntryId) -> Option<EntryId> {
        let words: &[u32] = bytemuck::cast_slice(pages.get(id));
        to_option(words[self.links + 1])
    }

    /// Makes an entry that is not in the order its last.
    pub(super) fn append(&mut self, pages: &mut Pages, id: EntryId) {
        let before = std::mem::replace(&mut self.last, id.0);
        *self.links_of(pages, id) = [before, NO_ENTRY];
        match to_option(before) {
            Some(before) => self.links_of(pages, before)[1] = id.0,
            None => self.first = id.0,
        }
    }

    /// Takes an entry out of the order.
    pub(super) fn remove(&mut self, pages: &mut Pages, id: EntryId) {
        let [before, after] = *self.links_of(pages, id);
        match to_option(before) {
            Some(before) => self.links_of(pages, before)[1] = after,
            None => self.first = after,
        }
        match to_option(after) {
            Some(after) => self.links_of(pages, after)[0] = before,
            None => self.last = before,
        }
    }

    /// The order of no entries.
    pub(super) fn clear(&mut self) {
        (self.first, self.last) = (NO_ENTRY, NO_ENTRY);
    }

    fn links_of<'p>(&self, pages: &'p mut Pages, id: EntryId) -> &'p mut [u32; 2] {
        let words: &mut [u32] = bytemuck::cast_slice_mut(pages.get_mut(id));
        words[self.links..]
            .first_chunk_mut()
            .expect("links lie within the entry")
    }
}

fn to_option(link: u32) -> Option<EntryId> {
    EntryId::from_word(link)
}
