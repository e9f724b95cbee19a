//! The bundle: everything a PE process needs to compile the job's program and run its part.

use std::path::PathBuf;

use eval::TraceLevel;
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};
use transport::IdleStrategy;

use crate::compilation::{Compilation, CompileRequest};
use crate::error::Error;
use crate::job::{BackendKind, HostSpec, LaunchOptions};
use crate::monitor::JobMetadata;
use crate::profiling::{ProfileCollector, ProfileRequest};
use crate::sources::{RawPath, RecordedSources};

/// A job as the launcher sends it to its PEs. A PE compiles the recorded sources and gets the
/// launcher's program again, operator by operator, so the plan fits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Bundle {
    request: BundledRequest,
    /// Source files that the launcher's compiler has read.
    pub sources: RecordedSources,
    /// The plan as text, in the format of `dump --stage plan`.
    pub plan: String,
    /// Secret of the job: 16 random bytes that a connecting receiver has to show.
    pub token: [u8; 16],
    launch: BundledLaunch,
    /// The job's entry in counters files; `None` if no counters files are written.
    pub counters: Option<JobMetadata>,
}

/// A [`CompileRequest`] whose paths may be any bytes, as JSON strings may not.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct BundledRequest {
    file: RawPath,
    main: Option<String>,
    toolkit_path: Vec<RawPath>,
    /// Absolute paths of folders with libraries that are media.
    media_path: Vec<RawPath>,
    compile_values: Vec<(String, String)>,
    submission_values: Option<Vec<(String, String)>>,
}

/// The fields of [`LaunchOptions`] that concern a PE.
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
    taps: bool,
    profile: Option<ProfileRequest>,
    #[serde(with = "IdleStrategyFormat")]
    idle: IdleStrategy,
    hosts: Vec<HostSpec>,
}

/// The serialized form of [`IdleStrategy`], whose crate does not depend on serde.
#[derive(Deserialize, Serialize)]
#[serde(remote = "IdleStrategy")]
enum IdleStrategyFormat {
    Spin,
    Yield,
    Park,
    Adaptive,
}

/// The serialized form of [`TraceLevel`], whose crate does not depend on serde.
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
    /// Bundles a compiled program with its plan and a new secret.
    ///
    /// # Errors
    /// [`Error::System`] if the system has no random numbers.
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

    /// The bundle with another plan, for hosts that were not known before.
    pub fn with_hosts(self, plan: String, hosts: Vec<HostSpec>) -> Bundle {
        let launch = BundledLaunch {
            hosts,
            ..self.launch
        };
        Bundle {
            plan,
            launch,
            ..self
        }
    }

    /// The request that compiles the program in a PE.
    pub fn request(&self) -> CompileRequest {
        let BundledRequest {
            file,
            main,
            toolkit_path,
            media_path,
            compile_values,
            submission_values,
        } = self.request.clone();
        CompileRequest {
            file: file.0,
            main,
            toolkit_path: toolkit_path.into_iter().map(|name| name.0).collect(),
            media_path: media_path.into_iter().map(|name| name.0).collect(),
            compile_values,
            // The recorded sources are generated text already: Perl does not run again.
            mixed_args: Vec::new(),
            submission_values,
            // The launcher has refused them.
            deny_warnings: false,
        }
    }

    /// The launch options of a PE; options that concern the launcher alone have their defaults.
    ///
    /// # Errors
    /// A profile is wanted, and the process cannot be sampled.
    pub fn launch(&self) -> Result<LaunchOptions, Error> {
        let settings = self.launch.clone();
        let profile = settings.profile.map(ProfileCollector::new).transpose()?;
        Ok(LaunchOptions {
            profile,
            data_dir: settings.data_dir.0,
            application_dir: settings.application_dir.0,
            trace: settings.trace,
            log: settings.log,
            backend: settings.backend,
            perf_map: settings.perf_map,
            unbuffered: settings.unbuffered,
            latency: settings.latency,
            taps: settings.taps,
            idle: settings.idle,
            hosts: settings.hosts,
            ..LaunchOptions::default()
        })
    }
}

impl BundledRequest {
    fn new(request: &CompileRequest) -> BundledRequest {
        BundledRequest {
            file: RawPath(request.file.clone()),
            main: request.main.clone(),
            toolkit_path: request.toolkit_path.iter().cloned().map(RawPath).collect(),
            media_path: request.media_path.iter().map(absolute).collect(),
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
            taps: launch.taps,
            profile: launch.profile.as_ref().map(ProfileCollector::request),
            idle: launch.idle,
            hosts: launch.hosts.clone(),
        }
    }
}

/// The folder as a PE finds it, which may begin in another folder than the launcher.
pub fn absolute(folder: &PathBuf) -> RawPath {
    RawPath(std::path::absolute(folder).unwrap_or_else(|_| folder.clone()))
}

/// Returns 16 random bytes, which no other process can guess.
pub fn random_token() -> Result<[u8; 16], Error> {
    let mut token = [0; 16];
    // A call for at most 256 bytes is never cut short (getrandom(2)), but a signal may interrupt it
    // before the first byte.
    let flags = GetRandomFlags::empty();
    rustix::io::retry_on_intr(|| getrandom(&mut token, flags))
        .map_err(|error| Error::system("make a secret for the job", error))?;
    Ok(token)
}
