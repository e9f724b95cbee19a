//! The receiver's side of an edge with rails: a ring that the sender writes by all of them, and
//! reports.
//!
//! ```text
//!   released      next           placed in order
//!   --+-------------+---------------+--------------------------+--
//!     | delivered   | whole and     | some segments, placed    |
//!     |             | begun records | out of order             |
//! ```
//! Numbers tell which positions are placed, so records are looked at when all before their ends is.
//! Reports go by the rails on which something has come: for each 64 KiB, for a quarter of the ring
//! that is released, and when no further record has come.

use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};

use fabric::{FabricEvent, PinnedMemory, RdmaNode, RemoteMemory};
use ring::frame::FrameBatch;

use super::rail_number::{RailNumber, near};
use super::rail_report::{report_words, seal_report};
use super::rail_request::RailRequest;
use super::rail_wait_set::RailWaitSet;
use super::receiver_rail::{ReceiverRail, segment_of};
use super::{RAILS_MODE, SPARE_BYTES, is_at_most};
use crate::media::rails::received_ranges::ReceivedRanges;
use crate::media::rdma::frame_check::check_frames;
use crate::media::rdma::greeting::{RdmaAcceptance, RdmaRequest};
use crate::media::rdma::introduction::INTRODUCTION_WORDS;
use crate::media::rdma::mode::ModeReceiver;
use crate::media::rdma::record::{RECORD_OVERHEAD_BYTES, RecordMarks, WRAP_BYTES};
use crate::media::rdma::sender_reconnection::SenderReconnection;
use crate::media::rdma::write_receiver::{RecordPlace, broken_record, torn_record};
use crate::media::rdma::write_targets::memory;
use crate::{EdgeSpec, Error, PeerLoss, RAILS_MAX};

/// Bytes on a rail after which the sender is told of them at once: it assigns by what has come.
const REPORT_BYTES: u64 = 64 * 1024;

/// Polls of which one takes events of all rails, and reads all rails, whatever was found.
const POLLS_PER_LOOK: u32 = 16;

/// The receiver's side of an edge with rails.
pub(super) struct RailReceiver<N> {
    rails: Vec<ReceiverRail<N>>,
    /// Request for a connection, but for the place of the ring and the word of the rail.
    request: RdmaRequest,
    instance: u64,
    ring: PinnedMemory,
    ring_bytes: u64,
    /// Marks of the sender, once it has accepted a connection.
    marks: Option<RecordMarks>,
    placed: ReceivedRanges,
    /// Where the next record begins.
    next: RecordPlace,
    released: u64,
    /// Position that the last report has told of.
    reported_release: u64,
    /// Bytes on a rail after which it reports.
    report_bytes: u64,
    /// Number of changes of the rails' connections, of which reports tell.
    changes: u64,
    polls: u32,
    /// The rail that brought the last segment, which is read first.
    last_rail: usize,
    /// Whether the last poll has read all rails.
    has_read_all: bool,
    /// Numbers that have come, and the words of a report: memory that is used again.
    numbers: Vec<u64>,
    words: Vec<u64>,
    /// Descriptors of all nodes and watches, as one.
    wait_set: RailWaitSet,
    loss: Option<String>,
}

impl<N: RdmaNode> RailReceiver<N> {
    /// Asks the sender for a connection by each rail. Does not wait for them.
    pub(super) fn new(
        links: Vec<SenderReconnection<N>>,
        (spec, receiver): (&EdgeSpec, u32),
        (instance, ring_bytes): (u64, usize),
    ) -> Result<RailReceiver<N>, Error> {
        let rails = links.into_iter().map(ReceiverRail::new);
        let rails = rails.collect::<Result<Vec<_>, _>>()?;
        let request = RdmaRequest {
            mode: RAILS_MODE,
            edge: spec.edge,
            receiver,
            token: spec.token,
            ring: RemoteMemory {
                address: 0,
                key: 0,
                bytes: 0,
            },
        };
        let mut receiver = RailReceiver {
            rails,
            request,
            instance,
            ring: memory(ring_bytes + SPARE_BYTES)?,
            ring_bytes: ring_bytes as u64,
            marks: None,
            placed: ReceivedRanges::default(),
            next: RecordPlace::default(),
            released: 0,
            reported_release: 0,
            report_bytes: (ring_bytes as u64 / 16).min(REPORT_BYTES),
            changes: 0,
            polls: 0,
            last_rail: 0,
            has_read_all: true,
            numbers: Vec::with_capacity(2 * fabric::COMPLETIONS_PER_POLL),
            words: Vec::with_capacity(report_words(RAILS_MAX) + INTRODUCTION_WORDS),
            wait_set: RailWaitSet::new()?,
            loss: None,
        };
        for rail in &receiver.rails {
            if let Some(watch) = rail.link.watch() {
                receiver.wait_set.add(watch.wakeup_fd())?;
            }
        }
        for rail in 0..receiver.rails.len() {
            receiver.ask(rail);
        }
        Ok(receiver)
    }
}

impl<N: RdmaNode> ModeReceiver for RailReceiver<N> {
    /// The frames of the next record: see [`crate::ReceivingEnd::poll`].
    fn poll(&mut self) -> Result<FrameBatch<'_>, Error> {
        self.polls = self.polls.wrapping_add(1);
        let mut found = self.take_record()?;
        if found.is_none() {
            found = self.read_until_record()?;
        }
        let is_due = self.polls.is_multiple_of(POLLS_PER_LOOK);
        if is_due || found.is_none() && self.has_broken_rail() {
            self.read_all()?;
            self.take_events()?;
            // A receiver that always finds records reports of the rails all the same.
            self.write_reports(false);
        }
        if found.is_none() {
            found = self.take_record()?;
        }
        if found.is_none() {
            self.write_reports(true);
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
        self.released = self.next.position;
        let unreported = self.released - self.reported_release;
        let is_idle = !matches!(self.find_record(self.next), Ok(Some(_)));
        if unreported > 0 && is_idle || unreported >= self.ring_bytes / 4 {
            // When a report cannot be written any more, the provider `tcp` forgets what a sender
            // has left behind and was not placed. The next poll tells of an error.
            let _ = self.read_all();
            let is_idle = !matches!(self.find_record(self.next), Ok(Some(_)));
            self.write_reports(is_idle);
        }
    }

    /// Lets the providers work, and takes what has come but for records.
    fn progress(&mut self) -> Result<(), Error> {
        self.read_all()?;
        self.take_events()?;
        if self.find_record(self.next)?.is_none() {
            self.write_reports(true);
        }
        Ok(())
    }

    /// Whether a rail's first connection is neither made nor refused.
    fn is_connecting(&self) -> bool {
        let is_first = |rail: &ReceiverRail<N>| rail.state.epoch <= 1 && !rail.state.is_closed;
        let mut rails = self.rails.iter();
        self.loss.is_none() && rails.any(|rail| is_first(rail) && !rail.is_linked)
    }

    /// Whether the sender has to be told something, and the providers have had no room for that.
    fn owes_credit(&self) -> bool {
        let mut rails = 0..self.rails.len();
        rails.any(|rail| self.is_report_due(rail, true) && self.rails[rail].can_report())
    }

    fn has_news(&mut self) -> Result<bool, Error> {
        Ok(self.loss.is_some() || self.find_record(self.next)?.is_some())
    }

    fn may_sleep(&mut self) -> Result<bool, Error> {
        let mut may_sleep = true;
        for rail in 0..self.rails.len() {
            let Some(open) = &mut self.rails[rail].open else {
                continue;
            };
            match open.node.may_sleep() {
                Ok(may) => may_sleep &= may,
                Err(error) => {
                    self.rails[rail].fail(error.to_string());
                    may_sleep = false;
                }
            }
        }
        Ok(may_sleep)
    }

    fn list_wait_fds<'a>(&'a self, fds: &mut Vec<BorrowedFd<'a>>) {
        fds.push(self.wait_set.as_fd());
    }
}

impl<N: RdmaNode> RailReceiver<N> {
    /// Reads the rails until a record is there, first the one that brought the last segment. A lone
    /// frame does not wait until every rail is read; the next call reads them all.
    fn read_until_record(&mut self) -> Result<Option<Range<usize>>, Error> {
        let may_stop = std::mem::replace(&mut self.has_read_all, true);
        let (first, count) = (self.last_rail, self.rails.len());
        for rail in (first..count).chain(0..first) {
            if self.read(rail)? && may_stop && rail == first {
                let found = self.take_record()?;
                if found.is_some() {
                    self.has_read_all = false;
                    return Ok(found);
                }
            }
        }
        self.take_record()
    }

    /// Reads all rails until nothing more has come.
    fn read_all(&mut self) -> Result<(), Error> {
        for rail in 0..self.rails.len() {
            while self.read(rail)? {}
        }
        self.has_read_all = true;
        Ok(())
    }

    /// Reads a rail once. Returns whether something has come.
    fn read(&mut self, rail: usize) -> Result<bool, Error> {
        let mut numbers = std::mem::take(&mut self.numbers);
        let polled = self.rails[rail].poll_numbers(&mut numbers);
        if !numbers.is_empty() {
            self.last_rail = rail;
        }
        let mut taken = Ok(());
        for bits in numbers.drain(..) {
            taken = taken.and_then(|()| self.take_number(rail, bits));
        }
        self.numbers = numbers;
        taken?;
        match polled {
            Ok(has_come) => Ok(has_come),
            Err(error) => {
                self.break_rail(rail, error.to_string(), false);
                Ok(false)
            }
        }
    }

    /// Takes a number of the sender.
    ///
    /// # Errors
    /// No sender sends it.
    fn take_number(&mut self, rail: usize, bits: u64) -> Result<(), Error> {
        let number = RailNumber::from_bits(bits).ok_or_else(|| strange_number(bits))?;
        let released = self.released;
        let Some(open) = &mut self.rails[rail].open else {
            return Ok(());
        };
        match number {
            RailNumber::Begin { from } => {
                open.begin = near(released, from);
                return Ok(());
            }
            RailNumber::Close { rail, epoch } => self.close_rail(rail as usize, epoch)?,
            RailNumber::Empty => {}
            RailNumber::Segment { .. } | RailNumber::End { .. } => {
                let segment = segment_of(open, number, |low| near(released, low));
                let (from, to) = segment.ok_or_else(|| strange_number(bits))?;
                let is_in_ring = from < to
                    && to <= released + self.ring_bytes
                    && from / self.ring_bytes == (to - 1) / self.ring_bytes;
                if !is_in_ring {
                    return Err(strange_number(bits));
                }
                self.placed.add(from, to);
                self.rails[rail].unreported_bytes += to - from;
                self.rails[rail].link.note_received();
            }
        }
        // A number may come before the sender's answer is taken, or may close this very rail.
        let own = &mut self.rails[rail];
        own.state.received += u64::from(own.open.is_some());
        Ok(())
    }

    /// Closes a rail whose connection the sender has given up, unless it is a later one.
    fn close_rail(&mut self, rail: usize, epoch: u32) -> Result<(), Error> {
        let state = match self.rails.get(rail) {
            Some(rail) => rail.state,
            None => return Err(strange_number(rail as u64)),
        };
        if !state.is_closed && is_at_most(state.epoch, epoch) {
            self.break_rail(rail, "the sender has given the rail up".to_owned(), false);
        }
        // The sender waits for the word that it is closed, whoever has closed it.
        self.changes += 1;
        Ok(())
    }

    /// Whether a rail waits for an answer or for its next try, or an operation of it has failed.
    fn has_broken_rail(&self) -> bool {
        self.rails.iter().any(|rail| match &rail.open {
            Some(open) => !rail.is_linked || open.failure.is_some(),
            None => rail.lost.is_none() && rail.link.is_due(),
        })
    }

    /// Takes the sender's answers, and the ends of connections, and connects again.
    fn take_events(&mut self) -> Result<(), Error> {
        for rail in 0..self.rails.len() {
            self.take_events_of(rail)?;
            self.check_link(rail);
        }
        Ok(())
    }

    fn take_events_of(&mut self, rail: usize) -> Result<(), Error> {
        while let Some(open) = &mut self.rails[rail].open {
            let own = open.connection;
            match open.node.next_event() {
                Ok(Some(FabricEvent::Connected { connection, data })) if connection == own => {
                    if let Err(error) = self.take_acceptance(rail, &data) {
                        self.lose(error.to_string());
                    }
                }
                Ok(Some(FabricEvent::Closed {
                    why, is_refused, ..
                })) => {
                    // What has come before counts, although nobody may send it again.
                    while self.read(rail)? {}
                    self.break_rail(rail, why, is_refused);
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => self.break_rail(rail, error.to_string(), false),
            }
        }
        // Receive buffers fail when their connection ends, and the event says why it did.
        let open = self.rails[rail].open.as_mut();
        if let Some(why) = open.and_then(|open| open.failure.take()) {
            while self.read(rail)? {}
            self.break_rail(rail, why, false);
        }
        Ok(())
    }

    /// Connects again if it is time to, or gives the rail up.
    fn check_link(&mut self, rail: usize) {
        let found = &self.rails[rail];
        if found.is_linked || found.lost.is_some() || self.loss.is_some() {
            return;
        }
        match found.link.check() {
            Err(why) => self.give_up(rail, why),
            Ok(()) if found.link.is_due() => self.ask(rail),
            Ok(()) => {}
        }
    }

    fn take_acceptance(&mut self, rail: usize, data: &[u8]) -> Result<(), Error> {
        let read = RdmaAcceptance::read(data, RAILS_MODE)?;
        if read.ring_bytes != self.ring_bytes {
            return Err(Error::Refused(format!(
                "the sender's ring has {} bytes, this side's {}",
                read.ring_bytes, self.ring_bytes
            )));
        }
        let own = &mut self.rails[rail];
        if read.position != u64::from(own.state.epoch) {
            return Err(Error::Refused(format!(
                "the sender has accepted connection {} of the rail, this side has asked for {}",
                read.position, own.state.epoch
            )));
        }
        let words = report_words(RAILS_MAX) + INTRODUCTION_WORDS;
        if let Some(open) = &mut own.open {
            open.target = Some(RemoteMemory {
                bytes: 8 * words as u64,
                ..read.credit
            });
        }
        own.is_linked = true;
        own.link.note_connected();
        self.marks = Some(RecordMarks::new(read.salt));
        // Rails that were given up are worth trying now.
        for other in &mut self.rails {
            if other.lost.take().is_some() {
                other.link.try_again();
            }
        }
        Ok(())
    }

    /// Asks for another connection of a rail.
    fn ask(&mut self, rail: usize) {
        self.rails[rail].close();
        let (request, instance, rails) = (self.request, self.instance, self.rails.len());
        let request = |epoch| {
            let word = RailRequest { rail, rails, epoch }.to_word();
            let mut request = request;
            request.ring.bytes = RdmaRequest::place_word(u64::from(word), instance);
            request
        };
        let asked = self.rails[rail].ask(&self.ring, &self.wait_set, request);
        self.changes += 1;
        if let Err(error) = asked {
            self.note_break(rail, error.to_string(), false);
        }
    }

    /// Closes a rail's connection, which is broken or was refused, if it has one.
    fn break_rail(&mut self, rail: usize, why: String, is_refused: bool) {
        if self.rails[rail].open.is_some() {
            self.note_break(rail, why, is_refused);
        }
    }

    fn note_break(&mut self, rail: usize, why: String, is_refused: bool) {
        self.rails[rail].close();
        self.changes += 1;
        if let Err(why) = self.rails[rail].link.note_break(why, is_refused) {
            self.give_up(rail, why);
        }
    }

    /// Gives a rail up, unless another one reaches the sender. With the last rail goes the sender.
    fn give_up(&mut self, rail: usize, why: String) {
        self.rails[rail].close();
        if self.rails.iter().any(|rail| rail.is_linked) {
            return self.rails[rail].link.try_again();
        }
        self.rails[rail].lost = Some(why.clone());
        // No further try is to wake the thread.
        if let Some(watch) = self.rails[rail].link.watch() {
            watch.let_sleep();
        }
        if self.rails.iter().all(|rail| rail.lost.is_some()) {
            self.lose(why);
        }
    }

    /// Where the frames of the next record lie, if it is there; takes it.
    fn take_record(&mut self) -> Result<Option<Range<usize>>, Error> {
        let Some((range, after)) = self.find_record(self.next)? else {
            return Ok(None);
        };
        let checked = check_frames(self.ring.bytes(range.clone()));
        checked.map_err(|why| broken_record(self.next.position, &why))?;
        self.next = after;
        Ok(Some(range))
    }

    /// Where the frames of a record lie, if all of it is placed, and where the next one begins.
    /// Goes to the start of the ring where that is the place of the record.
    fn find_record(
        &self,
        mut place: RecordPlace,
    ) -> Result<Option<(Range<usize>, RecordPlace)>, Error> {
        let Some(marks) = self.marks else {
            return Ok(None);
        };
        loop {
            let offset = (place.position % self.ring_bytes) as usize;
            let rest = self.ring_bytes as usize - offset;
            if rest < RECORD_OVERHEAD_BYTES {
                place.position += rest as u64;
                continue;
            }
            let placed = self.placed.in_order().saturating_sub(place.position);
            if placed < RECORD_OVERHEAD_BYTES as u64 {
                return Ok(None);
            }
            let head = marks.head(self.ring.word(offset));
            let is_turn = head.bytes == WRAP_BYTES;
            let bytes = if is_turn { 0 } else { head.bytes as usize };
            let is_sound = head.number == place.number
                && bytes.is_multiple_of(8)
                && bytes <= rest - RECORD_OVERHEAD_BYTES;
            if is_sound && placed < (bytes + RECORD_OVERHEAD_BYTES) as u64 {
                return Ok(None);
            }
            if !is_sound || self.ring.word(offset + 8 + bytes) != marks.end_word(head) {
                return Err(torn_record(place.position));
            }
            place.number = place.number.wrapping_add(1);
            if !is_turn {
                place.position += (bytes + RECORD_OVERHEAD_BYTES) as u64;
                return Ok(Some((offset + 8..offset + 8 + bytes, place)));
            }
            place.position += rest as u64;
        }
    }

    /// Whether a report is to be written by a rail.
    fn is_report_due(&self, rail: usize, is_idle: bool) -> bool {
        let own = &self.rails[rail];
        if !own.is_linked {
            return false;
        }
        let released = self.released - self.reported_release;
        let is_release_due = released >= self.ring_bytes / 4 || is_idle && released > 0;
        // One report is enough, by a rail that has something to report anyway.
        let has_news = own.has_news();
        own.owes_introduction
            || own.reported_changes != self.changes
            || own.unreported_bytes >= self.report_bytes
            || is_idle && has_news
            || is_release_due && (has_news || !self.rails.iter().any(ReceiverRail::has_news))
    }

    /// Writes the reports that are due, as far as the providers have room.
    fn write_reports(&mut self, is_idle: bool) {
        let is_due = |rail: &usize| self.is_report_due(*rail, is_idle);
        let due = (0..self.rails.len()).filter(is_due);
        let due = due.fold(0_u32, |all, rail| all | 1 << rail);
        for rail in (0..self.rails.len()).filter(|rail| due & 1 << rail != 0) {
            if self.rails[rail].can_report() {
                self.write_report(rail);
            }
        }
    }

    fn write_report(&mut self, rail: usize) {
        let Some(marks) = self.marks else {
            return;
        };
        let states = self.rails.iter().map(|rail| rail.state);
        seal_report(self.released, states, marks, &mut self.words);
        let own = &mut self.rails[rail];
        match own.write_report(&self.words, marks) {
            Ok(true) => {
                (own.unreported_bytes, own.reported) = (0, own.state.received);
                own.reported_changes = self.changes;
                self.reported_release = self.released;
            }
            Ok(false) => {}
            // What has come before is read before the connection is closed.
            Err(error) => own.fail(error.to_string()),
        }
    }

    fn lose(&mut self, why: String) {
        self.loss.get_or_insert(why);
        for rail in &mut self.rails {
            rail.is_linked = false;
            // The sender need not wait for an end that believes it to be gone.
            if let Some(watch) = rail.link.watch() {
                watch.close();
            }
        }
    }
}

#[cold]
fn strange_number(bits: u64) -> Error {
    Error::Refused(format!(
        "the sender has told {bits:#x}, which means nothing here"
    ))
}
