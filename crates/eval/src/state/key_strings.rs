//! Memory of what is long in the keys of a table: each string once, in pages of 64 KiB, or in a
//! page of its own if it takes more than half of one.
//!
//! ```text
//!  place    number of a page | word in the page
//!  string   owner: entry | word of its key ; words of the string, 0 if it was removed | bytes
//! ```
//! A page of which less than half is in use is emptied: its strings are moved, and their owners get
//! the new places. So there is never more than four times the memory of the strings, and two pages:
//! the one that further strings come to, and a spare one.

use std::collections::TryReserveError;

use super::pages::EntryId;

/// Words of a page.
const PAGE_WORDS: usize = (64 << 10) / 8;

/// Words before a string: its owner, its length.
const HEAD_WORDS: usize = 2;

/// Place of a string; never [`NO_PLACE`].
pub(super) type StringPlace = u64;

/// Place of no string.
pub(super) const NO_PLACE: StringPlace = 0;

/// A string that has another place now.
pub(super) struct MovedString {
    pub(super) owner: EntryId,
    /// Word of the owner's key.
    pub(super) word: u32,
    pub(super) place: StringPlace,
}

#[derive(Debug, Default)]
pub(super) struct KeyStrings {
    pages: Vec<StringPage>,
    /// Numbers of pages without memory.
    vacant: Vec<u32>,
    /// The page that further strings come to.
    open: Option<u32>,
    /// Memory of a page without strings.
    spare: Option<Vec<u64>>,
    /// Words of all pages and of the spare one.
    words: usize,
}

#[derive(Debug, Default)]
struct StringPage {
    words: Vec<u64>,
    /// Words of strings that were not removed.
    used: usize,
}

fn words_of(bytes: usize) -> usize {
    HEAD_WORDS + bytes.div_ceil(8)
}

fn place_of(page: u32, word: usize) -> StringPlace {
    (u64::from(page) + 1) << 32 | word as u64
}

fn page_and_word(place: StringPlace) -> (usize, usize) {
    ((place >> 32) as usize - 1, place as u32 as usize)
}

impl KeyStrings {
    /// Bytes of memory that the strings take.
    pub(super) fn bytes(&self) -> usize {
        self.words * 8
            + self.pages.capacity() * size_of::<StringPage>()
            + self.vacant.capacity() * size_of::<u32>()
    }

    /// Keeps a string for a word of an entry's key.
    ///
    /// # Errors
    /// Memory for the string is missing.
    pub(super) fn add(
        &mut self,
        owner: EntryId,
        word: u32,
        bytes: &[u8],
    ) -> Result<StringPlace, TryReserveError> {
        let count = words_of(bytes.len());
        let number = self.page_with_room(count)?;
        let page = &mut self.pages[number as usize];
        let at = page.words.len();
        page.words
            .extend([u64::from(owner.0) << 32 | u64::from(word), count as u64]);
        page.words.resize(at + count, 0);
        let text: &mut [u8] = bytemuck::cast_slice_mut(&mut page.words[at + HEAD_WORDS..]);
        text[..bytes.len()].copy_from_slice(bytes);
        page.used += count;
        Ok(place_of(number, at))
    }

    /// The string of a length at a place.
    pub(super) fn get(&self, place: StringPlace, len: usize) -> &[u8] {
        let (page, at) = page_and_word(place);
        let text: &[u8] = bytemuck::cast_slice(&self.pages[page].words[at + HEAD_WORDS..]);
        &text[..len]
    }

    /// Removes a string. Says which others have moved.
    pub(super) fn remove(&mut self, place: StringPlace, moved: impl FnMut(MovedString)) {
        let (number, at) = page_and_word(place);
        let page = &mut self.pages[number];
        let count = std::mem::take(&mut page.words[at + 1]) as usize;
        // Its length stays known, so that the string behind it is found.
        page.words[at] = count as u64;
        page.used -= count;
        if page.used == 0 {
            return self.drop_or_reset(number);
        }
        let is_open = self.open == Some(number as u32);
        let size = match is_open {
            true => page.words.len(),
            false => page.words.capacity(),
        };
        if page.used * 2 < size && (!is_open || size > PAGE_WORDS / 2) {
            self.open = self.open.filter(|_| !is_open);
            self.empty_page(number, moved);
        }
    }

    /// Removes all strings, and gives back the memory.
    pub(super) fn clear(&mut self) {
        *self = KeyStrings::default();
    }

    /// Number of a page with room for so many words.
    fn page_with_room(&mut self, count: usize) -> Result<u32, TryReserveError> {
        if count > PAGE_WORDS / 2 {
            return self.add_page(count);
        }
        if let Some(open) = self.open
            && self.pages[open as usize].words.len() + count <= PAGE_WORDS
        {
            return Ok(open);
        }
        let number = self.add_page(PAGE_WORDS)?;
        self.open = Some(number);
        Ok(number)
    }

    /// Adds a page of so many words.
    fn add_page(&mut self, capacity: usize) -> Result<u32, TryReserveError> {
        self.pages.try_reserve(1)?;
        let words = match self.spare.take_if(|_| capacity == PAGE_WORDS) {
            Some(words) => words,
            None => {
                let mut words = Vec::new();
                words.try_reserve_exact(capacity)?;
                self.words += words.capacity();
                words
            }
        };
        let number = self.vacant.pop().unwrap_or_else(|| {
            self.pages.push(StringPage::default());
            self.pages.len() as u32 - 1
        });
        self.pages[number as usize] = StringPage { words, used: 0 };
        Ok(number)
    }

    /// A page without strings serves again, or is given back.
    fn drop_or_reset(&mut self, number: usize) {
        let page = &mut self.pages[number];
        if self.open == Some(number as u32) {
            page.words.clear();
            return;
        }
        let words = std::mem::take(&mut page.words);
        self.vacant.push(number as u32);
        self.give_back(words);
    }

    /// Keeps the memory of a page as the spare one, or frees it.
    fn give_back(&mut self, mut words: Vec<u64>) {
        if self.spare.is_none() && words.capacity() == PAGE_WORDS {
            words.clear();
            self.spare = Some(words);
        } else {
            self.words -= words.capacity();
        }
    }

    /// Moves the strings of a page to others. Without memory for that they stay.
    fn empty_page(&mut self, number: usize, mut moved: impl FnMut(MovedString)) {
        if self.page_with_room(self.pages[number].used).is_err() {
            return;
        }
        let page = std::mem::take(&mut self.pages[number]);
        let mut at = 0;
        while at < page.words.len() {
            let (head, live) = (page.words[at], page.words[at + 1] as usize);
            if live == 0 {
                at += head as usize;
                continue;
            }
            let text: &[u8] = bytemuck::cast_slice(&page.words[at + HEAD_WORDS..at + live]);
            let (owner, word) = (EntryId((head >> 32) as u32), head as u32);
            let place = self.add(owner, word, text).expect("there is room for all");
            moved(MovedString { owner, word, place });
            at += live;
        }
        self.vacant.push(number as u32);
        self.give_back(page.words);
    }
}
