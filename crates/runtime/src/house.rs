//! What all operators of a PE share: standard output, the journal, the shutdown, the job's
//! properties, and the list of what went wrong.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use graph::{Fault, FaultKind, Reader};
use transport::Strategy;

use crate::crossing::{Linger, Links};
use crate::journal::{Journal, Levels};
use crate::leftover::Leftover;
use crate::report::Failure;
use crate::stdout::Stdout;
use crate::stop::Stop;

/// How a PE is set up.
pub struct Options {
    /// Where relative file names begin; absolute.
    pub data_directory: PathBuf,
    /// What is traced and logged.
    pub levels: Levels,
    /// `jobName`, `applicationDir`, ...: see [`graph::Services::property`].
    pub properties: Vec<(String, String)>,
    /// Where `print` writes. Buffered by the PE, for a second at most.
    pub stdout: Box<dyn Write + Send>,
    /// What is printed gets out at once, for somebody looks at it: standard output is a terminal.
    pub unbuffered: bool,
    /// Where trace and log messages go. Written message by message.
    pub stderr: Box<dyn Write + Send>,
    /// The ends of streams that cross its border.
    pub links: Links,
    /// The cores that its threads may run on; empty: any.
    pub cores: Vec<u32>,
    /// Sources and receivers whose threads have a core of their own: their index in the program, and
    /// the core.
    pub pins: Vec<(u32, u32)>,
    /// What its loops do without work.
    pub idle: Strategy,
    /// Reads conditions that are text: see [`graph::Services::holds`].
    pub conditions: Option<Reader>,
}

impl Default for Options {
    /// The current directory and the process' own streams.
    fn default() -> Options {
        Options {
            data_directory: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
            levels: Levels::default(),
            properties: Vec::new(),
            stdout: Box::new(io::stdout()),
            unbuffered: false,
            stderr: Box::new(io::stderr()),
            links: Links::default(),
            cores: Vec::new(),
            pins: Vec::new(),
            idle: Strategy::default(),
            conditions: None,
        }
    }
}

/// The part of the options that wiring uses up.
pub(crate) struct Setting {
    pub links: Links,
    pub cores: Vec<u32>,
    pub pins: Vec<(u32, u32)>,
    pub idle: Strategy,
}

/// Shared by all operators and threads of a PE.
pub(crate) struct House {
    pub data_directory: PathBuf,
    pub properties: Vec<(String, String)>,
    pub conditions: Option<Reader>,
    pub journal: Journal,
    pub stop: Stop,
    /// Raised by the first failure.
    pub failed: Stop,
    pub linger: Arc<Linger>,
    stdout: Stdout,
    /// Standard output was closed by its reader: the job ends, but nobody need be told.
    is_quiet: AtomicBool,
    /// All threads have ended.
    is_over: AtomicBool,
    failures: Mutex<Vec<Failure>>,
    leftovers: Mutex<Vec<Leftover>>,
}

impl House {
    pub fn new(options: Options) -> (Arc<House>, Setting) {
        let setting = Setting {
            links: options.links,
            cores: options.cores,
            pins: options.pins,
            idle: options.idle,
        };
        let stop = Stop::default();
        let house = Arc::new(House {
            stdout: Stdout::new(options.stdout, options.unbuffered, stop.clone()),
            data_directory: options.data_directory,
            properties: options.properties,
            conditions: options.conditions,
            journal: Journal::new(options.levels, options.stderr),
            stop,
            failed: Stop::default(),
            linger: Arc::default(),
            is_quiet: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            failures: Mutex::new(Vec::new()),
            leftovers: Mutex::new(Vec::new()),
        });
        (house, setting)
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
            self.is_quiet.store(true, Ordering::Relaxed);
            self.stop.request();
        }
        let message = format!("cannot write to standard output: {error}");
        Fault::new(FaultKind::System, message)
    }

    /// Whether the reader of standard output has gone.
    pub fn is_quiet(&self) -> bool {
        self.is_quiet.load(Ordering::Relaxed)
    }

    /// Something went wrong: the job ends.
    pub fn fail(&self, failure: Failure) {
        lock(&self.failures).push(failure);
        self.stop.request();
        self.failed.request();
    }

    /// The job is over: wakes whoever waits for that in vain.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.stop.request();
    }

    /// Whether all threads have ended.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// The windows of an operator have got all that they get.
    pub fn note(&self, leftover: Leftover) {
        lock(&self.leftovers).push(leftover);
    }

    /// What windows held in the end; the list is empty afterwards.
    pub fn take_leftovers(&self) -> Vec<Leftover> {
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
