//! What the slots of a PE's counters file mean, and who a job is: JSON that this version writes and
//! reads.
//!
//! Slots come in the order of the legend: of each operator three numbers for each input and each
//! output port (tuples, window and final markers) and one for each metric; of each link
//! [`CROSSING_SLOTS`] and, if latencies are measured there, a histogram; of each queue
//! [`QUEUE_SLOTS`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use runtime::crossing::{BUCKET_COUNT, CrossingCounters, CrossingSide, QueueCounters};
use runtime::{OperatorCounts, PunctuationCounts};
use serde::{Deserialize, Serialize};

/// Who a job is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct JobMetadata {
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
pub struct PeMetadata {
    /// Its job.
    pub job: JobMetadata,
    /// Its number.
    pub pe: u32,
    /// Its process.
    pub pid: u32,
    /// Its operators.
    pub operators: Vec<OperatorMetadata>,
    /// Its ends of crossing streams.
    pub links: Vec<CrossingMetadata>,
    /// The queues of its threaded ports.
    pub queues: Vec<QueueMetadata>,
}

/// An operator.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct OperatorMetadata {
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
pub struct CrossingMetadata {
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
pub struct QueueMetadata {
    /// Its operator.
    pub operator: String,
    /// How many items it holds.
    pub items_max: u64,
    /// Bytes of a tuple, if all have as many.
    pub tuple_bytes: Option<u64>,
}

/// Slots of a port, in order: tuples, window markers, final markers.
pub const PORT_SLOTS: usize = 3;

/// Slots of a link, in order: frames, bytes, waits, nanoseconds waited, waiting since; of its
/// sending end: batches, bytes queued, the slowest receiver, connections made again, connections
/// refused.
pub const CROSSING_SLOTS: usize = 10;

/// Slots of a histogram: its buckets, and the longest time in nanoseconds.
pub const LATENCY_SLOTS: usize = BUCKET_COUNT + 1;

/// Slots of a queue, in order: items now, items sent, tuples dropped, waits, nanoseconds waited,
/// waiting since.
pub const QUEUE_SLOTS: usize = 6;

impl JobMetadata {
    /// A job of this process that begins now.
    pub fn new(name: &str, pes: u32) -> JobMetadata {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        JobMetadata {
            pid: std::process::id(),
            name: name.to_owned(),
            pes,
            began_ms: now.map_or(0, |now| now.as_millis() as u64),
        }
    }
}

impl PeMetadata {
    /// How many slots there are.
    pub fn slot_count(&self) -> usize {
        let operators = self.operators.iter().map(OperatorMetadata::slot_count);
        let links = self.links.iter().map(CrossingMetadata::slot_count);
        let queues = self.queues.iter().map(|_| QUEUE_SLOTS);
        let all = operators.chain(links).chain(queues);
        all.fold(0, usize::saturating_add)
    }
}

impl OperatorMetadata {
    /// Of an operator with what it counts.
    pub fn new(tally: &OperatorCounts, kind: &str) -> OperatorMetadata {
        OperatorMetadata {
            name: tally.operator.to_string(),
            kind: kind.to_owned(),
            inputs: tally.processed.len() as u32,
            outputs: tally.submitted.len() as u32,
            metrics: tally.metrics.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    fn slot_count(&self) -> usize {
        let ports = self.inputs as usize + self.outputs as usize;
        let ports = ports.saturating_mul(PORT_SLOTS);
        ports.saturating_add(self.metrics.len())
    }
}

impl CrossingMetadata {
    /// Of a link.
    pub fn new(flow: &CrossingCounters) -> CrossingMetadata {
        CrossingMetadata {
            link: flow.crossing,
            stream: flow.stream.to_string(),
            from: flow.from_pe,
            to: flow.to_pes.clone(),
            is_sender: flow.side == CrossingSide::Sender,
            has_end: flow.sender_counters().is_some(),
            has_latency: flow.latency().is_some(),
        }
    }

    fn slot_count(&self) -> usize {
        CROSSING_SLOTS + if self.has_latency { LATENCY_SLOTS } else { 0 }
    }
}

impl QueueMetadata {
    /// Of a queue.
    pub fn new(queue: &QueueCounters) -> QueueMetadata {
        QueueMetadata {
            operator: queue.operator.to_string(),
            items_max: queue.items_max,
            tuple_bytes: queue.tuple_bytes,
        }
    }
}

/// The numbers of an operator.
pub fn operator_slots(tally: &OperatorCounts) -> impl Iterator<Item = u64> {
    let port = |(tuples, marks): (&u64, &PunctuationCounts)| [*tuples, marks.windows, marks.finals];
    let inputs = tally
        .processed
        .iter()
        .zip(&tally.punctuation_in)
        .flat_map(port);
    let outputs = tally.submitted.iter().zip(&tally.punctuation_out);
    let metrics = tally.metrics.iter().map(|(_, value)| *value as u64);
    inputs.chain(outputs.flat_map(port)).chain(metrics)
}

/// The numbers of a link.
pub fn crossing_slots(flow: &CrossingCounters) -> impl Iterator<Item = u64> {
    let own = [
        flow.frames(),
        flow.bytes(),
        flow.waits.get(),
        flow.wait_ns.get(),
        flow.blocked_since_ns().unwrap_or(0),
    ];
    let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let end = flow.sender_counters().map_or([0; 5], |end| {
        [
            number(&end.batches),
            number(&end.queued_bytes),
            end.slowest_receiver.load(Ordering::Relaxed).into(),
            number(&end.reconnects),
            number(&end.refusals),
        ]
    });
    let latency = flow.latency().into_iter();
    let latency = latency.flat_map(|latency| latency.bucket_counts().chain([latency.longest_ns()]));
    own.into_iter().chain(end).chain(latency)
}

/// The numbers of a queue.
pub fn queue_slots(queue: &QueueCounters) -> [u64; QUEUE_SLOTS] {
    [
        queue.items(),
        queue.sent(),
        queue.dropped(),
        queue.waits(),
        queue.wait_ns(),
        queue.blocked_since_ns().unwrap_or(0),
    ]
}
