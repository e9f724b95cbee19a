//! A writer that announces what it is about to write.

use std::io::Write;

/// A stream that tells somebody before each write.
pub struct NotifyingWriter<W>(pub W, pub fn(&[u8]));

impl<W: Write> Write for NotifyingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.1(bytes);
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}
