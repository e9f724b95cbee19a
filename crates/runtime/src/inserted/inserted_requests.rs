//! The requests of inserted operators to the build context, besides those that all may make.

use eval::Fault;

use crate::BuildContext;
use crate::blocking::stop_signal::StopSignal;
use crate::contract::build_context::GaugeReader;
#[cfg(doc)]
use crate::inserted::inserted_operator::InsertedOperator;

/// Requests that only inserted operators make.
impl BuildContext<'_> {
    /// Declares that the operator sends watermarks by itself: the run time passes none on.
    pub(crate) fn set_keeps_watermarks(&mut self) {
        self.requirements.keeps_watermarks = true;
    }

    /// Declares that another thread waits for the operator's end: [`InsertedOperator::finish`] is
    /// called even if no final marker has come and none will.
    pub(crate) fn set_always_finishes(&mut self) {
        self.requirements.always_finishes = true;
    }

    /// Declares that the operator is a queue: it submits from a thread of its own.
    pub(crate) fn use_queue_thread(&mut self) -> StopSignal {
        self.set_drains();
        self.use_own_thread()
    }

    /// Sets a function that reads further metrics, besides those that the operator creates.
    pub(crate) fn set_gauges(&mut self, gauges: GaugeReader) {
        self.requirements.gauges = Some(gauges);
    }

    /// Declares that the operator's own thread goes on after a shutdown, until its input has ended.
    pub(crate) fn set_drains(&mut self) {
        self.requirements.drains = true;
    }

    /// A list parameter of an inserted operator: numbers of crossings, origins, ranks.
    pub(crate) fn param_uint32s(&mut self, param: &str) -> Result<Vec<u32>, Fault> {
        let values = self.values(param)?.unwrap_or_default();
        let numbers = values.iter().map(|value| {
            let number = value
                .as_integer()
                .and_then(|number| u32::try_from(number).ok());
            number.ok_or_else(|| self.wrong_param(param, "a uint32"))
        });
        numbers.collect()
    }
}
