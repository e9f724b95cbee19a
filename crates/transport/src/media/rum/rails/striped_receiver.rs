//! The receiving end of a striped stream: reads every rail by turns, and polls frames in order.

use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ring::frame::FrameBatch;

use super::rail_reader::RailReader;
use super::reorder_ring::ReorderRing;
use crate::media::rails::schedule::FEW_BYTES;
use crate::media::rum::batch_header::BatchSealKey;
use crate::media::rum::break_policy::BreakPolicy;
use crate::media::rum::receiver_task::{ReconnectOutcome, RumReceiverTask};
use crate::media::rum::reconnect::ReconnectLimit;
use crate::media::rum::stream_break::StreamBreak;
use crate::media::tcp_edge::handshake::Handshake;
use crate::media::tcp_edge::receive_buffer::ReadOutcome;
use crate::media::tcp_edge::stream_end::StreamEnd;
use crate::{Error, ReceivingEnd, Waitable};

/// Bytes on a rail after which the sender is told of them at once: it assigns by what has come.
const REPORT_BYTES: u64 = 64 * 1024;

/// Bytes received by one turn of all rails from which on the receiver counts as being in a stream.
const STREAM_BYTES: u64 = 16 * 1024;

/// Time without work after which a receiver in a stream reports that it is idle.
const IDLE_REPORT_DELAY: Duration = Duration::from_micros(5);

/// Thread that reports a frame that comes alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::media::rum) enum LoneFrameReports {
    /// The receiving thread, before it sleeps: its sender batches, and sends sooner to a receiver
    /// that has nothing to do.
    AtOnce,
    /// The IO thread, once a period: the sender sends each frame at once in any case, and the
    /// report would take as long as the frame.
    ByIoThread,
}

/// The receiving end of an edge with rails.
pub(in crate::media::rum) struct StripedReceiver {
    rails: Vec<RailEnd>,
    ring: ReorderRing,
    name: Arc<str>,
    /// Bytes on a rail after which it reports.
    report_bytes: u64,
    /// Fewer bytes on a rail than this are reported by the IO thread, up to a period later.
    late_report_bytes_max: u64,
    is_stream: bool,
    /// The rail that brought the last bytes, which is read first.
    last_rail: usize,
    /// Whether the last turn has read all rails.
    has_read_all: bool,
    /// Time since when a receiver in a stream has had nothing to receive.
    idle_since: Option<Instant>,
    last_break: StreamBreak,
    /// Time at which the last connection was made.
    connected_at: Instant,
    break_policy: BreakPolicy,
    /// Position of the stream's end, once the sender has said it.
    end_position: Option<u64>,
    /// How the stream has ended, once it has; frames before the end are polled first.
    stream_end: Option<StreamEnd>,
}

/// One rail of a receiver.
pub(in crate::media::rum) struct RailEnd {
    task: Arc<RumReceiverTask>,
    handshake: Handshake,
    seal_key: BatchSealKey,
    /// Reader of the connection; `None`: it is broken, or not made yet.
    reader: Option<RailReader>,
    /// Bytes that the reader had received when the rail reported last.
    reported_bytes: u64,
    /// Reason why the sender cannot be reached by this rail, once that is given up.
    lost: Option<String>,
}

impl RailEnd {
    /// A rail of this number, with its connection for frames if it is made already.
    pub(in crate::media::rum) fn new(
        rail: usize,
        task: Arc<RumReceiverTask>,
        handshake: Handshake,
        frames: Option<TcpStream>,
    ) -> RailEnd {
        let seal_key = BatchSealKey::from_handshake(&handshake).of_rail(rail);
        RailEnd {
            task,
            handshake,
            seal_key,
            reader: frames.map(|frames| RailReader::new(frames, seal_key)),
            reported_bytes: 0,
            lost: None,
        }
    }

    /// Reports progress to the sender on this rail, with the position that is released.
    fn report(&mut self, released: u64) {
        self.task.report_position(released);
        self.reported_bytes = self.reader.as_ref().map_or(0, RailReader::received_bytes);
    }

    /// Bytes that have come since the rail reported last; the IO thread may have reported them.
    fn unreported_bytes(&self) -> u64 {
        let received = self.reader.as_ref().map_or(0, RailReader::received_bytes);
        received - self.reported_bytes
    }

    /// Has another connection made, up to the limit.
    fn reconnect(&mut self, position: u64, why: &str, limit: ReconnectLimit) {
        (self.reader, self.lost, self.reported_bytes) = (None, None, 0);
        self.task.set_batches(0);
        let handshake = Handshake {
            position,
            ..self.handshake
        };
        self.task.reconnect_within(handshake, why.to_owned(), limit);
    }
}

impl StripedReceiver {
    /// A receiver with one connected rail at least; the others are connected from now on.
    pub(in crate::media::rum) fn new(
        rails: Vec<RailEnd>,
        name: Arc<str>,
        (ring_bytes, payload_bytes_max): (usize, usize),
        reporting: LoneFrameReports,
        break_policy: BreakPolicy,
    ) -> StripedReceiver {
        let late_report_bytes_max = match reporting {
            LoneFrameReports::AtOnce => 0,
            LoneFrameReports::ByIoThread => FEW_BYTES,
        };
        let mut receiver = StripedReceiver {
            rails,
            ring: ReorderRing::new(ring_bytes, payload_bytes_max),
            name,
            report_bytes: (ring_bytes as u64 / 16).min(REPORT_BYTES),
            late_report_bytes_max,
            is_stream: false,
            last_rail: 0,
            has_read_all: false,
            idle_since: None,
            last_break: StreamBreak::none(),
            connected_at: Instant::now(),
            break_policy,
            end_position: None,
            stream_end: None,
        };
        for rail in receiver
            .rails
            .iter_mut()
            .filter(|rail| rail.reader.is_none())
        {
            rail.reconnect(0, "it is not connected yet", ReconnectLimit::Never);
        }
        receiver
    }

    /// Reads the rails once, and finds the whole frames that are in order. A lone frame does not
    /// wait until every rail is read; the next call reads them all.
    fn read(&mut self) {
        if self.stream_end.is_some() {
            return;
        }
        let (first, before) = (self.last_rail, self.received_bytes());
        let mut has_read = self.read_or_lose_rail(first);
        let may_stop = has_read && self.has_read_all && !self.is_stream;
        self.has_read_all = !(may_stop && self.take_frames());
        for rail in (0..self.rails.len()).filter(|rail| *rail != first) {
            if self.has_read_all && self.read_or_lose_rail(rail) {
                (has_read, self.last_rail) = (true, rail);
            }
        }
        if has_read {
            self.is_stream = self.received_bytes().saturating_sub(before) >= STREAM_BYTES;
            self.idle_since = None;
            self.take_frames();
        } else {
            self.report_if_idle();
        }
    }

    /// Reads a rail once. `true`: something has come.
    fn read_or_lose_rail(&mut self, rail: usize) -> bool {
        let outcome = self.read_rail(rail);
        if let ReadOutcome::Closed(why) = &outcome {
            self.lose_rail(rail, why);
        }
        outcome == ReadOutcome::Received
    }

    fn received_bytes(&self) -> u64 {
        let readers = self.rails.iter().filter_map(|rail| rail.reader.as_ref());
        readers.map(RailReader::received_bytes).sum()
    }

    fn read_rail(&mut self, number: usize) -> ReadOutcome {
        let rail = &mut self.rails[number];
        let Some(reader) = &mut rail.reader else {
            self.take_reconnect_outcome(number);
            return ReadOutcome::WouldBlock;
        };
        let outcome = reader.read(&mut self.ring);
        if outcome != Ok(ReadOutcome::WouldBlock) {
            rail.task.set_batches(reader.received());
            self.end_position = self.end_position.or(reader.end_position());
            let is_asked = reader.take_probe();
            if is_asked || rail.unreported_bytes() >= self.report_bytes {
                rail.report(self.ring.released());
            }
        }
        outcome.unwrap_or_else(|why| {
            let why = format!("it broke the stream off: {why}");
            self.note_break();
            if self.last_break.note_refusal() {
                let why = format!("{}: {why}, again and again", self.name);
                self.stream_end = Some(StreamEnd::Refused(why));
            }
            ReadOutcome::Closed(why)
        })
    }

    /// Finds the whole frames that are in order. `true`: there are some to poll.
    fn take_frames(&mut self) -> bool {
        if let Err(why) = self.ring.take_frames() {
            let why = format!("{}: it broke the stream off: {why}", self.name);
            self.stream_end.get_or_insert(StreamEnd::Refused(why));
        } else if self.end_position == Some(self.ring.in_order()) {
            self.stream_end.get_or_insert_with(StreamEnd::goodbye);
        }
        self.ring.has_frames()
    }

    fn note_break(&mut self) {
        let has_held = self.connected_at.elapsed() > self.break_policy.reconnect_timeout;
        self.last_break.note(self.ring.in_order(), has_held);
    }

    /// Has a rail connected again: for ever, as long as another rail is left; else up to the limit
    /// of a single connection.
    fn lose_rail(&mut self, number: usize, why: &str) {
        if self.stream_end.is_some() {
            return;
        }
        self.note_break();
        let position = self.ring.resume_position();
        let mut others = (0..self.rails.len()).filter(|other| *other != number);
        let is_last = others.all(|other| self.rails[other].reader.is_none());
        if !is_last {
            let rail = &mut self.rails[number];
            return rail.reconnect(position, why, ReconnectLimit::Never);
        }
        if !self.break_policy.survives_all {
            self.stream_end = Some(StreamEnd::Lost(why.to_owned()));
            return;
        }
        let since = self.last_break.since();
        if since > self.break_policy.reconnect_timeout {
            let why = format!("{why}, again and again for {since:?}");
            self.stream_end = Some(StreamEnd::Lost(why));
            return;
        }
        let limit = ReconnectLimit::GiveUpAfter(self.break_policy.reconnect_timeout);
        for rail in &mut self.rails {
            rail.reconnect(position, why, limit);
        }
    }

    fn take_reconnect_outcome(&mut self, number: usize) {
        let position = self.ring.resume_position();
        let rail = &mut self.rails[number];
        match rail.task.take_outcome() {
            None => {}
            Some(ReconnectOutcome::Connected(frames)) => {
                self.connected_at = Instant::now();
                rail.reader = Some(RailReader::new(frames, rail.seal_key));
                // A rail that was given up is worth trying now.
                for rail in &mut self.rails {
                    if let Some(why) = rail.lost.take() {
                        rail.reconnect(position, &why, ReconnectLimit::Never);
                    }
                }
            }
            Some(ReconnectOutcome::Lost(why)) => {
                rail.lost = Some(why.clone());
                let is_left = |rail: &RailEnd| rail.reader.is_some();
                if self.rails.iter().any(is_left) {
                    self.rails[number].reconnect(position, &why, ReconnectLimit::Never);
                } else if self.rails.iter().all(|rail| rail.lost.is_some()) {
                    self.stream_end = Some(StreamEnd::Lost(why));
                }
            }
        }
    }

    /// Reports to the sender that there is nothing to receive; in a stream only if that lasts.
    fn report_if_idle(&mut self) {
        if self.is_stream {
            let since = *self.idle_since.get_or_insert_with(Instant::now);
            self.is_stream = since.elapsed() < IDLE_REPORT_DELAY;
        }
        if !self.is_stream {
            self.report();
        }
    }

    /// Reports what has come on the rails on which it came; without that, what was released on all
    /// of them, for one may be silent. A few bytes may be left to the IO thread.
    fn report(&mut self) {
        let has_come = |rail: &RailEnd| rail.task.unreported_batches() > 0;
        let is_any = self.rails.iter().any(has_come);
        let released = self.ring.released();
        for rail in &mut self.rails {
            if !has_come(rail) && (is_any || !rail.task.has_unreported()) {
                continue;
            }
            match rail.unreported_bytes() < self.late_report_bytes_max {
                true => rail.task.release(released),
                false => rail.report(released),
            }
        }
    }

    /// Reports the end of the stream, once every frame before it was polled.
    fn check_end(&self) -> Result<(), Error> {
        match &self.stream_end {
            Some(end) if !self.ring.has_frames() => {
                self.close();
                Err(end.to_error())
            }
            _ => Ok(()),
        }
    }

    fn close(&self) {
        self.rails.iter().for_each(|rail| rail.task.close());
    }
}

impl ReceivingEnd for StripedReceiver {
    fn poll(&mut self) -> Result<FrameBatch<'_>, Error> {
        self.read();
        self.check_end()?;
        Ok(self.ring.poll())
    }

    fn release(&mut self) {
        if self.ring.release() {
            let position = self.ring.released();
            let has_come = |rail: &RailEnd| rail.task.unreported_batches() > 0;
            choose_rails(&self.rails, has_come, |rail| rail.task.release(position));
        }
    }
}

/// Calls `tell` for the rails that have something to report anyway, for one report is enough; for
/// all rails if none has. Each rail is asked once: the IO thread may report for a rail at any time,
/// and a rail that is asked again may have nothing to report by then.
fn choose_rails<R>(rails: &[R], has_come: impl Fn(&R) -> bool, tell: impl Fn(&R)) {
    let mut is_told = false;
    for rail in rails {
        if has_come(rail) {
            tell(rail);
            is_told = true;
        }
    }
    if !is_told {
        rails.iter().for_each(tell);
    }
}

impl Waitable for StripedReceiver {
    fn arm(&mut self) -> Result<bool, Error> {
        self.read();
        let is_idle = self.stream_end.is_none() && !self.ring.has_frames();
        if is_idle {
            self.report();
        }
        Ok(is_idle)
    }

    fn disarm(&mut self) {}

    fn poll_fds<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        _writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        // A rail that is connected has nothing to wake for, and each descriptor takes time.
        let fds = self.rails.iter().map(|rail| match &rail.reader {
            Some(reader) => reader.stream.as_fd(),
            None => rail.task.wakeup_fd(),
        });
        readable.extend(fds);
    }
}

impl Drop for StripedReceiver {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    /// Rails that are told, of rails that have so many batches to report; the IO thread reports
    /// all of them as soon as a rail was asked.
    fn told(batches: [u64; 3]) -> Vec<usize> {
        let rails: Vec<_> = (0..3)
            .map(|rail| (rail, Cell::new(batches[rail])))
            .collect();
        let told = RefCell::new(Vec::new());
        choose_rails(
            &rails,
            |(_, batches)| batches.replace(0) > 0,
            |(rail, _)| told.borrow_mut().push(*rail),
        );
        told.into_inner()
    }

    #[test]
    fn a_released_position_is_told_while_the_io_thread_reports() {
        assert_eq!(told([0, 0, 0]), [0, 1, 2]);
        assert_eq!(told([1, 0, 0]), [0]);
        assert_eq!(told([0, 2, 1]), [1, 2]);
    }
}
