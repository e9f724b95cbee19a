//! Results as lines of comma-separated values, collected and written in large pieces.

use std::io::{self, Write};

/// Bytes that are collected before they are written.
const PIECE_BYTES: usize = 1 << 16;

/// Digits of the largest number, with its sign.
const DIGITS_MAX: usize = 20;

/// Writes lines, field by field.
pub struct ResultLines {
    text: Vec<u8>,
    sink: Box<dyn Write>,
}

impl ResultLines {
    /// Lines that go to a sink.
    pub fn new(sink: impl Write + 'static) -> ResultLines {
        ResultLines {
            text: Vec::with_capacity(2 * PIECE_BYTES),
            sink: Box::new(sink),
        }
    }

    /// Adds a field of text.
    pub fn text(&mut self, text: &[u8]) -> &mut ResultLines {
        self.text.extend_from_slice(text);
        self.text.push(b',');
        self
    }

    /// Adds a field with a number.
    pub fn number(&mut self, number: i64) -> &mut ResultLines {
        self.digits(number);
        self.text.push(b',');
        self
    }

    /// Adds a field with a number of thousandths, with three places behind the point.
    pub fn thousandths(&mut self, number: i64) -> &mut ResultLines {
        self.digits(number / 1000);
        self.text.push(b'.');
        let places = number % 1000;
        for unit in [100, 10, 1] {
            self.text.push(b'0' + (places / unit % 10) as u8);
        }
        self.text.push(b',');
        self
    }

    /// Ends the line of these fields.
    ///
    /// # Errors
    /// The sink refuses.
    pub fn end(&mut self) -> io::Result<()> {
        if let Some(last) = self.text.last_mut() {
            *last = b'\n';
        }
        match self.text.len() >= PIECE_BYTES {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Writes all that was collected.
    ///
    /// # Errors
    /// The sink refuses.
    pub fn flush(&mut self) -> io::Result<()> {
        self.sink.write_all(&self.text)?;
        self.text.clear();
        self.sink.flush()
    }

    fn digits(&mut self, number: i64) {
        let mut digits = [0; DIGITS_MAX];
        let (mut rest, mut at) = (number.unsigned_abs(), DIGITS_MAX);
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if number < 0 {
            at -= 1;
            digits[at] = b'-';
        }
        self.text.extend_from_slice(&digits[at..]);
    }
}
