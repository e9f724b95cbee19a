//! Timestamps from texts of fixed formats.

use eval::{Fault, NativeCall, NativeFn, WrongArgument};
use tuple::Value;

use super::calendar::Tm;
use super::instant::{NANOS, normalized_timestamp};
use super::strftime::MONTHS;
use super::strptime::strptime;
use super::zone::NamedTimeZone;
use crate::function::arguments::{NativeArguments, NativeResult};
use crate::function::entry::time;

const BY_FORMAT: &str = "The instant of a civil time in a fixed format; any character may stand \
    where the format's name has an underscore. Formats whose names end in `mmm`, as \
    `Sys.YYYY_MM_DD_hh_mm_ss_mmm`, have milliseconds. Faults if the text does not fit the format.";
const BY_MONTH_NAME: &str = "The instant of a date such as `04-OCT-2005` and a time such as \
    `14:18:19.324`. With `useLocaleMonth` numbers may be shorter (`4-OCT-2005`), months may be \
    written in full, seconds may have up to nine decimal places, and what does not fit gives \
    (0,0,0). Without it what is written otherwise is a fault. The month's name is always English.";

pub(super) const FUNCTIONS: &[NativeFn] = &[
    time(
        "<string T> timestamp toTimestamp(Sys.TimestampFormat ftype, T str)",
        BY_FORMAT,
        |c| by_format(c, NamedTimeZone::local()),
    ),
    time(
        "<string T> timestamp toTimestamp(Sys.TimestampFormat ftype, T str, T tmzone)",
        BY_FORMAT,
        |c| by_format(c, NamedTimeZone::from_name(&c.text(2))?),
    )
    .with_check(|args| NamedTimeZone::check(args, 2)),
    time(
        "timestamp timeStringToTimestamp(rstring dmy, rstring hmsmilli, boolean useLocaleMonth)",
        BY_MONTH_NAME,
        |c| by_month_name(c, 2),
    ),
    time(
        "timestamp timeStringToTimestamp(ustring dmy, ustring hmsmilli, boolean useLocaleMonth)",
        BY_MONTH_NAME,
        |c| by_month_name(c, 2),
    ),
    time(
        "timestamp timeStringToTimestamp(ustring dmy, ustring hmsmilli, ustring tmzone, \
         boolean useLocaleMonth)",
        BY_MONTH_NAME,
        |c| by_month_name(c, 3),
    )
    .with_check(zone_by_month_name),
    time(
        "timestamp timeStringToTimestamp(rstring dmy, rstring hmsmilli, rstring tmzone, \
         boolean useLocaleMonth)",
        BY_MONTH_NAME,
        |c| by_month_name(c, 3),
    )
    .with_check(zone_by_month_name),
    time(
        "timestamp timeStringtoTimestamp(rstring dmy, rstring hmsmilli, boolean useLocaleMonth)",
        "Another spelling of `timeStringToTimestamp`.",
        |c| by_month_name(c, 2),
    ),
    time(
        "timestamp timeStringtoTimestamp(ustring dmy, ustring hmsmilli, boolean useLocaleMonth)",
        "Another spelling of `timeStringToTimestamp`.",
        |c| by_month_name(c, 2),
    ),
    time(
        "timestamp timeStringtoTimestamp(ustring dmy, ustring hmsmilli, ustring tmzone, \
         boolean useLocaleMonth)",
        "Another spelling of `timeStringToTimestamp`.",
        |c| by_month_name(c, 3),
    )
    .with_check(zone_by_month_name),
    time(
        "timestamp timeStringtoTimestamp(rstring dmy, rstring hmsmilli, rstring tmzone, \
         boolean useLocaleMonth)",
        "Another spelling of `timeStringToTimestamp`.",
        |c| by_month_name(c, 3),
    )
    .with_check(zone_by_month_name),
];

fn by_format(c: &NativeCall<'_>, zone: NamedTimeZone) -> NativeResult {
    let (format, text) = (c.enumerator(0), c.text(1));
    let (tm, millis) = fields(format, text.as_bytes())
        .ok_or_else(|| Fault::value(format!("\"{text}\" is not a time in the format {format}")))?;
    Ok(Value::Timestamp(normalized_timestamp(
        zone.seconds(&tm),
        millis * 1_000_000,
        0,
    )))
}

/// Reads a text by a pattern: each of the letters YMDhmsn stands for a digit of its field (n for
/// the milliseconds), an underscore for any character.
fn fields(pattern: &str, text: &[u8]) -> Option<(Tm, i64)> {
    // The names use M for months and m for minutes, but lower-case mmm for milliseconds.
    let pattern = pattern.replace("mmm", "nnn");
    if pattern.len() != text.len() {
        return None;
    }
    let (mut tm, mut year, mut millis) = (
        Tm {
            isdst: -1,
            ..Tm::default()
        },
        0,
        0,
    );
    for (letter, &byte) in pattern.bytes().zip(text) {
        let field = match letter {
            b'Y' => &mut year,
            b'M' => &mut tm.mon,
            b'D' => &mut tm.mday,
            b'h' => &mut tm.hour,
            b'm' => &mut tm.min,
            b's' => &mut tm.sec,
            b'n' => &mut millis,
            _ => continue,
        };
        let digit = char::from(byte).to_digit(10)?;
        *field = *field * 10 + digit as i32;
    }
    tm.year = year - 1900;
    tm.mon -= 1;
    Some((tm, millis.into()))
}

/// Checks a constant time zone where an unknown one is a fault: without `useLocaleMonth`. With it,
/// an unknown zone gives (0,0,0).
fn zone_by_month_name(args: &[Option<Value>]) -> Result<(), WrongArgument> {
    match args.get(3) {
        Some(Some(Value::Boolean(false))) => NamedTimeZone::check(args, 2),
        _ => Ok(()),
    }
}

/// Reads a date with the name of a month. `flag` is the index of `useLocaleMonth` among the
/// arguments; a time zone comes before it if it is not 2.
fn by_month_name(c: &NativeCall<'_>, flag: usize) -> NativeResult {
    let (date, clock) = (c.text(0), c.text(1));
    let zone = || match flag {
        2 => Ok(NamedTimeZone::local()),
        _ => NamedTimeZone::from_name(&c.text(2)),
    };
    if c.boolean(flag) {
        let found = read_leniently(&date, &clock).zip(zone().ok());
        let instant =
            found.map(|((tm, nanos), zone)| normalized_timestamp(zone.seconds(&tm), nanos, 0));
        return Ok(Value::Timestamp(instant.unwrap_or_default()));
    }
    let (tm, millis) = read_strictly(&date, &clock).ok_or_else(|| {
        let example = "04-OCT-2005 14:18:19.324";
        Fault::value(format!(
            "\"{date} {clock}\" is not a time such as \"{example}\""
        ))
    })?;
    let seconds = zone()?.seconds(&tm);
    Ok(Value::Timestamp(normalized_timestamp(
        seconds,
        millis * 1_000_000,
        0,
    )))
}

/// Two digits, a month's three letters and four digits, then a time with milliseconds.
fn read_strictly(date: &str, clock: &str) -> Option<(Tm, i64)> {
    let name = date.get(3..6)?;
    let known = |month: &str| month[..3].eq_ignore_ascii_case(name);
    let month = MONTHS.iter().position(|m| known(m))?;
    let text = format!("{}{:02}{}{clock}", &date[..3], month + 1, &date[6..]);
    fields("DD_MM_YYYYhh_mm_ss_mmm", text.as_bytes())
}

/// Reads a date and a time as C's strptime does, then a point and decimal places of a second.
/// Further characters are ignored, as Streams ignores them.
fn read_leniently(date: &str, clock: &str) -> Option<(Tm, i64)> {
    let text = format!("{date} {clock}");
    let (mut tm, end) = strptime(text.as_bytes(), b"%d-%b-%Y %H:%M:%S.")?;
    tm.isdst = -1;
    let places = text[end..].bytes().take_while(u8::is_ascii_digit).take(9);
    let (mut nanos, mut place) = (0, NANOS / 10);
    for digit in places {
        nanos += i64::from(digit - b'0') * place;
        place /= 10;
    }
    Some((tm, nanos))
}
