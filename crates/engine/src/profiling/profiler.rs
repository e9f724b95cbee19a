//! The profiler of a running PE: a thread that drains samples and reads counts.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use planner::Profile;
use runtime::crossing::{CrossingCounters, QueueCounters};
use runtime::{CpuSamples, OperatorCounts, RunningPe};
use transport::monotonic_ns;

use super::collector::ProfileRequest;
use super::pe_profile::{PartNames, PeObservations};
use super::sample_counts::{CodeAddresses, SampleCounts};
use super::stream_rates::StreamRates;
use crate::error::Error;

/// Time between two looks: a tenth of a second. A thread's samples of four seconds have room.
const INTERVAL: Duration = Duration::from_millis(100);

/// The profiler of a running PE.
pub struct PeProfiler {
    /// Dropped to end the thread.
    stop_sender: Sender<()>,
    thread: JoinHandle<ProfiledPe>,
}

/// The counters and samples of a PE, as far as they have been looked at.
struct ProfiledPe {
    names: PartNames,
    operators: Box<dyn Fn() -> Vec<OperatorCounts> + Send>,
    crossings: Vec<Arc<CrossingCounters>>,
    queues: Vec<Arc<QueueCounters>>,
    threads: Vec<(Arc<CpuSamples>, SampleCounts)>,
    code: CodeAddresses,
    rates: StreamRates,
    begin_ns: u64,
    looked_ns: u64,
}

impl PeProfiler {
    /// Starts the profiler of a PE that runs.
    ///
    /// # Errors
    /// The system cannot start a thread. A profile that lacks a PE would be wrong.
    pub fn start(
        request: ProfileRequest,
        names: PartNames,
        running: &RunningPe,
    ) -> Result<PeProfiler, Error> {
        let now = monotonic_ns();
        let threads = running.thread_samples().into_iter();
        let mut profiled = ProfiledPe {
            names,
            operators: running.operator_counts_handle(),
            crossings: running.crossing_counters(),
            queues: running.queue_counters(),
            threads: threads
                .map(|samples| (samples, SampleCounts::default()))
                .collect(),
            code: CodeAddresses::new(running.operator_code().to_vec()),
            rates: StreamRates::new(request.reservoir),
            begin_ns: now,
            looked_ns: now,
        };
        let (stop_sender, stopped) = channel();
        let run = move || {
            while !has_ended(&stopped) {
                profiled.look();
            }
            profiled
        };
        let thread = Builder::new().name("profiler".to_owned()).spawn(run);
        let thread = thread.map_err(|error| Error::system("start a thread", error))?;
        Ok(PeProfiler {
            stop_sender,
            thread,
        })
    }

    /// The profile, when the PE has been joined; `None` if the profiler's thread has panicked,
    /// which is a bug of the engine.
    pub fn finish(self) -> Option<Profile> {
        drop(self.stop_sender);
        let mut profiled = self.thread.join().ok()?;
        profiled.look();
        Some(profiled.profile())
    }
}

impl ProfiledPe {
    fn look(&mut self) {
        let now = monotonic_ns();
        for (samples, counts) in &mut self.threads {
            samples.drain(|sample| counts.count(sample, &self.code));
        }
        let operators = (self.operators)();
        let submitted = operators.iter().flat_map(|operator| &operator.submitted);
        let interval_ns = now - self.looked_ns;
        self.rates.look(submitted.copied().collect(), interval_ns);
        self.looked_ns = now;
    }

    fn profile(&self) -> Profile {
        let observations = PeObservations {
            operators: &(self.operators)(),
            crossings: &self.crossings,
            queues: &self.queues,
            threads: &self.threads,
            rates: &self.rates,
            seconds: (self.looked_ns - self.begin_ns) as f64 / 1e9,
        };
        self.names.profile(&observations)
    }
}

/// Whether the profiler's end is requested within an interval.
fn has_ended(ended: &Receiver<()>) -> bool {
    ended.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout)
}
