//! Timestamps from texts of fixed formats.

use graph::{Call, Fault, NativeFn};
use tuple::Value;

use super::calendar::Tm;
use super::instant::made;
use super::strftime::MONTHS;
use super::time;
use super::zone::Zone;
use crate::function::call::{Arguments, Outcome};

const BY_FORMAT: &str = "The instant of a civil time in a fixed format; any character may stand \
    where the format's name has an underscore. Formats whose names end in `mmm`, as \
    `Sys.YYYY_MM_DD_hh_mm_ss_mmm`, have milliseconds. Faults if the text does not fit the format.";
const BY_MONTH_NAME: &str = "The instant of a date such as `04-OCT-2005` and a time such as \
    `14:18:19.324`. Faults if they are written otherwise. The month's name is always English.";

pub(super) const FUNCTIONS: &[NativeFn] = &[
    time(
        "<string T> timestamp toTimestamp(Sys.TimestampFormat ftype, T str)",
        BY_FORMAT,
        |c| by_format(c, Zone::local()),
    ),
    time(
        "<string T> timestamp toTimestamp(Sys.TimestampFormat ftype, T str, T tmzone)",
        BY_FORMAT,
        |c| by_format(c, Zone::named(&c.text(2))?),
    )
    .checked(|args| Zone::check(args, 2)),
    time(
        "timestamp timeStringToTimestamp(rstring dmy, rstring hmsmilli, boolean useLocaleMonth)",
        BY_MONTH_NAME,
        |c| by_month_name(c, Zone::local()),
    ),
    time(
        "timestamp timeStringToTimestamp(ustring dmy, ustring hmsmilli, boolean useLocaleMonth)",
        BY_MONTH_NAME,
        |c| by_month_name(c, Zone::local()),
    ),
    time(
        "timestamp timeStringToTimestamp(ustring dmy, ustring hmsmilli, ustring tmzone, \
         boolean useLocaleMonth)",
        BY_MONTH_NAME,
        |c| by_month_name(c, Zone::named(&c.text(2))?),
    ),
    time(
        "timestamp timeStringToTimestamp(rstring dmy, rstring hmsmilli, rstring tmzone, \
         boolean useLocaleMonth)",
        BY_MONTH_NAME,
        |c| by_month_name(c, Zone::named(&c.text(2))?),
    ),
    time(
        "timestamp timeStringtoTimestamp(rstring dmy, rstring hmsmilli, boolean useLocaleMonth)",
        "Another spelling of `timeStringToTimestamp`.",
        |c| by_month_name(c, Zone::local()),
    ),
    time(
        "timestamp timeStringtoTimestamp(ustring dmy, ustring hmsmilli, boolean useLocaleMonth)",
        "Another spelling of `timeStringToTimestamp`.",
        |c| by_month_name(c, Zone::local()),
    ),
    time(
        "timestamp timeStringtoTimestamp(ustring dmy, ustring hmsmilli, ustring tmzone, \
         boolean useLocaleMonth)",
        "Another spelling of `timeStringToTimestamp`.",
        |c| by_month_name(c, Zone::named(&c.text(2))?),
    ),
    time(
        "timestamp timeStringtoTimestamp(rstring dmy, rstring hmsmilli, rstring tmzone, \
         boolean useLocaleMonth)",
        "Another spelling of `timeStringToTimestamp`.",
        |c| by_month_name(c, Zone::named(&c.text(2))?),
    ),
];

fn by_format(c: &Call<'_>, zone: Zone) -> Outcome {
    let (format, text) = (c.enumerator(0), c.text(1));
    let (tm, millis) = fields(format, text.as_bytes())
        .ok_or_else(|| Fault::value(format!("\"{text}\" is not a time in the format {format}")))?;
    Ok(Value::Timestamp(made(
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

fn by_month_name(c: &Call<'_>, zone: Zone) -> Outcome {
    let (date, clock) = (c.text(0), c.text(1));
    let wrong = || {
        let example = "04-OCT-2005 14:18:19.324";
        Fault::value(format!(
            "\"{date} {clock}\" is not a time such as \"{example}\""
        ))
    };
    let name = date.get(3..6).ok_or_else(wrong)?;
    let known = |month: &str| month[..3].eq_ignore_ascii_case(name);
    let month = MONTHS.iter().position(|m| known(m)).ok_or_else(wrong)?;
    let text = format!("{}{:02}{}{clock}", &date[..3], month + 1, &date[6..]);
    let found = fields("DD_MM_YYYYhh_mm_ss_mmm", text.as_bytes());
    let (tm, millis) = found.ok_or_else(wrong)?;
    Ok(Value::Timestamp(made(
        zone.seconds(&tm),
        millis * 1_000_000,
        0,
    )))
}
