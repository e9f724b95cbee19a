//! Event time: when what a tuple tells of has happened, and how far a stream has come with it.
//!
//! Attributes of three types hold event times; here all are counted in nanoseconds, so that streams
//! of different resolutions compare.

use crate::{Timestamp, Type, Value};

const SECOND_NS: i128 = 1_000_000_000;

/// An instant of event time: nanoseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventTime(pub i128);

/// Length of a tick of an integer event time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum Resolution {
    #[default]
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

/// How far a stream has come: what it brings from now on is expected to be no older.
///
/// It is not part of any order of tuples by event time: older ones may come all the same, and are
/// late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Watermark {
    /// The stream has come to this instant.
    At(EventTime),
    /// The stream has ended, and holds up no operator that waits for several streams.
    Ended,
}

impl Resolution {
    /// The resolution of a name in SPL.
    pub fn from_name(name: &str) -> Option<Resolution> {
        match name {
            "Milliseconds" => Some(Resolution::Milliseconds),
            "Microseconds" => Some(Resolution::Microseconds),
            "Nanoseconds" => Some(Resolution::Nanoseconds),
            _ => None,
        }
    }

    /// Nanoseconds of a tick.
    pub fn tick_ns(self) -> i128 {
        match self {
            Resolution::Milliseconds => 1_000_000,
            Resolution::Microseconds => 1_000,
            Resolution::Nanoseconds => 1,
        }
    }
}

/// Number of whole units in a time, rounded down: by an instruction if both have 64 bits, as times
/// up to 2262 do. A unit has 1 nanosecond at least.
///
/// ```
/// assert_eq!(thalweg_tuple::whole_units(-1, 10), -1);
/// assert_eq!(thalweg_tuple::whole_units(1 << 100, 1 << 10), 1 << 90);
/// ```
pub fn whole_units(ns: i128, unit_ns: i128) -> i128 {
    let unit_ns = unit_ns.max(1);
    match (i64::try_from(ns), i64::try_from(unit_ns)) {
        (Ok(ns), Ok(unit_ns)) => ns.div_euclid(unit_ns).into(),
        _ => ns.div_euclid(unit_ns),
    }
}

impl EventTime {
    /// The event time in an attribute: a timestamp, or an integer of ticks; `None`: it holds none.
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::{EventTime, Resolution, Value};
    ///
    /// let at = EventTime::from_value(&Value::Int64(1_500), Resolution::Milliseconds);
    /// assert_eq!(at, Some(EventTime(1_500_000_000)));
    /// assert_eq!(EventTime::from_value(&Value::Boolean(true), Resolution::Milliseconds), None);
    /// ```
    pub fn from_value(value: &Value, resolution: Resolution) -> Option<EventTime> {
        match *value {
            Value::Timestamp(at) => Some(at.into()),
            Value::Int64(ticks) => Some(EventTime(i128::from(ticks) * resolution.tick_ns())),
            Value::Uint64(ticks) => Some(EventTime(i128::from(ticks) * resolution.tick_ns())),
            _ => None,
        }
    }

    /// Converts to a timestamp; the first or last one if it lies beyond the range.
    pub fn to_timestamp(self) -> Timestamp {
        let seconds = self.0.div_euclid(SECOND_NS);
        match i64::try_from(seconds) {
            Ok(seconds) => Timestamp {
                seconds,
                nanos: self.0.rem_euclid(SECOND_NS) as u32,
                machine: 0,
            },
            Err(_) if seconds < 0 => Timestamp {
                seconds: i64::MIN,
                nanos: 0,
                machine: 0,
            },
            Err(_) => Timestamp {
                seconds: i64::MAX,
                nanos: SECOND_NS as u32 - 1,
                machine: 0,
            },
        }
    }
}

impl EventTime {
    /// The least value of a type whose event time is this one or later; the greatest one if none
    /// is.
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::{EventTime, Resolution, Type, Value};
    ///
    /// let value = EventTime(1_500_001).to_value(&Type::Int64, Resolution::Milliseconds);
    /// assert_eq!(value, Value::Int64(2));
    /// ```
    pub fn to_value(self, ty: &Type, resolution: Resolution) -> Value {
        let tick_ns = resolution.tick_ns();
        let whole = whole_units(self.0, tick_ns);
        let ticks = whole + i128::from(whole.saturating_mul(tick_ns) < self.0);
        match ty {
            Type::Timestamp => Value::Timestamp(self.to_timestamp()),
            Type::Uint64 => Value::Uint64(ticks.clamp(0, u64::MAX.into()) as u64),
            _ => Value::Int64(ticks.clamp(i64::MIN.into(), i64::MAX.into()) as i64),
        }
    }
}

impl From<Timestamp> for EventTime {
    fn from(at: Timestamp) -> EventTime {
        EventTime(i128::from(at.seconds) * SECOND_NS + i128::from(at.nanos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_and_timestamps_are_the_same_instants() {
        let at = |seconds, nanos| Timestamp {
            seconds,
            nanos,
            machine: 7,
        };
        for (value, resolution, same) in [
            (
                Value::Int64(1500),
                Resolution::Milliseconds,
                at(1, 500_000_000),
            ),
            (
                Value::Int64(-1),
                Resolution::Microseconds,
                at(-1, 999_999_000),
            ),
            (Value::Uint64(3), Resolution::Nanoseconds, at(0, 3)),
            (
                Value::Timestamp(at(2, 5)),
                Resolution::Nanoseconds,
                at(2, 5),
            ),
        ] {
            let time = EventTime::from_value(&value, resolution).expect("an event time");
            assert_eq!(time, same.into());
            let back = time.to_timestamp();
            assert_eq!((back.seconds, back.nanos), (same.seconds, same.nanos));
        }
        assert_eq!(
            EventTime::from_value(&Value::Int32(1), Resolution::Milliseconds),
            None
        );
    }

    #[test]
    fn what_lies_beyond_timestamps_is_the_last_or_first_one() {
        let of = |ticks| EventTime::from_value(&Value::Uint64(ticks), Resolution::Milliseconds);
        let end = of(u64::MAX).expect("an event time");
        assert_eq!(end.to_timestamp().seconds, (u64::MAX / 1000) as i64);
        assert_eq!(EventTime(i128::MAX).to_timestamp().seconds, i64::MAX);
        assert_eq!(EventTime(i128::MIN).to_timestamp().seconds, i64::MIN);
        assert!(Watermark::At(EventTime(i128::MAX)) < Watermark::Ended);
    }
}
