//! What the slots of a PE's counters file mean, and who a job is: JSON that this version writes and
//! reads.
//!
//! Slots come in the order of the legend: of each operator a number for each input and each output
//! port; of each link five; of each queue six.

use std::time::{SystemTime, UNIX_EPOCH};

use runtime::Tally;
use runtime::crossing::{Flow, Queued, Side};
use serde::{Deserialize, Serialize};

/// Who a job is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct JobNote {
    /// The launcher's process.
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
}

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct QueueLegend {
    /// Its operator.
    pub operator: String,
    /// How many items it holds.
    pub items_max: u64,
}

/// Slots of a link, in order: frames, bytes, waits, nanoseconds waited, waiting since.
pub const LINK_SLOTS: usize = 5;

/// Slots of a queue, in order: items now, items sent, tuples dropped, waits, nanoseconds waited,
/// waiting since.
pub const QUEUE_SLOTS: usize = 6;

impl JobNote {
    /// A job that begins now.
    pub fn new(pid: u32, name: &str, pes: u32) -> JobNote {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        JobNote {
            pid,
            name: name.to_owned(),
            pes,
            began_ms: now.map_or(0, |now| now.as_millis() as u64),
        }
    }
}

impl Legend {
    /// How many slots there are.
    pub fn slots(&self) -> usize {
        let ports = self
            .operators
            .iter()
            .map(|o| o.inputs as usize + o.outputs as usize);
        let links = self.links.len().saturating_mul(LINK_SLOTS);
        let queues = self.queues.len().saturating_mul(QUEUE_SLOTS);
        ports
            .fold(0, usize::saturating_add)
            .saturating_add(links)
            .saturating_add(queues)
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
        }
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
        }
    }
}

impl QueueLegend {
    /// Of a queue.
    pub fn new(queue: &Queued) -> QueueLegend {
        QueueLegend {
            operator: queue.operator.to_string(),
            items_max: queue.items_max,
        }
    }
}

/// The numbers of a link.
pub fn link_slots(flow: &Flow) -> [u64; LINK_SLOTS] {
    [
        flow.frames(),
        flow.bytes(),
        flow.waits.get(),
        flow.wait_ns.get(),
        flow.blocked_since_ns().unwrap_or(0),
    ]
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
