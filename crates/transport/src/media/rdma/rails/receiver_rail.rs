//! One rail of a receiver: its connection, what has come on it, and the reports that are written by
//! it.

use std::ops::Range;

use fabric::{
    COMPLETIONS_PER_POLL, Completion, CompletionKind, ConnectionId, FabricError, LocalSlice,
    PinnedMemory, PostOptions, RdmaNode, RegionId, RemoteAccess, RemoteMemory,
};

use super::EPOCH_MASK;
use super::rail_number::RailNumber;
use super::rail_report::{REPORT_MEMORY_BYTES, RailState};
use super::rail_wait_set::RailWaitSet;
use crate::Error;
use crate::media::rdma::greeting::RdmaRequest;
use crate::media::rdma::number_buffers::{NumberBuffers, NumberMemory};
use crate::media::rdma::record::RecordMarks;
use crate::media::rdma::sender_reconnection::SenderReconnection;
use crate::media::rdma::write_targets::{memory, refused};

/// Number that comes to the sender with a report; it is not read.
const REPORT_NUMBER: u64 = 1;

/// Number of the completions of receive buffers; those of reports have the report's, from 1 on.
const RECEIVE_COMPLETION: u64 = 0;

/// One report in so many has a completion, by which the provider's queue is emptied, and all have
/// one when more are not confirmed.
const REPORTS_PER_COMPLETION: u64 = 4;

/// Most reports that are not confirmed: each tells everything, so more would tell nothing new.
const REPORTS_ON_WAY_MAX: u64 = 16;

/// One rail of a receiver.
pub(super) struct ReceiverRail<N> {
    pub(super) link: SenderReconnection<N>,
    /// The connection that is made, or asked for.
    pub(super) open: Option<OpenRail<N>>,
    /// State of the rail as reports tell it.
    pub(super) state: RailState,
    /// Whether the sender has accepted the connection.
    pub(super) is_linked: bool,
    /// Bytes of segments since the last report by this rail.
    pub(super) unreported_bytes: u64,
    /// Segments that the last report by this rail has told of, and the changes of rails.
    pub(super) reported: u64,
    pub(super) reported_changes: u64,
    /// Whether the sender is still to be told who this end is.
    pub(super) owes_introduction: bool,
    /// Why the sender is not asked any more by this rail, until another rail reaches it.
    pub(super) lost: Option<String>,
    reports: PinnedMemory,
    completions: Vec<Completion>,
}

/// A connection of a rail, with the node that it is of.
pub(super) struct OpenRail<N> {
    pub(super) node: N,
    pub(super) connection: ConnectionId,
    reports_region: RegionId,
    /// Receive buffers that the sender's numbers use up, of some providers.
    number_memory: NumberMemory,
    numbers: NumberBuffers,
    /// Where reports go, once the sender has accepted.
    pub(super) target: Option<RemoteMemory>,
    /// Reports that were written, that are confirmed, and the last one whose bytes must stay until
    /// it is.
    written: u64,
    confirmed: u64,
    kept: u64,
    /// Position at which the segment of the next number begins, where numbers are narrow.
    pub(super) begin: Option<u64>,
    /// Why an operation has failed, if one has.
    pub(super) failure: Option<String>,
}

impl<N: RdmaNode> ReceiverRail<N> {
    pub(super) fn new(link: SenderReconnection<N>) -> Result<ReceiverRail<N>, Error> {
        Ok(ReceiverRail {
            link,
            open: None,
            state: RailState::NEVER_OPEN,
            is_linked: false,
            unreported_bytes: 0,
            reported: 0,
            reported_changes: 0,
            owes_introduction: true,
            lost: None,
            reports: memory(REPORT_MEMORY_BYTES)?,
            completions: Vec::with_capacity(COMPLETIONS_PER_POLL),
        })
    }

    /// Whether segments have come that no report by this rail has told of.
    pub(super) fn has_news(&self) -> bool {
        self.is_linked && self.state.received > self.reported
    }

    /// Asks for a connection, over a node of its own. With the old node goes the registration by
    /// which the ring was reached.
    ///
    /// # Errors
    /// The provider has failed.
    pub(super) fn ask(
        &mut self,
        ring: &PinnedMemory,
        wait_set: &RailWaitSet,
        request: impl FnOnce(u32) -> RdmaRequest,
    ) -> Result<(), Error> {
        self.open = None;
        self.is_linked = false;
        self.state = RailState {
            epoch: self.state.epoch.wrapping_add(1) & EPOCH_MASK,
            is_closed: false,
            received: 0,
        };
        (self.reported, self.unreported_bytes, self.owes_introduction) = (0, 0, true);
        let mut node = self.link.begin_attempt().map_err(refused)?;
        for fd in node.wait_fds().map_err(refused)? {
            wait_set.add(fd)?;
        }
        let number_memory = NumberMemory::new(&mut node, true)?;
        let request = request(self.state.epoch);
        let asked = self.ask_over(&mut node, ring, request).map_err(refused);
        let (reports_region, connection) = asked?;
        self.open = Some(OpenRail {
            node,
            connection,
            reports_region,
            number_memory,
            numbers: NumberBuffers::default(),
            target: None,
            written: 0,
            confirmed: 0,
            kept: 0,
            begin: None,
            failure: None,
        });
        self.post_number_buffers();
        Ok(())
    }

    fn ask_over(
        &self,
        node: &mut N,
        ring: &PinnedMemory,
        request: RdmaRequest,
    ) -> Result<(RegionId, ConnectionId), FabricError> {
        let ring_region = node.register(ring, RemoteAccess::Write)?;
        let reports_region = node.register(&self.reports, RemoteAccess::None)?;
        let request = RdmaRequest {
            ring: RemoteMemory {
                bytes: request.ring.bytes,
                ..node.remote_memory(ring_region)
            },
            ..request
        };
        let connection = node.connect(&request.to_bytes())?;
        Ok((reports_region, connection))
    }

    /// Closes the connection, after which nothing is placed by it any more.
    pub(super) fn close(&mut self) {
        if let Some(mut open) = self.open.take() {
            open.node.disconnect(open.connection);
        }
        self.is_linked = false;
        (self.state.is_closed, self.state.received) = (true, 0);
    }

    /// Lets the provider work, and appends the numbers that have come. Returns whether there was
    /// anything.
    ///
    /// # Errors
    /// The node has failed.
    pub(super) fn poll_numbers(&mut self, numbers: &mut Vec<u64>) -> Result<bool, FabricError> {
        let Some(open) = &mut self.open else {
            return Ok(false);
        };
        let polled = open.node.poll_completions(&mut self.completions);
        let has_come = !self.completions.is_empty();
        for completion in self.completions.drain(..) {
            match completion.kind {
                CompletionKind::RemoteWrite { immediate } => {
                    open.numbers.take();
                    numbers.push(immediate);
                }
                CompletionKind::Posted => {
                    open.confirmed = open.confirmed.max(completion.number);
                }
                CompletionKind::Failed(error) => open.failure = Some(error.to_string()),
                CompletionKind::Received { .. } => {}
            }
        }
        polled?;
        if has_come || open.number_memory.is_used() {
            self.post_number_buffers();
        }
        Ok(has_come)
    }

    /// Posts the receive buffers that numbers have used up, if the provider uses any.
    fn post_number_buffers(&mut self) {
        let Some(open) = self.open.as_mut().filter(|open| open.failure.is_none()) else {
            return;
        };
        let (memory, number) = (&open.number_memory, RECEIVE_COMPLETION);
        let posted = memory.post(&mut open.node, open.connection, &mut open.numbers, number);
        if let Err(error) = posted {
            open.failure = Some(error.to_string());
        }
    }

    /// Notes that an operation has failed.
    pub(super) fn fail(&mut self, why: String) {
        if let Some(open) = &mut self.open {
            open.failure.get_or_insert(why);
        }
    }

    /// Whether a report can be written now: the last one need not stay, and few are not confirmed.
    pub(super) fn can_report(&self) -> bool {
        let open = self.open.as_ref().filter(|_| self.is_linked);
        open.is_some_and(|open| {
            open.kept <= open.confirmed && open.written - open.confirmed < REPORTS_ON_WAY_MAX
        })
    }

    /// Writes a report of these words, and before the first one of a connection who this end is.
    /// Returns whether the provider had room.
    ///
    /// # Errors
    /// The connection is gone.
    pub(super) fn write_report(
        &mut self,
        words: &[u64],
        marks: RecordMarks,
    ) -> Result<bool, FabricError> {
        if self.owes_introduction {
            // Its bytes never change, so they may be read at any time.
            let introduction = self.link.introduction().to_words(marks);
            self.put_words(words.len(), &introduction);
            let bytes = 8 * words.len()..8 * (words.len() + introduction.len());
            let options = PostOptions::default();
            self.owes_introduction = !self.write(bytes, options)?;
        }
        if self.owes_introduction {
            return Ok(false);
        }
        let Some(open) = &self.open else {
            return Ok(false);
        };
        let bytes = 8 * words.len();
        let report = open.written + 1;
        let is_inline = open.node.limits().inline_bytes_max >= bytes;
        let is_many = report - open.confirmed > 2 * REPORTS_PER_COMPLETION;
        let is_told = !is_inline || is_many || report.is_multiple_of(REPORTS_PER_COMPLETION);
        self.put_words(0, words);
        let options = PostOptions {
            completion: is_told.then_some(report),
            immediate: Some(REPORT_NUMBER),
            ..PostOptions::default()
        };
        let is_written = self.write(0..bytes, options)?;
        if let Some(open) = self.open.as_mut().filter(|_| is_written) {
            open.written = report;
            if !is_inline {
                open.kept = report;
            }
        }
        Ok(is_written)
    }

    fn put_words(&mut self, at: usize, words: &[u64]) {
        for (at, word) in (at..).zip(words) {
            let room = self.reports.bytes_mut(8 * at..8 * at + 8);
            room.copy_from_slice(&word.to_ne_bytes());
        }
    }

    /// Writes bytes of the memory for reports to the same place of the sender's.
    fn write(&mut self, bytes: Range<usize>, options: PostOptions) -> Result<bool, FabricError> {
        let Some(open) = &mut self.open else {
            return Ok(false);
        };
        let Some(target) = open.target else {
            return Ok(false);
        };
        let options = PostOptions {
            is_inline: open.node.limits().inline_bytes_max >= bytes.len(),
            ..options
        };
        let offset = bytes.start as u64;
        let from = LocalSlice {
            region: open.reports_region,
            range: bytes,
        };
        (open.node).post_write(open.connection, &from, &target, offset, options)
    }
}

/// A number that has come, as far as it is one of a segment.
pub(super) fn segment_of<N>(
    open: &mut OpenRail<N>,
    number: RailNumber,
    near: impl Fn(u32) -> Option<u64>,
) -> Option<(u64, u64)> {
    match number {
        RailNumber::Segment { from, bytes } => {
            let from = near(from)?;
            Some((from, from + u64::from(bytes)))
        }
        RailNumber::End { to } => {
            let (from, to) = (open.begin?, near(to)?);
            open.begin = Some(to);
            Some((from, to))
        }
        _ => None,
    }
}
