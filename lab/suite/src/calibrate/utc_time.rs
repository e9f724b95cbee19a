//! The time of a calibration as text.

use std::time::SystemTime;

/// Days from the first of March of the year 0 to the first of January 1970, by the calendar that
/// is in use since 1582.
const DAYS_TO_1970: u64 = 719_468;

/// Days of 400 years, after which the calendar repeats.
const DAYS_OF_400_YEARS: u64 = 146_097;

/// The time now, as `YYYY-MM-DDTHH:MM:SSZ`.
pub fn now() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    to_text(since.map_or(0, |since| since.as_secs()))
}

/// The time that is so many seconds after the beginning of 1970.
fn to_text(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day that are so many days after the first of January 1970. Years begin in March
/// here, so that the day of a leap year is the last one.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_TO_1970;
    let (cycle, day) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    let leap_days = day / 1460 - day / 36_524 + day / (DAYS_OF_400_YEARS - 1);
    let year = (day - leap_days) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    // From March on, five months have 153 days.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let is_next_year = month >= 10;
    let month = if is_next_year { month - 9 } else { month + 3 };
    (400 * cycle + year + u64::from(is_next_year), month, day)
}

#[cfg(test)]
mod tests {
    use super::to_text;

    #[test]
    fn known_times_are_right() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(to_text(seconds), expected);
        }
    }
}
