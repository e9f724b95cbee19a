//! Civil time as text by a format, as C's `strftime` writes it in the C locale.
//!
//! Between the `%` and its letter may stand the flags `_` (fill up with blanks), `-` (do not fill
//! up), `0` (with zeros), `^` (upper case), `#` (the other case), a width, and `E` or `O`, which
//! mean nothing in the C locale. What is no conversion is copied.

use super::calendar::{Tm, days_until, is_leap, seconds};
use super::zone::NamedTimeZone;

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(super) const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// The text of a civil time.
pub(super) fn strftime(tm: &Tm, format: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = format;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let (style, letter, after) = parse_flags(rest);
        match letter.and_then(|letter| convert(tm, letter, &style)) {
            Some(text) => {
                out.extend_from_slice(text.as_bytes());
                rest = after;
            }
            None => out.push(b'%'),
        }
    }
    out
}

/// The flags and the width between `%` and the letter.
#[derive(Clone, Copy, Default)]
struct ConversionFlags {
    fill: Option<u8>,
    upper: bool,
    swap: bool,
    width: usize,
}

/// Greatest width of a field: a program cannot use up the memory by one.
const WIDTH_MAX: usize = 1024;

fn parse_flags(mut rest: &[u8]) -> (ConversionFlags, Option<u8>, &[u8]) {
    let mut style = ConversionFlags::default();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'_' | b'-' | b'0' if style.width == 0 => style.fill = Some(byte),
            b'^' => style.upper = true,
            b'#' => style.swap = true,
            b'0'..=b'9' => {
                let width = style.width * 10 + usize::from(byte - b'0');
                style.width = width.min(WIDTH_MAX);
            }
            b'E' | b'O' => {}
            letter => return (style, Some(letter), rest),
        }
    }
    (style, None, rest)
}

fn convert(tm: &Tm, letter: u8, style: &ConversionFlags) -> Option<String> {
    let year = i64::from(tm.year) + 1900;
    let number = |n: i64, digits: usize| Some(style.number(n, digits, b'0'));
    let blank = |n: i64, digits: usize| Some(style.number(n, digits, b'_'));
    let name = |names: &[&str], at: i32| names.get(at as usize).copied().unwrap_or("?").to_string();
    let short = |name: String| name.chars().take(3).collect::<String>();
    let parts = |format: &str| Some(style.text(&format_tm(tm, format)));
    match letter {
        b'a' => Some(style.name(&short(name(&DAYS, tm.wday)))),
        b'A' => Some(style.name(&name(&DAYS, tm.wday))),
        b'b' | b'h' => Some(style.name(&short(name(&MONTHS, tm.mon)))),
        b'B' => Some(style.name(&name(&MONTHS, tm.mon))),
        b'c' => parts("%a %b %e %H:%M:%S %Y"),
        b'C' => number(year.div_euclid(100), 2),
        b'd' => number(tm.mday.into(), 2),
        b'D' | b'x' => parts("%m/%d/%y"),
        b'e' => blank(tm.mday.into(), 2),
        b'F' => parts("%Y-%m-%d"),
        b'g' => number(iso_week(tm).0.rem_euclid(100), 2),
        b'G' => number(iso_week(tm).0, 1),
        b'H' => number(tm.hour.into(), 2),
        b'I' => number(twelve_hour(tm.hour), 2),
        b'j' => number(i64::from(tm.yday) + 1, 3),
        b'k' => blank(tm.hour.into(), 2),
        b'l' => blank(twelve_hour(tm.hour), 2),
        b'm' => number(i64::from(tm.mon) + 1, 2),
        b'M' => number(tm.min.into(), 2),
        b'n' => Some("\n".to_string()),
        b'p' if style.swap => Some(style.text(&am_pm(tm.hour).to_lowercase())),
        b'p' => Some(style.text(am_pm(tm.hour))),
        b'P' => Some(style.text(&am_pm(tm.hour).to_lowercase())),
        b'r' => parts("%I:%M:%S %p"),
        b'R' => parts("%H:%M"),
        b's' => number(local_seconds(tm), 1),
        b'S' => number(tm.sec.into(), 2),
        b't' => Some("\t".to_string()),
        b'T' | b'X' => parts("%H:%M:%S"),
        b'u' => number((i64::from(tm.wday) + 6).rem_euclid(7) + 1, 1),
        b'U' => number(week(tm, 0), 2),
        b'V' => number(iso_week(tm).1, 2),
        b'w' => number(tm.wday.into(), 1),
        b'W' => number(week(tm, 1), 2),
        b'y' => number(year.rem_euclid(100), 2),
        b'Y' => number(year, 1),
        b'z' => Some(offset(tm.gmtoff)),
        b'Z' if style.swap => Some(style.text(&tm.zone.to_lowercase())),
        b'Z' => Some(style.text(&tm.zone)),
        b'%' => Some("%".to_string()),
        _ => None,
    }
}

fn format_tm(tm: &Tm, format: &str) -> String {
    String::from_utf8_lossy(&strftime(tm, format.as_bytes())).into_owned()
}

impl ConversionFlags {
    fn number(&self, n: i64, digits: usize, usual: u8) -> String {
        let width = self.width.max(digits);
        match self.fill.unwrap_or(usual) {
            b'-' => n.to_string(),
            b'_' => format!("{n:width$}"),
            _ => format!("{n:0width$}"),
        }
    }

    /// A name, which `#` makes upper case.
    fn name(&self, name: &str) -> String {
        ConversionFlags {
            upper: self.upper || self.swap,
            ..*self
        }
        .text(name)
    }

    fn text(&self, text: &str) -> String {
        let text = if self.upper {
            text.to_uppercase()
        } else {
            text.to_string()
        };
        let width = if self.fill == Some(b'-') {
            0
        } else {
            self.width
        };
        match self.fill {
            Some(b'0') => "0".repeat(width.saturating_sub(text.len())) + &text,
            _ => format!("{text:>width$}"),
        }
    }
}

fn twelve_hour(hour: i32) -> i64 {
    (i64::from(hour) + 11).rem_euclid(12) + 1
}

fn am_pm(hour: i32) -> &'static str {
    if hour >= 12 { "PM" } else { "AM" }
}

/// The week of the year, if weeks begin on a day of the week; days before the first week are in
/// week 0.
fn week(tm: &Tm, first_day: i64) -> i64 {
    let since_first_day = (i64::from(tm.wday) - first_day).rem_euclid(7);
    (i64::from(tm.yday) + 7 - since_first_day) / 7
}

/// Year and week by ISO 8601: weeks begin on Monday, the first has the year's first Thursday.
fn iso_week(tm: &Tm) -> (i64, i64) {
    let year = i64::from(tm.year) + 1900;
    let since_monday = (i64::from(tm.wday) + 6).rem_euclid(7);
    let week = (i64::from(tm.yday) - since_monday + 10) / 7;
    if week < 1 {
        return (year - 1, weeks_in_year(year - 1));
    }
    if week > weeks_in_year(year) {
        return (year + 1, 1);
    }
    (year, week)
}

/// Years have 53 weeks if they begin on a Thursday, or on a Wednesday and are leap years.
fn weeks_in_year(year: i64) -> i64 {
    match super::calendar::weekday(days_until(year, 0, 1)) {
        4 => 53,
        3 if is_leap(year) => 53,
        _ => 52,
    }
}

fn offset(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.unsigned_abs() / 60;
    format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
}

/// `%s` reads the civil time as one of its zone, like `mktime`.
fn local_seconds(tm: &Tm) -> i64 {
    match tm.zone.as_str() {
        "" => NamedTimeZone::local().seconds(tm),
        _ => seconds(tm) - i64::from(tm.gmtoff),
    }
}
