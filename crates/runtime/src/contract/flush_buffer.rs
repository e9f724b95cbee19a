//! Bytes that an operator holds back, for a thread that writes them out.

/// A buffer that an operator shares with the thread `flush`.
pub trait FlushBuffer: Send + Sync {
    /// Writes out what is held; `false`: another thread is writing. An error is kept for the
    /// operator, whose next call on the buffer returns it.
    fn write_out(&self) -> bool;
}
