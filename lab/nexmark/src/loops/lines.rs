//! Lines of a file, read in large pieces and handed out in place.

use std::io::{self, Read};

use memchr::memchr;

/// Bytes that are read at once, unless a line is longer.
const PIECE_BYTES: usize = 1 << 18;

/// Lines without their line ends.
pub struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// Bytes of the buffer that were read and not handed out yet.
    start: usize,
    end: usize,
}

impl<R: Read> Lines<R> {
    /// The lines of a source.
    pub fn new(source: R) -> Lines<R> {
        Lines {
            source,
            buffer: vec![0; PIECE_BYTES],
            start: 0,
            end: 0,
        }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// The source cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.start..self.end];
            if let Some(at) = memchr(b'\n', &rest[searched..]) {
                let first = self.start;
                self.start += searched + at + 1;
                return Ok(Some(&self.buffer[first..self.start - 1]));
            }
            searched = rest.len();
            if !self.read_piece()? {
                let first = std::mem::replace(&mut self.start, self.end);
                return Ok((first < self.end).then(|| &self.buffer[first..self.end]));
            }
        }
    }

    /// Reads more behind what is left; false at the end of the source.
    fn read_piece(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.end, 0);
        }
        let count = self.source.read(&mut self.buffer[self.end..])?;
        self.end += count;
        Ok(count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_lengths_come_as_they_are() {
        let text: String = (0..2_000)
            .map(|n| format!("{}\n", "x".repeat(n % 700)))
            .collect();
        for text in [text.as_str(), "", "\n", "last", "a\n\nb"] {
            let mut lines = Lines::new(text.as_bytes());
            let mut expected = text.lines();
            while let Some(line) = lines.next_line().unwrap() {
                assert_eq!(Some(line), expected.next().map(str::as_bytes));
            }
            assert_eq!(expected.next(), None);
        }
    }
}
