//! Bytes that an operator holds back, for a thread that writes them out.

/// A buffer that an operator shares with the thread `flush`.
///
/// ```
/// use std::sync::Mutex;
///
/// struct Lines(Mutex<Vec<String>>);
///
/// impl thalweg_runtime::FlushBuffer for Lines {
///     fn write_out(&self) -> bool {
///         match self.0.try_lock() {
///             Ok(mut lines) => lines.drain(..).for_each(|line| println!("{line}")),
///             Err(_) => return false,
///         }
///         true
///     }
/// }
/// ```
pub trait FlushBuffer: Send + Sync {
    /// Writes out the bytes in the buffer. Returns `false` if another thread is writing. An error
    /// is kept for the operator, whose next call on the buffer returns it.
    fn write_out(&self) -> bool;
}
