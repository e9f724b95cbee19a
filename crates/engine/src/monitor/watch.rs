//! Jobs as their counters files show them.
//!
//! The fields of the types here are those of `thalweg top --json`; counts only grow.

use std::collections::BTreeMap;
use std::path::Path;

use ring::counters::View;
use runtime::crossing::BUCKETS;
use serde::Serialize;

use super::latency::LatencySample;
use super::legend::{
    JobNote, LINK_SLOTS, Legend, LinkLegend, OperatorLegend, PORT_SLOTS, QUEUE_SLOTS, QueueLegend,
};
use super::{now_ns, search};

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
    /// How long ago that was when it was read. A process that runs writes every half second.
    pub silent_ns: u64,
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
    /// Markers that came in, by input port.
    pub marks_in: Vec<MarksSample>,
    /// Markers that went out, by output port.
    pub marks_out: Vec<MarksSample>,
    /// Its metrics: what it has created, and those of a queue.
    pub metrics: BTreeMap<String, i64>,
}

/// Markers that passed a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MarksSample {
    /// Window markers.
    pub windows: u64,
    /// Final markers: 0 or 1.
    pub finals: u64,
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
    /// What its sending end says; `None`: this is a receiver's side, or the medium counts nothing.
    pub end: Option<EndSample>,
    /// How long tuples were under way; `None`: it is not measured, or this is the sender's side.
    pub latency: Option<LatencySample>,
}

/// What the sending end of a stream says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndSample {
    /// Batches that went out; 0 on media that do not batch.
    pub batches: u64,
    /// Bytes that the slowest receiver has not taken yet.
    pub queued_bytes: u64,
    /// The PE of that receiver.
    pub slowest: u32,
    /// Connections that were made again.
    pub reconnects: u64,
    /// Connections that were refused.
    pub refusals: u64,
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
    /// Bytes of the tuples among them; `None`: they vary, and are not counted.
    pub bytes: Option<u64>,
    /// Tuples that were dropped because it was full.
    pub dropped: u64,
    /// How often whoever sends has waited for room.
    pub waits: u64,
    /// Nanoseconds of all waits that are over.
    pub wait_ns: u64,
    /// For how many nanoseconds somebody waits now; `None`: nobody.
    pub waiting_ns: Option<u64>,
}

/// The jobs of this user that run, by the numbers of their processes. What is just being made or is
/// going is left out.
pub fn samples() -> Vec<JobSample> {
    let mut jobs: BTreeMap<(u32, u64), JobSample> = BTreeMap::new();
    for (job, pe) in search::files().iter().filter_map(|path| pe(path)) {
        let key = (job.pid, job.began_ms);
        let sample = jobs.entry(key).or_insert_with(|| JobSample::new(job));
        sample.add(pe);
    }
    let mut samples: Vec<JobSample> = jobs.into_values().collect();
    samples
        .iter_mut()
        .for_each(|job| job.pes.sort_by_key(|pe| pe.pe));
    samples
}

impl JobSample {
    fn new(note: JobNote) -> JobSample {
        JobSample {
            job: note.pid,
            name: note.name,
            began_ms: note.began_ms,
            pe_count: note.pes,
            pes: Vec::new(),
        }
    }

    /// Of a PE that is just replacing its file the later one counts.
    fn add(&mut self, pe: PeSample) {
        match self.pes.iter_mut().find(|known| known.pe == pe.pe) {
            Some(known) if known.sampled_ns < pe.sampled_ns => *known = pe,
            Some(_) => {}
            None => self.pes.push(pe),
        }
    }
}

fn pe(path: &Path) -> Option<(JobNote, PeSample)> {
    let view = View::open(path).ok()?;
    let legend: Legend = serde_json::from_str(view.legend()).ok()?;
    let (sampled_ns, values) = view.read();
    // Before the first beat there is nothing to see.
    if sampled_ns == 0 || legend.slots() != values.len() {
        return None;
    }
    let mut slots = Slots(values.into_iter());
    let Legend {
        job,
        pe,
        pid,
        operators,
        links,
        queues,
    } = legend;
    let operators: Vec<_> = operators.into_iter().map(|o| slots.operator(o)).collect();
    let links = links.into_iter().map(|l| slots.link(l)).collect();
    let queues = queues.into_iter().map(|q| slots.queue(q, &operators));
    let sample = PeSample {
        pe,
        pid,
        sampled_ns,
        silent_ns: now_ns().saturating_sub(sampled_ns),
        links,
        queues: queues.collect(),
        operators,
    };
    Some((job, sample))
}

/// The numbers that were not yet taken.
struct Slots(std::vec::IntoIter<u64>);

impl Slots {
    /// The tuples and the markers of so many ports.
    fn ports(&mut self, count: u32) -> (Vec<u64>, Vec<MarksSample>) {
        let ports = (0..count).map(|_| {
            let [tuples, windows, finals] = self.some::<PORT_SLOTS>();
            (tuples, MarksSample { windows, finals })
        });
        ports.unzip()
    }

    fn some<const N: usize>(&mut self) -> [u64; N] {
        std::array::from_fn(|_| self.0.next().unwrap_or_default())
    }

    fn operator(&mut self, legend: OperatorLegend) -> OperatorSample {
        let (processed, marks_in) = self.ports(legend.inputs);
        let (submitted, marks_out) = self.ports(legend.outputs);
        let metrics = legend.metrics.into_iter();
        let metrics = metrics.map(|name| (name, self.some::<1>()[0] as i64));
        OperatorSample {
            processed,
            submitted,
            marks_in,
            marks_out,
            metrics: metrics.collect(),
            name: legend.name,
            kind: legend.kind,
        }
    }

    fn link(&mut self, legend: LinkLegend) -> LinkSample {
        let [frames, bytes, waits, wait_ns, since, end @ ..] = self.some::<LINK_SLOTS>();
        let [batches, queued_bytes, slowest, reconnects, refusals] = end;
        let slowest = legend.to.get(slowest as usize).copied();
        let end = EndSample {
            batches,
            queued_bytes,
            slowest: slowest.unwrap_or_default(),
            reconnects,
            refusals,
        };
        let latency = legend.has_latency.then(|| {
            let buckets: Vec<u64> = self.0.by_ref().take(BUCKETS).collect();
            LatencySample::new(&buckets, self.some::<1>()[0])
        });
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
            end: legend.has_end.then_some(end),
            latency,
        }
    }

    fn queue(&mut self, legend: QueueLegend, operators: &[OperatorSample]) -> QueueSample {
        let [items, sent, dropped, waits, wait_ns, since] = self.some::<QUEUE_SLOTS>();
        let own = operators.iter().find(|one| one.name == legend.operator);
        let marks = own.into_iter().flat_map(|own| &own.marks_in);
        let marks: u64 = marks.map(|marks| marks.windows + marks.finals).sum();
        let tuples = sent.saturating_sub(marks);
        QueueSample {
            operator: legend.operator,
            items_max: legend.items_max,
            items,
            sent,
            bytes: legend.tuple_bytes.map(|each| tuples.saturating_mul(each)),
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
