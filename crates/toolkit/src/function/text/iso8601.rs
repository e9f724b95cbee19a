//! Timestamps as texts of ISO 8601 in the form of RFC 3339, `2026-11-28T10:17:25.5Z`.

use eval::{Fault, NativeCall, NativeFn};
use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::TimeZone;
use tuple::{Timestamp, Value};

use super::text;
use crate::function::arguments::{NativeArguments, NativeResult, rstring};

pub(super) const FUNCTIONS: &[NativeFn] = &[
    text(
        "timestamp parseISO8601(rstring str)",
        "The instant of a text as `2026-11-28T10:17:25.123456789+01:00`, of machine 0: a date, `T` or \
         a blank, a time with up to nine digits of a second, and `Z` or an offset from UTC. Without \
         an offset the time is UTC; a date alone is its beginning. Date, time and offset may be \
         without `-` and `:`, the time and the offset without seconds and minutes; second 60 is \
         read as 59. Faults for any other text, a time zone in brackets among them.",
        |c| parse(&c.text(0)).map(Value::Timestamp),
    ),
    text(
        "rstring formatISO8601(timestamp time)",
        "The instant in UTC as `2026-11-28T10:17:25.5Z`, with as many digits of a second as it has. \
         Faults before the year -9999 and after 9999.",
        |c| format(c, None),
    ),
    text(
        "rstring formatISO8601(timestamp time, uint32 digits)",
        "The instant in UTC as `2026-11-28T10:17:25.500Z`, with 0 to 9 digits of a second; further \
         ones are cut off. Faults before the year -9999 and after 9999.",
        |c| {
            let digits = c.uint32(1);
            match u8::try_from(digits) {
                Ok(digits @ 0..=9) => format(c, Some(digits)),
                _ => Err(Fault::value(format!(
                    "a second has 0 to 9 digits, not {digits}"
                ))),
            }
        },
    ),
];

fn parse(text: &str) -> Result<Timestamp, Fault> {
    // A zone in brackets would be read and left out.
    if text.contains('[') {
        let what =
            format!("\"{text}\" has a time zone in brackets; an offset such as +01:00 is read");
        return Err(Fault::value(what));
    }
    // A date and time without an offset is UTC.
    let instant = text.parse::<jiff::Timestamp>().or_else(|error| {
        let civil = text.parse::<DateTime>().map_err(|_| error)?;
        TimeZone::UTC.to_timestamp(civil)
    });
    let instant = instant.map_err(|error| {
        Fault::value(format!(
            "\"{text}\" is no time as in 2026-11-28T10:17:25Z: {error}"
        ))
    })?;
    let nanos = instant.as_nanosecond();
    Ok(Timestamp {
        seconds: nanos.div_euclid(NANOS) as i64,
        nanos: nanos.rem_euclid(NANOS) as u32,
        machine: 0,
    })
}

/// Nanoseconds of a second.
const NANOS: i128 = 1_000_000_000;

fn format(c: &NativeCall<'_>, digits: Option<u8>) -> NativeResult {
    let time = c.timestamp(0);
    let nanos = i128::from(time.seconds) * NANOS + i128::from(time.nanos);
    let instant = jiff::Timestamp::from_nanosecond(nanos).map_err(|_| {
        Fault::value("a time before the year -9999 or after 9999 has no text of ISO 8601")
    })?;
    let printer = DateTimePrinter::new().precision(digits);
    Ok(rstring(printer.timestamp_to_string(&instant)))
}
