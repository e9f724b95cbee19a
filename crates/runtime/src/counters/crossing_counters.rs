//! Counters of a crossing edge: frames that passed, and waits of its two sides. Any thread may read
//! them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use eval::{Fault, FaultKind};
use graph::{CrossingId, PeId};
use transport::{EdgeCounters, Error, PeerLoss, monotonic_ns};

use super::congestion_meter::CongestionMeter;
use super::latency::CrossingLatencyHistogram;
use crate::abi::Counter;

/// Counters of one side of a crossing edge.
#[derive(Debug)]
pub struct CrossingCounters {
    /// The crossing in the plan, or a ring.
    pub crossing: CrossingId,
    /// Name of the stream that crosses.
    pub stream: Arc<str>,
    /// The PE that sends the stream.
    pub from_pe: PeId,
    /// The PEs that receive the stream.
    pub to_pes: Vec<PeId>,
    /// The side that these counters belong to.
    pub side: CrossingSide,
    /// Frames that passed, without those in `in_place_frames`.
    frames: Counter,
    /// Bytes of these frames with their headers.
    bytes: Counter,
    /// Frames of tuples that compiled code wrote itself, and the bytes of each.
    in_place_frames: Counter,
    in_place_frame_bytes: OnceLock<u64>,
    /// Number of times that this side has waited for the other one.
    pub waits: Counter,
    /// Nanoseconds of all waits that are over.
    pub wait_ns: Counter,
    /// Start of the wait that lasts, in nanoseconds of the monotonic clock; 0 if this side does not
    /// wait. Written by the side's thread.
    blocked_since_ns: AtomicU64,
    /// Waits of the last seconds that are over.
    congestion: CongestionMeter,
    /// Time at which the counters were made.
    begin_ns: u64,
    /// Counters of the medium's sending end.
    sender_counters: Option<Arc<EdgeCounters>>,
    /// Histogram of the time that tuples were under way: only on a receiver, and only if asked for.
    latency: Option<CrossingLatencyHistogram>,
}

/// A side of a crossing edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrossingSide {
    /// The sender, which waits for room.
    Sender,
    /// The receiver, which waits for frames.
    Receiver,
}

impl CrossingCounters {
    /// Counters of a crossing on which nothing has passed yet.
    pub(crate) fn new(
        crossing: CrossingId,
        stream: Arc<str>,
        from: PeId,
        to: Vec<PeId>,
        side: CrossingSide,
    ) -> CrossingCounters {
        CrossingCounters {
            crossing,
            stream,
            from_pe: from,
            to_pes: to,
            side,
            frames: Counter::default(),
            bytes: Counter::default(),
            in_place_frames: Counter::default(),
            in_place_frame_bytes: OnceLock::new(),
            waits: Counter::default(),
            wait_ns: Counter::default(),
            blocked_since_ns: AtomicU64::new(0),
            congestion: CongestionMeter::default(),
            begin_ns: monotonic_ns(),
            sender_counters: None,
            latency: None,
        }
    }

    /// Adds the counters of the medium's sending end.
    pub(crate) fn with_sender_counters(
        mut self,
        end: Option<Arc<EdgeCounters>>,
    ) -> CrossingCounters {
        self.sender_counters = end;
        self
    }

    /// Adds a latency histogram, which stamps are recorded in.
    pub(crate) fn with_latency(mut self) -> CrossingCounters {
        self.latency = Some(CrossingLatencyHistogram::default());
        self
    }

    /// Counters of the medium's sending end, brought up to date.
    pub fn sender_counters(&self) -> Option<&EdgeCounters> {
        let end = self.sender_counters.as_deref()?;
        end.refresh();
        Some(end)
    }

    /// Histogram of the time that tuples were under way, if it was asked for.
    pub fn latency(&self) -> Option<&CrossingLatencyHistogram> {
        self.latency.as_ref()
    }

    /// Time in a stamp: nanoseconds of the monotonic clock.
    ///
    /// # Errors
    /// The stamp is not 8 bytes long.
    pub(crate) fn decode_stamp(&self, stamp: &[u8]) -> Result<u64, Fault> {
        let sent_ns = stamp.try_into().map(u64::from_le_bytes);
        sent_ns.map_err(|_| self.stream_fault("is broken: a stamp is no time"))
    }

    /// Records that the tuple behind a stamp has arrived.
    pub(crate) fn record_arrival(&self, sent_ns: u64) {
        if let Some(latency) = &self.latency {
            latency.record(monotonic_ns().saturating_sub(sent_ns));
        }
    }

    /// Number of frames that passed.
    pub fn frames(&self) -> u64 {
        self.frames.get() + self.in_place_frames.get()
    }

    /// Bytes of all frames that passed, with their headers.
    pub fn bytes(&self) -> u64 {
        let each = self.in_place_frame_bytes.get().copied().unwrap_or_default();
        self.bytes.get() + self.in_place_frames.get() * each
    }

    /// Counter for frames of `bytes` bytes that compiled code writes itself.
    pub(crate) fn in_place_counter(&self, bytes: u64) -> &Counter {
        self.in_place_frame_bytes.get_or_init(|| bytes);
        &self.in_place_frames
    }

    /// Start of the wait that lasts, in nanoseconds of the monotonic clock.
    pub fn blocked_since_ns(&self) -> Option<u64> {
        let since = self.blocked_since_ns.load(Ordering::Relaxed);
        (since > 0).then_some(since)
    }

    /// Notes that this side begins to wait for the other one.
    pub(crate) fn begin_wait(&self) {
        self.waits.add(1);
        self.blocked_since_ns
            .store(monotonic_ns(), Ordering::Relaxed);
    }

    /// Notes that a wait of this side is over, if there was one.
    pub(crate) fn end_wait(&self) {
        let since = self.blocked_since_ns.swap(0, Ordering::Relaxed);
        if since > 0 {
            let now = monotonic_ns();
            self.wait_ns.add(now.saturating_sub(since));
            self.congestion.record_wait(since..now);
        }
    }

    /// Share of the last five to ten seconds that this side has waited for the other one: 0 to 100.
    pub fn congestion_percent(&self) -> u8 {
        // What has begun before it is looked at cannot be later than now.
        let blocked = self.blocked_since_ns();
        self.congestion
            .percent(self.begin_ns, monotonic_ns(), blocked)
    }

    /// Counts frames and their bytes.
    #[inline]
    pub(crate) fn count_frames(&self, frames: u64, bytes: u64) {
        self.frames.add(frames);
        self.bytes.add(bytes);
    }

    /// The fault for a medium that does not work: a sentence that names PEs instead of receiver
    /// numbers.
    #[cold]
    pub(crate) fn transport_fault(&self, error: &Error) -> Fault {
        let why = match error {
            Error::PeerLost(PeerLoss {
                receiver,
                reason: why,
            }) => {
                let pe = match receiver {
                    Some(number) => self.to_pes.get(*number as usize).copied(),
                    None => Some(self.from_pe),
                };
                let pe = pe.map_or("the other side".to_owned(), |pe| format!("PE {pe}"));
                format!("{pe} is gone: {why}")
            }
            other => other.to_string(),
        };
        self.stream_fault(&format!("is broken: {why}"))
    }

    /// A fault whose sentence begins with the stream and its PEs.
    #[cold]
    pub(crate) fn stream_fault(&self, what: &str) -> Fault {
        let CrossingCounters {
            stream,
            from_pe: from,
            to_pes: to,
            ..
        } = self;
        let to: Vec<_> = to.iter().map(|pe| format!("PE {pe}")).collect();
        let to = to.join(", ");
        let message = format!("the stream {stream} from PE {from} to {to} {what}");
        Fault::new(FaultKind::System, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters() -> CrossingCounters {
        let to = vec![PeId(2), PeId(5)];
        CrossingCounters::new(
            CrossingId(3),
            "Trades".into(),
            PeId(0),
            to,
            CrossingSide::Sender,
        )
    }

    #[test]
    fn a_wait_is_seen_while_it_lasts_and_counted_when_it_is_over() {
        let counters = counters();
        assert_eq!(counters.blocked_since_ns(), None);
        counters.begin_wait();
        let since = counters.blocked_since_ns().unwrap();
        assert!(since <= monotonic_ns());
        counters.end_wait();
        counters.end_wait();
        assert_eq!(
            (counters.blocked_since_ns(), counters.waits.get()),
            (None, 1)
        );
    }

    #[test]
    fn a_stamp_is_a_time_that_is_over() {
        let counters = counters().with_latency();
        let before = monotonic_ns();
        assert_eq!(
            counters.decode_stamp(&before.to_le_bytes()).unwrap(),
            before
        );
        counters.record_arrival(before);
        counters.record_arrival(u64::MAX);
        assert_eq!(counters.latency().unwrap().bucket_counts().sum::<u64>(), 2);
        let fault = counters.decode_stamp(&[1, 2, 3]).unwrap_err();
        assert!(fault.message().ends_with("a stamp is no time"), "{fault}");
    }

    #[test]
    fn sentences_name_the_stream_and_the_pes() {
        let lost = Error::PeerLost(PeerLoss {
            receiver: Some(1),
            reason: "the process has ended".into(),
        });
        assert_eq!(
            counters().transport_fault(&lost).message(),
            "the stream Trades from PE 0 to PE 2, PE 5 is broken: \
             PE 5 is gone: the process has ended"
        );
        let refused = Error::Refused("the magic is wrong".into());
        assert_eq!(
            counters().transport_fault(&refused).message(),
            "the stream Trades from PE 0 to PE 2, PE 5 is broken: the magic is wrong"
        );
    }
}
