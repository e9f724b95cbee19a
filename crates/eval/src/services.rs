//! Services of the PE that library functions and operator code may ask for.

use std::any::Any;
use std::io;
use std::sync::Arc;

use tuple::{TupleType, Value};

use crate::{ConditionError, Fault, FaultKind, OperatorEventTime};

/// Reads a condition over tuples of a type and says whether it holds for one of them. What
/// functions in it ask for goes to the services.
pub type EvaluateCondition =
    fn(&str, &Arc<TupleType>, &[Value], &mut dyn Services) -> Result<bool, ConditionError>;

/// Levels of trace and log messages, as on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum TraceLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// Services of the PE for library functions and operator code. Constant folding has an
/// implementation that refuses everything: [`crate::NoServices`].
pub trait Services {
    /// Writes to standard output; `flush` also flushes.
    fn print(&mut self, text: &[u8], flush: bool) -> Result<(), Fault>;
    /// Flushes standard output to the system.
    fn flush(&mut self) -> Result<(), Fault>;
    /// Writes to standard error, at once.
    ///
    /// # Errors
    /// The error of the system call.
    fn print_error(&mut self, _text: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Absolute path of the data directory.
    fn data_directory(&self) -> Result<String, Fault>;
    /// Whether a shutdown was asked for.
    fn is_shutdown(&self) -> bool;
    /// Asks for an orderly shutdown of the PE.
    fn shutdown(&mut self);
    /// Sleeps, but not beyond a shutdown.
    fn block(&mut self, seconds: f64);
    /// The program's own call of `block`: sleeps likewise, but fails if a source goes on calling it
    /// after a shutdown without ever looking for one, for its loop would have no end.
    fn pause(&mut self, seconds: f64) -> Result<(), Fault> {
        self.block(seconds);
        Ok(())
    }
    /// Whether messages of a level are traced.
    fn is_traceable(&self, level: TraceLevel) -> bool;
    /// Writes a trace message.
    fn trace(&mut self, level: TraceLevel, message: &str, aspect: &str);
    /// Whether messages of a level are logged.
    fn is_loggable(&self, level: TraceLevel) -> bool;
    /// Writes a log message.
    fn log(&mut self, level: TraceLevel, message: &str, aspect: &str);
    /// The next random number in [0, 1) of the operator's generator.
    fn random(&mut self) -> f64;
    /// Seeds the operator's generator.
    fn seed(&mut self, seed: i32);
    /// Full name of the running operator.
    fn operator_name(&self) -> &str;
    /// The value of a named custom metric of the operator; created by `create_metric`.
    fn metric(&self, name: &str) -> Option<i64>;
    /// Sets a custom metric; false if there is none of that name.
    fn set_metric(&mut self, name: &str, value: i64) -> bool;
    /// Adds to a custom metric, creating it at 0 if there is none of that name.
    fn add_to_metric(&mut self, name: &str, more: i64) {
        match self.metric(name) {
            Some(value) => {
                self.set_metric(name, value.wrapping_add(more));
            }
            None => {
                self.create_metric(name, "", 1, more);
            }
        }
    }
    /// Creates a custom metric; false if it exists. Kind: 0 gauge, 1 counter, 2 time.
    fn create_metric(&mut self, name: &str, description: &str, kind: u32, value: i64) -> bool;
    /// Names of the custom metrics, in order of creation.
    fn metric_names(&self) -> Vec<String>;
    /// A value that the job was started with: `jobName`, `applicationDir`, `toolkitDir`,
    /// `hostName`.
    fn property(&self, name: &str) -> Option<String>;
    /// Event time of the operator; `None` if the services know of none.
    fn event_time(&self) -> Option<&OperatorEventTime> {
        None
    }
    /// Whether a condition that is text holds for a tuple of a type.
    ///
    /// # Errors
    /// If the services cannot read conditions. An error of this condition is a result.
    fn evaluate_condition(
        &mut self,
        _condition: &str,
        _over: &Arc<TupleType>,
        _tuple: &[Value],
    ) -> Result<Result<bool, ConditionError>, Fault> {
        let sentence = "nothing here reads conditions that are text";
        Err(Fault::new(FaultKind::Limit, sentence))
    }
    /// Keeps a value of a library function for the operator, in place of what it kept under the
    /// name before.
    ///
    /// # Errors
    /// If the services keep nothing.
    fn keep(&mut self, _name: &str, _value: KeptValue) -> Result<(), Fault> {
        Err(Fault::new(FaultKind::Limit, "nothing is kept here"))
    }
    /// The value that was kept under a name.
    ///
    /// # Errors
    /// If the services keep nothing.
    fn kept(&self, _name: &str) -> Result<Option<KeptValue>, Fault> {
        Err(Fault::new(FaultKind::Limit, "nothing is kept here"))
    }
}

/// A value that a library function keeps between its calls, see [`Services::keep`].
pub type KeptValue = Arc<dyn Any + Send + Sync>;
