//! The request for a job's profile, and the profiles of its PEs as they come.

use std::sync::{Arc, Mutex, PoisonError};

use planner::{MeasurementError, Profile};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A request for a job's profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ProfileRequest {
    /// Samples in a second of a thread's processor time. Kernels take as many as they have ticks at
    /// most, often 250.
    pub samples_per_second: u32,
    /// Intervals of a tenth of a second whose counts are kept for each stream, for its peak.
    pub reservoir: u32,
}

impl Default for ProfileRequest {
    /// 250 samples a second, and 1,000 intervals.
    fn default() -> ProfileRequest {
        ProfileRequest {
            samples_per_second: 250,
            reservoir: 1_000,
        }
    }
}

/// Collects the profiles of a job's PEs; clones share them.
///
/// # Example
/// ```
/// # const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hello/Hello.spl");
/// use thalweg_engine::{
///     CompileRequest, LaunchOptions, ProfileCollector, ProfileRequest, compile, launch,
/// };
///
/// # let request = CompileRequest { file: HELLO.into(), ..CompileRequest::default() };
/// let program = compile(&request)?.program.expect("the program has no errors");
/// let collector = ProfileCollector::new(ProfileRequest::default())?;
/// let options = LaunchOptions {
///     profile: Some(collector.clone()),
///     ..LaunchOptions::default()
/// };
/// launch(&program, &options)?.join()?;
/// let profile = collector.profile().expect("the job has ended");
/// assert_eq!(profile.program, "Hello");
/// assert_eq!(profile.operator("Greetings").map(|beacon| beacon.tuples), Some(5));
/// # Ok::<(), thalweg_engine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProfileCollector {
    request: ProfileRequest,
    parts: Arc<Mutex<Vec<Profile>>>,
}

impl ProfileCollector {
    /// A collector without profiles, and the process ready to be sampled. To be made before media
    /// are loaded from libraries, which may take back handlers of signals.
    ///
    /// # Errors
    /// [`Error::System`] if something else in the process handles SIGPROF.
    pub fn new(request: ProfileRequest) -> Result<ProfileCollector, Error> {
        runtime::prepare_sampling()
            .map_err(|error| Error::system("sample the threads of this process", error))?;
        Ok(ProfileCollector {
            request,
            parts: Arc::default(),
        })
    }

    /// The request that the collector was made with.
    pub fn request(&self) -> ProfileRequest {
        self.request
    }

    /// Adds the profile of a PE.
    pub(crate) fn add(&self, part: Profile) {
        self.parts().push(part);
    }

    /// Adds the profile of a PE, given its text.
    ///
    /// # Errors
    /// The first mistake in the text.
    pub(crate) fn add_text(&self, text: &str) -> Result<(), MeasurementError> {
        self.add(Profile::parse(text)?);
        Ok(())
    }

    /// The profile of the job, when it has ended; `None` if no PE has reported one.
    pub fn profile(&self) -> Option<Profile> {
        let parts = self.parts();
        let mut parts = parts.iter();
        let mut job = parts.next()?.clone();
        for part in parts {
            let seconds = job.seconds.max(part.seconds);
            // The PEs of hosts that differ are parts of one profile all the same.
            let part = Profile {
                processor: job.processor.clone(),
                cores: job.cores,
                ..part.clone()
            };
            let added = job.merge(&part);
            debug_assert!(added.is_ok(), "all parts are of the job's program");
            (job.runs, job.seconds) = (1, seconds);
        }
        Some(job)
    }

    fn parts(&self) -> std::sync::MutexGuard<'_, Vec<Profile>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
