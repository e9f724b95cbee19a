//! The delay field that sinks write before each record.

use std::time::Instant;

use eval::Fault;
use runtime::BuildContext;

/// Measures the time between tuples.
pub struct DelayField {
    /// Time of the previous tuple, if delays are written.
    previous: Option<Option<Instant>>,
}

impl DelayField {
    /// The state for an invocation; delays are written if `hasDelayField` is true.
    ///
    /// # Errors
    /// If the parameter cannot be evaluated.
    pub fn new(build: &mut BuildContext<'_>) -> Result<DelayField, Fault> {
        let last = build.flag("hasDelayField", false)?.then_some(None);
        Ok(DelayField { previous: last })
    }

    /// Seconds since the tuple before, if they are written.
    pub fn next_delay(&mut self) -> Option<f64> {
        let last = self.previous.as_mut()?;
        let now = Instant::now();
        let before = last.replace(now);
        Some(before.map_or(0.0, |before| (now - before).as_secs_f64()))
    }
}
