//! The thread of a PE that copies its counters into the file, now and then.
//!
//! # Cost
//! A walk over the counters each time; nothing for the operators, whose counters are there anyway.

use std::path::{Path, PathBuf};
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
use super::{JobFolder, folder, now_ns};

/// How often counters are copied.
const PERIOD: Duration = Duration::from_millis(500);

/// A job that is over sooner leaves nothing to look at, and need not make files.
const DELAY: Duration = Duration::from_millis(100);

/// Where the file goes.
pub enum Place {
    /// Into the folder of the job.
    Job(PathBuf),
    /// Into a folder of its own, below this one: the PE is the whole job.
    Own(PathBuf),
}

/// Copies until it is dropped, and then once more.
pub struct Sampler {
    /// Goes when the thread is to end.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What there is to copy.
struct Counts {
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
    pub fn start(place: Place, pe: u32, program: &Program, running: &Running) -> Option<Sampler> {
        let kinds = program.operators.iter().map(|o| o.kind.clone());
        let counts = Counts {
            pe,
            kinds: kinds.collect(),
            tallies: running.tally_handle(),
            flows: running.flows(),
            queues: running.queues(),
        };
        let name = program.name.clone();
        let (end, ended) = channel();
        let thread = Builder::new().name("sampler".to_owned());
        let run = move || {
            if is_over(&ended, DELAY) {
                return;
            }
            // Without a file nothing is to be seen, and the job runs all the same.
            if let Some((_folder, path)) = place.folder(&name) {
                counts.copy_until(&folder::counters(&path, pe), &ended);
            }
        };
        let thread = Some(thread.spawn(run).ok()?);
        let end = Some(end);
        Some(Sampler { end, thread })
    }
}

impl Place {
    /// The job's folder, and what removes it in the end if it is this PE's.
    fn folder(self, name: &str) -> Option<(Option<JobFolder>, PathBuf)> {
        match self {
            Place::Job(path) => Some((None, path)),
            Place::Own(all) => {
                let folder = JobFolder::new(&all, name, 1)?;
                let path = folder.path().to_owned();
                Some((Some(folder), path))
            }
        }
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
    fn copy_until(&self, path: &Path, ended: &Receiver<()>) {
        let mut written = None;
        loop {
            let is_over = written.is_some() && is_over(ended, PERIOD);
            written = self.copy(path, written);
            if is_over || written.is_none() {
                return;
            }
        }
    }

    /// Copies everything; into a new file if there is something new. `None`: there can be no file.
    fn copy(&self, path: &Path, written: Option<Written>) -> Option<Written> {
        let tallies = (self.tallies)();
        let legend = self.legend(&tallies);
        let written = match written.filter(|written| written.legend == legend) {
            Some(written) => written,
            None => {
                let text = serde_json::to_string(&legend).ok()?;
                let board = Board::create(path, legend.slots(), &text).ok()?;
                Written { legend, board }
            }
        };
        let operators = tallies.iter().flat_map(operator_slots);
        let links = self.flows.iter().flat_map(|flow| link_slots(flow));
        let queues = self.queues.iter().flat_map(|queue| queue_slots(queue));
        for (slot, value) in operators.chain(links).chain(queues).enumerate() {
            written.board.set(slot, value);
        }
        written.board.beat(now_ns());
        Some(written)
    }

    fn legend(&self, tallies: &[Tally]) -> Legend {
        let operators = tallies.iter().zip(&self.kinds);
        Legend {
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

/// Whether the end comes within this time.
fn is_over(ended: &Receiver<()>, time: Duration) -> bool {
    ended.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
}
