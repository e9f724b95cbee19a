//! Profiles: what each operator, stream, queue and thread of a job has been seen to do.
//!
//! ```text
//!   job ──samples──> Profile ──to_text──> file ──parse──> Profile ──merge──> Profile ──> optimiser
//! ```
//! Everything has the name that the program or the plan gives it, so a profile still says
//! something about a program that was edited. All numbers but peaks are sums over the runs, so
//! merging profiles is adding. Nothing is measured or read from files here. `docs/profiles.md` says
//! what each number means.

mod merge;
mod profile_text;

pub use merge::ProfileMergeError;

/// A profile of one or several runs of a program on one machine.
///
/// # Example
/// ```
/// use thalweg_planner::Profile;
///
/// let text = "thalweg profile 1
/// program Hello
/// processor Some CPU @ 3.60GHz
/// cores 2
/// runs 1
/// seconds 2.5
/// operator Greetings kind Beacon tuples 1000 cpu_ns 50000 state_bytes 0
/// stream Greetings.0 tuples 1000 bytes 24000 peak_per_second 400
/// ";
/// let profile = Profile::parse(text)?;
/// assert_eq!(profile.operators[0].tuple_ns(), Some(50.0));
/// assert_eq!(Profile::parse(&profile.to_text())?, profile);
/// # Ok::<(), thalweg_planner::MeasurementError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Name of the program's main composite.
    pub program: String,
    /// The machine's processor, as [`crate::processor_name`] has it.
    pub processor: String,
    /// Number of cores that the job could use.
    pub cores: u32,
    /// Number of runs that are added up.
    pub runs: u32,
    /// Seconds that the runs took, from the first tuple to the end.
    pub seconds: f64,
    /// The operators of the program.
    pub operators: Vec<OperatorProfile>,
    /// The streams of the program's operators.
    pub streams: Vec<StreamProfile>,
    /// The streams that crossed from one process to others.
    pub crossings: Vec<CrossingProfile>,
    /// The queues before threaded ports.
    pub queues: Vec<QueueProfile>,
    /// The threads of the processes.
    pub threads: Vec<ThreadProfile>,
}

/// An operator in a profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperatorProfile {
    /// The operator's name in the program.
    pub operator: String,
    /// Name of the kind of operator, without its namespace.
    pub kind: String,
    /// Tuples that it has processed; of a source, those that it has submitted.
    pub tuples: u64,
    /// Processor time of its own code in nanoseconds, without the operators that it calls.
    pub cpu_ns: u64,
    /// Bytes of its state at the end; the largest of several runs.
    pub state_bytes: u64,
}

/// A stream in a profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamProfile {
    /// The operator that submits it.
    pub operator: String,
    /// The output port, from 0.
    pub port: u32,
    /// Tuples that were submitted.
    pub tuples: u64,
    /// Bytes of their attributes.
    pub bytes: u64,
    /// Tuples a second in the busiest interval; the largest of several runs.
    pub peak_per_second: u64,
}

/// A stream on its way from one process to others, in a profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CrossingProfile {
    /// The operator that submits the stream.
    pub operator: String,
    /// The output port, from 0.
    pub port: u32,
    /// Name of the medium.
    pub medium: String,
    /// Frames that were sent.
    pub frames: u64,
    /// Bytes of these frames with their headers.
    pub bytes: u64,
    /// Processor time of sending in nanoseconds, waits excluded.
    pub send_ns: u64,
    /// Processor time of receiving in nanoseconds, of all receivers, waits excluded.
    pub receive_ns: u64,
}

/// The queue before a threaded port, in a profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueProfile {
    /// The operator whose port it is.
    pub operator: String,
    /// The input port, from 0.
    pub port: u32,
    /// Tuples that went through it.
    pub tuples: u64,
    /// Nanoseconds that threads have waited for room.
    pub full_ns: u64,
    /// Nanoseconds that the port's thread has waited for tuples.
    pub empty_ns: u64,
}

/// A thread of a process, in a profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadProfile {
    /// Process and thread as the plan numbers them: `0.2` is thread 2 of PE 0.
    pub thread: String,
    /// Processor time in operators, in nanoseconds.
    pub busy_ns: u64,
    /// Processor time of waiting in loops that poll, in nanoseconds.
    pub polling_ns: u64,
}

impl Profile {
    /// The operator of this name.
    pub fn operator(&self, name: &str) -> Option<&OperatorProfile> {
        self.operators.iter().find(|found| found.operator == name)
    }

    /// The stream of this output port.
    pub fn stream(&self, operator: &str, port: u32) -> Option<&StreamProfile> {
        let mut streams = self.streams.iter();
        streams.find(|found| found.operator == operator && found.port == port)
    }
}

impl OperatorProfile {
    /// Processor time of a tuple in nanoseconds; `None` if none was processed.
    pub fn tuple_ns(&self) -> Option<f64> {
        (self.tuples > 0).then(|| self.cpu_ns as f64 / self.tuples as f64)
    }
}

impl StreamProfile {
    /// Mean bytes of a tuple; `None` if none was submitted.
    pub fn tuple_bytes(&self) -> Option<f64> {
        (self.tuples > 0).then(|| self.bytes as f64 / self.tuples as f64)
    }

    /// Tuples a second in the busiest interval, as a multiple of the mean over the runs' time; 1
    /// means that tuples come evenly.
    pub fn burstiness(&self, seconds: f64) -> Option<f64> {
        let mean = self.tuples as f64 / seconds;
        (self.tuples > 0 && seconds > 0.0).then(|| (self.peak_per_second as f64 / mean).max(1.0))
    }
}
