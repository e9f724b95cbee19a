//! The flusher: a thread that writes out the bytes that operators hold back, at least once a
//! second, so that a reader of a file sees slow output soon.
//!
//! ```text
//!    operator --write--> [ buffer ] --full, flush--> file
//!                            |
//!    thread `flush` ---------+ once a second
//! ```
//!
//! The thread never enters an operator. It shares only the buffer with the operator's thread.

use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use eval::{Fault, FaultKind};

use crate::blocking::stop_signal::StopSignal;
use crate::contract::flush_buffer::FlushBuffer;

/// Longest time that bytes are held back: one second, because one write a second costs nothing.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);

/// Time until a buffer that was in use is looked at again.
const BUSY_RETRY: Duration = Duration::from_millis(10);

/// The running thread. It ends when this is dropped.
pub(crate) struct Flusher {
    stop: StopSignal,
    thread: Option<JoinHandle<()>>,
}

impl Flusher {
    /// Starts the thread; `None` if there are no buffers.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start(buffers: Vec<Arc<dyn FlushBuffer>>) -> Result<Option<Flusher>, Fault> {
        if buffers.is_empty() {
            return Ok(None);
        }
        let stop = StopSignal::default();
        let until = stop.clone();
        let thread = Builder::new().name("flush".to_owned());
        let thread = thread
            .spawn(move || run(&buffers, &until))
            .map_err(|error| {
                let message = format!("cannot start the thread that flushes: {error}");
                Fault::new(FaultKind::System, message)
            })?;
        let thread = Some(thread);
        Ok(Some(Flusher { stop, thread }))
    }
}

fn run(buffers: &[Arc<dyn FlushBuffer>], until: &StopSignal) {
    let mut next = Instant::now() + FLUSH_INTERVAL;
    while !until.sleep_until(next) {
        let busy = buffers.iter().filter(|buffer| !buffer.write_out()).count();
        next = Instant::now() + if busy > 0 { BUSY_RETRY } else { FLUSH_INTERVAL };
    }
}

impl Drop for Flusher {
    fn drop(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            // Its panic was printed where it happened.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    /// In use at first.
    struct Buffer(Sender<()>, std::sync::atomic::AtomicU32);

    impl FlushBuffer for Buffer {
        fn write_out(&self) -> bool {
            self.0.send(()).unwrap();
            self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0
        }
    }

    #[test]
    fn buffers_are_written_out_until_the_thread_ends() {
        let (sender, written) = channel();
        let flusher = Flusher::start(vec![Arc::new(Buffer(sender, 0.into()))]).unwrap();
        written.recv().unwrap();
        written.recv().unwrap();
        drop(flusher);
        while written.try_recv().is_ok() {}
        assert!(
            written.recv().is_err(),
            "the buffer was dropped with the thread"
        );
    }

    #[test]
    fn without_buffers_there_is_no_thread() {
        assert!(Flusher::start(Vec::new()).unwrap().is_none());
    }
}
