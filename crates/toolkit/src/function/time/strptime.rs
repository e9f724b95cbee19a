//! Civil time from text by a format, as C's `strptime` reads it in the C locale.
//!
//! Blanks of the format stand for any number of blanks, also none. Numbers may be preceded by
//! blanks and have at most their usual number of digits. `E` and `O` after the `%` mean nothing.

use super::calendar::{self, Tm, days_until, weekday};
use super::strftime::{DAYS, MONTHS};

/// The civil time that a text stands for and the number of bytes read, if the text fits the format.
pub(super) fn strptime(text: &[u8], format: &[u8]) -> Option<(Tm, usize)> {
    let mut reader = StrptimeInput {
        rest: text,
        ..StrptimeInput::default()
    };
    reader.read(format)?;
    reader.complete();
    Some((reader.tm, text.len() - reader.rest.len()))
}

#[derive(Default)]
struct StrptimeInput<'a> {
    rest: &'a [u8],
    tm: Tm,
    century: Option<i32>,
    year_of_century: Option<i32>,
    /// `%p`, to be put together with `%I`.
    afternoon: Option<bool>,
    is_twelve_hour: bool,
    has_year: bool,
    has_month: bool,
    has_day: bool,
    has_day_of_year: bool,
    has_weekday: bool,
    /// Week of the year, and the day on which weeks begin.
    week: Option<(i32, i32)>,
}

impl StrptimeInput<'_> {
    fn read(&mut self, mut format: &[u8]) -> Option<()> {
        while let Some((&byte, after)) = format.split_first() {
            format = after;
            if byte.is_ascii_whitespace() {
                self.skip_blanks();
            } else if byte != b'%' {
                self.rest = self.rest.strip_prefix(&[byte])?;
            } else {
                // Flags and widths of strftime are skipped.
                let letter = format
                    .iter()
                    .position(|b| !b"_-0^#EO123456789".contains(b))?;
                self.convert(format[letter])?;
                format = &format[letter + 1..];
            }
        }
        Some(())
    }

    fn skip_blanks(&mut self) {
        let blanks = self
            .rest
            .iter()
            .take_while(|b| b.is_ascii_whitespace())
            .count();
        self.rest = &self.rest[blanks..];
    }

    fn number(&mut self, low: i32, high: i32, digits: usize) -> Option<i32> {
        self.skip_blanks();
        let count = self
            .rest
            .iter()
            .take(digits)
            .take_while(|b| b.is_ascii_digit())
            .count();
        let (number, rest) = self.rest.split_at(count);
        let number: i32 = str::from_utf8(number).ok()?.parse().ok()?;
        self.rest = rest;
        (low..=high).contains(&number).then_some(number)
    }

    /// The number of the name that comes next, in full or by its first three letters.
    fn name(&mut self, names: &[&str]) -> Option<i32> {
        let starts = |name: &str| {
            let next = self.rest.get(..name.len())?;
            next.eq_ignore_ascii_case(name.as_bytes())
                .then_some(name.len())
        };
        let found = names.iter().enumerate().find_map(|(at, name)| {
            starts(name)
                .or_else(|| starts(&name[..3]))
                .map(|length| (at, length))
        });
        let (at, length) = found?;
        self.rest = &self.rest[length..];
        Some(at as i32)
    }

    fn convert(&mut self, letter: u8) -> Option<()> {
        match letter {
            b'a' | b'A' => self.weekday_is(|r| r.name(&DAYS))?,
            b'w' => self.weekday_is(|r| r.number(0, 6, 1))?,
            b'u' => self.weekday_is(|r| r.number(1, 7, 1).map(|day| day % 7))?,
            b'b' | b'B' | b'h' => {
                self.tm.mon = self.name(&MONTHS)?;
                self.has_month = true;
            }
            b'm' => {
                self.tm.mon = self.number(1, 12, 2)? - 1;
                self.has_month = true;
            }
            b'd' | b'e' => {
                self.tm.mday = self.number(1, 31, 2)?;
                self.has_day = true;
            }
            b'j' => {
                self.tm.yday = self.number(1, 366, 3)? - 1;
                self.has_day_of_year = true;
            }
            b'U' => self.week = Some((self.number(0, 53, 2)?, 0)),
            b'W' => self.week = Some((self.number(0, 53, 2)?, 1)),
            // ISO weeks are read but, as in C, not used.
            b'V' | b'g' => drop(self.number(0, 99, 2)?),
            b'G' => drop(self.number(0, 9999, 4)?),
            b'C' => self.century = Some(self.number(0, 99, 2)?),
            b'y' => self.year_of_century = Some(self.number(0, 99, 2)?),
            b'Y' => {
                self.tm.year = self.number(0, 9999, 4)? - 1900;
                self.has_year = true;
                (self.century, self.year_of_century) = (None, None);
            }
            _ => self.convert_time(letter)?,
        }
        Some(())
    }

    fn convert_time(&mut self, letter: u8) -> Option<()> {
        match letter {
            b'H' | b'k' => {
                self.tm.hour = self.number(0, 23, 2)?;
                self.is_twelve_hour = false;
            }
            b'I' | b'l' => {
                self.tm.hour = self.number(1, 12, 2)? % 12;
                self.is_twelve_hour = true;
            }
            b'M' => self.tm.min = self.number(0, 59, 2)?,
            b'S' => self.tm.sec = self.number(0, 61, 2)?,
            b'p' | b'P' => {
                let (half, rest) = self.rest.split_at_checked(2)?;
                let afternoon = half.eq_ignore_ascii_case(b"PM");
                self.afternoon =
                    (afternoon || half.eq_ignore_ascii_case(b"AM")).then_some(afternoon);
                self.rest = self.afternoon.map(|_| rest)?;
            }
            b's' => self.epoch()?,
            b'z' => self.tm.gmtoff = self.offset()?,
            b'Z' => self.zone(),
            b'c' => self.read(b"%a %b %e %H:%M:%S %Y")?,
            b'D' | b'x' => self.read(b"%m/%d/%y")?,
            b'F' => self.read(b"%Y-%m-%d")?,
            b'r' => self.read(b"%I:%M:%S %p")?,
            b'R' => self.read(b"%H:%M")?,
            b'T' | b'X' => self.read(b"%H:%M:%S")?,
            b'n' | b't' => self.skip_blanks(),
            b'%' => self.rest = self.rest.strip_prefix(b"%")?,
            _ => return None,
        }
        Some(())
    }

    fn weekday_is(&mut self, read: impl FnOnce(&mut Self) -> Option<i32>) -> Option<()> {
        self.tm.wday = read(self)?;
        self.has_weekday = true;
        Some(())
    }

    /// `%s`: the whole civil time, in the local time zone.
    fn epoch(&mut self) -> Option<()> {
        let signs = usize::from(self.rest.first() == Some(&b'-'));
        let digits = self.rest[signs..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        let (number, rest) = self.rest.split_at(signs + digits);
        let seconds: i64 = str::from_utf8(number).ok()?.parse().ok()?;
        self.tm = super::zone::NamedTimeZone::local().civil(seconds);
        self.rest = rest;
        (self.has_year, self.has_month, self.has_day) = (true, true, true);
        Some(())
    }

    /// `%z`: `Z`, `+hh`, `+hhmm` or `+hh:mm`.
    fn offset(&mut self) -> Option<i32> {
        self.skip_blanks();
        let (&sign, rest) = self.rest.split_first()?;
        self.rest = rest;
        let sign = match sign {
            b'Z' => return Some(0),
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let two = |rest: &[u8]| match rest {
            [a @ b'0'..=b'9', b @ b'0'..=b'9', ..] => Some(i32::from((a - b'0') * 10 + (b - b'0'))),
            _ => None,
        };
        let hours = two(self.rest)?;
        self.rest = &self.rest[2..];
        let minutes = self.rest.strip_prefix(b":").unwrap_or(self.rest);
        let minutes = match two(minutes) {
            Some(n) => {
                self.rest = &minutes[2..];
                n
            }
            None => 0,
        };
        (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
    }

    /// Skips a name for `%Z`: abbreviations of zones are ambiguous.
    fn zone(&mut self) {
        self.skip_blanks();
        let length = self
            .rest
            .iter()
            .take_while(|b| !b.is_ascii_whitespace())
            .count();
        self.rest = &self.rest[length..];
    }

    /// Works out what follows from what was read.
    fn complete(&mut self) {
        if let (true, Some(true)) = (self.is_twelve_hour, self.afternoon) {
            self.tm.hour += 12;
        }
        self.complete_year();
        let year = i64::from(self.tm.year) + 1900;
        if let Some((week, first_day)) = self.week
            && self.has_year
            && self.has_weekday
            && !(self.has_month && self.has_day)
        {
            let january = weekday(days_until(year, 0, 1));
            let start = (first_day - january).rem_euclid(7);
            let day = (self.tm.wday - first_day).rem_euclid(7);
            self.tm.yday = start + (week - 1) * 7 + day;
            self.has_day_of_year = true;
        }
        if self.has_day_of_year && !(self.has_month && self.has_day) {
            let date = calendar::civil(
                (days_until(year, 0, 1) + i64::from(self.tm.yday)) * 86_400,
                0,
            );
            (self.tm.mon, self.tm.mday) = (date.mon, date.mday);
            (self.has_month, self.has_day) = (true, true);
        }
        if self.has_month && self.has_day {
            let before: i64 = days_until(year, self.tm.mon.into(), self.tm.mday.into());
            self.tm.yday = (before - days_until(year, 0, 1)) as i32;
            self.tm.wday = weekday(before);
        }
    }

    fn complete_year(&mut self) {
        let year = match (self.century, self.year_of_century) {
            (Some(century), year) => century * 100 + year.unwrap_or(0) - 1900,
            // Two digits are 1969 to 2068.
            (None, Some(year)) if year < 69 => year + 100,
            (None, Some(year)) => year,
            (None, None) => return,
        };
        self.tm.year = year;
        self.has_year = true;
    }
}
