//! The sampler: a thread of a PE that copies its counters into a counters file.
//!
//! # Cost
//! Each sample reads all counters once. Operators pay nothing: they keep the counters anyway.

use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use graph::{PeId, Program};
use ring::counters::CountersWriter;
use runtime::crossing::{CrossingCounters, QueueCounters};
use runtime::{OperatorCounts, RunningPe};
use transport::monotonic_ns;

use super::library_calls::{LibraryCallMetadata, LibraryCallWatch};
use super::metadata::JobMetadata;
use super::metadata::{
    CrossingMetadata, OperatorMetadata, PeMetadata, QueueMetadata, crossing_slots, operator_slots,
    queue_slots,
};
use super::plan_server::{PlanServer, RunningPlan};
use super::tap_server::TapServer;

/// Time between two samples; `thalweg top` draws once a second, so each of its pictures is new.
const PERIOD: Duration = Duration::from_millis(500);

/// Time between two looks while a command taps a stream or brings a plan.
const SERVE_PERIOD: Duration = Duration::from_millis(20);

/// Age of a job at its first sample: a shorter job is over before anybody could look at it.
const DELAY: Duration = Duration::from_millis(100);

/// The sampler of a running PE. Dropping it takes a last sample and joins the thread.
pub struct Sampler {
    /// Dropped to end the thread.
    stop_sender: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The counters of a PE, and the identity of its job.
struct CounterSources {
    job: JobMetadata,
    pe: PeId,
    /// Kind of each operator and the names of its streams, in the order of the counts.
    operator_names: Vec<(Arc<str>, Vec<Arc<str>>)>,
    /// Number of the descriptor of the requests for taps.
    taps: Option<u32>,
    /// Number of the descriptor of the words for plans.
    plan_words: Option<u32>,
    operators: Box<dyn Fn() -> Vec<OperatorCounts> + Send>,
    crossings: Vec<Arc<CrossingCounters>>,
    queues: Vec<Arc<QueueCounters>>,
}

/// The servers of commands that ask a PE for something.
struct CommandServers {
    taps: Option<TapServer>,
    plans: Option<PlanServer>,
}

/// A counters file with its metadata.
struct CountersFile {
    metadata: PeMetadata,
    counters: CountersWriter,
}

impl Sampler {
    /// Starts the sampler of a running PE; `None` if the system cannot start a thread.
    pub fn start(
        job: JobMetadata,
        program: &Program,
        running: &RunningPe,
        plan: RunningPlan,
    ) -> Option<Sampler> {
        let pe = plan.pe;
        let names = program.operators.iter().map(|operator| {
            let streams = operator.outputs.iter().map(|port| port.name.clone());
            (operator.kind.clone(), streams.collect())
        });
        let mut servers = CommandServers {
            taps: TapServer::new(program, running.taps()),
            plans: PlanServer::new(plan, running.plan_control()),
        };
        let (taps, plans) = (&servers.taps, &servers.plans);
        let counts = CounterSources {
            job,
            pe,
            operator_names: names.collect(),
            taps: taps.as_ref().map(|taps| taps.fd().as_raw_fd() as u32),
            plan_words: plans.as_ref().map(|plans| plans.fd().as_raw_fd() as u32),
            operators: running.operator_counts_handle(),
            crossings: running.crossing_counters(),
            queues: running.queue_counters(),
        };
        let (stop_sender, stopped) = channel();
        let thread = Builder::new().name("sampler".to_owned());
        let run = move || {
            if !has_ended(&stopped, DELAY) {
                counts.copy_until(&stopped, &mut servers);
            }
        };
        let thread = Some(thread.spawn(run).ok()?);
        Some(Sampler {
            stop_sender: Some(stop_sender),
            thread,
        })
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop_sender.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl CounterSources {
    fn copy_until(&self, ended: &Receiver<()>, servers: &mut CommandServers) {
        let (mut file, mut watch) = (None, LibraryCallWatch::default());
        loop {
            let is_over = file.is_some() && servers.serve(ended);
            file = self.copy_counters(file, watch.look(monotonic_ns()));
            if is_over || file.is_none() {
                return;
            }
        }
    }

    /// Copies all counters, into a new file if the metadata has changed. `None` if no file can be
    /// made: then the job runs without being monitored.
    fn copy_counters(
        &self,
        written: Option<CountersFile>,
        library_calls: Vec<LibraryCallMetadata>,
    ) -> Option<CountersFile> {
        let counts = (self.operators)();
        let metadata = self.metadata(&counts, library_calls);
        let operators = counts.iter().flat_map(operator_slots);
        let crossings = self.crossings.iter().flat_map(|end| crossing_slots(end));
        let queues = self.queues.iter().flat_map(|queue| queue_slots(queue));
        let values = operators.chain(crossings).chain(queues);
        // The old file is dropped when the new one can be read.
        match written {
            Some(same) if same.metadata == metadata => {
                same.write(values);
                Some(same)
            }
            _ => {
                let text = serde_json::to_string(&metadata).ok()?;
                let counters = CountersWriter::create(metadata.slot_count(), &text).ok()?;
                let new = CountersFile { metadata, counters };
                new.write(values);
                Some(new)
            }
        }
    }

    fn metadata(
        &self,
        counts: &[OperatorCounts],
        library_calls: Vec<LibraryCallMetadata>,
    ) -> PeMetadata {
        let operators = counts.iter().zip(&self.operator_names);
        PeMetadata {
            job: self.job.clone(),
            pe: self.pe.0,
            pid: std::process::id(),
            operators: operators
                .map(|(counts, (kind, streams))| OperatorMetadata::new(counts, kind, streams))
                .collect(),
            links: self
                .crossings
                .iter()
                .map(|f| CrossingMetadata::new(f))
                .collect(),
            queues: self.queues.iter().map(|q| QueueMetadata::new(q)).collect(),
            taps: self.taps,
            plan_words: self.plan_words,
            library_calls,
        }
    }
}

impl CountersFile {
    fn write(&self, values: impl Iterator<Item = u64>) {
        for (slot, value) in values.enumerate() {
            self.counters.set(slot, value);
        }
        self.counters.set_heartbeat(monotonic_ns());
    }
}

impl CommandServers {
    /// Serves commands for [`PERIOD`]. Returns whether the sampler's end was requested meanwhile.
    fn serve(&mut self, ended: &Receiver<()>) -> bool {
        let begun = Instant::now();
        loop {
            let is_busy = self.serve_once();
            let left = PERIOD.saturating_sub(begun.elapsed());
            let pause = if is_busy { SERVE_PERIOD } else { PERIOD };
            let is_over = has_ended(ended, pause.min(left));
            if is_over {
                self.serve_once();
            }
            if is_over || pause >= left {
                return is_over;
            }
        }
    }

    /// Looks at all requests once. Returns whether some are open.
    fn serve_once(&mut self) -> bool {
        let mut is_busy = false;
        if let Some(taps) = &mut self.taps {
            taps.serve();
            is_busy |= taps.is_tapped();
        }
        if let Some(plans) = &mut self.plans {
            plans.serve();
            is_busy |= plans.is_asked();
        }
        is_busy
    }
}

/// Whether the sampler's end is requested within this time.
fn has_ended(ended: &Receiver<()>, time: Duration) -> bool {
    ended.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
}
