//! What a PE process needs to make the same program and run its part of it.

use eval::TraceLevel;
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};
use transport::IdleStrategy;

use crate::compilation::{Compilation, CompileRequest};
use crate::error::Error;
use crate::job::{BackendKind, HostSpec, LaunchOptions};
use crate::monitor::JobMetadata;
use crate::sources::{RawPath, RecordedSources};

/// A job, as it is handed to its PEs. Compiling it gives the launcher's program again, operator by
/// operator, so the plan fits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Bundle {
    request: BundledRequest,
    /// What the launcher's compiler has read.
    pub sources: RecordedSources,
    /// The plan as text.
    pub plan: String,
    /// The job's secret.
    pub token: [u8; 16],
    launch: BundledLaunch,
    /// Whose counters they are; `None`: they are not to be seen.
    pub counters: Option<JobMetadata>,
}

/// [`CompileRequest`] with paths of any bytes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct BundledRequest {
    file: RawPath,
    main: Option<String>,
    toolkit_path: Vec<RawPath>,
    compile_values: Vec<(String, String)>,
    submission_values: Option<Vec<(String, String)>>,
}

/// What of [`LaunchOptions`] concerns a PE.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct BundledLaunch {
    data_dir: RawPath,
    application_dir: RawPath,
    #[serde(with = "TraceLevelFormat")]
    trace: TraceLevel,
    #[serde(with = "TraceLevelFormat")]
    log: TraceLevel,
    backend: BackendKind,
    perf_map: bool,
    unbuffered: bool,
    latency: bool,
    #[serde(with = "IdleStrategyFormat")]
    idle: IdleStrategy,
    hosts: Vec<HostSpec>,
}

/// [`IdleStrategy`], which knows nothing of formats.
#[derive(Deserialize, Serialize)]
#[serde(remote = "IdleStrategy")]
enum IdleStrategyFormat {
    Spin,
    Yield,
    Park,
    Adaptive,
}

/// [`TraceLevel`], which knows nothing of formats.
#[derive(Deserialize, Serialize)]
#[serde(remote = "TraceLevel")]
enum TraceLevelFormat {
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
    pub fn new(
        compilation: &Compilation,
        plan: String,
        launch: &LaunchOptions,
    ) -> Result<Bundle, Error> {
        Ok(Bundle {
            request: BundledRequest::new(&compilation.request),
            sources: compilation.sources.clone(),
            plan,
            token: random_token()?,
            launch: BundledLaunch::new(launch),
            counters: None,
        })
    }

    /// What is to be compiled.
    pub fn request(&self) -> CompileRequest {
        let BundledRequest {
            file,
            main,
            toolkit_path,
            compile_values,
            submission_values,
        } = self.request.clone();
        CompileRequest {
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
    pub fn launch(&self) -> LaunchOptions {
        let settings = self.launch.clone();
        LaunchOptions {
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
            ..LaunchOptions::default()
        }
    }
}

impl BundledRequest {
    fn new(request: &CompileRequest) -> BundledRequest {
        BundledRequest {
            file: RawPath(request.file.clone()),
            main: request.main.clone(),
            toolkit_path: request.toolkit_path.iter().cloned().map(RawPath).collect(),
            compile_values: request.compile_values.clone(),
            submission_values: request.submission_values.clone(),
        }
    }
}

impl BundledLaunch {
    fn new(launch: &LaunchOptions) -> BundledLaunch {
        BundledLaunch {
            data_dir: RawPath(launch.data_dir.clone()),
            application_dir: RawPath(launch.application_dir.clone()),
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
fn random_token() -> Result<[u8; 16], Error> {
    let mut token = [0; 16];
    // So few bytes come at once, man getrandom(2) says, unless a signal comes before there are any.
    let flags = GetRandomFlags::empty();
    rustix::io::retry_on_intr(|| getrandom(&mut token, flags))
        .map_err(|error| Error::system("make a secret for the job", error))?;
    Ok(token)
}
