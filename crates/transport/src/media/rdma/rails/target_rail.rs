//! One rail to one receiver, as the sender has it: what is posted on it, what is not reported, and
//! what may still arrive over a connection that was given up.

use std::collections::VecDeque;
use std::ops::Range;

use fabric::{
    ConnectionId, FabricError, LocalSlice, PinnedMemory, PostOptions, RdmaNode, RegionId,
    RemoteAccess, RemoteMemory,
};

use super::SPARE_BYTES;
use super::rail_number::RailNumber;
use super::rail_report::{REPORT_MEMORY_BYTES, RailReport, report_words};
use super::sender_node::SenderNode;
use crate::Error;
use crate::media::rails::schedule::StripeSegment;
use crate::media::rdma::introduction::{INTRODUCTION_WORDS, Introduction};
use crate::media::rdma::number_buffers::NumberBuffers;
use crate::media::rdma::record::RecordMarks;
use crate::media::rdma::write_target::TargetState;
use crate::media::rdma::write_targets::{WRITES_PER_COMPLETION, memory, refused};

/// Share of the ring that is on its way on a rail at most: more would wait in the provider, where a
/// slower rail holds up what the others bring.
const ON_WAY_SHARE: u64 = 8;

/// Bytes of a write from which on it has a completion, so that it is known at once when it is done.
const TOLD_BYTES: u64 = 8 * 1024;

/// Segments on a rail for which memory is reserved.
const SEGMENTS_RESERVED: usize = 64;

/// Shift of the receiver's number in a completion's; below it are the lowest bits of the
/// connection's epoch, and the number of the write, 0 for a receive buffer.
const RECEIVER_SHIFT: u32 = 40;
const EPOCH_SHIFT: u32 = 32;

/// Most receivers of an edge with rails: as many as the bits of a completion's number tell apart.
pub(super) const RECEIVERS_MAX: u32 = 1 << (64 - RECEIVER_SHIFT);

/// A rail to a receiver, from before the receiver has connected.
pub(super) struct TargetRail {
    pub(super) state: TargetState,
    /// Number of the connection among those that the receiver has asked for on this rail.
    pub(super) epoch: u32,
    /// Memory of its own for the receiver's reports, so that its key opens nothing else.
    reports: PinnedMemory,
    pub(super) reports_region: RegionId,
    /// Mark of the report that was taken last.
    report_mark: u64,
    /// The receiver's ring, as this connection reaches it.
    pub(super) memory: RemoteMemory,
    /// Writes that are to be posted.
    outgoing: VecDeque<RailWrite>,
    /// Segments that are not reported, in the order in which they are sent.
    unreported: VecDeque<SentSegment>,
    /// Segments that the receiver has reported.
    received: u64,
    /// Position at which the last segment of a provider with narrow numbers has ended.
    last_end: Option<u64>,
    /// Writes on their way, with their bytes, the sum of these, and the numbers of the last write
    /// and of the last one that has a completion.
    on_way: VecDeque<(u32, u64)>,
    on_way_bytes: u64,
    writes: u32,
    told: u32,
    pub(super) numbers: NumberBuffers,
    /// Positions that may still be written over connections that were given up.
    pub(super) fence: Option<RailFence>,
    /// The receiver as it introduced itself on this rail last.
    pub(super) introduction: Option<Introduction>,
}

/// A write that is to be posted.
#[derive(Clone, Debug)]
struct RailWrite {
    number: RailNumber,
    /// Positions of the ring that are written; empty: the spare bytes.
    positions: Range<u64>,
}

/// A segment that is not reported.
#[derive(Debug)]
struct SentSegment {
    positions: Range<u64>,
    /// Number of its write; `None`: it is not posted.
    write: Option<u32>,
}

/// Positions that may still be written over connections that were given up, up to that with an
/// epoch.
pub(super) struct RailFence {
    pub(super) epoch: u32,
    positions: Vec<Range<u64>>,
    /// Rails by which the receiver was told, as bits.
    pub(super) told_by: u8,
}

impl RailWrite {
    /// Whether the receiver counts it as a segment.
    fn is_segment(&self) -> bool {
        !matches!(self.number, RailNumber::Begin { .. })
    }
}

impl TargetRail {
    pub(super) fn new(node: &mut SenderNode<impl RdmaNode>) -> Result<TargetRail, Error> {
        let reports = memory(REPORT_MEMORY_BYTES)?;
        let reports_region = node.node.register(&reports, RemoteAccess::Write);
        Ok(TargetRail {
            state: TargetState::Awaited,
            epoch: 0,
            reports,
            reports_region: reports_region.map_err(refused)?,
            report_mark: 0,
            memory: RemoteMemory {
                address: 0,
                key: 0,
                bytes: 0,
            },
            outgoing: VecDeque::with_capacity(SEGMENTS_RESERVED),
            unreported: VecDeque::with_capacity(SEGMENTS_RESERVED),
            received: 0,
            last_end: None,
            on_way: VecDeque::with_capacity(SEGMENTS_RESERVED),
            on_way_bytes: 0,
            writes: 0,
            told: 0,
            numbers: NumberBuffers::default(),
            fence: None,
            introduction: None,
        })
    }

    pub(super) fn is_connected(&self) -> bool {
        matches!(self.state, TargetState::Connected(_))
    }

    /// Whether a segment waits to be posted.
    pub(super) fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Whether no more segments can be posted now.
    pub(super) fn is_busy(&self, node: &SenderNode<impl RdmaNode>, is_flushed: bool) -> bool {
        !self.is_connected()
            || self.has_outgoing()
            || self.on_way.len() >= node.writes_on_way_max()
            || self.on_way_bytes >= self.memory.bytes / ON_WAY_SHARE
            || self.unreported.len() >= node.unreported_max(is_flushed)
    }

    /// Number of writes that may wait in the provider.
    pub(super) fn on_way(&self) -> usize {
        self.on_way.len()
    }

    /// Whether all that was posted is written: the provider has told of it, or the receiver has
    /// reported every segment.
    pub(super) fn is_written(&self) -> bool {
        self.on_way.is_empty() || self.unreported.is_empty()
    }

    /// Number of segments that are not reported.
    #[cfg(test)]
    pub(super) fn unreported(&self) -> usize {
        self.unreported.len()
    }

    /// Begins with a connection that is accepted. The receiver has closed all before it.
    pub(super) fn begin(&mut self, connection: ConnectionId, epoch: u32, memory: RemoteMemory) {
        self.state = TargetState::Accepted(connection);
        (self.epoch, self.memory, self.fence) = (epoch, memory, None);
        (self.received, self.last_end) = (0, None);
        (self.writes, self.told, self.report_mark) = (0, 0, 0);
        self.numbers = NumberBuffers::default();
    }

    /// Adds a segment that the schedule has given to this rail.
    pub(super) fn push(&mut self, segment: StripeSegment, has_wide_numbers: bool) {
        let positions = segment.from..segment.to;
        let (from, to) = (segment.from as u32, segment.to as u32);
        let number = match has_wide_numbers {
            true => RailNumber::Segment {
                from,
                bytes: segment.bytes() as u32,
            },
            false => RailNumber::End { to },
        };
        if !has_wide_numbers && self.last_end.replace(segment.to) != Some(segment.from) {
            self.outgoing.push_back(RailWrite {
                number: RailNumber::Begin { from },
                positions: 0..0,
            });
        }
        self.push_write(number, positions);
    }

    /// Adds a number without bytes of the ring, which the schedule knows as an empty segment.
    pub(super) fn push_empty(&mut self, number: RailNumber) {
        self.push_write(number, 0..0);
    }

    fn push_write(&mut self, number: RailNumber, positions: Range<u64>) {
        self.unreported.push_back(SentSegment {
            positions: positions.clone(),
            write: None,
        });
        self.outgoing.push_back(RailWrite { number, positions });
    }

    /// Posts what waits, as far as the provider takes it. Returns the bytes of the segments.
    ///
    /// # Errors
    /// The connection is gone.
    pub(super) fn post_outgoing<N: RdmaNode>(
        &mut self,
        node: &mut SenderNode<N>,
        receiver: usize,
        tells_all: bool,
    ) -> Result<u64, FabricError> {
        let mut bytes = 0;
        while let Some(write) = self.outgoing.front().cloned() {
            // Where a segment is, its number has to fit behind that of its beginning.
            let is_full = self.on_way.len() >= 2 * node.writes_on_way_max();
            if is_full || !self.post_number_buffers(node, receiver)? {
                break;
            }
            let next = self.writes.wrapping_add(1);
            let is_told = tells_all
                || write.positions.end - write.positions.start >= TOLD_BYTES
                || next.is_multiple_of(WRITES_PER_COMPLETION as u32);
            if !self.post(node, receiver, &write, is_told)? {
                break;
            }
            self.outgoing.pop_front();
            if write.is_segment() {
                // Segments are posted in their order.
                let unposted = self.outgoing.iter().filter(|write| write.is_segment());
                let at = self.unreported.len() - 1 - unposted.count();
                self.unreported[at].write = Some(self.writes);
                bytes += write.positions.end - write.positions.start;
            }
        }
        Ok(bytes)
    }

    /// Posts a write without bytes of the ring and without a number, with a completion, if the
    /// provider was not to tell of the last write. Returns whether it is posted.
    ///
    /// # Errors
    /// The connection is gone.
    pub(super) fn ask_for_completion<N: RdmaNode>(
        &mut self,
        node: &mut SenderNode<N>,
        receiver: usize,
    ) -> Result<bool, FabricError> {
        if self.is_written() || self.told == self.writes {
            return Ok(false);
        }
        let options = PostOptions::default();
        self.post_with(node, receiver, 0..0, (true, options))
    }

    /// Posts the receive buffers that numbers of reports have used up, if the provider uses any.
    /// Returns whether all are posted.
    ///
    /// # Errors
    /// The connection is gone.
    pub(super) fn post_number_buffers<N: RdmaNode>(
        &mut self,
        node: &mut SenderNode<N>,
        receiver: usize,
    ) -> Result<bool, FabricError> {
        let Some(connection) = self.state.connection() else {
            return Ok(false);
        };
        let (number, memory) = (self.completion(receiver, 0), &node.number_memory);
        memory.post(&mut node.node, connection, &mut self.numbers, number)
    }

    fn post<N: RdmaNode>(
        &mut self,
        node: &mut SenderNode<N>,
        receiver: usize,
        write: &RailWrite,
        is_told: bool,
    ) -> Result<bool, FabricError> {
        let options = PostOptions {
            immediate: Some(write.number.to_bits()),
            ..PostOptions::default()
        };
        self.post_with(node, receiver, write.positions.clone(), (is_told, options))
    }

    fn post_with<N: RdmaNode>(
        &mut self,
        node: &mut SenderNode<N>,
        receiver: usize,
        positions: Range<u64>,
        (is_told, options): (bool, PostOptions),
    ) -> Result<bool, FabricError> {
        let TargetState::Connected(connection) = self.state else {
            return Ok(false);
        };
        let ring_bytes = self.memory.bytes - SPARE_BYTES as u64;
        let (offset, bytes) = match positions.is_empty() {
            true => (ring_bytes, SPARE_BYTES),
            false => {
                let bytes = (positions.end - positions.start) as usize;
                (positions.start % ring_bytes, bytes)
            }
        };
        // A write has a number that is not 0.
        let write = self.writes.wrapping_add(1).max(1);
        let options = PostOptions {
            completion: is_told.then_some(self.completion(receiver, write)),
            is_inline: bytes <= node.limits().inline_bytes_max,
            ..options
        };
        let from = LocalSlice {
            region: node.ring_region,
            range: offset as usize..offset as usize + bytes,
        };
        let memory = &self.memory;
        if !(node.node).post_write(connection, &from, memory, offset, options)? {
            return Ok(false);
        }
        self.writes = write;
        if is_told {
            self.told = write;
        }
        self.on_way.push_back((write, bytes as u64));
        self.on_way_bytes += bytes as u64;
        Ok(true)
    }

    fn completion(&self, receiver: usize, write: u32) -> u64 {
        let epoch = u64::from(self.epoch as u8);
        (receiver as u64) << RECEIVER_SHIFT | epoch << EPOCH_SHIFT | u64::from(write)
    }

    /// Notes that the writes up to one are done.
    pub(super) fn finish_to(&mut self, write: u32) {
        // Far fewer than half of the numbers are in use.
        let is_done = |on_way: &mut (u32, u64)| write.wrapping_sub(on_way.0) < u32::MAX / 2;
        while let Some((_, bytes)) = self.on_way.pop_front_if(is_done) {
            self.on_way_bytes -= bytes;
        }
    }

    /// Takes the receiver's count of segments that have come. Returns how many are new.
    ///
    /// # Errors
    /// More than were posted.
    pub(super) fn take_received(&mut self, received: u64) -> Result<u64, String> {
        let newly = received.saturating_sub(self.received);
        let mut last = None;
        for _ in 0..newly {
            last = match self.unreported.front().and_then(|sent| sent.write) {
                Some(write) => Some(write),
                None => {
                    let posted = self.received;
                    return Err(format!(
                        "it says that it has received {received} segments of {posted}"
                    ));
                }
            };
            self.unreported.pop_front();
            self.received += 1;
        }
        if let Some(write) = last {
            self.finish_to(write);
        }
        Ok(newly)
    }

    /// Lowest position that may still be written by this rail, if it is below another.
    pub(super) fn lowest_on_way(&self, below: u64) -> u64 {
        let unreported = self.unreported.iter().map(|sent| &sent.positions);
        let fenced = self.fence.iter().flat_map(|fence| &fence.positions);
        let positions = unreported.chain(fenced).filter(|some| !some.is_empty());
        positions.fold(below, |low, some| low.min(some.start))
    }

    /// Ends with the connection: what was on its way may still arrive, until the receiver says that
    /// it has closed its side. Returns the connection that is to be closed; `None`: there is none.
    pub(super) fn end(&mut self, marks: RecordMarks, rails: usize) -> Option<ConnectionId> {
        let connection = self.state.connection()?;
        self.introduction = self.read_introduction(marks, rails).or(self.introduction);
        self.state = TargetState::Disconnected;
        self.outgoing.clear();
        self.on_way.clear();
        self.on_way_bytes = 0;
        let unreported = self.unreported.drain(..).map(|sent| sent.positions);
        let unreported = unreported.filter(|some| !some.is_empty());
        let mut positions = self
            .fence
            .take()
            .map_or(Vec::new(), |fence| fence.positions);
        positions.extend(unreported);
        self.fence = Some(RailFence {
            epoch: self.epoch,
            positions,
            told_by: 0,
        });
        Some(connection)
    }

    /// The receiver's last report on this rail, if it is there and was not taken before.
    pub(super) fn take_report(&mut self, marks: RecordMarks, rails: usize) -> Option<RailReport> {
        let word = |at| self.reports.word(8 * at);
        let mark = word(report_words(rails) - 1);
        if mark == self.report_mark {
            return None;
        }
        let report = RailReport::read(word, rails, marks)?;
        self.report_mark = mark;
        Some(report)
    }

    fn read_introduction(&self, marks: RecordMarks, rails: usize) -> Option<Introduction> {
        let word = |at| self.reports.word(8 * (report_words(rails) + at));
        let words: [u64; INTRODUCTION_WORDS] = std::array::from_fn(word);
        Introduction::read(words, marks)
    }
}

/// The receiver, the lowest bits of the epoch, and the write that a completion's number names.
pub(super) fn named_by(completion: u64) -> (usize, u8, u32) {
    let receiver = (completion >> RECEIVER_SHIFT) as usize;
    (
        receiver,
        (completion >> EPOCH_SHIFT) as u8,
        completion as u32,
    )
}
