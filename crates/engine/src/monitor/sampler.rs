//! The thread of a PE that copies its counters into the file, now and then.
//!
//! # Cost
//! A walk over the counters each time; nothing for the operators, whose counters are there anyway.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use graph::Program;
use ring::counters::Board;
use runtime::crossing::{Flow, Queued};
use runtime::{Running, Tally};

use super::legend::{
    Legend, LinkLegend, OperatorLegend, QueueLegend, link_slots, operator_slots, queue_slots,
};
use super::{JobNote, now_ns};

/// How often counters are copied.
const PERIOD: Duration = Duration::from_millis(500);

/// A job that is over sooner leaves nothing to look at, and need not make a file.
const DELAY: Duration = Duration::from_millis(100);

/// Copies until it is dropped, and then once more.
pub struct Sampler {
    /// Goes when the thread is to end.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What there is to copy.
struct Counts {
    job: JobNote,
    pe: u32,
    /// What sort of operator each is.
    kinds: Vec<Arc<str>>,
    tallies: Box<dyn Fn() -> Vec<Tally> + Send>,
    flows: Vec<Arc<Flow>>,
    queues: Vec<Arc<Queued>>,
}

/// A file, and what is in it.
struct Written {
    legend: Legend,
    board: Board,
}

impl Sampler {
    /// For a PE. `None` if there is no thread for it.
    pub fn start(job: JobNote, pe: u32, program: &Program, running: &Running) -> Option<Sampler> {
        let kinds = program.operators.iter().map(|o| o.kind.clone());
        let counts = Counts {
            job,
            pe,
            kinds: kinds.collect(),
            tallies: running.tally_handle(),
            flows: running.flows(),
            queues: running.queues(),
        };
        let (end, ended) = channel();
        let thread = Builder::new().name("sampler".to_owned());
        let run = move || {
            if !is_over(&ended, DELAY) {
                counts.copy_until(&ended);
            }
        };
        let thread = Some(thread.spawn(run).ok()?);
        let end = Some(end);
        Some(Sampler { end, thread })
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.end.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Counts {
    fn copy_until(&self, ended: &Receiver<()>) {
        let mut written = None;
        loop {
            let is_over = written.is_some() && is_over(ended, PERIOD);
            written = self.copy(written);
            if is_over || written.is_none() {
                return;
            }
        }
    }

    /// Copies everything; into a new file if there is something new. `None`: there can be no file,
    /// then nothing is to be seen, and the job runs all the same.
    fn copy(&self, written: Option<Written>) -> Option<Written> {
        let tallies = (self.tallies)();
        let legend = self.legend(&tallies);
        let operators = tallies.iter().flat_map(operator_slots);
        let links = self.flows.iter().flat_map(|flow| link_slots(flow));
        let queues = self.queues.iter().flat_map(|queue| queue_slots(queue));
        let values = operators.chain(links).chain(queues);
        // A file that is replaced stays until the new one can be read.
        match written {
            Some(same) if same.legend == legend => {
                same.write(values);
                Some(same)
            }
            _ => {
                let text = serde_json::to_string(&legend).ok()?;
                let board = Board::create(legend.slots(), &text).ok()?;
                let new = Written { legend, board };
                new.write(values);
                Some(new)
            }
        }
    }

    fn legend(&self, tallies: &[Tally]) -> Legend {
        let operators = tallies.iter().zip(&self.kinds);
        Legend {
            job: self.job.clone(),
            pe: self.pe,
            pid: std::process::id(),
            operators: operators
                .map(|(tally, kind)| OperatorLegend::new(tally, kind))
                .collect(),
            links: self.flows.iter().map(|f| LinkLegend::new(f)).collect(),
            queues: self.queues.iter().map(|q| QueueLegend::new(q)).collect(),
        }
    }
}

impl Written {
    fn write(&self, values: impl Iterator<Item = u64>) {
        for (slot, value) in values.enumerate() {
            self.board.set(slot, value);
        }
        self.board.beat(now_ns());
    }
}

/// Whether the end comes within this time.
fn is_over(ended: &Receiver<()>, time: Duration) -> bool {
    ended.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
}
