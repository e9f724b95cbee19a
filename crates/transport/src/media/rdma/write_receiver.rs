//! The receiver's side of mode `write`: a ring that the sender writes, and credit for it.
//!
//! Credit is the position up to which frames are released, written into the sender's memory. It is
//! written when a quarter of the ring is released, and when no further frame has come: a stream at
//! full speed pays for it rarely, a slow one is credited at once.

use std::ops::Range;

use fabric::{
    COMPLETIONS_PER_POLL, Completion, CompletionKind, ConnectionId, FabricEvent, LocalSlice,
    PinnedMemory, PostOptions, RdmaNode, RegionId, RemoteAccess, RemoteMemory,
};
use ring::frame::FrameBatch;

use super::frame_check::check_frames;
use super::greeting::{RdmaAcceptance, RdmaRequest};
use super::mode::ModeReceiver;
use super::number_buffers::{NumberBuffers, NumberMemory};
use super::record::{CREDIT_BYTES, RECORD_OVERHEAD_BYTES, RecordMarks, WRAP_BYTES};
use super::write_targets::{memory, refused};
use super::{PlacementProof, mode_number};
use crate::{EdgeSpec, Error, PeerLoss};

/// Number that comes to the sender with a write of credit; it is not read.
const CREDIT_NUMBER: u64 = 1;

/// Number of the completions of receive buffers for numbers; those of credit have 1.
const RECEIVE_COMPLETION: u64 = 2;

/// One write of credit in so many has a completion, by which the provider's queue is emptied.
const CREDITS_PER_COMPLETION: u64 = 8;

/// Polls without a frame of which one looks for the end of the connection too: that look costs as
/// much as all the rest of a poll.
const POLLS_PER_EVENT: u32 = 16;

/// The receiver's side of an edge in mode `write`.
pub(super) struct WriteReceiver<N> {
    node: N,
    connection: ConnectionId,
    proof: PlacementProof,
    ring: PinnedMemory,
    ring_bytes: u64,
    /// The words that are written to the sender.
    credit: PinnedMemory,
    credit_region: RegionId,
    /// Receive buffers that the sender's numbers use up, of some providers.
    number_memory: NumberMemory,
    numbers: NumberBuffers,
    /// The sender's answer, once it has come.
    accepted: Option<Accepted>,
    /// Position and number of the next record.
    position: u64,
    number: u32,
    /// Position behind the last record that was polled.
    polled: u64,
    /// Number of records of which the sender has told: all before it are placed.
    told: u32,
    released: u64,
    credited: u64,
    /// Number of writes of credit.
    credits: u64,
    /// Number of polls that have found no frame.
    empty_polls: u32,
    /// Whether the credit word is on its way and must not change.
    is_credit_on_way: bool,
    completions: Vec<Completion>,
    /// Why an operation has failed, if one has.
    failure: Option<String>,
    loss: Option<String>,
}

#[derive(Clone, Copy)]
struct Accepted {
    marks: RecordMarks,
    credit: fabric::RemoteMemory,
}

impl<N: RdmaNode> WriteReceiver<N> {
    /// Asks the sender for a connection, over a node for its address. Does not wait for it.
    pub(super) fn new(
        mut node: N,
        spec: &EdgeSpec,
        receiver: u32,
        proof: PlacementProof,
        ring_bytes: usize,
    ) -> Result<WriteReceiver<N>, Error> {
        let ring = memory(ring_bytes)?;
        let credit = memory(CREDIT_BYTES)?;
        let ring_region = node.register(&ring, RemoteAccess::Write).map_err(refused)?;
        let credit_region = node
            .register(&credit, RemoteAccess::None)
            .map_err(refused)?;
        let number_memory = NumberMemory::new(&mut node, proof == PlacementProof::Numbers)?;
        let request = RdmaRequest {
            mode: mode_number(proof),
            edge: spec.edge,
            receiver,
            token: spec.token,
            ring: RemoteMemory {
                bytes: ring_bytes as u64,
                ..node.remote_memory(ring_region)
            },
        };
        let connection = node.connect(&request.to_bytes()).map_err(refused)?;
        let mut receiver = WriteReceiver {
            node,
            connection,
            proof,
            ring,
            ring_bytes: ring_bytes as u64,
            credit,
            credit_region,
            number_memory,
            numbers: NumberBuffers::default(),
            accepted: None,
            position: 0,
            number: 0,
            polled: 0,
            told: 0,
            released: 0,
            credited: 0,
            credits: 0,
            empty_polls: 0,
            is_credit_on_way: false,
            completions: Vec::with_capacity(COMPLETIONS_PER_POLL),
            failure: None,
            loss: None,
        };
        receiver.post_number_buffers();
        Ok(receiver)
    }
}

impl<N: RdmaNode> ModeReceiver for WriteReceiver<N> {
    type Node = N;

    /// The frames of the next record: see [`crate::ReceivingEnd::poll`].
    fn poll(&mut self) -> Result<FrameBatch<'_>, Error> {
        let mut found = self.take_record()?;
        if found.is_none() {
            self.empty_polls = self.empty_polls.wrapping_add(1);
            self.take_completions()?;
            let is_due = self.is_connecting() || self.failure.is_some();
            if is_due || self.empty_polls.is_multiple_of(POLLS_PER_EVENT) {
                self.take_events()?;
            }
            found = self.take_record()?;
            if found.is_none() {
                self.write_owed_credit();
            }
        }
        match (found, &self.loss) {
            (Some(range), _) => Ok(FrameBatch::new(self.ring.bytes(range))),
            (None, None) => Ok(FrameBatch::default()),
            (None, Some(reason)) => Err(Error::PeerLost(PeerLoss {
                receiver: None,
                reason: reason.clone(),
            })),
        }
    }

    /// Gives the room of all polled records back: see [`crate::ReceivingEnd::release`].
    fn release(&mut self) {
        self.released = self.polled;
        if self.is_credit_due() {
            self.place_all();
            if self.is_credit_due() {
                self.write_credit();
            }
        }
    }

    /// Lets the provider work, and takes what has come but for records.
    fn progress(&mut self) -> Result<(), Error> {
        self.take_completions()?;
        self.take_events()?;
        if self.next_record()?.is_none() {
            self.write_owed_credit();
        }
        Ok(())
    }

    /// Whether the sender has neither accepted nor refused the connection yet.
    fn is_connecting(&self) -> bool {
        self.accepted.is_none() && self.loss.is_none()
    }

    /// Whether the sender has to be told of released frames, and the provider has had no room for
    /// that.
    fn owes_credit(&self) -> bool {
        self.accepted.is_some() && self.released > self.credited && !self.is_credit_on_way
    }

    /// Whether a poll would find a frame or the loss of the sender.
    ///
    /// # Errors
    /// See [`WriteReceiver::poll`].
    fn has_news(&mut self) -> Result<bool, Error> {
        Ok(self.loss.is_some() || self.next_record()?.is_some())
    }

    /// The node, to sleep on.
    fn node(&self) -> &N {
        &self.node
    }

    /// The node, to ask whether a thread may sleep.
    fn node_mut(&mut self) -> &mut N {
        &mut self.node
    }
}

impl<N: RdmaNode> WriteReceiver<N> {
    /// Whether credit is to be written now: for a quarter of the ring, and when no further record
    /// has come, since a receiver that finds nothing more may not come back soon.
    fn is_credit_due(&mut self) -> bool {
        let uncredited = self.released - self.credited;
        let is_idle = |found| !matches!(found, Ok(Some(_)));
        uncredited >= self.ring_bytes / 4 || uncredited > 0 && is_idle(self.next_record())
    }

    /// Has the provider place records until no more come: when credit cannot be written any more,
    /// the provider `tcp` forgets those that a sender has left behind and that were not placed.
    fn place_all(&mut self) {
        let next = (self.position, self.number);
        loop {
            let before = self.position;
            // The next poll reports an error, if there is one.
            let is_taken = self.take_completions().is_ok();
            while self.position - self.released < self.ring_bytes
                && let Ok(Some(range)) = self.next_record()
            {
                self.pass_record(&range);
            }
            if !is_taken || self.position == before {
                break;
            }
        }
        (self.position, self.number) = next;
    }

    /// Lets the provider work, and takes completions.
    fn take_completions(&mut self) -> Result<(), Error> {
        let mut completions = std::mem::take(&mut self.completions);
        let polled = self.node.poll_completions(&mut completions);
        for completion in completions.drain(..) {
            match completion.kind {
                CompletionKind::RemoteWrite { immediate } => {
                    self.numbers.take();
                    self.hear(immediate as u32);
                }
                CompletionKind::Posted => self.is_credit_on_way = false,
                CompletionKind::Failed(error) => self.failure = Some(error.to_string()),
                CompletionKind::Received { .. } => {}
            }
        }
        self.completions = completions;
        polled.map_err(refused)?;
        self.post_number_buffers();
        Ok(())
    }

    /// Writes credit that is not written yet: when no further record has come, as what has come is
    /// read first.
    fn write_owed_credit(&mut self) {
        if self.released > self.credited {
            self.write_credit();
        }
    }

    /// Posts the receive buffers that numbers have used up, if the provider uses any.
    fn post_number_buffers(&mut self) {
        if !self.number_memory.is_used() || self.loss.is_some() {
            return;
        }
        let (memory, number) = (&self.number_memory, RECEIVE_COMPLETION);
        let posted = memory.post(&mut self.node, self.connection, &mut self.numbers, number);
        if let Err(error) = posted {
            self.failure = Some(error.to_string());
        }
    }

    /// Takes the sender's answer, and the end of the connection.
    fn take_events(&mut self) -> Result<(), Error> {
        while let Some(event) = self.node.next_event().map_err(refused)? {
            match event {
                FabricEvent::Connected { data, .. } => {
                    if let Err(error) = self.take_acceptance(&data) {
                        self.lose(error.to_string());
                    }
                }
                FabricEvent::Closed { why, .. } => self.lose(why),
                FabricEvent::Request(_) => {}
            }
        }
        // Receive buffers fail when their connection ends, and the event says why it did.
        if let Some(why) = self.failure.take() {
            self.lose(why);
        }
        Ok(())
    }

    fn take_acceptance(&mut self, data: &[u8]) -> Result<(), Error> {
        let read = RdmaAcceptance::read(data, mode_number(self.proof))?;
        if read.ring_bytes != self.ring_bytes {
            return Err(Error::Refused(format!(
                "the sender's ring has {} bytes, this side's {}",
                read.ring_bytes, self.ring_bytes
            )));
        }
        if read.position != self.position {
            return Err(Error::Refused(format!(
                "the sender begins at position {}, this side at {}",
                read.position, self.position
            )));
        }
        self.accepted = Some(Accepted {
            marks: RecordMarks::new(read.salt),
            credit: read.credit,
        });
        Ok(())
    }

    /// Where the frames of the next record lie, if it is there; takes it.
    fn take_record(&mut self) -> Result<Option<Range<usize>>, Error> {
        let found = self.next_record()?;
        if let Some(range) = &found {
            let checked = check_frames(self.ring.bytes(range.clone()));
            checked.map_err(|why| broken_record(self.position, &why))?;
            self.pass_record(range);
            self.polled = self.position;
        }
        Ok(found)
    }

    /// Goes on behind a record.
    fn pass_record(&mut self, frames: &Range<usize>) {
        self.number = self.number.wrapping_add(1);
        self.position += (frames.len() + RECORD_OVERHEAD_BYTES) as u64;
    }

    /// Where the frames of the next record lie, if it is there. Goes to the start of the ring where
    /// that is the next place for a record.
    fn next_record(&mut self) -> Result<Option<Range<usize>>, Error> {
        let Some(Accepted { marks, .. }) = self.accepted else {
            return Ok(None);
        };
        loop {
            let offset = (self.position % self.ring_bytes) as usize;
            let rest = self.ring_bytes as usize - offset;
            if rest < RECORD_OVERHEAD_BYTES {
                self.position += rest as u64;
                continue;
            }
            if self.proof == PlacementProof::Numbers && self.number == self.told {
                return Ok(None);
            }
            let head = marks.head(self.ring.word(offset));
            let is_turn = head.bytes == WRAP_BYTES;
            let bytes = if is_turn { 0 } else { head.bytes as usize };
            let is_whole = head.number == self.number
                && bytes.is_multiple_of(8)
                && bytes <= rest - RECORD_OVERHEAD_BYTES
                && self.ring.word(offset + 8 + bytes) == marks.end_word(head);
            match (is_whole, self.proof) {
                (true, _) if is_turn => {
                    self.number = self.number.wrapping_add(1);
                    self.position += rest as u64;
                }
                (true, _) => return Ok(Some(offset + 8..offset + 8 + bytes)),
                (false, PlacementProof::Marks) => return Ok(None),
                (false, PlacementProof::Numbers) => return Err(torn_record(self.position)),
            }
        }
    }

    /// Tells the sender how far frames are released. If it cannot be done now, it is done later.
    fn write_credit(&mut self) {
        let Some(accepted) = self.accepted.filter(|_| !self.is_credit_on_way) else {
            return;
        };
        let words = accepted.marks.credit_words(self.released);
        let bytes = self.credit.bytes_mut(0..CREDIT_BYTES);
        bytes[..8].copy_from_slice(&words[0].to_ne_bytes());
        bytes[8..].copy_from_slice(&words[1].to_ne_bytes());
        let is_inline = self.node.limits().inline_bytes_max >= CREDIT_BYTES;
        let credits = self.credits + 1;
        let is_told = !is_inline || credits.is_multiple_of(CREDITS_PER_COMPLETION);
        let options = PostOptions {
            completion: is_told.then_some(1),
            immediate: Some(CREDIT_NUMBER),
            is_more: false,
            is_inline,
        };
        let from = LocalSlice {
            region: self.credit_region,
            range: 0..CREDIT_BYTES,
        };
        match self
            .node
            .post_write(self.connection, &from, &accepted.credit, 0, options)
        {
            Ok(true) => {
                self.credited = self.released;
                self.credits = credits;
                self.is_credit_on_way = !is_inline;
            }
            Ok(false) => {}
            Err(error) => self.lose(error.to_string()),
        }
    }

    /// Takes a number of records of which the sender tells. It never falls.
    fn hear(&mut self, told: u32) {
        if told.wrapping_sub(self.told) <= u32::MAX / 2 {
            self.told = told;
        }
    }

    fn lose(&mut self, why: String) {
        self.loss.get_or_insert(why);
    }
}

#[cold]
fn broken_record(position: u64, why: &str) -> Error {
    Error::Refused(format!(
        "the record of the sender at position {position} is broken: {why}"
    ))
}

#[cold]
fn torn_record(position: u64) -> Error {
    Error::Refused(format!(
        "the sender has told of a record at position {position} that is not there"
    ))
}
