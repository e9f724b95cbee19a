//! Timestamps as numbers: creation, parts, differences, sums.

use eval::NativeFn;
use tuple::{Decimal128, Timestamp, Value};

use crate::function::arguments::NativeArguments;
use crate::function::entry::time;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    time(
        "timestamp createTimestamp(int64 secs, uint32 nanos)",
        "The instant so many seconds and nanoseconds after the epoch, of machine 0.",
        |c| {
            Ok(Value::Timestamp(normalized_timestamp(
                c.int64(0),
                c.uint32(1).into(),
                0,
            )))
        },
    ),
    time(
        "timestamp createTimestamp(int64 secs, uint32 nanos, int32 mid)",
        "The instant so many seconds and nanoseconds after the epoch, of a machine.",
        |c| {
            Ok(Value::Timestamp(normalized_timestamp(
                c.int64(0),
                c.uint32(1).into(),
                c.int32(2),
            )))
        },
    ),
    time(
        "int64 diffAsNanos(timestamp ts1, timestamp ts2)",
        "The nanoseconds from `ts2` to `ts1`; they wrap around after 292 years.",
        |c| {
            let (a, b) = (c.timestamp(0), c.timestamp(1));
            let seconds = a.seconds.wrapping_sub(b.seconds).wrapping_mul(NANOS);
            Ok(Value::Int64(
                seconds.wrapping_add(i64::from(a.nanos) - i64::from(b.nanos)),
            ))
        },
    ),
    time(
        "float64 diffAsSecs(timestamp ts1, timestamp ts2)",
        "The seconds from `ts2` to `ts1`.",
        |c| {
            let (a, b) = (c.timestamp(0), c.timestamp(1));
            let seconds = (i128::from(a.seconds) - i128::from(b.seconds)) as f64;
            Ok(Value::Float64(
                seconds + (f64::from(a.nanos) - f64::from(b.nanos)) / 1e9,
            ))
        },
    ),
    time(
        "timestamp add(timestamp ts, float64 diff)",
        "The instant `diff` seconds later (earlier if negative).",
        |c| {
            let (ts, diff) = (c.timestamp(0), c.float64(1));
            let seconds = diff.floor();
            let nanos = ((diff - seconds) * 1e9).round() as i64;
            let seconds = ts.seconds.wrapping_add(seconds as i64);
            Ok(Value::Timestamp(normalized_timestamp(
                seconds,
                nanos + i64::from(ts.nanos),
                ts.machine,
            )))
        },
    ),
    time(
        "timestamp add(timestamp ts, int64 diff)",
        "The instant `diff` nanoseconds later (earlier if negative).",
        |c| {
            let (ts, diff) = (c.timestamp(0), c.int64(1));
            let seconds = ts.seconds.wrapping_add(diff.div_euclid(NANOS));
            let nanos = diff.rem_euclid(NANOS) + i64::from(ts.nanos);
            Ok(Value::Timestamp(normalized_timestamp(
                seconds, nanos, ts.machine,
            )))
        },
    ),
    time(
        "int64 getSeconds(timestamp t)",
        "The whole seconds since the epoch.",
        |c| Ok(Value::Int64(c.timestamp(0).seconds)),
    ),
    time(
        "uint32 getNanoseconds(timestamp t)",
        "The nanoseconds since the last whole second.",
        |c| Ok(Value::Uint32(c.timestamp(0).nanos)),
    ),
    time(
        "int32 getMachineId(timestamp t)",
        "The machine whose clock it was.",
        |c| Ok(Value::Int32(c.timestamp(0).machine)),
    ),
    time(
        "decimal128 toDecimal128(timestamp ts)",
        "The seconds since the epoch with nine digits after the point.",
        |c| {
            let ts = c.timestamp(0);
            let fraction = Decimal128::scaled(false, ts.nanos.into(), -9);
            Ok(Value::Decimal128(
                Decimal128::from_i64(ts.seconds) + fraction,
            ))
        },
    ),
    time(
        "timestamp fromDecimal128(decimal128 t)",
        "The instant so many seconds after the epoch, rounded to nanoseconds, of machine 0.",
        |c| {
            let Value::Decimal128(t) = *c.arg(0) else {
                panic!("{:?} should be a decimal128", c.arg(0));
            };
            let seconds = t.floor();
            let nanos = ((t - seconds) * Decimal128::from_i64(NANOS))
                .round()
                .to_i64();
            Ok(Value::Timestamp(normalized_timestamp(
                seconds.to_i64(),
                nanos,
                0,
            )))
        },
    ),
];

/// Nanoseconds of a second.
pub(super) const NANOS: i64 = 1_000_000_000;

/// A timestamp whose nanoseconds may be more than a second's.
pub(in crate::function) fn normalized_timestamp(
    seconds: i64,
    nanos: i64,
    machine: i32,
) -> Timestamp {
    Timestamp {
        seconds: seconds.wrapping_add(nanos.div_euclid(NANOS)),
        nanos: nanos.rem_euclid(NANOS) as u32,
        machine,
    }
}
