//! What a PE process needs to make the same program and run its part of it.

use graph::TraceLevel;
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};

use crate::compilation::Request;
use crate::monitor::JobNote;
use crate::sources::{Name, Sources};
use crate::{Backend, Compilation, Error, Host, Launch, Strategy};

/// A job, as it is handed to its PEs. Compiling it gives the launcher's program again, operator by
/// operator, so the plan fits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Bundle {
    request: Wanted,
    /// What the launcher's compiler has read.
    pub sources: Sources,
    /// The plan as text.
    pub plan: String,
    /// The job's secret.
    pub token: [u8; 16],
    launch: Settings,
    /// Whose counters they are; `None`: they are not to be seen.
    pub counters: Option<JobNote>,
}

/// [`Request`] with paths of any bytes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Wanted {
    file: Name,
    main: Option<String>,
    toolkit_path: Vec<Name>,
    compile_values: Vec<(String, String)>,
    submission_values: Option<Vec<(String, String)>>,
}

/// What of [`Launch`] concerns a PE.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Settings {
    data_dir: Name,
    application_dir: Name,
    #[serde(with = "Level")]
    trace: TraceLevel,
    #[serde(with = "Level")]
    log: TraceLevel,
    backend: Backend,
    perf_map: bool,
    unbuffered: bool,
    latency: bool,
    #[serde(with = "Idle")]
    idle: Strategy,
    hosts: Vec<Host>,
}

/// [`Strategy`], which knows nothing of formats.
#[derive(Deserialize, Serialize)]
#[serde(remote = "Strategy")]
enum Idle {
    Spin,
    Yield,
    Park,
    Adaptive,
}

/// [`TraceLevel`], which knows nothing of formats.
#[derive(Deserialize, Serialize)]
#[serde(remote = "TraceLevel")]
enum Level {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl Bundle {
    /// A compiled program with its plan.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn new(compilation: &Compilation, plan: String, launch: &Launch) -> Result<Bundle, Error> {
        Ok(Bundle {
            request: Wanted::new(&compilation.request),
            sources: compilation.sources.clone(),
            plan,
            token: token()?,
            launch: Settings::new(launch),
            counters: None,
        })
    }

    /// What is to be compiled.
    pub fn request(&self) -> Request {
        let Wanted {
            file,
            main,
            toolkit_path,
            compile_values,
            submission_values,
        } = self.request.clone();
        Request {
            file: file.0,
            main,
            toolkit_path: toolkit_path.into_iter().map(|name| name.0).collect(),
            compile_values,
            // What they are for has been generated.
            mixed_args: Vec::new(),
            submission_values,
        }
    }

    /// How it is to be run.
    pub fn launch(&self) -> Launch {
        let settings = self.launch.clone();
        Launch {
            data_dir: settings.data_dir.0,
            application_dir: settings.application_dir.0,
            trace: settings.trace,
            log: settings.log,
            backend: settings.backend,
            perf_map: settings.perf_map,
            unbuffered: settings.unbuffered,
            latency: settings.latency,
            idle: settings.idle,
            hosts: settings.hosts,
            ..Launch::default()
        }
    }
}

impl Wanted {
    fn new(request: &Request) -> Wanted {
        Wanted {
            file: Name(request.file.clone()),
            main: request.main.clone(),
            toolkit_path: request.toolkit_path.iter().cloned().map(Name).collect(),
            compile_values: request.compile_values.clone(),
            submission_values: request.submission_values.clone(),
        }
    }
}

impl Settings {
    fn new(launch: &Launch) -> Settings {
        Settings {
            data_dir: Name(launch.data_dir.clone()),
            application_dir: Name(launch.application_dir.clone()),
            trace: launch.trace,
            log: launch.log,
            backend: launch.backend,
            perf_map: launch.perf_map,
            unbuffered: launch.unbuffered,
            latency: launch.latency,
            idle: launch.idle,
            hosts: launch.hosts.clone(),
        }
    }
}

/// Sixteen bytes that nobody can guess.
fn token() -> Result<[u8; 16], Error> {
    let mut token = [0; 16];
    // So few bytes come at once, man getrandom(2) says, unless a signal comes before there are any.
    let flags = GetRandomFlags::empty();
    rustix::io::retry_on_intr(|| getrandom(&mut token, flags))
        .map_err(|error| Error::system("make a secret for the job", error))?;
    Ok(token)
}
