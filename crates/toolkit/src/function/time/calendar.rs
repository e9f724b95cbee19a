//! The proleptic Gregorian calendar, for any number of seconds.

/// Broken-down time, with the ranges of C's `struct tm` when it comes from an instant; on its way
/// to an instant its fields may have any value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tm {
    /// Second of the minute, 0 to 59.
    pub(super) sec: i32,
    /// Minute of the hour, 0 to 59.
    pub(super) min: i32,
    /// Hour of the day, 0 to 23.
    pub(super) hour: i32,
    /// Day of the month, from 1.
    pub(super) mday: i32,
    /// Month of the year, from 0.
    pub(super) mon: i32,
    /// Number of years since 1900.
    pub(super) year: i32,
    /// Number of days since Sunday.
    pub(super) wday: i32,
    /// Number of days since the first of January.
    pub(super) yday: i32,
    /// 1 in daylight saving time, 0 out of it, -1 if unknown.
    pub(super) isdst: i32,
    /// Seconds ahead of UTC.
    pub(super) gmtoff: i32,
    /// Abbreviation of the zone's name.
    pub(super) zone: String,
}

const SECONDS_PER_DAY: i64 = 86_400;

/// Days from the first of March of year 0 to the epoch.
const EPOCH_DAYS: i64 = 719_468;

/// The civil time at a number of seconds since the epoch, for a clock that is `ahead` of UTC.
pub(super) fn civil(seconds: i64, ahead: i32) -> Tm {
    let seconds = i128::from(seconds) + i128::from(ahead);
    let days = seconds.div_euclid(SECONDS_PER_DAY.into()) as i64;
    let rest = seconds.rem_euclid(SECONDS_PER_DAY.into()) as i32;
    let (year, month, day) = date(days);
    Tm {
        sec: rest % 60,
        min: rest / 60 % 60,
        hour: rest / 3600,
        mday: day,
        mon: month,
        year: (year - 1900) as i32,
        wday: weekday(days),
        yday: (days - days_until(year, 0, 1)) as i32,
        isdst: 0,
        gmtoff: ahead,
        zone: String::new(),
    }
}

/// The seconds since the epoch of a civil time as a clock in UTC shows it. Fields out of their
/// ranges count on: the 32nd of January is the first of February.
pub(super) fn seconds(tm: &Tm) -> i64 {
    let days = days_until(i64::from(tm.year) + 1900, tm.mon.into(), tm.mday.into());
    let time = i64::from(tm.hour) * 3600 + i64::from(tm.min) * 60 + i64::from(tm.sec);
    days * SECONDS_PER_DAY + time
}

/// Days since Sunday, of a number of days since the epoch, which was a Thursday.
pub(super) fn weekday(days: i64) -> i32 {
    (days + 4).rem_euclid(7) as i32
}

/// Days from the epoch to a date; the month is from 0 and may be out of its range.
pub(super) fn days_until(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March have their leap day at the end.
    let months = year * 12 + month - 2;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12));
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - EPOCH_DAYS
}

/// Whether a year has 366 days.
pub(super) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Year, month from 0 and day of a number of days since the epoch.
fn date(days: i64) -> (i64, i32, i32) {
    let days = days + EPOCH_DAYS;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months of this year are from March on, 0 to 11.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = year_of_era + era * 400 + i64::from(month >= 10);
    (year, ((month + 2) % 12) as i32, day as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days() {
        let epoch = civil(0, 0);
        assert_eq!(
            (epoch.year, epoch.mon, epoch.mday, epoch.wday),
            (70, 0, 1, 4)
        );
        let leap = civil(951_782_400, 0);
        assert_eq!(
            (leap.year, leap.mon, leap.mday, leap.yday),
            (100, 1, 29, 59)
        );
        let before = civil(-1, 0);
        assert_eq!(
            (before.year, before.mon, before.mday, before.hour),
            (69, 11, 31, 23)
        );
    }

    #[test]
    fn there_and_back() {
        for seconds_since in (-400_000_000_000i64..400_000_000_000).step_by(123_456_789) {
            assert_eq!(seconds(&civil(seconds_since, 0)), seconds_since);
        }
    }

    #[test]
    fn fields_out_of_range_count_on() {
        let tm = Tm {
            year: 70,
            mon: 12,
            mday: 32,
            hour: 25,
            ..Tm::default()
        };
        assert_eq!(seconds(&tm), (365 + 31) * SECONDS_PER_DAY + 25 * 3600);
    }
}
