//! Time zones by name: the host's, those of the IANA database, POSIX strings.

use std::cell::RefCell;
use std::collections::HashMap;

use eval::{Fault, WrongArgument};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use tuple::Value;

use super::calendar::{self, Tm};
use crate::function::arguments::check_text;

/// A time zone of the IANA database, or the local one.
#[derive(Clone, Debug)]
pub(super) struct NamedTimeZone(TimeZone);

impl NamedTimeZone {
    /// The zone of the host, or of the environment variable `TZ`.
    pub(super) fn local() -> NamedTimeZone {
        thread_local! {
            static LOCAL: NamedTimeZone = NamedTimeZone(TimeZone::system());
        }
        LOCAL.with(NamedTimeZone::clone)
    }

    /// The zone of a name such as `UTC`, `Europe/Berlin`, `EST5EDT` or `UTC-7` (which, by POSIX, is
    /// seven hours ahead of UTC); an empty name is the local zone.
    pub(super) fn from_name(name: &str) -> Result<NamedTimeZone, Fault> {
        thread_local! {
            static KNOWN: RefCell<HashMap<String, NamedTimeZone>> = RefCell::default();
        }
        if name.is_empty() {
            return Ok(NamedTimeZone::local());
        }
        KNOWN.with_borrow_mut(|known| match known.get(name) {
            Some(zone) => Ok(zone.clone()),
            None => {
                let zone = find(name).ok_or_else(|| unknown(name))?;
                known.insert(name.to_string(), zone.clone());
                Ok(zone)
            }
        })
    }

    /// Whether the constant argument at a place names a zone.
    pub(super) fn check(args: &[Option<Value>], at: usize) -> Result<(), WrongArgument> {
        let help = "zones are named as in `UTC`, `Europe/Berlin`, `EST5EDT`";
        check_text(args, at, help, |name| {
            NamedTimeZone::from_name(name).map(drop)
        })
    }

    /// The civil time in this zone.
    pub(super) fn civil(&self, seconds: i64) -> Tm {
        let info = self.0.to_offset_info(instant(seconds));
        let mut tm = calendar::civil(seconds, info.offset().seconds());
        tm.isdst = info.dst().is_dst().into();
        tm.zone = info.abbreviation().to_string();
        tm
    }

    /// Seconds since the epoch of a civil time in this zone. A time that clocks skip is counted
    /// from before the change. Of a time that occurs twice, `isdst` chooses one; without it the
    /// first is meant.
    pub(super) fn seconds(&self, tm: &Tm) -> i64 {
        let local = calendar::seconds(tm);
        let offset = match self.0.to_ambiguous_timestamp(date_time(local)).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, .. } => before,
            AmbiguousOffset::Fold { before, after } => {
                let first = local.saturating_sub(before.seconds().into());
                let first_is_dst = self.0.to_offset_info(instant(first)).dst().is_dst();
                let second = tm.isdst >= 0 && first_is_dst != (tm.isdst > 0);
                if second { after } else { before }
            }
        };
        local.saturating_sub(offset.seconds().into())
    }
}

fn find(name: &str) -> Option<NamedTimeZone> {
    let database = || TimeZone::get(name).ok();
    let posix = || TimeZone::posix(name).ok();
    // A colon before the name, as in the variable `TZ`, asks for the database.
    let after_colon = || TimeZone::get(name.strip_prefix(':')?).ok();
    database()
        .or_else(posix)
        .or_else(after_colon)
        .map(NamedTimeZone)
}

fn unknown(name: &str) -> Fault {
    Fault::value(format!("there is no time zone \"{name}\""))
}

/// The instant nearest to it that zones are known for (years -9999 to 9999).
fn instant(seconds: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(seconds).unwrap_or(if seconds < 0 {
        jiff::Timestamp::MIN
    } else {
        jiff::Timestamp::MAX
    })
}

fn date_time(local: i64) -> DateTime {
    let tm = calendar::civil(local, 0);
    let year = i16::try_from(i64::from(tm.year) + 1900).ok();
    let small = |n: i32| n as i8;
    let made = year.and_then(|year| {
        let (hour, min, sec) = (small(tm.hour), small(tm.min), small(tm.sec));
        DateTime::new(year, small(tm.mon) + 1, small(tm.mday), hour, min, sec, 0).ok()
    });
    made.unwrap_or(if local < 0 {
        DateTime::MIN
    } else {
        DateTime::MAX
    })
}
