//! A writer that announces each write to the caller of the launch.

use std::io::Write;

/// Wraps a writer and calls a function with the bytes before each write.
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
