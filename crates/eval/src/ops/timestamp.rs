//! Arithmetic of timestamps.

use graph::BinaryOp;
use tuple::Timestamp;

use super::faults;
use crate::Fault;

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// `left + right` or `left - right`, with the machine of the left one.
pub(super) fn arithmetic(op: BinaryOp, a: Timestamp, b: Timestamp) -> Result<Timestamp, Fault> {
    let (a_nanos, b_nanos) = (i64::from(a.nanos), i64::from(b.nanos));
    let (seconds, nanos) = match op {
        BinaryOp::Add => (a.seconds.wrapping_add(b.seconds), a_nanos + b_nanos),
        BinaryOp::Sub => (a.seconds.wrapping_sub(b.seconds), a_nanos - b_nanos),
        _ => return Err(faults::mistyped("the operator")),
    };
    Ok(normalized_timestamp(seconds, nanos, a.machine))
}

/// A timestamp as seconds.
pub fn timestamp_to_seconds(stamp: Timestamp) -> f64 {
    stamp.seconds as f64 + f64::from(stamp.nanos) / NANOS_PER_SECOND as f64
}

/// Seconds as a timestamp of machine 0: to the nearest nanosecond, seconds out of range saturate
/// and NaN is 0.
pub fn timestamp_from_seconds(seconds: f64) -> Timestamp {
    let whole = seconds.floor();
    let nanos = ((seconds - whole) * NANOS_PER_SECOND as f64).round();
    normalized_timestamp(whole as i64, nanos as i64, 0)
}

/// Carries nanoseconds into seconds.
fn normalized_timestamp(seconds: i64, nanos: i64, machine: i32) -> Timestamp {
    Timestamp {
        seconds: seconds.wrapping_add(nanos.div_euclid(NANOS_PER_SECOND)),
        nanos: nanos.rem_euclid(NANOS_PER_SECOND) as u32,
        machine,
    }
}
