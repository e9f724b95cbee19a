//! The thread of a PE that copies its counters into the file, now and then.
//!
//! # Cost
//! A walk over the counters each time; nothing for the operators, whose counters are there anyway.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use graph::Program;
use ring::counters::CountersWriter;
use runtime::crossing::{CrossingCounters, QueueCounters};
use runtime::{OperatorCounts, RunningPe};

use super::metadata::{
    CrossingMetadata, OperatorMetadata, PeMetadata, QueueMetadata, crossing_slots, operator_slots,
    queue_slots,
};
use super::{JobMetadata, now_ns};

/// How often counters are copied.
const PERIOD: Duration = Duration::from_millis(500);

/// A job that is over sooner leaves nothing to look at, and need not make a file.
const DELAY: Duration = Duration::from_millis(100);

/// Copies until it is dropped, and then once more.
pub struct Sampler {
    /// Goes when the thread is to end.
    stop_sender: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What there is to copy.
struct CounterSources {
    job: JobMetadata,
    pe: u32,
    /// What sort of operator each is.
    kinds: Vec<Arc<str>>,
    operators: Box<dyn Fn() -> Vec<OperatorCounts> + Send>,
    crossings: Vec<Arc<CrossingCounters>>,
    queues: Vec<Arc<QueueCounters>>,
}

/// A file, and what is in it.
struct CountersFile {
    metadata: PeMetadata,
    counters: CountersWriter,
}

impl Sampler {
    /// For a PE. `None` if there is no thread for it.
    pub fn start(
        job: JobMetadata,
        pe: u32,
        program: &Program,
        running: &RunningPe,
    ) -> Option<Sampler> {
        let kinds = program.operators.iter().map(|o| o.kind.clone());
        let counts = CounterSources {
            job,
            pe,
            kinds: kinds.collect(),
            operators: running.operator_counts_handle(),
            crossings: running.crossing_counters(),
            queues: running.queue_counters(),
        };
        let (end, ended) = channel();
        let thread = Builder::new().name("sampler".to_owned());
        let run = move || {
            if !has_ended(&ended, DELAY) {
                counts.copy_until(&ended);
            }
        };
        let thread = Some(thread.spawn(run).ok()?);
        let end = Some(end);
        Some(Sampler {
            stop_sender: end,
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
    fn copy_until(&self, ended: &Receiver<()>) {
        let mut file = None;
        loop {
            let is_over = file.is_some() && has_ended(ended, PERIOD);
            file = self.copy_counters(file);
            if is_over || file.is_none() {
                return;
            }
        }
    }

    /// Copies everything; into a new file if there is something new. `None`: there can be no file,
    /// then nothing is to be seen, and the job runs all the same.
    fn copy_counters(&self, written: Option<CountersFile>) -> Option<CountersFile> {
        let tallies = (self.operators)();
        let legend = self.metadata(&tallies);
        let operators = tallies.iter().flat_map(operator_slots);
        let links = self.crossings.iter().flat_map(|flow| crossing_slots(flow));
        let queues = self.queues.iter().flat_map(|queue| queue_slots(queue));
        let values = operators.chain(links).chain(queues);
        // A file that is replaced stays until the new one can be read.
        match written {
            Some(same) if same.metadata == legend => {
                same.write(values);
                Some(same)
            }
            _ => {
                let text = serde_json::to_string(&legend).ok()?;
                let board = CountersWriter::create(legend.slot_count(), &text).ok()?;
                let new = CountersFile {
                    metadata: legend,
                    counters: board,
                };
                new.write(values);
                Some(new)
            }
        }
    }

    fn metadata(&self, tallies: &[OperatorCounts]) -> PeMetadata {
        let operators = tallies.iter().zip(&self.kinds);
        PeMetadata {
            job: self.job.clone(),
            pe: self.pe,
            pid: std::process::id(),
            operators: operators
                .map(|(tally, kind)| OperatorMetadata::new(tally, kind))
                .collect(),
            links: self
                .crossings
                .iter()
                .map(|f| CrossingMetadata::new(f))
                .collect(),
            queues: self.queues.iter().map(|q| QueueMetadata::new(q)).collect(),
        }
    }
}

impl CountersFile {
    fn write(&self, values: impl Iterator<Item = u64>) {
        for (slot, value) in values.enumerate() {
            self.counters.set(slot, value);
        }
        self.counters.set_heartbeat(now_ns());
    }
}

/// Whether the end comes within this time.
fn has_ended(ended: &Receiver<()>, time: Duration) -> bool {
    ended.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
}
