//! Attributes that hold the event time of a stream, for tests.

use graph::EventClock;
use tuple::{EventTime, Resolution, Timestamp, Type, Value};

/// An attribute that holds event time.
#[derive(Clone, Debug)]
pub struct TimeAttribute {
    /// Type of the attribute: int64, uint64 or timestamp.
    pub ty: Type,
    /// Length of a tick of an integer.
    pub resolution: Resolution,
}

impl TimeAttribute {
    /// Value of the attribute for an event time in nanoseconds.
    pub fn to_value(&self, ns: i128) -> Value {
        let ticks = ns.div_euclid(self.resolution.tick_ns());
        match self.ty {
            // The machine of a timestamp does not count.
            Type::Timestamp => Value::Timestamp(Timestamp {
                machine: 3,
                ..EventTime(ns).to_timestamp()
            }),
            Type::Uint64 => Value::Uint64(ticks as u64),
            _ => Value::Int64(ticks as i64),
        }
    }

    /// The nanoseconds that the attribute holds of an event time: whole ticks.
    pub fn held_ns(&self, ns: i128) -> i128 {
        let tick_ns = match self.ty {
            Type::Timestamp => 1,
            _ => self.resolution.tick_ns(),
        };
        ns.div_euclid(tick_ns) * tick_ns
    }

    /// The nearest event time that the attribute can hold.
    pub fn nearest_ns(&self, ns: i128) -> i128 {
        let least = match self.ty {
            Type::Uint64 => 0,
            _ => i128::MIN,
        };
        let most = match self.resolution {
            Resolution::Nanoseconds => i64::MAX.into(),
            _ => i128::MAX,
        };
        ns.clamp(least, most)
    }
}

/// The clock of an operator whose input streams bring watermarks.
pub fn input_clock(attribute: &str, resolution: Resolution) -> EventClock {
    EventClock {
        attribute: attribute.into(),
        resolution,
        lag_ns: 0,
        min_gap_ns: 0,
        outputs: Vec::new(),
        generates_watermarks: false,
    }
}
