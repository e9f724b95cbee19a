//! What the slots of a PE's counters file mean, and who a job is: JSON that this version writes and
//! reads.
//!
//! Slots come in the order of the legend: of each operator three numbers for each input and each
//! output port (tuples, window and final markers) and one for each metric; of each link
//! [`LINK_SLOTS`] and, if latencies are measured there, a histogram; of each queue [`QUEUE_SLOTS`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use runtime::crossing::{BUCKETS, Flow, Queued, Side};
use runtime::{Marks, Tally};
use serde::{Deserialize, Serialize};

/// Who a job is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct JobNote {
    /// The launcher's process, or that of its only PE.
    pub pid: u32,
    /// The main composite.
    pub name: String,
    /// How many PEs it has.
    pub pes: u32,
    /// When it began, in milliseconds since 1970.
    pub began_ms: u64,
}

/// What a PE has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Legend {
    /// Its job.
    pub job: JobNote,
    /// Its number.
    pub pe: u32,
    /// Its process.
    pub pid: u32,
    /// Its operators.
    pub operators: Vec<OperatorLegend>,
    /// Its ends of crossing streams.
    pub links: Vec<LinkLegend>,
    /// The queues of its threaded ports.
    pub queues: Vec<QueueLegend>,
}

/// An operator.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct OperatorLegend {
    /// Its name.
    pub name: String,
    /// What sort of operator.
    pub kind: String,
    /// How many input ports.
    pub inputs: u32,
    /// How many output ports.
    pub outputs: u32,
    /// Its metrics so far: what it has created, and those of a queue.
    pub metrics: Vec<String>,
}

/// One side of a crossing stream.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct LinkLegend {
    /// The crossing's number.
    pub link: u32,
    /// The stream.
    pub stream: String,
    /// The sending PE.
    pub from: u32,
    /// The receiving PEs.
    pub to: Vec<u32>,
    /// Whether this is the sender's side.
    pub is_sender: bool,
    /// The medium counts what its sending end does.
    pub has_end: bool,
    /// It has a histogram of latencies.
    pub has_latency: bool,
}

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct QueueLegend {
    /// Its operator.
    pub operator: String,
    /// How many items it holds.
    pub items_max: u64,
    /// Bytes of a tuple, if all have as many.
    pub tuple_bytes: Option<u64>,
}

/// Slots of a port, in order: tuples, window markers, final markers.
pub const PORT_SLOTS: usize = 3;

/// Slots of a link, in order: frames, bytes, waits, nanoseconds waited, waiting since; of its sending
/// end: batches, bytes queued, the slowest receiver, connections made again, connections refused.
pub const LINK_SLOTS: usize = 10;

/// Slots of a histogram: its buckets, and the longest time in nanoseconds.
pub const LATENCY_SLOTS: usize = BUCKETS + 1;

/// Slots of a queue, in order: items now, items sent, tuples dropped, waits, nanoseconds waited,
/// waiting since.
pub const QUEUE_SLOTS: usize = 6;

impl JobNote {
    /// A job of this process that begins now.
    pub fn new(name: &str, pes: u32) -> JobNote {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        JobNote {
            pid: std::process::id(),
            name: name.to_owned(),
            pes,
            began_ms: now.map_or(0, |now| now.as_millis() as u64),
        }
    }
}

impl Legend {
    /// How many slots there are.
    pub fn slots(&self) -> usize {
        let operators = self.operators.iter().map(OperatorLegend::slots);
        let links = self.links.iter().map(LinkLegend::slots);
        let queues = self.queues.iter().map(|_| QUEUE_SLOTS);
        let all = operators.chain(links).chain(queues);
        all.fold(0, usize::saturating_add)
    }
}

impl OperatorLegend {
    /// Of an operator with what it counts.
    pub fn new(tally: &Tally, kind: &str) -> OperatorLegend {
        OperatorLegend {
            name: tally.operator.to_string(),
            kind: kind.to_owned(),
            inputs: tally.processed.len() as u32,
            outputs: tally.submitted.len() as u32,
            metrics: tally.metrics.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    fn slots(&self) -> usize {
        let ports = self.inputs as usize + self.outputs as usize;
        let ports = ports.saturating_mul(PORT_SLOTS);
        ports.saturating_add(self.metrics.len())
    }
}

impl LinkLegend {
    /// Of a link.
    pub fn new(flow: &Flow) -> LinkLegend {
        LinkLegend {
            link: flow.link,
            stream: flow.stream.to_string(),
            from: flow.from,
            to: flow.to.clone(),
            is_sender: flow.side == Side::Sender,
            has_end: flow.end().is_some(),
            has_latency: flow.latency().is_some(),
        }
    }

    fn slots(&self) -> usize {
        LINK_SLOTS + if self.has_latency { LATENCY_SLOTS } else { 0 }
    }
}

impl QueueLegend {
    /// Of a queue.
    pub fn new(queue: &Queued) -> QueueLegend {
        QueueLegend {
            operator: queue.operator.to_string(),
            items_max: queue.items_max,
            tuple_bytes: queue.tuple_bytes,
        }
    }
}

/// The numbers of an operator.
pub fn operator_slots(tally: &Tally) -> impl Iterator<Item = u64> {
    let port = |(tuples, marks): (&u64, &Marks)| [*tuples, marks.windows, marks.finals];
    let inputs = tally.processed.iter().zip(&tally.marks_in).flat_map(port);
    let outputs = tally.submitted.iter().zip(&tally.marks_out);
    let metrics = tally.metrics.iter().map(|(_, value)| *value as u64);
    inputs.chain(outputs.flat_map(port)).chain(metrics)
}

/// The numbers of a link.
pub fn link_slots(flow: &Flow) -> impl Iterator<Item = u64> {
    let own = [
        flow.frames(),
        flow.bytes(),
        flow.waits.get(),
        flow.wait_ns.get(),
        flow.blocked_since_ns().unwrap_or(0),
    ];
    let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let end = flow.end().map_or([0; 5], |end| {
        [
            number(&end.batches),
            number(&end.queued_bytes),
            end.slowest.load(Ordering::Relaxed).into(),
            number(&end.reconnects),
            number(&end.refusals),
        ]
    });
    let latency = flow.latency().into_iter();
    let latency = latency.flat_map(|latency| latency.counts().chain([latency.longest_ns()]));
    own.into_iter().chain(end).chain(latency)
}

/// The numbers of a queue.
pub fn queue_slots(queue: &Queued) -> [u64; QUEUE_SLOTS] {
    [
        queue.items(),
        queue.sent(),
        queue.dropped(),
        queue.waits(),
        queue.wait_ns(),
        queue.blocked_since_ns().unwrap_or(0),
    ]
}
