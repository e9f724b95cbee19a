//! From a program to a running job.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use graph::{Program, TraceLevel};
use runtime::abi::interpreted::Interpreted;
use runtime::{Levels, Options, Pe};

use crate::{Error, Job};

/// How a program is run.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Where relative file names begin.
    pub data_dir: PathBuf,
    /// Where the application lies.
    pub application_dir: PathBuf,
    /// What is traced.
    pub trace: TraceLevel,
    /// What is logged.
    pub log: TraceLevel,
    /// What makes expressions run.
    pub backend: Backend,
    /// Write a map of the compiled code for the perf tool.
    pub perf_map: bool,
    /// Shut down after so long.
    pub kill_after: Option<Duration>,
    /// Called before the job writes to standard output or error: whoever draws on the terminal makes
    /// way.
    pub before_print: fn(),
}

/// What makes expressions run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The reference interpreter.
    Interpreted,
    /// Machine code.
    Compiled,
}

/// Wires a program and starts its threads.
///
/// # Errors
/// What cannot be set up: a parameter out of range, a file that cannot be opened, ...
pub fn launch(program: &Program, launch: &Launch) -> Result<Job, Error> {
    let data_directory = std::path::absolute(&launch.data_dir).unwrap_or(launch.data_dir.clone());
    if !data_directory.is_dir() {
        return Err(Error::DataDirectory(launch.data_dir.clone()));
    }
    let options = Options {
        data_directory,
        levels: Levels {
            trace: launch.trace,
            log: launch.log,
        },
        properties: properties(program, launch),
        stdout: Box::new(Polite(std::io::stdout(), launch.before_print)),
        stderr: Box::new(Polite(std::io::stderr(), launch.before_print)),
        ..Options::default()
    };
    let registry = toolkit::operators();
    let wired = match launch.backend {
        Backend::Interpreted => {
            let mut backend = Interpreted::new(&program.functions, toolkit::functions());
            Pe::wire(program, registry, &mut backend, options)
        }
        Backend::Compiled => {
            let code = jit::Options {
                perf_map: launch.perf_map,
                ..jit::Options::default()
            };
            let mut backend = crate::code::backend(program, code)?;
            Pe::wire(program, registry, &mut backend, options)
        }
    };
    let pe = wired.map_err(|report| Job::failed(program, &report))?;
    if let Some(time) = launch.kill_after {
        pe.stop().request_after(time.as_secs_f64());
    }
    Job::start(program, pe)
}

/// What [`graph::Services::property`] answers.
fn properties(program: &Program, launch: &Launch) -> Vec<(String, String)> {
    let application_dir = std::path::absolute(&launch.application_dir);
    let application_dir = application_dir.unwrap_or(launch.application_dir.clone());
    let name = program.name.to_string();
    vec![
        ("jobName".to_owned(), name.clone()),
        ("applicationName".to_owned(), name),
        (
            "applicationDir".to_owned(),
            application_dir.to_string_lossy().into_owned(),
        ),
    ]
}

/// A stream that calls somebody before each write.
struct Polite<W>(W, fn());

impl<W: Write> Write for Polite<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.1();
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}
