//! The thread of a PE that copies its counters into the file, now and then.
//!
//! # Cost
//! A walk over the counters each time; nothing for the operators, whose counters are there anyway.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use graph::Program;
use ring::counters::Board;
use runtime::crossing::{Flow, Queued};
use runtime::{Running, Tally};

use super::legend::{Legend, LinkLegend, OperatorLegend, QueueLegend, link_slots, queue_slots};
use super::{folder, now_ns};

/// How often counters are copied.
const PERIOD: Duration = Duration::from_millis(500);

/// Copies until it is dropped, and then once more.
pub struct Sampler {
    /// Goes when the thread is to end.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Counts {
    board: Board,
    tallies: Box<dyn Fn() -> Vec<Tally> + Send>,
    flows: Vec<Arc<Flow>>,
    queues: Vec<Arc<Queued>>,
}

impl Sampler {
    /// For a PE of the job whose folder this is. `None` if there can be no file.
    pub fn start(job: &Path, pe: u32, program: &Program, running: &Running) -> Option<Sampler> {
        let tallies = running.tallies();
        let operators = tallies.iter().zip(&program.operators);
        let legend = Legend {
            pe,
            pid: std::process::id(),
            operators: operators
                .map(|(t, o)| OperatorLegend::new(t, &o.kind))
                .collect(),
            links: running.flows().iter().map(|f| LinkLegend::new(f)).collect(),
            queues: running
                .queues()
                .iter()
                .map(|q| QueueLegend::new(q))
                .collect(),
        };
        let text = serde_json::to_string(&legend).ok()?;
        let counts = Counts {
            board: Board::create(&folder::counters(job, pe), legend.slots(), &text).ok()?,
            tallies: running.tally_handle(),
            flows: running.flows(),
            queues: running.queues(),
        };
        let (end, ended) = channel();
        let thread = Builder::new().name("sampler".to_owned());
        let thread = thread.spawn(move || counts.copy_until(&ended)).ok()?;
        Some(Sampler {
            end: Some(end),
            thread: Some(thread),
        })
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
        loop {
            self.copy();
            if ended.recv_timeout(PERIOD) != Err(RecvTimeoutError::Timeout) {
                return self.copy();
            }
        }
    }

    fn copy(&self) {
        let tallies = (self.tallies)();
        let ports = tallies
            .iter()
            .flat_map(|t| t.processed.iter().chain(&t.submitted));
        let links = self.flows.iter().flat_map(|flow| link_slots(flow));
        let queues = self.queues.iter().flat_map(|queue| queue_slots(queue));
        for (slot, value) in ports.copied().chain(links).chain(queues).enumerate() {
            self.board.set(slot, value);
        }
        self.board.beat(now_ns());
    }
}
