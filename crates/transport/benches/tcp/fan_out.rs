//! One sender and several receivers on a host: the total with six, and with one.

use crate::edge;
use crate::table::{burst, compare};

/// Bytes of a burst to all receivers together.
const BYTES: u64 = 12 << 20;

const RECEIVERS: u32 = 6;

/// Prints the frames a second, in millions, that all receivers get together, with one and with six.
pub fn rum() {
    for len in [22, 108] {
        let count = BYTES / len as u64;
        compare(
            &format!("rum {len} B, 1 to 6, to 1 to 1"),
            "M/s",
            || total("rum", 1, len, count) * 1e3,
            || total("rum", RECEIVERS, len, count / u64::from(RECEIVERS)) * 1e3,
        );
    }
}

/// Frames a nanosecond that all receivers get together. One thread polls them by turns.
fn total(medium: &str, receivers: u32, len: usize, count: u64) -> f64 {
    let (mut out, mut ends) = edge::open(medium, receivers);
    let payload = vec![1; len];
    let took = burst(
        move || edge::send(&mut *out, &payload, count),
        move || edge::receive_all(&mut ends, count),
    );
    (u64::from(receivers) * count) as f64 / took / 1e9
}
