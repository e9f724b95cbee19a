//! The services of constant folding, which refuse everything.

use std::cell::Cell;
use std::sync::Arc;

use graph::PortIndex;
use tuple::{Punctuation, TupleRef, TupleType, Value};

use crate::{ConditionError, Fault, FaultKind, OperatorEventTime, Services, Submit, TraceLevel};

/// The services of constant folding: there is no PE, so everything is refused.
///
/// A request that cannot fail (a random number, a shutdown) is noted, and
/// [`NoServices::ensure_none_refused`] reports it afterwards.
#[derive(Debug, Default)]
pub struct NoServices {
    /// The first thing that was asked for; in a cell because asking does not change a PE.
    refused: Cell<Option<&'static str>>,
}

impl NoServices {
    /// Checks that nothing was asked for.
    ///
    /// # Errors
    /// A [`FaultKind::Limit`] fault that names the first service that was asked for.
    pub fn ensure_none_refused(&self) -> Result<(), Fault> {
        let refused = self.refused.get();
        refused.map_or(Ok(()), |what| Err(refusal(what)))
    }

    fn note_refusal(&self, what: &'static str) {
        self.refused.set(self.refused.get().or(Some(what)));
    }
}

fn refusal(what: &str) -> Fault {
    let sentence = format!("{what} is not possible in a constant expression");
    Fault::new(FaultKind::Limit, sentence)
}

impl Services for NoServices {
    fn print(&mut self, _text: &[u8], _flush: bool) -> Result<(), Fault> {
        self.note_refusal("printing");
        self.ensure_none_refused()
    }
    fn flush(&mut self) -> Result<(), Fault> {
        self.note_refusal("printing");
        self.ensure_none_refused()
    }
    fn data_directory(&self) -> Result<String, Fault> {
        Err(refusal("asking for the data directory"))
    }
    fn is_shutdown(&self) -> bool {
        self.note_refusal("asking for a shutdown");
        false
    }
    fn shutdown(&mut self) {
        self.note_refusal("a shutdown");
    }
    fn block(&mut self, _seconds: f64) {
        self.note_refusal("sleeping");
    }
    fn is_traceable(&self, _level: TraceLevel) -> bool {
        self.note_refusal("tracing");
        false
    }
    fn trace(&mut self, _level: TraceLevel, _message: &str, _aspect: &str) {
        self.note_refusal("tracing");
    }
    fn is_loggable(&self, _level: TraceLevel) -> bool {
        self.note_refusal("logging");
        false
    }
    fn log(&mut self, _level: TraceLevel, _message: &str, _aspect: &str) {
        self.note_refusal("logging");
    }
    fn random(&mut self) -> f64 {
        self.note_refusal("a random number");
        0.0
    }
    fn seed(&mut self, _seed: i32) {
        self.note_refusal("a random number");
    }
    fn operator_name(&self) -> &str {
        self.note_refusal("asking for the operator's name");
        ""
    }
    fn metric(&self, _name: &str) -> Option<i64> {
        self.note_refusal("a custom metric");
        None
    }
    fn set_metric(&mut self, _name: &str, _value: i64) -> bool {
        self.note_refusal("a custom metric");
        false
    }
    fn create_metric(&mut self, _name: &str, _text: &str, _kind: u32, _value: i64) -> bool {
        self.note_refusal("a custom metric");
        false
    }
    fn metric_names(&self) -> Vec<String> {
        self.note_refusal("a custom metric");
        Vec::new()
    }
    fn property(&self, _name: &str) -> Option<String> {
        self.note_refusal("asking what the job was started with");
        None
    }
    fn event_time(&self) -> Option<&OperatorEventTime> {
        self.note_refusal("asking for event time");
        None
    }
    fn evaluate_condition(
        &mut self,
        _condition: &str,
        _over: &Arc<TupleType>,
        _tuple: &[Value],
    ) -> Result<Result<bool, ConditionError>, Fault> {
        Err(refusal("reading a condition that is text"))
    }
}

impl Submit for NoServices {
    fn submit_tuple(&mut self, _port: PortIndex, _tuple: TupleRef<'_>) -> Result<(), Fault> {
        Err(refusal("submitting a tuple"))
    }
    fn submit_punctuation(&mut self, _port: PortIndex, _mark: Punctuation) -> Result<(), Fault> {
        Err(refusal("submitting a marker"))
    }
    fn services(&mut self) -> &mut dyn Services {
        self
    }
}
