//! The pool of threads of a PE, which run its pooled queues.

use std::fmt;

/// The threads that run the pooled queues of a PE ([`ThreadedPort::is_pooled`]).
///
/// Any thread of the pool runs any of these queues, one thread at a time each.
///
/// [`ThreadedPort::is_pooled`]: super::ThreadedPort::is_pooled
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadPool {
    /// Number of threads that look for work at the beginning; at least 1. A thread that waits for
    /// another one does not count: a further thread takes its place.
    pub threads: u32,
    /// Greatest number of threads that look for work if measured throughput changes their number,
    /// between 1 and this; `None` keeps [`ThreadPool::threads`].
    pub elastic_max: Option<u32>,
}

/// The pool as plans have it: `2 elastic 8`.
impl fmt::Display for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.threads)?;
        match self.elastic_max {
            Some(max) => write!(f, " elastic {max}"),
            None => Ok(()),
        }
    }
}
