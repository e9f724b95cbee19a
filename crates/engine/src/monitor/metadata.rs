//! Metadata of a counters file: the job, the PE, and the meaning of each slot, as JSON.
//!
//! Slots have the order of the metadata. Each operator has three slots for each input and each
//! output port (tuples, window and final markers) and one for each metric. Each end of a crossing
//! has [`CROSSING_SLOTS`], if latencies are measured a histogram, and [`RAIL_SLOTS`] for each rail.
//! Each queue has [`QUEUE_SLOTS`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use runtime::crossing::{BUCKET_COUNT, CrossingCounters, CrossingSide, QueueCounters};
use runtime::{OperatorCounts, PunctuationCounts};
use serde::{Deserialize, Serialize};

use super::library_calls::LibraryCallMetadata;

/// Identity of a job in counters files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct JobMetadata {
    /// Process id of the launcher, or of the only PE.
    pub pid: u32,
    /// Name of the job's main composite.
    pub name: String,
    /// Number of PEs of the job.
    pub pes: u32,
    /// Time at which the job began, in milliseconds since 1970.
    pub began_ms: u64,
}

/// Operators, crossings and queues of a PE, in the order of their slots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PeMetadata {
    /// Identity of the PE's job.
    pub job: JobMetadata,
    /// Number of the PE in the plan.
    pub pe: u32,
    /// Process id of the PE.
    pub pid: u32,
    /// The PE's operators, in the order of their slots.
    pub operators: Vec<OperatorMetadata>,
    /// Ends of crossings in this PE.
    pub links: Vec<CrossingMetadata>,
    /// The queues of the PE's threaded ports.
    pub queues: Vec<QueueMetadata>,
    /// Number of the descriptor of [`super::tap_words::TapWords`], if the PE has some.
    pub taps: Option<u32>,
    /// Number of the descriptor of [`super::plan_words::PlanWords`], if the PE has some.
    pub plan_words: Option<u32>,
    /// Calls of media libraries that do not return. They have no slots: a file with others replaces
    /// this one when there are others.
    pub library_calls: Vec<LibraryCallMetadata>,
}

/// An operator and the number of its slots.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct OperatorMetadata {
    /// Name of the operator in the program.
    pub name: String,
    /// Kind of the operator with its namespace.
    pub kind: String,
    /// Number of input ports, each with [`PORT_SLOTS`].
    pub inputs: u32,
    /// Number of output ports, each with [`PORT_SLOTS`].
    pub outputs: u32,
    /// Names of the streams of the output ports.
    pub streams: Vec<String>,
    /// Names of the metrics that the operator and its queue have created so far.
    pub metrics: Vec<String>,
}

/// One end of a crossing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct CrossingMetadata {
    /// Number of the crossing in the plan.
    pub link: u32,
    /// Name of the stream that crosses.
    pub stream: String,
    /// Number of the sending PE.
    pub from: u32,
    /// Numbers of the receiving PEs.
    pub to: Vec<u32>,
    /// Whether this is the sending end.
    pub is_sender: bool,
    /// Whether the medium keeps counters at its sending end.
    pub has_end: bool,
    /// Whether the end has a histogram of latencies.
    pub has_latency: bool,
    /// Number of rails of a striped stream at its sending end, each with [`RAIL_SLOTS`]; 0 without
    /// rails.
    pub rails: u32,
}

/// The queue of a threaded port.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct QueueMetadata {
    /// Name of the queue's operator.
    pub operator: String,
    /// Bytes of a tuple; `None` if the size varies.
    pub tuple_bytes: Option<u64>,
}

/// Number of slots of a port; in order: tuples, window markers, final markers.
pub const PORT_SLOTS: usize = 3;

/// Number of slots of a crossing's end; in order: frames, bytes, waits, nanoseconds waited, waiting
/// since; at a sending end batches, bytes queued, the slowest receiver, connections made again,
/// connections refused.
pub const CROSSING_SLOTS: usize = 10;

/// Number of slots of a rail; in order: batches, bytes, connections that broke.
pub const RAIL_SLOTS: usize = 3;

/// Number of slots of a histogram: its buckets, and the longest time in nanoseconds.
pub const LATENCY_SLOTS: usize = BUCKET_COUNT + 1;

/// Number of slots of a queue; in order: items now, items sent, tuples dropped, waits, nanoseconds
/// waited, waiting since, items that it holds at most.
pub const QUEUE_SLOTS: usize = 7;

impl JobMetadata {
    /// Identity of a job that this process launches now.
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
    /// Number of slots in the counters file.
    pub fn slot_count(&self) -> usize {
        let operators = self.operators.iter().map(OperatorMetadata::slot_count);
        let crossings = self.links.iter().map(CrossingMetadata::slot_count);
        let queues = self.queues.iter().map(|_| QUEUE_SLOTS);
        let all = operators.chain(crossings).chain(queues);
        all.fold(0, usize::saturating_add)
    }
}

impl OperatorMetadata {
    /// Metadata of an operator, from its counts, its kind, and the names of its streams.
    pub fn new(counts: &OperatorCounts, kind: &str, streams: &[Arc<str>]) -> OperatorMetadata {
        OperatorMetadata {
            name: counts.operator.to_string(),
            kind: kind.to_owned(),
            streams: streams.iter().map(|name| name.to_string()).collect(),
            inputs: counts.processed.len() as u32,
            outputs: counts.submitted.len() as u32,
            metrics: counts
                .metrics
                .iter()
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }

    fn slot_count(&self) -> usize {
        let ports = self.inputs as usize + self.outputs as usize;
        let ports = ports.saturating_mul(PORT_SLOTS);
        ports.saturating_add(self.metrics.len())
    }
}

impl CrossingMetadata {
    /// Metadata of a crossing's end.
    pub fn new(counters: &CrossingCounters) -> CrossingMetadata {
        CrossingMetadata {
            link: counters.crossing.0,
            stream: counters.stream.to_string(),
            from: counters.from_pe.0,
            to: counters.to_pes.iter().map(|pe| pe.0).collect(),
            is_sender: counters.side == CrossingSide::Sender,
            has_end: counters.sender_counters().is_some(),
            has_latency: counters.latency().is_some(),
            rails: counters
                .sender_counters()
                .map_or(0, |end| end.rails.len() as u32),
        }
    }

    fn slot_count(&self) -> usize {
        let latency = if self.has_latency { LATENCY_SLOTS } else { 0 };
        let rails = (self.rails as usize).saturating_mul(RAIL_SLOTS);
        rails.saturating_add(CROSSING_SLOTS + latency)
    }
}

impl QueueMetadata {
    /// Metadata of a queue, from its counters.
    pub fn new(queue: &QueueCounters) -> QueueMetadata {
        QueueMetadata {
            operator: queue.operator.to_string(),
            tuple_bytes: queue.tuple_bytes,
        }
    }
}

/// Slots of an operator, in the order of its metadata.
pub fn operator_slots(counts: &OperatorCounts) -> impl Iterator<Item = u64> {
    let port = |(tuples, marks): (&u64, &PunctuationCounts)| [*tuples, marks.windows, marks.finals];
    let inputs = counts
        .processed
        .iter()
        .zip(&counts.punctuation_in)
        .flat_map(port);
    let outputs = counts.submitted.iter().zip(&counts.punctuation_out);
    let metrics = counts.metrics.iter().map(|(_, value)| *value as u64);
    inputs.chain(outputs.flat_map(port)).chain(metrics)
}

/// Slots of a crossing's end, in the order of [`CROSSING_SLOTS`].
pub fn crossing_slots(counters: &CrossingCounters) -> impl Iterator<Item = u64> {
    let own = [
        counters.frames(),
        counters.bytes(),
        counters.waits.get(),
        counters.wait_ns.get(),
        counters.blocked_since_ns().unwrap_or(0),
    ];
    let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let end = counters.sender_counters().map_or([0; 5], |end| {
        [
            load(&end.batches),
            load(&end.queued_bytes),
            end.slowest_receiver.load(Ordering::Relaxed).into(),
            load(&end.reconnects),
            load(&end.refusals),
        ]
    });
    let latency = counters.latency().into_iter();
    let latency = latency.flat_map(|latency| latency.bucket_counts().chain([latency.longest_ns()]));
    let rails = counters.sender_counters().map(|end| {
        let rails = end.rails.iter();
        rails.flat_map(|rail| [load(&rail.batches), load(&rail.bytes), load(&rail.breaks)])
    });
    let rails: Vec<u64> = rails.into_iter().flatten().collect();
    own.into_iter().chain(end).chain(latency).chain(rails)
}

/// Slots of a queue, in the order of [`QUEUE_SLOTS`].
pub fn queue_slots(queue: &QueueCounters) -> [u64; QUEUE_SLOTS] {
    [
        queue.items(),
        queue.sent(),
        queue.dropped(),
        queue.waits(),
        queue.wait_ns(),
        queue.blocked_since_ns().unwrap_or(0),
        queue.items_max(),
    ]
}
