//! What an evaluation reads and changes: input tuples, operator state, the services of its PE.

use tuple::{Layout, TupleRef, Value};

use crate::{Fault, StateVar};

/// The input tuples of one evaluation.
///
/// Slots are numbered port by port, each port's current tuple first and then its history:
/// `slot(port, h) = sum over p < port of (history_p + 1) + h`, where `history_p` is
/// [`crate::InPort::history`]. After the last port one more slot holds the results of output function
/// calls, if the evaluation has any. A slot that the evaluation does not read may be empty.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The tuples, by slot.
    pub tuples: &'a [Option<TupleRef<'a>>],
    /// Their layouts, by slot.
    pub layouts: &'a [std::sync::Arc<Layout>],
}

/// The state variables of one operator.
///
/// A scalar (boolean, number, timestamp, enum) lies in `scalars` as in a flat tuple's slot, native
/// byte order, low bytes first; everything else in `values`. Both are indexed by
/// [`crate::StateId`]; the other one's entry is unused.
#[derive(Debug, Default)]
pub struct State {
    /// 16 bytes a variable.
    pub scalars: Vec<[u64; 2]>,
    /// A value a variable.
    pub values: Vec<Value>,
}

impl State {
    /// Default values for all variables; their initializers run at start-up.
    pub fn new(vars: &[StateVar]) -> State {
        todo!("{}", vars.len())
    }
}

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

/// What library functions and operator code may ask of the PE around them. The compiler's constant
/// folding has an implementation that refuses everything.
pub trait Services {
    /// Writes to standard output; `flush` also flushes.
    fn print(&mut self, text: &[u8], flush: bool) -> Result<(), Fault>;
    /// Flushes standard output.
    fn flush(&mut self) -> Result<(), Fault>;
    /// Absolute path of the data directory.
    fn data_directory(&self) -> Result<String, Fault>;
    /// Whether a shutdown was asked for.
    fn is_shutdown(&self) -> bool;
    /// Asks for an orderly shutdown of the PE.
    fn shutdown(&mut self);
    /// Sleeps, but not beyond a shutdown.
    fn block(&mut self, seconds: f64);
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
    /// Creates a custom metric; false if it exists. Kind: 0 gauge, 1 counter, 2 time.
    fn create_metric(&mut self, name: &str, description: &str, kind: u32, value: i64) -> bool;
    /// Names of the custom metrics, in order of creation.
    fn metric_names(&self) -> Vec<String>;
    /// A value that the job was started with: `jobName`, `applicationDir`, `toolkitDir`, `hostName`.
    fn property(&self, name: &str) -> Option<String>;
}
