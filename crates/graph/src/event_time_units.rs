//! Units in which statements count event times: the panes of a window, for instance.

use tuple::{EventTime, Resolution, whole_units};

/// Units of event time, counted from an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTimeUnits {
    /// Start of the unit with the number 0, in nanoseconds.
    pub origin_ns: i128,
    /// Nanoseconds of a unit, above 0.
    pub unit_ns: i128,
    /// Length of a tick, for an integer attribute.
    pub resolution: Resolution,
}

impl EventTimeUnits {
    /// Number of the unit that an event time lies in; the nearest number that an int64 holds.
    ///
    /// # Example
    /// ```
    /// use thalweg_graph::EventTimeUnits;
    /// use tuple::{EventTime, Resolution};
    ///
    /// let units = EventTimeUnits {
    ///     origin_ns: 5,
    ///     unit_ns: 10,
    ///     resolution: Resolution::Nanoseconds,
    /// };
    /// assert_eq!(units.count(EventTime(14)), 0);
    /// assert_eq!(units.count(EventTime(4)), -1);
    /// assert_eq!(units.count(EventTime(i128::MAX)), i64::MAX);
    /// ```
    pub fn count(&self, at: EventTime) -> i64 {
        let since = at.0.saturating_sub(self.origin_ns);
        let count = whole_units(since, self.unit_ns);
        count.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}

/// The panes of a window over event time, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberedPanes {
    /// The starts of the panes: a unit is the time from one start to the next.
    pub starts: EventTimeUnits,
    /// Nanoseconds from the start of a pane to its end.
    pub duration_ns: i128,
}

impl NumberedPanes {
    /// The first instant of a pane, and the first behind it.
    pub fn bounds(&self, number: i64) -> (EventTime, EventTime) {
        let since = i128::from(number).saturating_mul(self.starts.unit_ns);
        let start = self.starts.origin_ns.saturating_add(since);
        (
            EventTime(start),
            EventTime(start.saturating_add(self.duration_ns)),
        )
    }
}
