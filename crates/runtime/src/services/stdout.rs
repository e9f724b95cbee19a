//! The standard output of a PE: one buffer for all of its operators, in order of their calls.
//!
//! ```text
//!    print, FileSink on /dev/stdout --> [ 64 KB ] --> sink
//!                                           ^  full, flush(), after each print if the sink is a
//!                                           |  terminal; else at most a second later
//! ```
//!
//! # Threads
//! Any thread prints, under one lock. The first bytes that stay in the buffer start the thread
//! `stdout`, which writes them out once they are a second old. A program that flushes each line has
//! no such thread.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::blocking::stop_signal::StopSignal;

/// Bytes in the buffer at which it is written out.
const BUFFER_BYTES: usize = 64 * 1024;

/// Longest time that bytes stay in the buffer, as long as the sink takes them: one second, because
/// a reader of a log should not wait longer, and one write a second costs nothing.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);

/// Standard output of a PE. It has to be flushed before it is dropped.
pub(crate) struct PeStdout(Arc<StdoutShared>);

struct StdoutShared {
    state: Mutex<StdoutState>,
    /// Requested when the thread could not write, so that a program that seldom prints ends soon.
    failed: StopSignal,
    /// Signals that the buffer is no longer empty, or that no more bytes come.
    changed: Condvar,
}

struct StdoutState {
    buffer: Vec<u8>,
    sink: Box<dyn Write + Send>,
    /// Whether each text is written at once.
    is_unbuffered: bool,
    /// Whether bytes have come since the sink was flushed.
    is_dirty: bool,
    /// Whether the thread sleeps until there are bytes.
    is_idle: bool,
    is_over: bool,
    has_thread: bool,
    /// Error of the thread's last write. The next print or flush returns it.
    error: Option<io::Error>,
}

impl PeStdout {
    /// Standard output over a sink; with `is_unbuffered`, each text is written before `print`
    /// returns. `failed` is requested when buffered bytes cannot be written.
    pub fn new(sink: Box<dyn Write + Send>, is_unbuffered: bool, failed: StopSignal) -> PeStdout {
        let state = StdoutState {
            buffer: Vec::with_capacity(BUFFER_BYTES),
            sink,
            is_unbuffered,
            is_dirty: false,
            is_idle: false,
            is_over: false,
            has_thread: false,
            error: None,
        };
        PeStdout(Arc::new(StdoutShared {
            state: Mutex::new(state),
            failed,
            changed: Condvar::new(),
        }))
    }

    /// Adds a text; with `flush`, writes it and all texts before it.
    ///
    /// # Errors
    /// The error of the sink, perhaps about a text that was printed before.
    pub fn print(&self, text: &[u8], flush: bool) -> io::Result<()> {
        let mut state = self.0.lock();
        if let Some(error) = state.error.take() {
            return Err(error);
        }
        state.put(text)?;
        if flush || state.is_unbuffered {
            return state.flush();
        }
        if !text.is_empty() && !std::mem::replace(&mut state.is_dirty, true) {
            self.wake_flusher(state)?;
        }
        Ok(())
    }

    /// Wakes or starts the thread when bytes stay in the buffer. Without a thread for it nothing is
    /// buffered.
    fn wake_flusher(&self, mut state: MutexGuard<'_, StdoutState>) -> io::Result<()> {
        if std::mem::replace(&mut state.has_thread, true) {
            if std::mem::take(&mut state.is_idle) {
                self.0.changed.notify_one();
            }
            return Ok(());
        }
        let shared = self.0.clone();
        let thread = std::thread::Builder::new().name("stdout".to_owned());
        if thread.spawn(move || shared.run_flusher()).is_err() {
            state.is_unbuffered = true;
            return state.flush();
        }
        Ok(())
    }
}

impl Drop for PeStdout {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_one();
    }
}

impl StdoutShared {
    /// The loop of the thread `stdout`.
    fn run_flusher(&self) {
        let mut state = self.lock();
        loop {
            state.is_idle = !state.is_dirty;
            let wait = self
                .changed
                .wait_while(state, |state| !state.is_dirty && !state.is_over);
            state = wait.unwrap_or_else(PoisonError::into_inner);
            let wait = self
                .changed
                .wait_timeout_while(state, FLUSH_INTERVAL, |state| !state.is_over);
            state = wait.unwrap_or_else(PoisonError::into_inner).0;
            if state.is_over {
                return;
            }
            if let Err(error) = state.flush() {
                state.error = Some(error);
                self.failed.request();
            }
        }
    }

    /// Locks the state, which no panic leaves half changed.
    fn lock(&self) -> MutexGuard<'_, StdoutState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StdoutState {
    fn put(&mut self, text: &[u8]) -> io::Result<()> {
        if self.buffer.len() + text.len() > BUFFER_BYTES {
            self.drain()?;
        }
        if text.len() > BUFFER_BYTES {
            self.sink.write_all(text)?;
        } else {
            self.buffer.extend_from_slice(text);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.is_dirty = false;
        self.drain()?;
        self.sink.flush()
    }

    /// Writes the buffer to the sink. Bytes that cannot be written are dropped.
    fn drain(&mut self) -> io::Result<()> {
        let result = self.sink.write_all(&self.buffer);
        self.buffer.clear();
        result
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Sends what is written, at each flush.
    struct Written(Vec<u8>, Sender<Vec<u8>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            if !self.0.is_empty() {
                let _ = self.1.send(std::mem::take(&mut self.0));
            }
            Ok(())
        }
    }

    fn stdout(is_unbuffered: bool) -> (PeStdout, Receiver<Vec<u8>>) {
        let (sender, written) = channel();
        let sink = Box::new(Written(Vec::new(), sender));
        (
            PeStdout::new(sink, is_unbuffered, StopSignal::default()),
            written,
        )
    }

    #[test]
    fn what_is_held_gets_out_although_nothing_more_is_printed() {
        let (stdout, written) = stdout(false);
        for text in [&b"one"[..], b"two"] {
            stdout.print(text, false).unwrap();
            assert_eq!(written.recv().unwrap(), text);
        }
        drop(stdout);
        assert!(written.recv().is_err(), "the thread has ended");
    }

    #[test]
    fn a_flush_takes_what_was_held_before_it() {
        let (stdout, written) = stdout(false);
        stdout.print(b"one ", false).unwrap();
        stdout.print(b"two", true).unwrap();
        assert_eq!(written.try_recv().unwrap(), b"one two");
    }

    #[test]
    fn nothing_is_held_without_a_buffer() {
        let (stdout, written) = stdout(true);
        stdout.print(b"one", false).unwrap();
        assert_eq!(written.try_recv().unwrap(), b"one");
    }

    #[test]
    fn what_cannot_be_written_later_is_the_error_of_the_next_call() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let failed = StopSignal::default();
        let stdout = PeStdout::new(Box::new(Full), false, failed.clone());
        stdout.print(b"one", false).unwrap();
        while !failed.sleep(60.0) {}
        let error = stdout.print(b"", true).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        stdout.print(b"", true).unwrap();
    }
}
