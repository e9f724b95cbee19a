//! The delay field that sinks write before each record.

use std::time::Instant;

use graph::Fault;
use runtime::Build;

/// Measures the time between tuples.
pub struct Delays {
    /// When the tuple before came, if delays are written.
    last: Option<Option<Instant>>,
}

impl Delays {
    /// As the parameter `hasDelayField` says.
    ///
    /// # Errors
    /// If that cannot be evaluated.
    pub fn new(build: &mut Build<'_>) -> Result<Delays, Fault> {
        let last = build.flag("hasDelayField", false)?.then_some(None);
        Ok(Delays { last })
    }

    /// Seconds since the tuple before, if they are written.
    pub fn next(&mut self) -> Option<f64> {
        let last = self.last.as_mut()?;
        let now = Instant::now();
        let before = last.replace(now);
        Some(before.map_or(0.0, |before| (now - before).as_secs_f64()))
    }
}
