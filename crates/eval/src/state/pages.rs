//! Memory of a table's entries, or of values that entries own: pages of at most 64 KiB, from which
//! they are taken by id.
//!
//! ```text
//!  id          | number of a page | place in the page |
//!  free entry  its first word is the place of the next free one
//! ```
//! The page of the lowest number that has room gives the next entry, so that pages behind it become
//! empty. One empty page is kept for further entries, the others are given back. While there is one
//! page only, it begins with a few entries and is doubled: there are operators with small tables by
//! the thousand.

use std::collections::TryReserveError;

use tuple::Value;

/// Bytes of a page, unless one entry is larger.
const PAGE_BYTES: usize = 64 << 10;

/// Entries of the first page when it begins.
const FIRST_ENTRIES: usize = 4;

/// Place of no entry: the end of the free ones.
const NO_PLACE: u32 = u32::MAX;

/// Id of an entry, which it keeps until it is removed. It is never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EntryId(pub(super) u32);

impl EntryId {
    /// The id as a number, which is not 0.
    pub(super) fn word(self) -> u32 {
        self.0
    }

    /// The id that is a number; none is 0.
    pub(super) fn from_word(word: u32) -> Option<EntryId> {
        (word != 0).then_some(EntryId(word))
    }
}

/// Unit of pages: a word, or a value.
pub(super) trait PageWord: Clone {
    /// Content of what is taken, and owns nothing.
    const ZERO: Self;

    /// Keeps a number in a free entry.
    fn from_place(place: u32) -> Self;

    /// The number in a free entry.
    fn to_place(&self) -> u32;
}

impl PageWord for u64 {
    const ZERO: u64 = 0;

    fn from_place(place: u32) -> u64 {
        place.into()
    }

    fn to_place(&self) -> u32 {
        *self as u32
    }
}

impl PageWord for Value {
    const ZERO: Value = Value::Boolean(false);

    fn from_place(place: u32) -> Value {
        Value::Uint32(place)
    }

    fn to_place(&self) -> u32 {
        match self {
            Value::Uint32(place) => *place,
            _ => NO_PLACE,
        }
    }
}

#[derive(Debug)]
pub(super) struct Pages<W = u64> {
    /// Words of an entry; at least 1.
    entry_words: usize,
    /// Entries of a page.
    capacity: u32,
    /// Bits of an id that are the place in the page.
    place_bits: u32,
    pages: Vec<Page<W>>,
    /// Address of the first entry of each page, for compiled code.
    addresses: Vec<usize>,
    /// A bit for each page that has room.
    roomy: Vec<u64>,
    /// Word of `roomy` before which no bit is set.
    first_roomy: usize,
    /// Numbers of pages without memory.
    vacant: Vec<u32>,
    /// Number of an empty page that is kept.
    spare: Option<u32>,
    /// Words of all pages.
    words: usize,
    /// Number of entries that are taken.
    len: usize,
    /// How often entries have moved to other addresses.
    moves: u64,
}

#[derive(Debug)]
struct Page<W> {
    /// None if the page has been given back.
    words: Vec<W>,
    used: u32,
    /// Place of the first free entry among those that were used before.
    free: u32,
    /// Place of the first entry that has never been used.
    fresh: u32,
}

impl<W> Default for Page<W> {
    fn default() -> Page<W> {
        Page {
            words: Vec::new(),
            used: 0,
            free: NO_PLACE,
            fresh: 0,
        }
    }
}

impl<W: PageWord> Pages<W> {
    /// Pages without entries, for entries of so many words.
    pub(super) fn new(entry_words: usize) -> Pages<W> {
        let entry_words = entry_words.max(1);
        let capacity = (PAGE_BYTES / size_of::<W>() / entry_words).max(1) as u32;
        Pages {
            entry_words,
            capacity,
            place_bits: capacity.next_power_of_two().trailing_zeros(),
            pages: Vec::new(),
            addresses: Vec::new(),
            roomy: Vec::new(),
            first_roomy: 0,
            vacant: Vec::new(),
            spare: None,
            words: 0,
            len: 0,
            moves: 0,
        }
    }

    /// Number of entries that are taken.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of memory that the pages take.
    pub(super) fn bytes(&self) -> usize {
        self.words * size_of::<W>()
            + self.pages.capacity() * size_of::<Page<W>>()
            + self.addresses.capacity() * size_of::<usize>()
            + self.vacant.capacity() * size_of::<u32>()
            + self.roomy.capacity() * size_of::<u64>()
    }

    /// Takes an entry, all words 0.
    ///
    /// # Errors
    /// Memory is missing, or no id is left.
    pub(super) fn add(&mut self) -> Result<EntryId, Option<TryReserveError>> {
        let at = match self.lowest_roomy() {
            Some(at) => at,
            None => self.add_page()?,
        };
        let (words, capacity) = (self.entry_words, self.capacity);
        let page = &mut self.pages[at];
        if page.free == NO_PLACE && page.fresh as usize * words == page.words.len() {
            self.double(at).map_err(Some)?;
        }
        let page = &mut self.pages[at];
        let place = match page.free {
            NO_PLACE => {
                page.fresh += 1;
                page.fresh - 1
            }
            place => {
                let first = place as usize * words;
                page.free = page.words[first].to_place();
                page.words[first] = W::ZERO;
                place
            }
        };
        page.used += 1;
        self.len += 1;
        if page.free == NO_PLACE && page.fresh == capacity {
            self.set_roomy(at, false);
        }
        if self.spare == Some(at as u32) {
            self.spare = None;
        }
        // Page 0 has no entries, so no id is 0.
        Ok(EntryId((at as u32 + 1) << self.place_bits | place))
    }

    /// Gives an entry back.
    pub(super) fn remove(&mut self, id: EntryId) {
        let (at, place) = self.page_and_place(id);
        self.get_mut(id).fill(W::ZERO);
        let words = self.entry_words;
        let page = &mut self.pages[at];
        page.words[place * words] = W::from_place(page.free);
        page.free = place as u32;
        page.used -= 1;
        self.len -= 1;
        let is_empty = page.used == 0;
        self.set_roomy(at, true);
        if is_empty {
            self.keep_or_drop(at);
        }
    }

    /// Removes all entries, and gives back the memory of all pages.
    pub(super) fn clear(&mut self) {
        self.pages.clear();
        self.addresses.clear();
        self.roomy.clear();
        self.vacant.clear();
        (self.first_roomy, self.spare) = (0, None);
        (self.words, self.len) = (0, 0);
    }

    /// Address of the addresses of pages.
    pub(super) fn addresses(&self) -> usize {
        self.addresses.as_ptr().expose_provenance()
    }

    /// How often entries have moved to other addresses: those of a page that was doubled.
    pub(super) fn moves(&self) -> u64 {
        self.moves
    }

    /// How many bits of an id are the place in the page. The bits before them are the number of the
    /// page, from 1 on.
    pub(super) fn place_bits(&self) -> u32 {
        self.place_bits
    }

    /// Words of an entry.
    pub(super) fn get(&self, id: EntryId) -> &[W] {
        let (at, place) = self.page_and_place(id);
        &self.pages[at].words[place * self.entry_words..][..self.entry_words]
    }

    /// Words of an entry, for changes.
    pub(super) fn get_mut(&mut self, id: EntryId) -> &mut [W] {
        let (at, place) = self.page_and_place(id);
        &mut self.pages[at].words[place * self.entry_words..][..self.entry_words]
    }

    fn page_words(&self) -> usize {
        self.capacity as usize * self.entry_words
    }

    fn page_and_place(&self, id: EntryId) -> (usize, usize) {
        let place = id.0 & ((1 << self.place_bits) - 1);
        ((id.0 >> self.place_bits) as usize - 1, place as usize)
    }

    /// Adds a page in which all entries are free, and returns its number.
    fn add_page(&mut self) -> Result<usize, Option<TryReserveError>> {
        let len = match self.words {
            0 => self.page_words().min(FIRST_ENTRIES * self.entry_words),
            _ => self.page_words(),
        };
        let mut words = Vec::new();
        words.try_reserve_exact(len).map_err(Some)?;
        words.resize(len, W::ZERO);
        let page = Page {
            words,
            ..Page::default()
        };
        let at = match self.vacant.pop() {
            Some(at) => at as usize,
            None => self.add_number()?,
        };
        self.words += len;
        self.addresses[at] = page.words.as_ptr().expose_provenance();
        self.pages[at] = page;
        self.set_roomy(at, true);
        Ok(at)
    }

    /// Doubles a page that began with a few entries.
    fn double(&mut self, at: usize) -> Result<(), TryReserveError> {
        let words = &mut self.pages[at].words;
        let len = words.len();
        let more = len.min(self.capacity as usize * self.entry_words - len);
        words.try_reserve_exact(more)?;
        words.resize(len + more, W::ZERO);
        self.addresses[at] = words.as_ptr().expose_provenance();
        self.words += more;
        self.moves += 1;
        Ok(())
    }

    fn add_number(&mut self) -> Result<usize, Option<TryReserveError>> {
        let at = self.pages.len();
        if at + 1 >= 1 << (32 - self.place_bits) {
            return Err(None);
        }
        self.pages.try_reserve(1).map_err(Some)?;
        self.addresses.try_reserve(1).map_err(Some)?;
        self.roomy.try_reserve(1).map_err(Some)?;
        self.pages.push(Page::default());
        self.addresses.push(0);
        self.roomy.resize(self.pages.len().div_ceil(64), 0);
        Ok(at)
    }

    fn lowest_roomy(&mut self) -> Option<usize> {
        let after = &self.roomy[self.first_roomy..];
        let Some(skipped) = after.iter().position(|&word| word != 0) else {
            self.first_roomy = self.roomy.len();
            return None;
        };
        self.first_roomy += skipped;
        let bit = self.roomy[self.first_roomy].trailing_zeros() as usize;
        Some(self.first_roomy * 64 + bit)
    }

    fn set_roomy(&mut self, at: usize, has_room: bool) {
        let (word, bit) = (at / 64, 1 << (at % 64));
        if has_room {
            self.roomy[word] |= bit;
            self.first_roomy = self.first_roomy.min(word);
        } else {
            self.roomy[word] &= !bit;
        }
    }

    /// Gives back the empty page that is kept.
    pub(super) fn drop_spare(&mut self) {
        if let Some(at) = self.spare.take() {
            self.drop_page(at as usize);
        }
    }

    /// Keeps an empty page if there is no other one.
    fn keep_or_drop(&mut self, at: usize) {
        if self.spare.is_none() {
            self.spare = Some(at as u32);
        } else {
            self.drop_page(at);
        }
    }

    fn drop_page(&mut self, at: usize) {
        let page = std::mem::take(&mut self.pages[at]);
        self.words -= page.words.len();
        self.vacant.push(at as u32);
        self.set_roomy(at, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_zero_and_apart() {
        for words in [1, 3, 1000, 10_000] {
            let mut pages = Pages::<u64>::new(words);
            let ids: Vec<_> = (0..50).map(|_| pages.add().expect("memory")).collect();
            for (n, &id) in ids.iter().enumerate() {
                assert!(pages.get(id).iter().all(|&word| word == 0));
                pages.get_mut(id).fill(n as u64 + 1);
            }
            for (n, &id) in ids.iter().enumerate() {
                assert_eq!(pages.get(id), vec![n as u64 + 1; words]);
            }
            ids.iter().step_by(2).for_each(|&id| pages.remove(id));
            for _ in 0..25 {
                let id = pages.add().expect("memory");
                assert_ne!(id.0, 0);
                assert!(ids.iter().step_by(2).any(|&free| free == id), "{id:?}");
                assert!(pages.get(id).iter().all(|&word| word == 0));
            }
        }
    }

    #[test]
    fn memory_is_given_back() {
        let mut pages = Pages::<u64>::new(4);
        let ids: Vec<_> = (0..100_000).map(|_| pages.add().expect("memory")).collect();
        let all = pages.bytes();
        assert!((3_200_000..3_400_000).contains(&all), "{all}");
        // Every hundredth is left, in all pages.
        let (left, removed): (Vec<_>, Vec<_>) = ids.iter().partition(|id| id.0 % 100 == 0);
        removed.into_iter().for_each(|&id| pages.remove(id));
        for _ in 0..2_000 {
            assert!(pages.add().expect("memory").0 >> pages.place_bits <= 2);
        }
        left.into_iter().for_each(|&id| pages.remove(id));
        assert!(pages.bytes() <= 3 * PAGE_BYTES + 8_192, "{}", pages.bytes());
    }
}
