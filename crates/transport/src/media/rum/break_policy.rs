//! The policy of an edge for broken connections: whether they are made again, and for how long.

use std::time::Duration;

/// Terms of connecting again after breaks.
#[derive(Clone, Copy, Debug)]
pub(super) struct BreakPolicy {
    /// Most time that a receiver takes to connect again, when it has no connection left.
    pub(super) reconnect_timeout: Duration,
    /// Whether an edge without any connection waits for the next one; else it is lost. Rails are
    /// connected again in any case, as long as another is left.
    pub(super) survives_all: bool,
}
