//! `Sys.tm`: civil time as a tuple, from and to timestamps and texts.

use eval::{Fault, NativeCall, NativeFn};
use tuple::{RString, Value};

use super::calendar::{self, Tm};
use super::instant::normalized_timestamp;
use super::strftime::strftime;
use super::strptime::strptime;
use super::zone::NamedTimeZone;
use crate::function::arguments::{NativeArguments, NativeResult, VOID};
use crate::function::entry::time;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    time(
        "void time(timestamp time, mutable Sys.tm result)",
        "Sets `result` to the civil time in the local time zone.",
        |c| {
            let tm = NamedTimeZone::local().civil(c.timestamp(0).seconds);
            store(c, 1, tm)
        },
    ),
    time(
        "void time(timestamp time, rstring tzone, mutable Sys.tm result)",
        "Sets `result` to the civil time in a time zone: a name such as `Europe/Berlin` or a POSIX \
         string such as `UTC-7`, which is seven hours ahead of UTC. Faults if there is no such \
         zone.",
        |c| {
            let tm = NamedTimeZone::from_name(&c.text(1))?.civil(c.timestamp(0).seconds);
            store(c, 2, tm)
        },
    )
    .with_check(|args| NamedTimeZone::check(args, 1)),
    time(
        "void gmtime(timestamp time, mutable Sys.tm result)",
        "Sets `result` to the civil time in UTC.",
        |c| {
            let tm = utc(c.timestamp(0).seconds);
            store(c, 1, tm)
        },
    ),
    time(
        "timestamp toTimestamp(Sys.tm time)",
        "The instant of a civil time. Its `zone` says where; if that is empty or UTC, `gmtoff` \
         seconds ahead of UTC.",
        |c| {
            let tm = load(c, 0);
            Ok(Value::Timestamp(normalized_timestamp(
                seconds(&tm, false),
                0,
                0,
            )))
        },
    ),
    time(
        "timestamp toTimestamp(Sys.tm time, boolean defaultZone)",
        "The instant of a civil time. Its `zone` says where; if that is empty, the local time zone \
         if `defaultZone`, else `gmtoff` seconds ahead of UTC.",
        |c| {
            let tm = load(c, 0);
            Ok(Value::Timestamp(normalized_timestamp(
                seconds(&tm, c.boolean(1)),
                0,
                0,
            )))
        },
    ),
    time(
        "rstring strftime(Sys.tm time, rstring format)",
        "The civil time as text, by a format of C's `strftime` in the C locale: `%Y-%m-%d \
         %H:%M:%S`.",
        |c| c.bounded_rstring(strftime(&load(c, 0), c.bytes(1))),
    ),
    time(
        "void strptime(rstring dateTime, rstring format, mutable Sys.tm result, \
         mutable uint32 numCharsProcessed)",
        "Reads a civil time by a format of C's `strptime` in the C locale, and sets \
         `numCharsProcessed` to the characters read. If the text does not fit the format that is \
         0, and `result` stays as it is.",
        |c| {
            let read = strptime(c.bytes(0), c.bytes(1));
            c.set_uint32(3, read.as_ref().map_or(0, |(_, bytes)| *bytes as u32));
            if let Some((mut tm, _)) = read {
                tm.isdst = -1;
                store(c, 2, tm)?;
            }
            Ok(VOID)
        },
    ),
    time(
        "rstring ctime(timestamp time)",
        "The civil time in the local time zone as C's `ctime` writes it, without its line end: \
         `Fri Feb 13 23:31:30 2009`.",
        |c| {
            let tm = NamedTimeZone::local().civil(c.timestamp(0).seconds);
            c.bounded_rstring(strftime(&tm, b"%a %b %e %H:%M:%S %Y"))
        },
    ),
];

/// The civil time in UTC.
pub(super) fn utc(seconds: i64) -> Tm {
    Tm {
        zone: "GMT".to_string(),
        ..calendar::civil(seconds, 0)
    }
}

fn seconds(tm: &Tm, local_by_default: bool) -> i64 {
    let universal = matches!(tm.zone.as_str(), "UTC" | "GMT");
    let by_offset = || calendar::seconds(tm).saturating_sub(tm.gmtoff.into());
    if universal || (tm.zone.is_empty() && !local_by_default) {
        return by_offset();
    }
    // An abbreviation such as EDT is not a zone, but has its offset beside it.
    NamedTimeZone::from_name(&tm.zone).map_or_else(|_: Fault| by_offset(), |zone| zone.seconds(tm))
}

/// Runs an expression for each integer attribute: its name and its field.
macro_rules! integers {
    ($tm:expr, $each:expr) => {{
        let each = &mut $each;
        each("sec", &mut $tm.sec);
        each("min", &mut $tm.min);
        each("hour", &mut $tm.hour);
        each("mday", &mut $tm.mday);
        each("mon", &mut $tm.mon);
        each("year", &mut $tm.year);
        each("wday", &mut $tm.wday);
        each("yday", &mut $tm.yday);
        each("isdst", &mut $tm.isdst);
        each("gmtoff", &mut $tm.gmtoff);
    }};
}

fn load(c: &NativeCall<'_>, at: usize) -> Tm {
    let (attributes, values) = (c.attributes(at), c.tuple(at));
    let value = |name: &str| attributes.find(name).map(|(at, _)| &values[at]);
    let mut tm = Tm::default();
    integers!(
        tm,
        |name: &str, field: &mut i32| if let Some(Value::Int32(x)) = value(name) {
            *field = *x;
        }
    );
    if let Some(Value::RString(zone)) = value("zone") {
        tm.zone = zone.to_string_lossy().into_owned();
    }
    tm
}

fn store(c: &mut NativeCall<'_>, at: usize, mut tm: Tm) -> NativeResult {
    let attributes = c.attributes(at).clone();
    let values = c.tuple_mut(at);
    let place = |name: &str| attributes.find(name).map(|(at, _)| at);
    integers!(
        tm,
        |name: &str, field: &mut i32| if let Some(at) = place(name) {
            values[at] = Value::Int32(*field);
        }
    );
    if let Some(at) = place("zone") {
        values[at] = Value::RString(RString::from(tm.zone));
    }
    Ok(VOID)
}
