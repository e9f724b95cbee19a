//! The receiving end of rum: reads batches into one buffer, polls frames in place, and resumes
//! where it was when the connection breaks.

use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ring::frame::{FrameBatch, FrameHeader, HEADER_BYTES, PAD};

use super::batch_header::{BATCH_HEADER_BYTES, BatchContent, BatchHeader, BatchSealKey};
use super::receiver_task::{ReconnectOutcome, RumReceiverTask};
use super::stream_break::StreamBreak;
use crate::media::tcp_edge::handshake::Handshake;
use crate::media::tcp_edge::receive_buffer::{ReadOutcome, ReceiveBuffer};
use crate::media::tcp_edge::stream_end::StreamEnd;
use crate::{Error, ReceivingEnd, Waitable};

/// Bytes received with one read from which on the receiver counts as being in a stream.
const STREAM_BYTES: u64 = 16 * 1024;

/// Time without work after which a receiver in a stream reports that it is idle: between batches
/// there are shorter pauses, and a report takes as long as a batch.
const IDLE_REPORT_DELAY: Duration = Duration::from_micros(5);

/// The receiving end of an edge over rum.
pub(super) struct RumReceiver {
    task: Arc<RumReceiverTask>,
    buffer: ReceiveBuffer,
    name: Arc<str>,
    handshake: Handshake,
    seal_key: BatchSealKey,
    /// Connection for frames; `None`: it is broken.
    frames: Option<TcpStream>,
    /// Position after the last whole frame.
    expected_position: u64,
    /// Position after the last polled frame.
    polled_position: u64,
    /// Bytes of the current batch that have still to come.
    batch_left_bytes: usize,
    /// Whether the last read was of a stream that goes on.
    is_stream: bool,
    /// Time since when a receiver in a stream has had nothing to receive.
    idle_since: Option<Instant>,
    /// Time at which the connection was made.
    connected_at: Instant,
    /// Position at which the stream broke last, and how often.
    last_break: StreamBreak,
    reconnect_timeout: Duration,
    /// How the stream has ended, once it has; frames before the end are polled first.
    stream_end: Option<StreamEnd>,
}

impl RumReceiver {
    pub(super) fn new(
        (frames, task): (TcpStream, Arc<RumReceiverTask>),
        buffer: ReceiveBuffer,
        name: Arc<str>,
        handshake: Handshake,
        reconnect_timeout: Duration,
    ) -> RumReceiver {
        RumReceiver {
            task,
            buffer,
            name,
            seal_key: BatchSealKey::from_handshake(&handshake),
            handshake,
            frames: Some(frames),
            expected_position: 0,
            polled_position: 0,
            batch_left_bytes: 0,
            is_stream: false,
            idle_since: None,
            connected_at: Instant::now(),
            last_break: StreamBreak::none(),
            reconnect_timeout,
            stream_end: None,
        }
    }

    /// Reads received bytes, and finds the whole frames among them.
    fn read(&mut self) {
        if self.stream_end.is_some() {
            return;
        }
        let Some(frames) = &self.frames else {
            return self.take_reconnect_outcome();
        };
        match self.buffer.read(frames) {
            ReadOutcome::WouldBlock => self.report_if_idle(),
            ReadOutcome::Received => {
                let before = self.expected_position;
                self.take_frames();
                self.is_stream = self.expected_position - before >= STREAM_BYTES;
                self.idle_since = None;
            }
            ReadOutcome::Full => self.take_frames(),
            ReadOutcome::Closed(why) => {
                self.take_frames();
                if self.frames.is_some() {
                    self.reconnect(why);
                }
            }
        }
    }

    /// Reports to the sender that there is nothing to receive; in a stream only if that lasts.
    fn report_if_idle(&mut self) {
        if !self.task.has_unreported() {
            return;
        }
        if self.is_stream {
            let since = *self.idle_since.get_or_insert_with(Instant::now);
            self.is_stream = since.elapsed() < IDLE_REPORT_DELAY;
        }
        if !self.is_stream {
            self.task.report_if_idle();
        }
    }

    fn take_frames(&mut self) {
        if let Err(why) = self.find_frames() {
            let why = format!("it broke the stream off: {why}");
            self.note_break();
            if self.last_break.note_refusal() {
                let why = format!("{}: {why}, again and again", self.name);
                self.stream_end = Some(StreamEnd::Refused(why));
            }
            self.reconnect(why);
        }
    }

    /// Notes the position of a break, unless the stream broke there just before.
    fn note_break(&mut self) {
        let has_held = self.connected_at.elapsed() > self.reconnect_timeout;
        self.last_break.note(self.expected_position, has_held);
    }

    /// Takes whole frames, and the batch headers between them.
    fn find_frames(&mut self) -> Result<(), String> {
        loop {
            let goes_on = match self.batch_left_bytes {
                0 => self.take_batch_header()?,
                left => {
                    let taken = self.buffer.take_frames(left)?;
                    self.batch_left_bytes -= taken;
                    self.expected_position += taken as u64;
                    taken > 0
                }
            };
            if !goes_on {
                return Ok(());
            }
        }
    }

    /// Takes the header of the next batch, if it is there. `false`: nothing follows now.
    fn take_batch_header(&mut self) -> Result<bool, String> {
        let Some(header) = self.buffer.peek_header()? else {
            return Ok(false);
        };
        check_batch_header(header, self.expected_position)?;
        Ok(self.buffer.take_frame(header) && !self.begin_batch()?)
    }

    /// Begins the batch whose header was taken. `true`: it is the last one.
    fn begin_batch(&mut self) -> Result<bool, String> {
        let words = self.buffer.last_words().unwrap_or_default();
        let head = BatchHeader::from_words(words, self.seal_key, self.expected_position)?;
        self.expected_position = head.position;
        self.batch_left_bytes = head.bytes as usize;
        match head.content {
            BatchContent::Frames => Ok(false),
            BatchContent::Padding => Err("padding, which belongs on rails".to_owned()),
            BatchContent::EndOfStream => {
                self.stream_end = Some(StreamEnd::goodbye());
                Ok(true)
            }
        }
    }

    /// Has another connection made, which goes on after the last whole frame.
    fn reconnect(&mut self, why: String) {
        if self.stream_end.is_some() {
            return;
        }
        self.note_break();
        let since = self.last_break.since();
        if since > self.reconnect_timeout {
            let why = format!("{why}, again and again for {since:?}");
            self.stream_end = Some(StreamEnd::Lost(why));
            return;
        }
        self.frames = None;
        self.buffer.discard_partial_frame();
        self.batch_left_bytes = 0;
        let position = self.expected_position;
        self.task.reconnect(
            Handshake {
                position,
                ..self.handshake
            },
            why,
        );
    }

    fn take_reconnect_outcome(&mut self) {
        match self.task.take_outcome() {
            None => {}
            Some(ReconnectOutcome::Connected(frames)) => {
                self.connected_at = Instant::now();
                self.frames = Some(frames);
            }
            Some(ReconnectOutcome::Lost(why)) => self.stream_end = Some(StreamEnd::Lost(why)),
        }
    }

    /// Reports the end of the stream, once every frame before it was polled.
    fn check_end(&self) -> Result<(), Error> {
        let Some(end) = self
            .stream_end
            .as_ref()
            .filter(|_| !self.buffer.has_frames())
        else {
            return Ok(());
        };
        self.task.close();
        Err(end.to_error())
    }
}

/// Checks that a frame at the beginning of a batch can be a batch header.
fn check_batch_header(header: FrameHeader, expected: u64) -> Result<(), String> {
    let is_head = header.kind == PAD && header.len as usize == BATCH_HEADER_BYTES - HEADER_BYTES;
    match is_head {
        true => Ok(()),
        false => Err(format!(
            "no batch begins where one should, at position {expected}"
        )),
    }
}

impl ReceivingEnd for RumReceiver {
    fn poll(&mut self) -> Result<FrameBatch<'_>, Error> {
        self.read();
        self.check_end()?;
        self.polled_position = self.expected_position;
        Ok(self.buffer.poll())
    }

    fn release(&mut self) {
        if self.buffer.release() > 0 {
            self.task.release(self.polled_position);
        }
    }
}

impl Waitable for RumReceiver {
    fn arm(&mut self) -> Result<bool, Error> {
        self.read();
        let is_idle = self.stream_end.is_none() && !self.buffer.has_frames();
        if is_idle {
            self.task.report_if_idle();
        }
        Ok(is_idle)
    }

    fn disarm(&mut self) {}

    fn poll_fds<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        _writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        readable.push(self.task.wakeup_fd());
        readable.extend(self.frames.iter().map(|stream| stream.as_fd()));
    }
}

impl Drop for RumReceiver {
    fn drop(&mut self) {
        self.task.close();
    }
}
