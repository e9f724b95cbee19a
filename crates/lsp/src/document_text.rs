//! Text of a document with its lines, and positions in it as the protocol counts them.
//!
//! The compiler counts bytes. The protocol counts lines from 0, and in a line UTF-16 code units, or
//! bytes if the client offers that. A line ends with `\n`, `\r\n` or `\r`.

use std::sync::Arc;

use lsp_types::{Position, Range};

/// Unit in which the client counts the characters of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColumnUnit {
    /// Bytes of UTF-8, the unit of the compiler.
    Utf8,
    /// Code units of UTF-16, which every client knows.
    #[default]
    Utf16,
}

/// A text whose lines are known.
#[derive(Clone, Debug)]
pub struct DocumentText {
    text: Arc<str>,
    /// Byte offset at which each line begins.
    line_starts: Vec<u32>,
}

impl DocumentText {
    /// Finds the lines of a text.
    pub fn new(text: impl Into<Arc<str>>) -> DocumentText {
        let text = text.into();
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|&(at, &byte)| {
            byte == b'\n' || byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')
        });
        let line_starts = std::iter::once(0)
            .chain(ends.map(|(at, _)| at as u32 + 1))
            .collect();
        DocumentText { text, line_starts }
    }

    /// The whole text, shared.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The position of a byte offset; an offset past the end is the end.
    pub fn position(&self, offset: u32, unit: ColumnUnit) -> Position {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self
            .line_starts
            .partition_point(|&start| start as usize <= offset)
            - 1;
        let before = &self.text[self.line_starts[line] as usize..offset];
        let column = match unit {
            ColumnUnit::Utf8 => before.len(),
            ColumnUnit::Utf16 => before.encode_utf16().count(),
        };
        Position::new(line as u32, column as u32)
    }

    /// The positions of a range of bytes.
    pub fn range(&self, start: u32, end: u32, unit: ColumnUnit) -> Range {
        Range::new(self.position(start, unit), self.position(end, unit))
    }

    /// The byte offset of a position. Past the end of a line it is that end, past the last line the
    /// end of the text, within a character the beginning of that.
    pub fn offset(&self, position: Position, unit: ColumnUnit) -> u32 {
        let line = position.line as usize;
        let Some(&start) = self.line_starts.get(line) else {
            return self.text.len() as u32;
        };
        let end = self.line_starts.get(line + 1).map(|&end| end as usize);
        let line = &self.text[start as usize..end.unwrap_or(self.text.len())];
        let line = line.trim_end_matches(['\n', '\r']);
        let mut left = position.character as usize;
        let mut offset = 0;
        for character in line.chars() {
            let width = match unit {
                ColumnUnit::Utf8 => character.len_utf8(),
                ColumnUnit::Utf16 => character.len_utf16(),
            };
            if left < width {
                break;
            }
            left -= width;
            offset += character.len_utf8();
        }
        start + offset as u32
    }

    /// The text with a range of positions replaced. A range that ends before it begins is empty.
    pub fn replaced(&self, range: Range, new: &str, unit: ColumnUnit) -> DocumentText {
        let start = self.offset(range.start, unit) as usize;
        let end = (self.offset(range.end, unit) as usize).max(start);
        let text = [&self.text[..start], new, &self.text[end..]].concat();
        DocumentText::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has letters of one, two, three and four bytes, and all ends of lines.
    const TEXT: &str = "aé漢😀b\r\nx\ry\n😀";

    #[test]
    fn offsets_and_positions_are_inverse_in_both_units() {
        let text = DocumentText::new(TEXT);
        for unit in [ColumnUnit::Utf8, ColumnUnit::Utf16] {
            // Ends of lines are no part of a line: a position in `\r\n` is that before it.
            let places = TEXT.char_indices().filter(|&(_, letter)| letter != '\n');
            for (at, _) in places {
                let position = text.position(at as u32, unit);
                assert_eq!(text.offset(position, unit), at as u32, "{at} {position:?}");
            }
        }
    }

    #[test]
    fn utf_16_counts_surrogates() {
        let text = DocumentText::new(TEXT);
        let at = TEXT.find('b').unwrap() as u32;
        assert_eq!(text.position(at, ColumnUnit::Utf16), Position::new(0, 5));
        assert_eq!(text.position(at, ColumnUnit::Utf8), Position::new(0, 10));
        // In the middle of a pair: before it.
        let inside = Position::new(0, 4);
        assert_eq!(text.offset(inside, ColumnUnit::Utf16), at - 4);
    }

    #[test]
    fn positions_outside_of_the_text_are_moved_into_it() {
        let text = DocumentText::new("ab\ncd");
        let offset = |line, column| text.offset(Position::new(line, column), ColumnUnit::Utf16);
        assert_eq!(offset(0, 99), 2);
        assert_eq!(offset(1, 99), 5);
        assert_eq!(offset(9, 0), 5);
        let backwards = Range::new(Position::new(1, 0), Position::new(0, 1));
        let changed = text.replaced(backwards, "X", ColumnUnit::Utf16);
        assert_eq!(&**changed.text(), "ab\nXcd");
    }
}
