//! Functions that read clocks.

use std::time::{SystemTime, UNIX_EPOCH};

use eval::NativeFn;
use tuple::{Timestamp, Value};

use super::instant::normalized_timestamp;
use crate::function::entry::time;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    time(
        "stateful int64 getCPUCounterInNanoSeconds()",
        "The nanoseconds of a clock that never goes back, from an unknown beginning; good for \
         differences only.",
        |_| {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
            Ok(Value::Int64(now.tv_sec * 1_000_000_000 + now.tv_nsec))
        },
    ),
    time(
        "stateful timestamp getTimestamp()",
        "The time of day in microseconds, of machine 0.",
        |_| Ok(Value::Timestamp(now())),
    ),
    time(
        "stateful float64 getTimestampInSecs()",
        "The seconds since the epoch, with microseconds.",
        |_| {
            let now = now();
            Ok(Value::Float64(
                now.seconds as f64 + f64::from(now.nanos) / 1e9,
            ))
        },
    ),
];

/// The time of day, in whole microseconds.
fn now() -> Timestamp {
    let micros = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_micros() as i64,
        Err(before) => -(before.duration().as_micros() as i64),
    };
    normalized_timestamp(
        micros.div_euclid(1_000_000),
        micros.rem_euclid(1_000_000) * 1000,
        0,
    )
}
