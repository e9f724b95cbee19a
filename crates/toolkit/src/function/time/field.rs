//! Fields of the civil time of a timestamp, in the local zone or in UTC.

use eval::{NativeCall, NativeFn};
use tuple::Value;

use super::calendar::Tm;
use super::tm::utc;
use super::zone::NamedTimeZone;
use crate::function::arguments::{NativeArguments, NativeResult};
use crate::function::entry::time;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    time(
        "uint32 year(timestamp time)",
        "The year in the local time zone.",
        |c| local(c, YEAR),
    ),
    time(
        "uint32 month(timestamp time)",
        "The month in the local time zone, 0 to 11.",
        |c| local(c, MONTH),
    ),
    time(
        "uint32 day(timestamp time)",
        "The day of the month in the local time zone, 1 to 31.",
        |c| local(c, DAY),
    ),
    time(
        "uint32 hour(timestamp time)",
        "The hour in the local time zone, 0 to 23.",
        |c| local(c, HOUR),
    ),
    time(
        "uint32 minute(timestamp time)",
        "The minute in the local time zone, 0 to 59.",
        |c| local(c, MINUTE),
    ),
    time(
        "uint32 second(timestamp time)",
        "The second, 0 to 59.",
        |c| local(c, SECOND),
    ),
    time(
        "uint32 dayOfYear(timestamp time)",
        "The days since the first of January in the local time zone, 0 to 365.",
        |c| local(c, DAY_OF_YEAR),
    ),
    time(
        "uint32 dayOfWeek(timestamp time)",
        "The days since Sunday in the local time zone, 0 to 6.",
        |c| local(c, DAY_OF_WEEK),
    ),
    time("uint32 gmyear(timestamp time)", "The year in UTC.", |c| {
        universal(c, YEAR)
    }),
    time(
        "uint32 gmmonth(timestamp time)",
        "The month in UTC, 0 to 11.",
        |c| universal(c, MONTH),
    ),
    time(
        "uint32 gmday(timestamp time)",
        "The day of the month in UTC, 1 to 31.",
        |c| universal(c, DAY),
    ),
    time(
        "uint32 gmhour(timestamp time)",
        "The hour in UTC, 0 to 23.",
        |c| universal(c, HOUR),
    ),
    time(
        "uint32 gmminute(timestamp time)",
        "The minute in UTC, 0 to 59.",
        |c| universal(c, MINUTE),
    ),
    time(
        "uint32 gmsecond(timestamp time)",
        "The second in UTC, 0 to 59.",
        |c| universal(c, SECOND),
    ),
    time(
        "uint32 gmdayOfYear(timestamp time)",
        "The days since the first of January in UTC, 0 to 365.",
        |c| universal(c, DAY_OF_YEAR),
    ),
    time(
        "uint32 gmdayOfWeek(timestamp time)",
        "The days since Sunday in UTC, 0 to 6.",
        |c| universal(c, DAY_OF_WEEK),
    ),
];

type TimeField = fn(&Tm) -> i32;

const YEAR: TimeField = |tm| tm.year.wrapping_add(1900);
const MONTH: TimeField = |tm| tm.mon;
const DAY: TimeField = |tm| tm.mday;
const HOUR: TimeField = |tm| tm.hour;
const MINUTE: TimeField = |tm| tm.min;
const SECOND: TimeField = |tm| tm.sec;
const DAY_OF_YEAR: TimeField = |tm| tm.yday;
const DAY_OF_WEEK: TimeField = |tm| tm.wday;

fn local(c: &mut NativeCall<'_>, field: TimeField) -> NativeResult {
    Ok(Value::Uint32(
        field(&NamedTimeZone::local().civil(c.timestamp(0).seconds)) as u32,
    ))
}

fn universal(c: &mut NativeCall<'_>, field: TimeField) -> NativeResult {
    Ok(Value::Uint32(field(&utc(c.timestamp(0).seconds)) as u32))
}
