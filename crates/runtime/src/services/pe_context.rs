//! What all operators of a PE share: standard output, the journal, the shutdown, the job's
//! properties, and the list of what went wrong.

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
use crate::services::window_leftover::WindowLeftover;

/// How a PE is set up.
pub struct PeOptions {
    /// Where relative file names begin; absolute.
    pub data_directory: PathBuf,
    /// What is traced and logged.
    pub levels: TraceLevels,
    /// `jobName`, `applicationDir`, ...: see [`eval::Services::property`].
    pub properties: Vec<(String, String)>,
    /// Where `print` writes. Buffered by the PE, for a second at most.
    pub stdout: Box<dyn Write + Send>,
    /// What is printed gets out at once, for somebody looks at it: standard output is a terminal.
    pub unbuffered: bool,
    /// Where trace and log messages go. Written message by message.
    pub stderr: Box<dyn Write + Send>,
    /// The ends of streams that cross its border.
    pub crossing_ends: CrossingEnds,
    /// The cores that its threads may run on; empty: any.
    pub cores: Vec<u32>,
    /// Sources and receivers whose threads have a core of their own: their index in the program,
    /// and the core.
    pub pins: Vec<(u32, u32)>,
    /// What its loops do without work.
    pub idle_strategy: IdleStrategy,
    /// Reads conditions that are text: see [`eval::Services::holds`].
    pub conditions: Option<EvaluateCondition>,
}

impl Default for PeOptions {
    /// The current directory and the process' own streams.
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
            pins: Vec::new(),
            idle_strategy: IdleStrategy::default(),
            conditions: None,
        }
    }
}

/// The part of the options that wiring uses up.
pub(crate) struct WiringOptions {
    pub crossing_ends: CrossingEnds,
    pub cores: Vec<u32>,
    pub pins: Vec<(u32, u32)>,
    pub idle_strategy: IdleStrategy,
}

/// Shared by all operators and threads of a PE.
pub(crate) struct PeContext {
    pub data_directory: PathBuf,
    pub properties: Vec<(String, String)>,
    pub conditions: Option<EvaluateCondition>,
    pub message_log: MessageLog,
    pub stop_signal: StopSignal,
    /// Raised by the first failure.
    pub failed: StopSignal,
    pub linger: Arc<LingerList>,
    stdout: PeStdout,
    /// Standard output was closed by its reader: the job ends, but nobody need be told.
    is_stdout_closed: AtomicBool,
    /// All threads have ended.
    has_ended: AtomicBool,
    failures: Mutex<Vec<Failure>>,
    leftovers: Mutex<Vec<WindowLeftover>>,
}

impl PeContext {
    pub fn new(options: PeOptions) -> (Arc<PeContext>, WiringOptions) {
        let setting = WiringOptions {
            crossing_ends: options.crossing_ends,
            cores: options.cores,
            pins: options.pins,
            idle_strategy: options.idle_strategy,
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
            is_stdout_closed: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            failures: Mutex::new(Vec::new()),
            leftovers: Mutex::new(Vec::new()),
        });
        (pe_context, setting)
    }

    /// Writes to standard output.
    pub fn print(&self, text: &[u8], flush: bool) -> Result<(), Fault> {
        let result = self.stdout.print(text, flush);
        result.map_err(|error| self.output_failed(&error))
    }

    /// Flushes standard output.
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

    /// Something went wrong: the job ends.
    pub fn fail(&self, failure: Failure) {
        lock(&self.failures).push(failure);
        self.stop_signal.request();
        self.failed.request();
    }

    /// The job is over: wakes whoever waits for that in vain.
    pub fn set_ended(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
        self.stop_signal.request();
    }

    /// Whether all threads have ended.
    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// The windows of an operator have got all that they get.
    pub fn add_leftover(&self, leftover: WindowLeftover) {
        lock(&self.leftovers).push(leftover);
    }

    /// What windows held in the end; the list is empty afterwards.
    pub fn take_leftovers(&self) -> Vec<WindowLeftover> {
        std::mem::take(&mut lock(&self.leftovers))
    }

    /// What went wrong so far; the list is empty afterwards.
    pub fn take_failures(&self) -> Vec<Failure> {
        std::mem::take(&mut lock(&self.failures))
    }
}

/// A lock whose holder cannot have left it half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
