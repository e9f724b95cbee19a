//! A place in the text that only moves forward.

/// The text and how much of it was read.
pub(super) struct Cursor<'t> {
    text: &'t str,
    offset: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Cursor<'t> {
        Cursor { text, offset: 0 }
    }

    pub(super) fn offset(&self) -> u32 {
        self.offset as u32
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.offset >= self.text.len()
    }

    /// Text that was not read yet.
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.offset..]
    }

    /// The next byte; 0 at the end.
    pub(super) fn first(&self) -> u8 {
        self.byte(0)
    }

    /// The byte after the next one; 0 at the end.
    pub(super) fn second(&self) -> u8 {
        self.byte(1)
    }

    fn byte(&self, ahead: usize) -> u8 {
        let bytes = self.text.as_bytes();
        bytes.get(self.offset + ahead).copied().unwrap_or(0)
    }

    /// Passes over bytes; they must end at a character's end.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.offset += bytes;
        debug_assert!(self.text.is_char_boundary(self.offset));
    }

    /// Passes over `expected` if it is next.
    pub(super) fn eat_str(&mut self, expected: &str) -> bool {
        let is_next = self.rest().starts_with(expected);
        if is_next {
            self.advance(expected.len());
        }
        is_next
    }

    /// Passes over bytes while `accept` holds. Either all bytes of a character are accepted or
    /// none: callers test ASCII only, for or against.
    pub(super) fn eat_while(&mut self, accept: impl Fn(u8) -> bool) -> usize {
        let len = self.rest().bytes().take_while(|&b| accept(b)).count();
        self.advance(len);
        len
    }
}
