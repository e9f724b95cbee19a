//! Samples of jobs: the values of their counters at one time.
//!
//! The fields of these types are those of `thalweg top --json`. Counts only grow while the job
//! runs.

use std::collections::BTreeMap;
use std::path::Path;

use ring::counters::CountersReader;
use runtime::crossing::BUCKET_COUNT;
use serde::Serialize;
use transport::monotonic_ns;

use super::counters_files;
use super::latency::LatencySample;
use super::library_calls::LibraryCallMetadata;
use super::metadata::{
    CROSSING_SLOTS, CrossingMetadata, JobMetadata, OperatorMetadata, PORT_SLOTS, PeMetadata,
    QUEUE_SLOTS, QueueMetadata, RAIL_SLOTS,
};

/// A job at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JobSample {
    /// Process id of the job's launcher, or of its only PE.
    pub job: u32,
    /// Name of the job's main composite.
    pub name: String,
    /// Time at which the job began, in milliseconds since 1970.
    pub began_ms: u64,
    /// Number of PEs of the job, including those without counters yet.
    pub pe_count: u32,
    /// PEs with counters, ordered by number.
    pub pes: Vec<PeSample>,
}

/// A PE at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeSample {
    /// Number of the PE in the plan.
    pub pe: u32,
    /// Process id of the PE.
    pub pid: u32,
    /// Time of the sample, in nanoseconds of the monotonic clock.
    pub sampled_ns: u64,
    /// Age of the sample when it was read, in nanoseconds. A running process writes every half
    /// second.
    pub silent_ns: u64,
    /// The PE's operators, including those that the plan inserted.
    pub operators: Vec<OperatorSample>,
    /// Sending and receiving ends of crossings in this PE.
    pub links: Vec<CrossingSample>,
    /// The queues of the PE's threaded ports.
    pub queues: Vec<QueueSample>,
    /// Number of the descriptor by which the PE is asked for tuples; `None` if it cannot be.
    #[serde(skip)]
    pub taps: Option<u32>,
    /// Number of the descriptor by which the PE is given another plan; `None` if it cannot be.
    #[serde(skip)]
    pub plan_words: Option<u32>,
    /// Calls of media libraries that have not returned for a second or longer.
    pub library_calls: Vec<LibraryCallSample>,
}

/// A call of a media library that does not return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LibraryCallSample {
    /// File of the library.
    pub library: String,
    /// Name of the function in the library's table.
    pub function: String,
    /// Name of the stream whose end is called.
    pub stream: String,
    /// Nanoseconds since the call was first seen.
    pub inside_ns: u64,
}

/// An operator at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperatorSample {
    /// Name of the operator in the program.
    pub name: String,
    /// Kind of the operator with its namespace: `spl.relational::Filter`.
    pub kind: String,
    /// Names of the streams that the operator submits to, by output port.
    pub streams: Vec<String>,
    /// Number of tuples that the operator processed, by input port.
    pub processed: Vec<u64>,
    /// Number of tuples that the operator submitted, by output port.
    pub submitted: Vec<u64>,
    /// Number of punctuations that the operator processed, by input port.
    pub marks_in: Vec<MarkerSample>,
    /// Number of punctuations that the operator submitted, by output port.
    pub marks_out: Vec<MarkerSample>,
    /// Values of the operator's own metrics and of its queue's, by name.
    pub metrics: BTreeMap<String, i64>,
}

/// Number of punctuations at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MarkerSample {
    /// Number of window markers.
    pub windows: u64,
    /// Number of final markers: 0 or 1.
    pub finals: u64,
}

/// One end of a crossing at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CrossingSample {
    /// Number of the crossing in the plan.
    pub link: u32,
    /// Name of the stream that crosses.
    pub stream: String,
    /// Number of the sending PE.
    pub from: u32,
    /// Numbers of the receiving PEs.
    pub to: Vec<u32>,
    /// Whether this is the sending end, which waits for room; a receiving end waits for frames.
    pub is_sender: bool,
    /// Number of frames that passed this end.
    pub frames: u64,
    /// Number of bytes of these frames.
    pub bytes: u64,
    /// Number of times that this end waited for the other.
    pub waits: u64,
    /// Nanoseconds of all finished waits together.
    pub wait_ns: u64,
    /// Nanoseconds of the current wait; `None` if this end does not wait.
    pub waiting_ns: Option<u64>,
    /// Counters of the medium; `None` at a receiving end, and on media that count nothing.
    pub end: Option<SenderSample>,
    /// Latency of tuples; `None` at a sending end, and if it is not measured.
    pub latency: Option<LatencySample>,
}

/// Counters that a medium keeps at the sending end of a crossing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SenderSample {
    /// Number of batches sent; 0 on media that do not batch.
    pub batches: u64,
    /// Number of bytes that the slowest receiver has not taken yet.
    pub queued_bytes: u64,
    /// Number of the slowest receiver's PE.
    pub slowest: u32,
    /// Number of connections made again after a loss.
    pub reconnects: u64,
    /// Number of connections that receivers tried and the sender refused.
    pub refusals: u64,
    /// Counters of each rail; empty unless the stream is striped over rails.
    pub rails: Vec<RailSample>,
}

/// Counters of one rail of a striped stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RailSample {
    /// Number of batches sent on the rail.
    pub batches: u64,
    /// Number of bytes of these batches.
    pub bytes: u64,
    /// Number of connections of the rail that broke.
    pub breaks: u64,
}

/// The queue of a threaded port at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueueSample {
    /// Name of the queue's operator.
    pub operator: String,
    /// Number of items that the queue holds at most.
    pub items_max: u64,
    /// Number of items in the queue.
    pub items: u64,
    /// Number of items sent to the queue: tuples and punctuations.
    pub sent: u64,
    /// Bytes of the tuples sent to the queue; `None` if the size of a tuple varies.
    pub bytes: Option<u64>,
    /// Number of tuples dropped because the queue was full.
    pub dropped: u64,
    /// Number of times that a sender waited for room.
    pub waits: u64,
    /// Nanoseconds of all finished waits together.
    pub wait_ns: u64,
    /// Nanoseconds of the current wait; `None` if no sender waits.
    pub waiting_ns: Option<u64>,
}

/// Samples the running jobs of this user, ordered by process id. Jobs and PEs that are just
/// starting or ending are left out.
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
    fn new(job: JobMetadata) -> JobSample {
        JobSample {
            job: job.pid,
            name: job.name,
            began_ms: job.began_ms,
            pe_count: job.pes,
            pes: Vec::new(),
        }
    }

    /// Adds a PE. Of two samples of one PE, which is replacing its file, the later one counts.
    fn add(&mut self, pe: PeSample) {
        match self.pes.iter_mut().find(|known| known.pe == pe.pe) {
            Some(known) if known.sampled_ns < pe.sampled_ns => *known = pe,
            Some(_) => {}
            None => self.pes.push(pe),
        }
    }
}

fn read_pe(path: &Path) -> Option<(JobMetadata, PeSample)> {
    let reader = CountersReader::open(path).ok()?;
    let metadata: PeMetadata = serde_json::from_str(reader.legend()).ok()?;
    let (sampled_ns, values) = reader.read();
    // Before the first heartbeat the slots have no values.
    if sampled_ns == 0 || metadata.slot_count() != values.len() {
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
        taps,
        plan_words,
        library_calls,
    } = metadata;
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
        silent_ns: monotonic_ns().saturating_sub(sampled_ns),
        links,
        queues: queues.collect(),
        taps,
        plan_words,
        library_calls: library_calls.into_iter().map(library_call).collect(),
        operators,
    };
    Some((job, sample))
}

fn library_call(metadata: LibraryCallMetadata) -> LibraryCallSample {
    let LibraryCallMetadata {
        library,
        function,
        stream,
        since_ns,
    } = metadata;
    LibraryCallSample {
        library,
        function,
        stream,
        inside_ns: monotonic_ns().saturating_sub(since_ns),
    }
}

/// Slots of a counters file that are not yet read, in order.
struct SlotReader(std::vec::IntoIter<u64>);

impl SlotReader {
    /// Reads the tuple and marker counts of `count` ports.
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

    fn take_operator(&mut self, metadata: OperatorMetadata) -> OperatorSample {
        let (processed, marks_in) = self.take_ports(metadata.inputs);
        let (submitted, marks_out) = self.take_ports(metadata.outputs);
        let metrics = metadata.metrics.into_iter();
        let metrics = metrics.map(|name| (name, self.take_array::<1>()[0] as i64));
        OperatorSample {
            processed,
            submitted,
            marks_in,
            marks_out,
            metrics: metrics.collect(),
            streams: metadata.streams,
            name: metadata.name,
            kind: metadata.kind,
        }
    }

    fn take_crossing(&mut self, metadata: CrossingMetadata) -> CrossingSample {
        let [frames, bytes, waits, wait_ns, since, end @ ..] = self.take_array::<CROSSING_SLOTS>();
        let [batches, queued_bytes, slowest, reconnects, refusals] = end;
        let slowest = metadata.to.get(slowest as usize).copied();
        let latency = metadata.has_latency.then(|| {
            let buckets: Vec<u64> = self.0.by_ref().take(BUCKET_COUNT).collect();
            LatencySample::new(&buckets, self.take_array::<1>()[0])
        });
        let rails = (0..metadata.rails).map(|_| {
            let [batches, bytes, breaks] = self.take_array::<RAIL_SLOTS>();
            RailSample {
                batches,
                bytes,
                breaks,
            }
        });
        let end = SenderSample {
            batches,
            queued_bytes,
            slowest: slowest.unwrap_or_default(),
            reconnects,
            refusals,
            rails: rails.collect(),
        };
        CrossingSample {
            link: metadata.link,
            stream: metadata.stream,
            from: metadata.from,
            to: metadata.to,
            is_sender: metadata.is_sender,
            frames,
            bytes,
            waits,
            wait_ns,
            waiting_ns: waiting_ns(since),
            end: metadata.has_end.then_some(end),
            latency,
        }
    }

    fn take_queue(&mut self, metadata: QueueMetadata, operators: &[OperatorSample]) -> QueueSample {
        let values = self.take_array::<QUEUE_SLOTS>();
        let [items, sent, dropped, waits, wait_ns, since, items_max] = values;
        let operator = operators.iter().find(|one| one.name == metadata.operator);
        let marks = operator.into_iter().flat_map(|one| &one.marks_in);
        let marks: u64 = marks.map(|marks| marks.windows + marks.finals).sum();
        let tuples = sent.saturating_sub(marks);
        QueueSample {
            operator: metadata.operator,
            items_max,
            items,
            sent,
            bytes: metadata.tuple_bytes.map(|each| tuples.saturating_mul(each)),
            dropped,
            waits,
            wait_ns,
            waiting_ns: waiting_ns(since),
        }
    }
}

fn waiting_ns(since_ns: u64) -> Option<u64> {
    (since_ns > 0).then(|| monotonic_ns().saturating_sub(since_ns))
}
