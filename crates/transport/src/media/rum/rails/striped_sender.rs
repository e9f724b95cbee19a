//! The batches of a sender's ring that go out to one receiver over several rails.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ring::RetainingReader;
use rustix::io::{Errno, Result};

use super::outgoing_segment::OutgoingSegment;
use super::stall_watch::StallWatch;
use crate::EdgeCounters;
use crate::media::rails::schedule::{RailSchedule, StripeSegment};
use crate::media::rum::batch_header::{BatchContent, BatchHeader, BatchSealKey};
use crate::media::rum::batch_sender::{BatchSendCounts, SendableFrames};
use crate::media::rum::receiver_identity::ReceiverIdentity;
use crate::media::tcp_edge::credit::ConnectionEnd;
use crate::media::tcp_edge::io_thread::Registration;
use crate::media::tcp_edge::receiver_connection::{ReceiverConnection, write_parts};

/// Batches sent without reading credit, and time without reading it, after which it is read in any
/// case: the schedule goes by what receivers report, and by when.
const BATCHES_PER_CREDIT_READ: u32 = 16;
const CREDIT_READ_PERIOD: Duration = Duration::from_millis(1);

/// Time without reading credit while few bytes wait on each rail. Of such a stream the schedule
/// needs only to know how long reports take, and reading takes a third of the time of a frame.
const LONE_CREDIT_READ_PERIOD: Duration = Duration::from_millis(4);

/// Sends batches to one receiver over the rails that are connected.
pub(in crate::media::rum) struct StripedSender {
    rails: Vec<SenderRail>,
    /// The receiver as it introduced itself last.
    last_peer: ReceiverIdentity,
    schedule: RailSchedule,
    /// Position up to which frames had been sent before the first of these connections.
    sent_before: u64,
    counters: Arc<EdgeCounters>,
    registration: Registration,
    /// Position at which the last batch began.
    last_batch_from: u64,
    /// Batches that were sent since credit was read.
    batches_since_credit_read: u32,
    /// Time at which credit was read.
    credit_read_at: Instant,
    /// Some bytes could not be sent now.
    is_blocked: bool,
    /// The receiver has left in order.
    has_left: bool,
    /// The stream is over: each rail says so.
    is_closing: bool,
    stall_watch: StallWatch,
    /// Whether a rail is late, so that the IO thread waits for reports of the others.
    has_late_rail: bool,
    /// Whether rails came or went since [`StripedSender::take_rail_changes`].
    has_rail_changes: bool,
    last_error: Errno,
}

/// One rail of a receiver.
struct SenderRail {
    connection: Option<RailConnection>,
    /// The receiver as it introduced itself on this rail last.
    peer: Option<ReceiverIdentity>,
}

/// The connection of a rail, and the batch that is going out on it.
struct RailConnection {
    connection: ReceiverConnection,
    seal_key: BatchSealKey,
    /// Number of batches that were begun on this connection.
    batches: u64,
    outgoing: Option<OutgoingSegment>,
    /// Whether the sending thread polls the socket for room while it sleeps.
    is_polled: bool,
    has_sent_goodbye: bool,
}

impl StripedSender {
    /// Sends to a receiver that goes on from the first of these positions, after everything up to
    /// the second had been sent by earlier connections; its rails are still to join.
    pub(in crate::media::rum) fn new(
        peer: ReceiverIdentity,
        counters: Arc<EdgeCounters>,
        registration: Registration,
        (position, sent_before): (u64, u64),
        ring_bytes: u64,
    ) -> StripedSender {
        let rail_count = counters.rails.len();
        let rail = |_| SenderRail {
            connection: None,
            peer: None,
        };
        StripedSender {
            rails: (0..rail_count).map(rail).collect(),
            last_peer: peer,
            schedule: RailSchedule::new(rail_count, position, ring_bytes),
            sent_before,
            counters,
            registration,
            last_batch_from: position,
            batches_since_credit_read: 0,
            credit_read_at: Instant::now(),
            is_blocked: false,
            has_left: false,
            is_closing: false,
            stall_watch: StallWatch::new(Instant::now()),
            has_late_rail: false,
            has_rail_changes: false,
            last_error: Errno::PIPE,
        }
    }

    /// Begins to send on a rail's new connection.
    pub(in crate::media::rum) fn join_rail(
        &mut self,
        rail: usize,
        connection: ReceiverConnection,
        seal_key: BatchSealKey,
        peer: ReceiverIdentity,
    ) {
        if self.rails[rail].connection.is_some() {
            self.lose_rail(rail);
        }
        self.rails[rail] = SenderRail {
            connection: Some(RailConnection {
                connection,
                seal_key: seal_key.of_rail(rail),
                batches: 0,
                outgoing: None,
                is_polled: false,
                has_sent_goodbye: false,
            }),
            peer: Some(peer),
        };
        self.last_peer = peer;
        self.schedule.join(rail, Instant::now());
        self.note_rail_change();
    }

    /// The receiver as it introduced itself last.
    pub(in crate::media::rum) fn last_peer(&self) -> ReceiverIdentity {
        self.last_peer
    }

    /// The receiver as it introduced itself on each rail.
    pub(in crate::media::rum) fn peers(&self) -> impl Iterator<Item = ReceiverIdentity> {
        self.rails.iter().filter_map(|rail| rail.peer)
    }

    /// Position up to which the receiver may have received.
    pub(in crate::media::rum) fn sent_to(&self) -> u64 {
        self.schedule.assigned_to().max(self.sent_before)
    }

    /// Position up to which the receiver has released.
    pub(in crate::media::rum) fn released(&self) -> u64 {
        self.schedule.released()
    }

    /// Whether some bytes could not be sent now.
    pub(in crate::media::rum) fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// Whether every frame up to a position is sent.
    pub(in crate::media::rum) fn is_all_sent(&self, committed: u64) -> bool {
        self.schedule.is_all_assigned(committed) && !self.is_writing()
    }

    /// Whether the receiver has released every frame that is sent.
    pub(in crate::media::rum) fn is_idle(&self) -> bool {
        self.released() == self.schedule.assigned_to() && !self.is_writing()
    }

    /// Whether the receiver has released every frame before the last batch.
    pub(in crate::media::rum) fn is_nearly_idle(&self) -> bool {
        self.released() >= self.last_batch_from && !self.is_writing()
    }

    /// Whether the receiver was told on every rail that nothing follows.
    pub(in crate::media::rum) fn has_sent_goodbye(&self) -> bool {
        let mut connections = self.connections();
        connections.all(|rail| rail.has_sent_goodbye && rail.outgoing.is_none())
    }

    /// The rails' connections; `true`: bytes wait for room in the socket.
    pub(in crate::media::rum) fn awaited_connections(
        &self,
    ) -> impl Iterator<Item = (&ReceiverConnection, bool)> {
        self.connections()
            .map(|rail| (&rail.connection, rail.outgoing.is_some()))
    }

    /// Notes that the sending thread sleeps until a socket that is full now has room.
    pub(in crate::media::rum) fn note_armed(&mut self) {
        for rail in self.connections_mut() {
            rail.is_polled = rail.outgoing.is_some();
        }
    }

    /// Has the IO thread watch for room, where bytes wait for it, and for credit. While the sending
    /// thread sleeps (`is_armed`), it polls the sockets that were full before; others may have
    /// become full since, with what a stalled rail had.
    pub(in crate::media::rum) fn set_watched_events(
        &mut self,
        is_armed: bool,
        is_credit_wanted: bool,
    ) {
        let is_blocked = self.is_blocked;
        let is_credit_wanted = is_credit_wanted || is_blocked && !is_armed || self.has_late_rail;
        for rail in self.connections_mut() {
            // Bytes may wait for no socket, but for a report of the rail on which they go out.
            let is_full = is_blocked && rail.outgoing.is_some() && !(is_armed && rail.is_polled);
            rail.connection
                .set_watched_events(is_full, is_credit_wanted);
        }
    }

    /// Whether rails came or went since the last call.
    pub(in crate::media::rum) fn take_rail_changes(&mut self) -> bool {
        std::mem::take(&mut self.has_rail_changes)
    }

    /// Reads what the receiver reports on its rails. `true`: it has released more.
    ///
    /// # Errors
    /// The receiver has left, or the last rail is broken.
    pub(in crate::media::rum) fn read_credit(
        &mut self,
    ) -> std::result::Result<bool, ConnectionEnd> {
        let before = self.schedule.released();
        let last_end = self.read_reports();
        self.result(last_end)
            .map(|()| self.schedule.released() > before)
    }

    /// Checks that the connections for frames still exist.
    ///
    /// # Errors
    /// Like [`StripedSender::read_credit`].
    pub(in crate::media::rum) fn check_frames_sockets(
        &mut self,
    ) -> std::result::Result<(), ConnectionEnd> {
        let mut last_end = None;
        for rail in 0..self.rails.len() {
            if let Some(connected) = &self.rails[rail].connection
                && let Err(end) = connected.connection.check_frames_socket()
            {
                last_end = Some(self.end_rail(rail, end));
            }
        }
        self.result(last_end)
    }

    /// Finds stalled rails, and sends probes because of late ones. Returns the time of the next
    /// look.
    pub(in crate::media::rum) fn check_stalls(
        &mut self,
        reader: &RetainingReader,
        now: Instant,
    ) -> Option<Instant> {
        if self.schedule.check_stalls(now) {
            self.is_blocked = true;
        }
        while let Some(rail) = self
            .schedule
            .next_probe(|rail| !is_busy(&self.rails[rail]), now)
        {
            self.begin_empty_segment(rail, BatchContent::Frames);
            self.write(rail, reader);
            self.is_blocked |= self.is_writing();
        }
        let next = self.schedule.next_stall_check_at(now);
        self.has_late_rail = self.schedule.has_late_rail(now);
        self.stall_watch.note_look(next, self.has_late_rail, now)
    }

    /// Sends committed frames, as far as the rails take them. Returns the number of batches begun
    /// and of bytes written.
    ///
    /// # Errors
    /// The last rail is broken.
    pub(in crate::media::rum) fn send(
        &mut self,
        source: &SendableFrames<'_>,
    ) -> Result<BatchSendCounts> {
        let mut sent = BatchSendCounts::default();
        for rail in 0..self.rails.len() {
            sent.bytes += self.write(rail, source.retaining_reader);
        }
        while let Some((rail, segment)) = self.next_segment(source) {
            sent.batches += 1;
            self.batches_since_credit_read += 1;
            self.last_batch_from = segment.from;
            self.begin_segment(rail, segment);
            sent.bytes += self.write(rail, source.retaining_reader);
        }
        if self.is_credit_due() {
            // An end of the receiver that this finds is reported by the next call for credit.
            self.read_reports();
        }
        self.is_blocked = !self.is_all_sent(source.retaining_reader.committed());
        self.have_stalls_checked();
        match self.connections().next() {
            Some(_) => Ok(sent),
            None => Err(self.last_error),
        }
    }

    /// Sends every committed frame, and then on each rail that nothing follows.
    ///
    /// # Errors
    /// The last rail is broken.
    pub(in crate::media::rum) fn send_goodbye(
        &mut self,
        source: &SendableFrames<'_>,
    ) -> Result<()> {
        self.send(source)?;
        self.is_closing |= self.is_all_sent(source.retaining_reader.committed());
        if !self.is_closing {
            return Ok(());
        }
        for rail in 0..self.rails.len() {
            let connection = self.rails[rail].connection.as_mut();
            let Some(connection) = connection.filter(|rail| rail.may_say_goodbye()) else {
                continue;
            };
            connection.has_sent_goodbye = true;
            self.schedule.note_empty_segment(rail, Instant::now());
            self.begin_empty_segment(rail, BatchContent::EndOfStream);
            self.write(rail, source.retaining_reader);
        }
        Ok(())
    }

    /// Reads what the receiver reports on each rail, and returns how the last rail that ended did.
    fn read_reports(&mut self) -> Option<ConnectionEnd> {
        (self.batches_since_credit_read, self.credit_read_at) = (0, Instant::now());
        let mut last_end = None;
        for rail in 0..self.rails.len() {
            if let Err(end) = self.read_rail_credit(rail) {
                last_end = Some(self.end_rail(rail, end));
            }
        }
        self.have_report_checked();
        last_end
    }

    /// Whether batches were sent long since credit was read.
    fn is_credit_due(&self) -> bool {
        match self.batches_since_credit_read {
            0 => false,
            few if few < BATCHES_PER_CREDIT_READ => {
                let period = match self.schedule.has_few_unreported() {
                    true => LONE_CREDIT_READ_PERIOD,
                    false => CREDIT_READ_PERIOD,
                };
                self.credit_read_at.elapsed() >= period
            }
            _ => true,
        }
    }

    fn connections(&self) -> impl Iterator<Item = &RailConnection> {
        self.rails
            .iter()
            .filter_map(|rail| rail.connection.as_ref())
    }

    fn connections_mut(&mut self) -> impl Iterator<Item = &mut RailConnection> {
        let rails = self.rails.iter_mut();
        rails.filter_map(|rail| rail.connection.as_mut())
    }

    fn is_writing(&self) -> bool {
        self.connections().any(|rail| rail.outgoing.is_some())
    }

    fn next_segment(&mut self, source: &SendableFrames<'_>) -> Option<(usize, StripeSegment)> {
        let fresh = fresh_segment(source, self.schedule.assigned_to());
        let is_busy = |rail: usize| is_busy(&self.rails[rail]);
        // Without a segment the time is not needed, which costs as much as finding that out.
        if fresh.is_none() && self.schedule.is_all_assigned(self.schedule.assigned_to()) {
            return None;
        }
        self.schedule.next(fresh, is_busy, Instant::now())
    }

    fn begin_segment(&mut self, rail: usize, segment: StripeSegment) {
        if let Some(connection) = &mut self.rails[rail].connection {
            let content = match segment.is_padding {
                true => BatchContent::Padding,
                false => BatchContent::Frames,
            };
            connection.begin(segment.from, segment.to, content);
            let batches = &self.counters.rails[rail].batches;
            batches.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Begins a batch without bytes, which the schedule knows of.
    fn begin_empty_segment(&mut self, rail: usize, content: BatchContent) {
        let position = self.schedule.assigned_to();
        if let Some(connection) = &mut self.rails[rail].connection {
            connection.begin(position, position, content);
        }
    }

    /// Has the IO thread look for stalled rails, unless it does already.
    fn have_stalls_checked(&mut self) {
        if self.schedule.has_unreported() && self.stall_watch.note_sent() {
            self.registration.request_turn();
        }
    }

    /// Has the IO thread look again after a report that a late rail is compared with.
    fn have_report_checked(&mut self) {
        if self.has_late_rail && self.schedule.has_suspect() {
            self.has_late_rail = false;
            self.registration.request_turn();
        }
    }

    /// Writes what the rail's socket takes of its batch, and returns the number of bytes.
    fn write(&mut self, rail: usize, reader: &RetainingReader) -> usize {
        let Some(connection) = &mut self.rails[rail].connection else {
            return 0;
        };
        match connection.write(reader) {
            Ok(bytes) => {
                let counter = &self.counters.rails[rail].bytes;
                counter.fetch_add(bytes as u64, Ordering::Relaxed);
                bytes
            }
            Err(error) => {
                self.last_error = error;
                let end = ConnectionEnd::Broken(error.to_string().to_lowercase());
                self.end_rail(rail, end);
                0
            }
        }
    }

    fn read_rail_credit(&mut self, rail: usize) -> std::result::Result<(), ConnectionEnd> {
        let sent_to = self.sent_to();
        let Some(connected) = &mut self.rails[rail].connection else {
            return Ok(());
        };
        let connection = &mut connected.connection;
        let read = connection.read_credit(sent_to);
        // Reports that came before the end count, too.
        self.schedule.note_released(connection.released());
        let count = connection.received_batches();
        let noted = self.schedule.note_received(rail, count, Instant::now());
        read?;
        noted.map_err(ConnectionEnd::Broken)
    }

    /// Ends a rail's connection, and returns how the receiver ends if it was the last one.
    fn end_rail(&mut self, rail: usize, end: ConnectionEnd) -> ConnectionEnd {
        // The connection for credit may have brought later reports, which say more.
        let end = match self.read_rail_credit(rail) {
            Err(ConnectionEnd::Goodbye) => ConnectionEnd::Goodbye,
            _ => end,
        };
        self.has_left |= end == ConnectionEnd::Goodbye;
        self.lose_rail(rail);
        end
    }

    fn lose_rail(&mut self, rail: usize) {
        self.rails[rail].connection = None;
        self.schedule.leave(rail);
        let breaks = &self.counters.rails[rail].breaks;
        breaks.fetch_add(1, Ordering::Relaxed);
        self.note_rail_change();
    }

    fn note_rail_change(&mut self) {
        self.has_rail_changes = true;
        // What was on a rail that broke goes out again, and a new rail may take what waits.
        self.is_blocked = true;
        self.registration.request_turn();
    }

    /// The end of the receiver, if it has left or no rail is left.
    fn result(&self, last_end: Option<ConnectionEnd>) -> std::result::Result<(), ConnectionEnd> {
        if self.has_left {
            return Err(ConnectionEnd::Goodbye);
        }
        match (self.connections().next(), last_end) {
            (None, Some(end)) => Err(end),
            (None, None) => Err(ConnectionEnd::Broken(
                self.last_error.to_string().to_lowercase(),
            )),
            (Some(_), _) => Ok(()),
        }
    }
}

/// Whether a rail can take no batch now.
fn is_busy(rail: &SenderRail) -> bool {
    let connection = rail.connection.as_ref();
    connection.is_none_or(|rail| rail.outgoing.is_some())
}

/// The bytes from a position on that were given to no rail, as far as they are consecutive.
fn fresh_segment(source: &SendableFrames<'_>, from: u64) -> Option<StripeSegment> {
    let end = from + source.retaining_reader.frames_from(from).len() as u64;
    let is_padding = from == source.pad_at;
    let to = match from < source.pad_at && source.pad_at < end {
        true => source.pad_at,
        false => end,
    };
    (from < to).then_some(StripeSegment {
        from,
        to,
        is_padding,
    })
}

impl RailConnection {
    fn may_say_goodbye(&self) -> bool {
        !self.has_sent_goodbye && self.outgoing.is_none()
    }

    /// Begins the next batch of this rail.
    fn begin(&mut self, from: u64, to: u64, content: BatchContent) {
        let head = BatchHeader {
            position: from,
            bytes: (to - from) as u32,
            content,
        };
        let end = match content {
            BatchContent::Frames => to,
            BatchContent::Padding | BatchContent::EndOfStream => from,
        };
        let header = head.to_words(self.seal_key, self.batches);
        self.outgoing = Some(OutgoingSegment::new(header, from, end));
        self.batches += 1;
    }

    /// Writes what the socket takes of the batch, and returns the number of bytes.
    fn write(&mut self, reader: &RetainingReader) -> Result<usize> {
        let mut written = 0;
        while let Some(outgoing) = &mut self.outgoing {
            let count = write_parts(&self.connection.frames, outgoing.parts(reader))?;
            written += count;
            if outgoing.advance(count) {
                self.outgoing = None;
            } else if count == 0 {
                break;
            }
        }
        Ok(written)
    }
}
