//! The receiver's side of modes `write` and `batch`: a ring that the sender writes, and credit for
//! it.
//!
//! Credit is the position up to which frames are released, written into the sender's memory at the
//! times that [`WithheldCredit`] decides.
//!
//! In mode `batch` a connection that breaks is made again ([`SenderReconnection`]): the receiver
//! names the position behind the last whole record in its ring, and the sender writes on from
//! there. A record never changes once it was written, so one that is half there is made whole by
//! the same bytes.

use std::ops::Range;
use std::os::fd::BorrowedFd;

use fabric::{
    COMPLETIONS_PER_POLL, Completion, CompletionKind, ConnectionId, FabricError, FabricEvent,
    LocalSlice, PinnedMemory, PostOptions, RdmaNode, RegionId, RemoteAccess, RemoteMemory,
};
use ring::frame::FrameBatch;

use super::frame_check::check_frames;
use super::greeting::{RdmaAcceptance, RdmaRequest};
use super::introduction::CREDIT_MEMORY_BYTES;
use super::mode::ModeReceiver;
use super::number_buffers::{NumberBuffers, NumberMemory};
use super::peer_watch::PeerWatch;
use super::record::{RECORD_OVERHEAD_BYTES, RecordMarks, WRAP_BYTES};
use super::sender_reconnection::SenderReconnection;
use super::withheld_credit::WithheldCredit;
use super::write_targets::{memory, refused};
use super::{PlacementProof, batch_mode_number, mode_number};
use crate::{EdgeSpec, Error, PeerLoss};

/// Number that comes to the sender with a write of credit; it is not read.
const CREDIT_NUMBER: u64 = 1;

/// Number of the completions of receive buffers for numbers; those of credit have 1.
const RECEIVE_COMPLETION: u64 = 2;

/// One write of credit in so many has a completion, by which the provider's queue is emptied.
const CREDITS_PER_COMPLETION: u64 = 8;

/// Polls in a row without a frame of which one looks for the end of the connection too: that look
/// costs as much as all the rest of a poll.
const POLLS_PER_EVENT: u32 = 16;

/// The receiver's side of an edge in mode `write` or `batch`.
pub(super) struct WriteReceiver<N> {
    node: N,
    connection: ConnectionId,
    proof: PlacementProof,
    request: RdmaRequest,
    ring: PinnedMemory,
    ring_bytes: u64,
    /// The words that are written to the sender.
    credit: PinnedMemory,
    credit_region: RegionId,
    /// Receive buffers that the sender's numbers use up, of some providers.
    number_memory: NumberMemory,
    numbers: NumberBuffers,
    /// The sender's last answer, once it has come.
    accepted: Option<Accepted>,
    /// Whether the connection of that answer goes on.
    is_linked: bool,
    /// Position that the last request has named.
    asked: u64,
    /// Where the next record begins.
    next: RecordPlace,
    /// Number of records of which the sender has told: all before it are placed.
    told: u32,
    withheld: WithheldCredit,
    /// Number of credits that were written.
    credits: u64,
    /// Whether the credit word is on its way and must not change.
    is_credit_on_way: bool,
    /// In mode `batch`: the way to the sender, and whether the sender is still to be told who this
    /// end is.
    link: Option<SenderReconnection<N>>,
    owes_introduction: bool,
    completions: Vec<Completion>,
    /// Why an operation has failed, if one has.
    failure: Option<String>,
    /// Whether the connection is given up, and the next one not asked for yet.
    is_broken: bool,
    loss: Option<String>,
}

/// Where a record begins, and which one it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecordPlace {
    pub(super) position: u64,
    pub(super) number: u32,
}

#[derive(Clone, Copy)]
struct Accepted {
    marks: RecordMarks,
    credit: fabric::RemoteMemory,
}

impl<N: RdmaNode> WriteReceiver<N> {
    /// Asks the sender for a connection, over a node for its address. Does not wait for it. With a
    /// link the mode is `batch`.
    pub(super) fn new(
        mut node: N,
        spec: &EdgeSpec,
        receiver: u32,
        proof: PlacementProof,
        ring_bytes: usize,
        link: Option<SenderReconnection<N>>,
    ) -> Result<WriteReceiver<N>, Error> {
        let ring = memory(ring_bytes)?;
        let credit = memory(CREDIT_MEMORY_BYTES)?;
        let number_memory = NumberMemory::new(&mut node, proof == PlacementProof::Numbers)?;
        let request = RdmaRequest {
            mode: match link {
                None => mode_number(proof),
                Some(_) => batch_mode_number(proof),
            },
            edge: spec.edge,
            receiver,
            token: spec.token,
            ring: RemoteMemory {
                address: 0,
                key: 0,
                bytes: match &link {
                    None => ring_bytes as u64,
                    Some(link) => RdmaRequest::place_word(0, link.introduction().instance),
                },
            },
        };
        let asked = ask(&mut node, &ring, &credit, request);
        let (credit_region, connection) = asked.map_err(refused)?;
        let uses_buffers = number_memory.is_used();
        let withheld = WithheldCredit::new(ring_bytes as u64, uses_buffers, link.is_some());
        let mut receiver = WriteReceiver {
            node,
            connection,
            proof,
            request,
            ring,
            ring_bytes: ring_bytes as u64,
            credit,
            credit_region,
            number_memory,
            numbers: NumberBuffers::default(),
            accepted: None,
            is_linked: false,
            asked: 0,
            next: RecordPlace::default(),
            told: 0,
            withheld,
            credits: 0,
            is_credit_on_way: false,
            owes_introduction: link.is_some(),
            link,
            completions: Vec::with_capacity(COMPLETIONS_PER_POLL),
            failure: None,
            is_broken: false,
            loss: None,
        };
        receiver.post_number_buffers();
        Ok(receiver)
    }
}

/// Registers a receiver's memory at a node, and asks for a connection. Returns the region of the
/// credit, and the connection.
fn ask<N: RdmaNode>(
    node: &mut N,
    ring: &PinnedMemory,
    credit: &PinnedMemory,
    request: RdmaRequest,
) -> Result<(RegionId, ConnectionId), FabricError> {
    let ring_region = node.register(ring, RemoteAccess::Write)?;
    let credit_region = node.register(credit, RemoteAccess::None)?;
    let request = RdmaRequest {
        ring: RemoteMemory {
            bytes: request.ring.bytes,
            ..node.remote_memory(ring_region)
        },
        ..request
    };
    let connection = node.connect(&request.to_bytes())?;
    Ok((credit_region, connection))
}

impl<N: RdmaNode> ModeReceiver for WriteReceiver<N> {
    /// The frames of the next record: see [`crate::ReceivingEnd::poll`].
    fn poll(&mut self) -> Result<FrameBatch<'_>, Error> {
        let mut found = self.take_record()?;
        if found.is_none() {
            let empty_polls = self.withheld.note_empty_poll();
            self.take_completions()?;
            let is_due = self.is_connecting() || self.failure.is_some();
            if is_due || empty_polls.is_multiple_of(POLLS_PER_EVENT) {
                self.take_events()?;
            }
            found = self.take_record()?;
            if found.is_none() && self.withheld.is_due_when_empty() {
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
        self.withheld.release(self.next.position);
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
        if self.find_record(self.next)?.is_none() {
            self.write_owed_credit();
        }
        Ok(())
    }

    /// Whether the sender has neither accepted nor refused the connection yet.
    fn is_connecting(&self) -> bool {
        !self.is_linked && self.loss.is_none()
    }

    /// Whether the sender has to be told of released frames, and the provider has had no room for
    /// that.
    fn owes_credit(&self) -> bool {
        let owes = self.owes_introduction || self.withheld.is_owed();
        self.is_linked && owes && !self.is_credit_on_way
    }

    fn may_sleep(&mut self) -> Result<bool, Error> {
        self.node.may_sleep().map_err(refused)
    }

    fn list_wait_fds<'a>(&'a self, fds: &mut Vec<BorrowedFd<'a>>) {
        // A provider without descriptors was refused when the edge was opened.
        fds.extend(self.node.wait_fds().into_iter().flatten());
        let watch = self.link.as_ref().and_then(SenderReconnection::watch);
        fds.extend(watch.map(PeerWatch::wakeup_fd));
    }

    /// Whether a poll would find a frame or the loss of the sender.
    ///
    /// # Errors
    /// See [`WriteReceiver::poll`].
    fn has_news(&mut self) -> Result<bool, Error> {
        Ok(self.loss.is_some() || self.find_record(self.next)?.is_some())
    }
}

impl<N: RdmaNode> WriteReceiver<N> {
    fn is_credit_due(&self) -> bool {
        let is_idle = || !matches!(self.find_record(self.next), Ok(Some(_)));
        self.withheld.is_due(is_idle)
    }

    /// Has the provider place records until no more come: when credit cannot be written any more,
    /// the provider `tcp` forgets those that a sender has left behind and that were not placed.
    fn place_all(&mut self) {
        let mut place = self.next;
        loop {
            let before = place.position;
            // The next poll reports an error, if there is one.
            let is_taken = self.take_completions().is_ok();
            while place.position - self.withheld.released() < self.ring_bytes
                && let Ok(Some((_, after))) = self.find_record(place)
            {
                place = after;
            }
            if !is_taken || place.position == before {
                break;
            }
        }
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
        if self.owes_credit() {
            self.write_credit();
        }
    }

    /// Posts the receive buffers that numbers have used up, if the provider uses any.
    fn post_number_buffers(&mut self) {
        if !self.number_memory.is_used() || self.is_broken {
            return;
        }
        let (memory, number) = (&self.number_memory, RECEIVE_COMPLETION);
        let posted = memory.post(&mut self.node, self.connection, &mut self.numbers, number);
        if let Err(error) = posted {
            self.failure = Some(error.to_string());
        }
    }

    /// Takes the sender's answer, and the end of the connection, and connects again.
    fn take_events(&mut self) -> Result<(), Error> {
        while let Some(event) = self.node.next_event().map_err(refused)? {
            match event {
                FabricEvent::Connected { connection, data } if connection == self.connection => {
                    if let Err(error) = self.take_acceptance(&data) {
                        self.lose(error.to_string());
                    }
                }
                FabricEvent::Closed {
                    why, is_refused, ..
                } if is_refused || !self.is_broken => self.break_off(why, is_refused),
                FabricEvent::Connected { .. }
                | FabricEvent::Closed { .. }
                | FabricEvent::Request(_) => {}
            }
        }
        // Receive buffers fail when their connection ends, and the event says why it did.
        if let Some(why) = self.failure.take()
            && !self.is_broken
        {
            self.break_off(why, false);
        }
        if let Some(link) = self.link.as_ref().filter(|_| self.is_connecting()) {
            match link.check() {
                Err(why) => self.lose(why),
                Ok(()) if link.is_due() => self.connect_again(),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    fn take_acceptance(&mut self, data: &[u8]) -> Result<(), Error> {
        let read = RdmaAcceptance::read(data, self.request.mode)?;
        if read.ring_bytes != self.ring_bytes {
            return Err(Error::Refused(format!(
                "the sender's ring has {} bytes, this side's {}",
                read.ring_bytes, self.ring_bytes
            )));
        }
        if read.position != self.asked {
            return Err(Error::Refused(format!(
                "the sender goes on at position {}, this side at {}",
                read.position, self.asked
            )));
        }
        let credit = match &mut self.link {
            None => read.credit,
            Some(link) => {
                link.note_connected();
                RemoteMemory {
                    bytes: CREDIT_MEMORY_BYTES as u64,
                    ..read.credit
                }
            }
        };
        self.accepted = Some(Accepted {
            marks: RecordMarks::new(read.salt),
            credit,
        });
        self.is_linked = true;
        Ok(())
    }

    /// Makes another connection, over a node of its own.
    fn connect_again(&mut self) {
        // From here on nothing more is placed.
        self.node.disconnect(self.connection);
        self.asked = self.placed_to();
        let Some(link) = &mut self.link else {
            return;
        };
        let instance = link.introduction().instance;
        self.request.ring.bytes = RdmaRequest::place_word(self.asked, instance);
        let request = self.request;
        let has_numbers = self.proof == PlacementProof::Numbers;
        let asked = link.begin_attempt().map_err(refused).and_then(|mut node| {
            let number_memory = NumberMemory::new(&mut node, has_numbers)?;
            let asked = ask(&mut node, &self.ring, &self.credit, request).map_err(refused)?;
            Ok((node, number_memory, asked))
        });
        match asked {
            Ok((node, number_memory, (credit_region, connection))) => {
                // With the old node goes the registration by which the ring was reached.
                self.node = node;
                (self.number_memory, self.numbers) = (number_memory, NumberBuffers::default());
                (self.credit_region, self.connection) = (credit_region, connection);
                self.is_credit_on_way = false;
                self.owes_introduction = true;
                (self.is_broken, self.failure) = (false, None);
                self.post_number_buffers();
            }
            Err(error) => self.break_off(error.to_string(), false),
        }
    }

    /// Position behind the last record that is whole.
    fn placed_to(&self) -> u64 {
        let mut place = self.next;
        while let Ok(Some((_, after))) = self.find_record(place) {
            place = after;
        }
        place.position
    }

    /// Where the frames of the next record lie, if it is there; takes it.
    fn take_record(&mut self) -> Result<Option<Range<usize>>, Error> {
        let Some((range, after)) = self.find_record(self.next)? else {
            return Ok(None);
        };
        let checked = check_frames(self.ring.bytes(range.clone()));
        checked.map_err(|why| broken_record(self.next.position, &why))?;
        self.next = after;
        self.withheld.note_record();
        if let Some(link) = &mut self.link {
            link.note_received();
        }
        Ok(Some(range))
    }

    /// Where the frames of a record lie, if it is there, and where the next one begins. Goes to the
    /// start of the ring where that is the place of the record.
    fn find_record(
        &self,
        mut place: RecordPlace,
    ) -> Result<Option<(Range<usize>, RecordPlace)>, Error> {
        let Some(Accepted { marks, .. }) = self.accepted else {
            return Ok(None);
        };
        loop {
            let offset = (place.position % self.ring_bytes) as usize;
            let rest = self.ring_bytes as usize - offset;
            if rest < RECORD_OVERHEAD_BYTES {
                place.position += rest as u64;
                continue;
            }
            if self.proof == PlacementProof::Numbers && place.number == self.told {
                return Ok(None);
            }
            let head = marks.head(self.ring.word(offset));
            let is_turn = head.bytes == WRAP_BYTES;
            let bytes = if is_turn { 0 } else { head.bytes as usize };
            let is_whole = head.number == place.number
                && bytes.is_multiple_of(8)
                && bytes <= rest - RECORD_OVERHEAD_BYTES
                && self.ring.word(offset + 8 + bytes) == marks.end_word(head);
            match (is_whole, self.proof) {
                (true, _) => place.number = place.number.wrapping_add(1),
                (false, PlacementProof::Marks) => return Ok(None),
                (false, PlacementProof::Numbers) => return Err(torn_record(place.position)),
            }
            if !is_turn {
                place.position += (bytes + RECORD_OVERHEAD_BYTES) as u64;
                return Ok(Some((offset + 8..offset + 8 + bytes, place)));
            }
            place.position += rest as u64;
        }
    }

    /// Tells the sender how far frames are released. If it cannot be done now, it is done later.
    fn write_credit(&mut self) {
        let is_possible = self.is_linked && !self.is_credit_on_way;
        let Some(accepted) = self.accepted.filter(|_| is_possible) else {
            return;
        };
        let bytes = self.fill_credit(accepted.marks);
        let is_inline = self.node.limits().inline_bytes_max >= bytes;
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
            range: 0..bytes,
        };
        match self
            .node
            .post_write(self.connection, &from, &accepted.credit, 0, options)
        {
            Ok(true) => {
                self.withheld.note_written();
                self.credits = credits;
                self.owes_introduction = false;
                self.is_credit_on_way = !is_inline;
            }
            Ok(false) => {}
            Err(error) => self.break_off(error.to_string(), false),
        }
    }

    /// Fills the words that are written to the sender. Returns how many bytes they have.
    fn fill_credit(&mut self, marks: RecordMarks) -> usize {
        let credit = marks.credit_words(self.withheld.released());
        let introduction = self.link.as_ref().filter(|_| self.owes_introduction);
        let introduction = introduction.map(|link| link.introduction().to_words(marks));
        let words = credit.iter().chain(introduction.iter().flatten());
        let mut bytes = 0;
        for word in words {
            let room = self.credit.bytes_mut(bytes..bytes + size_of::<u64>());
            room.copy_from_slice(&word.to_ne_bytes());
            bytes += size_of::<u64>();
        }
        bytes
    }

    /// Notes that the connection is broken, or was refused.
    fn break_off(&mut self, why: String, is_refused: bool) {
        (self.is_linked, self.is_broken) = (false, true);
        let broken = match &mut self.link {
            None => Err(why),
            Some(link) => link.note_break(why, is_refused),
        };
        if let Err(why) = broken {
            self.lose(why);
        }
    }

    /// Takes a number of records of which the sender tells. It never falls.
    fn hear(&mut self, told: u32) {
        if told.wrapping_sub(self.told) <= u32::MAX / 2 {
            self.told = told;
        }
    }

    fn lose(&mut self, why: String) {
        self.is_linked = false;
        self.loss.get_or_insert(why);
        // The sender need not wait for an end that believes it to be gone.
        if let Some(watch) = self.link.as_ref().and_then(SenderReconnection::watch) {
            watch.close();
        }
    }
}

#[cold]
pub(super) fn broken_record(position: u64, why: &str) -> Error {
    Error::Refused(format!(
        "the record of the sender at position {position} is broken: {why}"
    ))
}

#[cold]
pub(super) fn torn_record(position: u64) -> Error {
    Error::Refused(format!(
        "the sender has told of a record at position {position} that is not there"
    ))
}
