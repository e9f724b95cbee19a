//! The PE context: what all operators of a PE share. Standard output, the message log, the stop
//! signal, the job's properties, and the list of failures.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use eval::{EvaluateCondition, Fault, FaultKind};
use transport::IdleStrategy;

use crate::blocking::stop_signal::StopSignal;
use crate::edge::crossing_ends::CrossingEnds;
use crate::edge::linger::LingerList;
use crate::services::message_log::{MessageLog, TraceLevels};
use crate::services::report::Failure;
use crate::services::stdout::PeStdout;
use crate::services::tapped_tuples::TappedTuples;
use crate::services::window_leftover::WindowLeftover;

/// Options of a PE.
///
/// ```
/// use thalweg_runtime::PeOptions;
///
/// let options = PeOptions {
///     data_directory: "/var/lib/thalweg".into(),
///     stdout: Box::new(Vec::new()),
///     ..PeOptions::default()
/// };
/// assert!(options.data_directory.is_absolute());
/// ```
pub struct PeOptions {
    /// Directory at which relative file names begin; absolute.
    pub data_directory: PathBuf,
    /// Levels up to which messages are traced and logged.
    pub levels: TraceLevels,
    /// Properties of the job, as `jobName` and `applicationDir`: see [`eval::Services::property`].
    pub properties: Vec<(String, String)>,
    /// Sink of `print`. The PE buffers it for at most a second.
    pub stdout: Box<dyn Write + Send>,
    /// Whether each `print` is written at once, because standard output is a terminal.
    pub unbuffered: bool,
    /// Sink of trace and log messages, which are written one by one.
    pub stderr: Box<dyn Write + Send>,
    /// Ends of the streams that cross the PE's border.
    pub crossing_ends: CrossingEnds,
    /// Cores that the threads may run on; empty for any.
    pub cores: Vec<u32>,
    /// How loops wait for work.
    pub idle_strategy: IdleStrategy,
    /// Evaluates conditions that are text: see [`eval::Services::evaluate_condition`].
    pub conditions: Option<EvaluateCondition>,
    /// How often in a second of its processor time each thread is sampled; `None`: not at all.
    pub samples_per_second: Option<u32>,
    /// Whether streams within compiled code can be tapped.
    pub taps: bool,
}

impl Default for PeOptions {
    /// The current directory and the standard streams of the process.
    fn default() -> PeOptions {
        PeOptions {
            data_directory: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
            levels: TraceLevels::default(),
            properties: Vec::new(),
            stdout: Box::new(io::stdout()),
            unbuffered: false,
            stderr: Box::new(io::stderr()),
            crossing_ends: CrossingEnds::default(),
            cores: Vec::new(),
            idle_strategy: IdleStrategy::default(),
            conditions: None,
            samples_per_second: None,
            taps: false,
        }
    }
}

/// Options that wiring uses up.
pub(crate) struct WiringOptions {
    pub crossing_ends: CrossingEnds,
    pub cores: Vec<u32>,
    pub idle_strategy: IdleStrategy,
    pub samples_per_second: Option<u32>,
}

/// Everything that all operators and threads of a PE share.
pub(crate) struct PeContext {
    pub data_directory: PathBuf,
    pub properties: Vec<(String, String)>,
    pub conditions: Option<EvaluateCondition>,
    pub message_log: MessageLog,
    pub stop_signal: StopSignal,
    /// Requested by the first failure.
    pub failed: StopSignal,
    pub linger: Arc<LingerList>,
    /// Tuples that taps have taken.
    pub tapped: TappedTuples,
    stdout: PeStdout,
    /// Whether the reader of standard output has closed it: the job ends without a message.
    is_stdout_closed: AtomicBool,
    /// Whether all threads have ended.
    has_ended: AtomicBool,
    failures: Mutex<Vec<Failure>>,
    leftovers: Mutex<Vec<WindowLeftover>>,
}

impl PeContext {
    pub fn new(options: PeOptions) -> (Arc<PeContext>, WiringOptions) {
        let wiring_options = WiringOptions {
            crossing_ends: options.crossing_ends,
            cores: options.cores,
            idle_strategy: options.idle_strategy,
            samples_per_second: options.samples_per_second,
        };
        let stop = StopSignal::default();
        let pe_context = Arc::new(PeContext {
            stdout: PeStdout::new(options.stdout, options.unbuffered, stop.clone()),
            data_directory: options.data_directory,
            properties: options.properties,
            conditions: options.conditions,
            message_log: MessageLog::new(options.levels, options.stderr),
            stop_signal: stop,
            failed: StopSignal::default(),
            linger: Arc::default(),
            tapped: TappedTuples::new(options.taps),
            is_stdout_closed: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            failures: Mutex::new(Vec::new()),
            leftovers: Mutex::new(Vec::new()),
        });
        (pe_context, wiring_options)
    }

    /// Writes a text to standard output; with `flush`, the text and all before it.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn print(&self, text: &[u8], flush: bool) -> Result<(), Fault> {
        let result = self.stdout.print(text, flush);
        result.map_err(|error| self.output_failed(&error))
    }

    /// Writes out the buffer of standard output.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn flush(&self) -> Result<(), Fault> {
        self.print(&[], true)
    }

    fn output_failed(&self, error: &io::Error) -> Fault {
        if error.kind() == io::ErrorKind::BrokenPipe {
            self.is_stdout_closed.store(true, Ordering::Relaxed);
            self.stop_signal.request();
        }
        let message = format!("cannot write to standard output: {error}");
        Fault::new(FaultKind::System, message)
    }

    /// Whether the reader of standard output has gone.
    pub fn is_stdout_closed(&self) -> bool {
        self.is_stdout_closed.load(Ordering::Relaxed)
    }

    /// Adds a failure, and ends the job.
    pub fn fail(&self, failure: Failure) {
        lock(&self.failures).push(failure);
        self.stop_signal.request();
        self.failed.request();
    }

    /// Notes that all threads have ended, and wakes threads that wait for a shutdown.
    pub fn set_ended(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
        self.stop_signal.request();
    }

    /// Whether all threads have ended.
    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// Adds the leftover of an operator's windows, which get no more tuples.
    pub fn add_leftover(&self, leftover: WindowLeftover) {
        lock(&self.leftovers).push(leftover);
    }

    /// Takes the leftovers of all windows.
    pub fn take_leftovers(&self) -> Vec<WindowLeftover> {
        std::mem::take(&mut lock(&self.leftovers))
    }

    /// Takes the failures so far.
    pub fn take_failures(&self) -> Vec<Failure> {
        std::mem::take(&mut lock(&self.failures))
    }
}

/// Locks a list that no panic can leave half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
