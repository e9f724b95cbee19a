//! SPL's timestamp: seconds, nanoseconds, and the machine that read the clock.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// `timestamp`. Equality, order and hash ignore the machine id.
///
/// # Example
/// ```
/// use thalweg_tuple::Timestamp;
///
/// let at = Timestamp { seconds: 1, nanos: 5, machine: 0 };
/// assert!(at < Timestamp { seconds: 1, nanos: 6, machine: 0 });
/// assert_eq!(at, Timestamp { machine: 7, ..at });
/// ```
#[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Timestamp {
    /// Seconds since the epoch.
    pub seconds: i64,
    /// Nanoseconds, 0 to 999,999,999.
    pub nanos: u32,
    /// Which machine's clock it was; 0 if it does not matter.
    pub machine: i32,
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Timestamp) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Timestamp) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Timestamp) -> Ordering {
        (self.seconds, self.nanos).cmp(&(other.seconds, other.nanos))
    }
}

impl Hash for Timestamp {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.seconds, self.nanos).hash(state);
    }
}
