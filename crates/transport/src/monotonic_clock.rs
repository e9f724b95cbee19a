//! The clock by which the processes of a host compare times.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the system's monotonic clock, which all processes of a host share and which never
/// goes back. The number alone means nothing; differences do.
///
/// # Example
/// ```
/// let start_ns = thalweg_transport::monotonic_ns();
/// assert!(thalweg_transport::monotonic_ns() >= start_ns);
/// ```
#[inline]
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The clock starts at 0 when the host does, so it is not negative.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
