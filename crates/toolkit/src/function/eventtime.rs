//! `spl.eventtime`: ticks and timestamps, event time of tuples, watermarks, and the pane of a
//! window that fires.

use eval::{Fault, FaultKind, NativeCall, NativeFn, Pane};
use tuple::{EventTime, Resolution, Timestamp, Value};

use super::arguments::{NativeArguments, NativeResult};
use super::entry::{NativeEval, native};
use super::time::normalized_timestamp;

/// The lists of this namespace.
pub(super) const LISTS: &[&[NativeFn]] = &[FUNCTIONS];

const fn eventtime(prototype: &'static str, doc: &'static str, eval: NativeEval) -> NativeFn {
    native("spl.eventtime", prototype, doc, eval)
}

const FUNCTIONS: &[NativeFn] = &[
    eventtime(
        "timestamp intervalStart()",
        "The first instant of the pane that fires, or the first event time of the session: in the \
         output of an operator whose window is timeInterval or session.",
        |c| current_pane(c).map(|pane| timestamp_value(pane.start)),
    )
    .with_pane(),
    eventtime(
        "timestamp intervalEnd()",
        "The first instant behind the pane or session that fires; a session ends the gap after its \
         last event time. In the output of an operator whose window is timeInterval or session.",
        |c| current_pane(c).map(|pane| timestamp_value(pane.end)),
    )
    .with_pane(),
    eventtime(
        "<tuple T> timestamp getEventTime(T t)",
        "The event time of a tuple: what its attribute that `@eventTime` names says.",
        event_time,
    ),
    eventtime(
        "Sys.PaneTiming paneTiming()",
        "Why the pane or session fires: `paneOnComplete` when the watermark has passed its end, `paneLate` when \
         late tuples have come since; `paneEarly` has no trigger.",
        |c| current_pane(c).map(|pane| Value::Enum(pane.timing as u32)),
    )
    .with_pane(),
    eventtime(
        "uint64 paneIndex()",
        "How often the pane or session that fires has fired before; of sessions that became one, \
         the one that fired most often counts.",
        |c| current_pane(c).map(|pane| Value::Uint64(pane.index)),
    )
    .with_pane(),
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
        "The operator's watermark; the epoch if there was none yet.",
        watermark,
    ),
];

/// The pane that fires.
fn current_pane(c: &mut NativeCall<'_>) -> Result<Pane, Fault> {
    let pane = c
        .services
        .event_time()
        .and_then(|events| events.firing_pane());
    pane.ok_or_else(|| {
        let message = "no pane fires here: ask for it in the output clause of an operator whose \
                       window is timeInterval or session";
        Fault::new(FaultKind::Limit, message)
    })
}

fn event_time(c: &mut NativeCall<'_>) -> NativeResult {
    let clock = c.services.event_time().and_then(|events| events.clock());
    let Some((name, resolution)) = clock else {
        let message = "there is no event time here: put `@eventTime` before the operator or one \
                       upstream of it";
        return Err(Fault::new(FaultKind::Limit, message));
    };
    let found = c.attributes(0).find(name);
    let found = found.and_then(|(at, _)| EventTime::from_value(&c.tuple(0)[at], resolution));
    found.map(timestamp_value).ok_or_else(|| {
        let message = format!("the tuple has no event time: no attribute `{name}` that holds one");
        Fault::new(FaultKind::Limit, message)
    })
}

fn watermark(c: &mut NativeCall<'_>) -> NativeResult {
    let reached = c
        .services
        .event_time()
        .and_then(|events| events.watermark());
    Ok(reached.map_or(Value::Timestamp(Timestamp::default()), timestamp_value))
}

fn timestamp_value(at: EventTime) -> Value {
    Value::Timestamp(at.to_timestamp())
}

/// Ticks of a second.
fn resolution(c: &NativeCall<'_>) -> i128 {
    let resolution = Resolution::from_name(c.enumerator(1)).unwrap_or_default();
    1_000_000_000 / resolution.tick_ns()
}

fn from_ticks(c: &mut NativeCall<'_>, ticks: i128) -> NativeResult {
    let resolution = resolution(c);
    let nanos = ticks.rem_euclid(resolution) * (1_000_000_000 / resolution);
    Ok(Value::Timestamp(normalized_timestamp(
        ticks.div_euclid(resolution) as i64,
        nanos as i64,
        0,
    )))
}

fn ticks(c: &NativeCall<'_>) -> i128 {
    let (ts, resolution) = (c.timestamp(0), resolution(c));
    i128::from(ts.seconds) * resolution + i128::from(ts.nanos) / (1_000_000_000 / resolution)
}
