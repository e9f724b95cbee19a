//! Jobs as their counters files show them.
//!
//! The fields of the types here are those of `thalweg top --json`; counts only grow.

use std::collections::BTreeMap;
use std::path::Path;

use ring::counters::CountersReader;
use runtime::crossing::BUCKET_COUNT;
use serde::Serialize;

use super::latency::LatencySample;
use super::metadata::{
    CROSSING_SLOTS, CrossingMetadata, JobMetadata, OperatorMetadata, PORT_SLOTS, PeMetadata,
    QUEUE_SLOTS, QueueMetadata,
};
use super::{counters_files, now_ns};

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
    pub links: Vec<CrossingSample>,
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
    pub marks_in: Vec<MarkerSample>,
    /// Markers that went out, by output port.
    pub marks_out: Vec<MarkerSample>,
    /// Its metrics: what it has created, and those of a queue.
    pub metrics: BTreeMap<String, i64>,
}

/// Markers that passed a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MarkerSample {
    /// Window markers.
    pub windows: u64,
    /// Final markers: 0 or 1.
    pub finals: u64,
}

/// One side of a crossing stream at some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CrossingSample {
    /// The crossing's number in the plan.
    pub link: u32,
    /// The stream.
    pub stream: String,
    /// The sending PE.
    pub from: u32,
    /// The receiving PEs.
    pub to: Vec<u32>,
    /// Whether this is the sender's side, which waits for room; else the receiver's, which waits
    /// for frames.
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
    pub end: Option<SenderSample>,
    /// How long tuples were under way; `None`: it is not measured, or this is the sender's side.
    pub latency: Option<LatencySample>,
}

/// What the sending end of a stream says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SenderSample {
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
pub fn sample_jobs() -> Vec<JobSample> {
    let mut jobs: BTreeMap<(u32, u64), JobSample> = BTreeMap::new();
    for (job, pe) in counters_files::counters_files()
        .iter()
        .filter_map(|path| read_pe(path))
    {
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
    fn new(note: JobMetadata) -> JobSample {
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

fn read_pe(path: &Path) -> Option<(JobMetadata, PeSample)> {
    let view = CountersReader::open(path).ok()?;
    let legend: PeMetadata = serde_json::from_str(view.legend()).ok()?;
    let (sampled_ns, values) = view.read();
    // Before the first beat there is nothing to see.
    if sampled_ns == 0 || legend.slot_count() != values.len() {
        return None;
    }
    let mut slots = SlotReader(values.into_iter());
    let PeMetadata {
        job,
        pe,
        pid,
        operators,
        links,
        queues,
    } = legend;
    let operators: Vec<_> = operators
        .into_iter()
        .map(|o| slots.take_operator(o))
        .collect();
    let links = links.into_iter().map(|l| slots.take_crossing(l)).collect();
    let queues = queues.into_iter().map(|q| slots.take_queue(q, &operators));
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
struct SlotReader(std::vec::IntoIter<u64>);

impl SlotReader {
    /// The tuples and the markers of so many ports.
    fn take_ports(&mut self, count: u32) -> (Vec<u64>, Vec<MarkerSample>) {
        let ports = (0..count).map(|_| {
            let [tuples, windows, finals] = self.take_array::<PORT_SLOTS>();
            (tuples, MarkerSample { windows, finals })
        });
        ports.unzip()
    }

    fn take_array<const N: usize>(&mut self) -> [u64; N] {
        std::array::from_fn(|_| self.0.next().unwrap_or_default())
    }

    fn take_operator(&mut self, legend: OperatorMetadata) -> OperatorSample {
        let (processed, marks_in) = self.take_ports(legend.inputs);
        let (submitted, marks_out) = self.take_ports(legend.outputs);
        let metrics = legend.metrics.into_iter();
        let metrics = metrics.map(|name| (name, self.take_array::<1>()[0] as i64));
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

    fn take_crossing(&mut self, legend: CrossingMetadata) -> CrossingSample {
        let [frames, bytes, waits, wait_ns, since, end @ ..] = self.take_array::<CROSSING_SLOTS>();
        let [batches, queued_bytes, slowest, reconnects, refusals] = end;
        let slowest = legend.to.get(slowest as usize).copied();
        let end = SenderSample {
            batches,
            queued_bytes,
            slowest: slowest.unwrap_or_default(),
            reconnects,
            refusals,
        };
        let latency = legend.has_latency.then(|| {
            let buckets: Vec<u64> = self.0.by_ref().take(BUCKET_COUNT).collect();
            LatencySample::new(&buckets, self.take_array::<1>()[0])
        });
        CrossingSample {
            link: legend.link,
            stream: legend.stream,
            from: legend.from,
            to: legend.to,
            is_sender: legend.is_sender,
            frames,
            bytes,
            waits,
            wait_ns,
            waiting_ns: waiting_ns(since),
            end: legend.has_end.then_some(end),
            latency,
        }
    }

    fn take_queue(&mut self, legend: QueueMetadata, operators: &[OperatorSample]) -> QueueSample {
        let [items, sent, dropped, waits, wait_ns, since] = self.take_array::<QUEUE_SLOTS>();
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
            waiting_ns: waiting_ns(since),
        }
    }
}

fn waiting_ns(since_ns: u64) -> Option<u64> {
    (since_ns > 0).then(|| now_ns().saturating_sub(since_ns))
}
