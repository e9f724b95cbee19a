//! Jobs as their counters files show them.
//!
//! The fields of the types here are those of `thalweg top --json`; counts only grow.

use std::fs;
use std::path::Path;

use ring::counters::View;
use serde::Serialize;

use super::legend::{
    JobNote, LINK_SLOTS, Legend, LinkLegend, OperatorLegend, QUEUE_SLOTS, QueueLegend,
};
use super::{folder, now_ns};

/// A job at some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JobSample {
    /// The process of its launcher.
    pub job: u32,
    /// Its main composite.
    pub name: String,
    /// When it began, in milliseconds since 1970.
    pub began_ms: u64,
    /// How many PEs it has, those that have no counters yet too.
    pub pe_count: u32,
    /// Its PEs in order.
    pub pes: Vec<PeSample>,
}

/// A PE at some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeSample {
    /// Its number.
    pub pe: u32,
    /// Its process.
    pub pid: u32,
    /// Of when its numbers are, in nanoseconds of the monotonic clock.
    pub sampled_ns: u64,
    /// Its operators.
    pub operators: Vec<OperatorSample>,
    /// Its ends of streams that cross to other PEs.
    pub links: Vec<LinkSample>,
    /// The queues of its threaded ports.
    pub queues: Vec<QueueSample>,
}

/// An operator at some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperatorSample {
    /// Its name.
    pub name: String,
    /// What sort of operator.
    pub kind: String,
    /// Tuples that came in, by input port.
    pub processed: Vec<u64>,
    /// Tuples that went out, by output port.
    pub submitted: Vec<u64>,
}

/// One side of a crossing stream at some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkSample {
    /// The crossing's number in the plan.
    pub link: u32,
    /// The stream.
    pub stream: String,
    /// The sending PE.
    pub from: u32,
    /// The receiving PEs.
    pub to: Vec<u32>,
    /// Whether this is the sender's side, which waits for room; else the receiver's, which waits for
    /// frames.
    pub is_sender: bool,
    /// Frames that passed.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How often this side has waited for the other.
    pub waits: u64,
    /// Nanoseconds of all waits that are over.
    pub wait_ns: u64,
    /// For how many nanoseconds it waits now; `None`: it does not.
    pub waiting_ns: Option<u64>,
}

/// A queue at some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueueSample {
    /// Its operator.
    pub operator: String,
    /// How many items it holds at most.
    pub items_max: u64,
    /// How many are in it.
    pub items: u64,
    /// Items that came in.
    pub sent: u64,
    /// Tuples that were dropped because it was full.
    pub dropped: u64,
    /// How often whoever sends has waited for room.
    pub waits: u64,
    /// Nanoseconds of all waits that are over.
    pub wait_ns: u64,
    /// For how many nanoseconds somebody waits now; `None`: nobody.
    pub waiting_ns: Option<u64>,
}

/// The jobs that run, by the numbers of their processes. What is just being made or removed is left
/// out.
pub fn samples(all: &Path) -> Vec<JobSample> {
    let jobs = folder::jobs(all);
    let mut samples: Vec<_> = jobs.iter().filter_map(|job| sample(job)).collect();
    samples.sort_by_key(|sample| sample.job);
    samples
}

fn sample(job: &Path) -> Option<JobSample> {
    let note = fs::read(job.join(folder::NOTE)).ok()?;
    let note: JobNote = serde_json::from_slice(&note).ok()?;
    let files = fs::read_dir(job).ok()?.flatten().map(|entry| entry.path());
    let counters = files.filter(|path| path.extension().is_some_and(|e| e == folder::COUNTERS));
    let mut pes: Vec<_> = counters.filter_map(|path| pe(&path)).collect();
    pes.sort_by_key(|sample| sample.pe);
    Some(JobSample {
        job: note.pid,
        name: note.name,
        began_ms: note.began_ms,
        pe_count: note.pes,
        pes,
    })
}

fn pe(path: &Path) -> Option<PeSample> {
    let view = View::open(path).ok()?;
    let legend: Legend = serde_json::from_str(view.legend()).ok()?;
    let (sampled_ns, values) = view.read();
    // Before the first beat there is nothing to see.
    if sampled_ns == 0 || legend.slots() != values.len() {
        return None;
    }
    let mut slots = Slots(values.into_iter());
    let Legend {
        pe,
        pid,
        operators,
        links,
        queues,
    } = legend;
    Some(PeSample {
        pe,
        pid,
        sampled_ns,
        operators: operators.into_iter().map(|o| slots.operator(o)).collect(),
        links: links.into_iter().map(|l| slots.link(l)).collect(),
        queues: queues.into_iter().map(|q| slots.queue(q)).collect(),
    })
}

/// The numbers that were not yet taken.
struct Slots(std::vec::IntoIter<u64>);

impl Slots {
    fn several(&mut self, count: u32) -> Vec<u64> {
        self.0.by_ref().take(count as usize).collect()
    }

    fn some<const N: usize>(&mut self) -> [u64; N] {
        std::array::from_fn(|_| self.0.next().unwrap_or_default())
    }

    fn operator(&mut self, legend: OperatorLegend) -> OperatorSample {
        OperatorSample {
            processed: self.several(legend.inputs),
            submitted: self.several(legend.outputs),
            name: legend.name,
            kind: legend.kind,
        }
    }

    fn link(&mut self, legend: LinkLegend) -> LinkSample {
        let [frames, bytes, waits, wait_ns, since] = self.some::<LINK_SLOTS>();
        LinkSample {
            link: legend.link,
            stream: legend.stream,
            from: legend.from,
            to: legend.to,
            is_sender: legend.is_sender,
            frames,
            bytes,
            waits,
            wait_ns,
            waiting_ns: waiting(since),
        }
    }

    fn queue(&mut self, legend: QueueLegend) -> QueueSample {
        let [items, sent, dropped, waits, wait_ns, since] = self.some::<QUEUE_SLOTS>();
        QueueSample {
            operator: legend.operator,
            items_max: legend.items_max,
            items,
            sent,
            dropped,
            waits,
            wait_ns,
            waiting_ns: waiting(since),
        }
    }
}

fn waiting(since_ns: u64) -> Option<u64> {
    (since_ns > 0).then(|| now_ns().saturating_sub(since_ns))
}
