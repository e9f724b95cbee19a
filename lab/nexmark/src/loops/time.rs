//! Days and minutes of times, and the watermark that follows events.

/// Milliseconds of a day.
pub const DAY_MS: i64 = 86_400_000;

/// Milliseconds by which an event may come after later ones.
pub const LAG_MS: i64 = 4_000;

/// Milliseconds by which a watermark advances at least.
const GAP_MS: i64 = 100;

/// The day of a time, as in `2015-07-15`.
pub fn day_text(millis: i64) -> Vec<u8> {
    // Days since 1 March of the year 0, when leap days are last in their years.
    let days = millis.div_euclid(DAY_MS) + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}").into_bytes()
}

/// The minute of the day of a time, as in `08:05`.
pub fn minute_text(millis: i64) -> [u8; 5] {
    let minutes = millis.rem_euclid(DAY_MS) / 60_000;
    let digit = |number: i64| b'0' + (number % 10) as u8;
    let (hour, minute) = (minutes / 60, minutes % 60);
    [
        digit(hour / 10),
        digit(hour),
        b':',
        digit(minute / 10),
        digit(minute),
    ]
}

/// The promise that no event before it comes any more.
#[derive(Clone, Copy, Debug, Default)]
pub struct IntervalWatermark {
    sent: Option<i64>,
}

impl IntervalWatermark {
    /// Whether an event comes too late to count.
    pub fn is_late(&self, time: i64) -> bool {
        self.sent.is_some_and(|sent| time < sent)
    }

    /// Takes note of an event; the watermark if it advances.
    pub fn advance(&mut self, time: i64) -> Option<i64> {
        let to = time - LAG_MS;
        if self.sent.is_some_and(|sent| to < sent + GAP_MS) {
            return None;
        }
        self.sent = Some(to);
        self.sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let days = [
            (0, "1970-01-01"),
            (951_782_400_000, "2000-02-29"),
            (951_868_800_000, "2000-03-01"),
            (1_436_918_400_000, "2015-07-15"),
            (1_483_228_799_999, "2016-12-31"),
        ];
        for (millis, day) in days {
            assert_eq!(String::from_utf8(day_text(millis)).unwrap(), day);
        }
        assert_eq!(&minute_text(1_436_918_400_000 + 29_100_000), b"08:05");
    }
}
