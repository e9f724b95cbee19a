//! `spl.eventtime`: ticks and timestamps. There are no event-time windows, so what asks for the
//! current one faults.

use graph::{Call, Fault, FaultKind, NativeFn};
use tuple::Value;

use super::call::{Arguments, Outcome};
use super::time::made;
use super::{Eval, native};

/// The lists of this namespace.
pub(super) const LISTS: &[&[NativeFn]] = &[FUNCTIONS];

const fn eventtime(prototype: &'static str, doc: &'static str, eval: Eval) -> NativeFn {
    native("spl.eventtime", prototype, doc, eval)
}

const FUNCTIONS: &[NativeFn] = &[
    eventtime(
        "timestamp intervalStart()",
        "The start of the pane; not supported.",
        no_window,
    ),
    eventtime(
        "timestamp intervalEnd()",
        "The end of the pane; not supported.",
        no_window,
    ),
    eventtime(
        "<tuple T> timestamp getEventTime(T t)",
        "The event time of a tuple; not supported.",
        no_window,
    ),
    eventtime(
        "Sys.PaneTiming paneTiming()",
        "Whether the pane comes early, complete or late; not supported.",
        no_window,
    ),
    eventtime(
        "uint64 paneIndex()",
        "The number of the pane's firing; not supported.",
        no_window,
    ),
    eventtime(
        "timestamp toTimestamp(uint64 ticks, Sys.Resolution resolution)",
        "The instant so many milliseconds, microseconds or nanoseconds after the epoch.",
        |c| from_ticks(c, c.uint64(0).into()),
    ),
    eventtime(
        "timestamp toTimestamp(int64 ticks, Sys.Resolution resolution)",
        "The instant so many milliseconds, microseconds or nanoseconds after the epoch.",
        |c| from_ticks(c, c.int64(0).into()),
    ),
    eventtime(
        "int64 int64TicksFromTimestamp(timestamp ts, Sys.Resolution resolution)",
        "The whole milliseconds, microseconds or nanoseconds from the epoch to the instant; the \
         greatest or least int64 if it does not fit.",
        |c| {
            Ok(Value::Int64(
                ticks(c).clamp(i64::MIN.into(), i64::MAX.into()) as i64,
            ))
        },
    ),
    eventtime(
        "uint64 uint64TicksFromTimestamp(timestamp ts, Sys.Resolution resolution)",
        "The whole milliseconds, microseconds or nanoseconds from the epoch to the instant; 0 \
         before the epoch, the greatest uint64 if it does not fit.",
        |c| Ok(Value::Uint64(ticks(c).clamp(0, u64::MAX.into()) as u64)),
    ),
    eventtime(
        "timestamp getWatermark()",
        "The operator's watermark; not supported.",
        no_window,
    ),
];

fn no_window(_: &mut Call<'_>) -> Outcome {
    Err(Fault::new(FaultKind::Limit, "event time is not supported"))
}

/// Ticks of a second.
fn resolution(c: &Call<'_>) -> i128 {
    match c.enumerator(1) {
        "Nanoseconds" => 1_000_000_000,
        "Microseconds" => 1_000_000,
        _ => 1000,
    }
}

fn from_ticks(c: &mut Call<'_>, ticks: i128) -> Outcome {
    let resolution = resolution(c);
    let nanos = ticks.rem_euclid(resolution) * (1_000_000_000 / resolution);
    Ok(Value::Timestamp(made(
        ticks.div_euclid(resolution) as i64,
        nanos as i64,
        0,
    )))
}

fn ticks(c: &Call<'_>) -> i128 {
    let (ts, resolution) = (c.timestamp(0), resolution(c));
    i128::from(ts.seconds) * resolution + i128::from(ts.nanos) / (1_000_000_000 / resolution)
}
