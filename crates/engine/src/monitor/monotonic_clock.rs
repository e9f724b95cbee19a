//! The clock of counters files.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the monotonic clock, which all processes of a host share.
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The monotonic clock starts at 0 when the host starts, so it is not negative.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
