//! The batches of a sender's ring that go out to one receiver.
//!
//! ```text
//!   released          cursor            batched_to        committed
//!   --+----------------+-----------------+-----------------+
//!     | sent, may be   | of batches that | of the next     |
//!     | sent again     | are going out   | batch           |
//! ```

use ring::RetainingReader;
use rustix::io::Result;

use super::batch_header::{BatchContent, BatchHeader, BatchSealKey};
use super::outgoing_batches::OutgoingBatches;
use super::receiver_identity::ReceiverIdentity;
use crate::media::tcp_edge::credit::ConnectionEnd;
use crate::media::tcp_edge::receiver_connection::ReceiverConnection;

/// Sends batches to one connected receiver.
pub(super) struct BatchSender {
    pub(super) connection: ReceiverConnection,
    pub(super) peer: ReceiverIdentity,
    seal_key: BatchSealKey,
    /// Index up to which frames are in batches, sent or going out.
    batched_to: u64,
    outgoing: OutgoingBatches,
    /// Index at which the last batch began.
    last_batch_from: u64,
    /// Position that the receiver expects after the last batch.
    expected_position: u64,
    /// The socket took only a part of the last write.
    is_blocked: bool,
    has_sent_goodbye: bool,
}

/// Expectation of more batches, which decides how much is written now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BatchWriteMode {
    /// Nothing is known to follow: all bytes go out.
    WriteAll,
    /// More follows soon: only whole writes of this many bytes go out, and the rest goes with the
    /// next one.
    WriteFull(usize),
}

/// Frames of a ring that can be sent.
pub(super) struct SendableFrames<'a> {
    pub(super) retaining_reader: &'a RetainingReader,
    /// Index of padding at the ring's end, which need not be sent.
    pub(super) pad_at: u64,
}

/// Numbers of batches and bytes that were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BatchSendCounts {
    pub(super) batches: u64,
    pub(super) bytes: usize,
}

impl BatchSender {
    /// Sends to a receiver that expects this position next.
    pub(super) fn new(
        connection: ReceiverConnection,
        key: BatchSealKey,
        peer: ReceiverIdentity,
        position: u64,
    ) -> BatchSender {
        BatchSender {
            connection,
            peer,
            seal_key: key,
            batched_to: position,
            outgoing: OutgoingBatches::default(),
            last_batch_from: position,
            expected_position: position,
            is_blocked: false,
            has_sent_goodbye: false,
        }
    }

    /// Index up to which frames are sent.
    pub(super) fn cursor(&self) -> u64 {
        self.outgoing.cursor().unwrap_or(self.batched_to)
    }

    /// Whether the socket took only a part of the last write.
    pub(super) fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// Bytes that wait until a write is worthwhile.
    pub(super) fn held_back_bytes(&self) -> usize {
        match self.is_blocked {
            true => 0,
            false => self.outgoing.unsent_bytes(),
        }
    }

    /// Whether every frame up to an index is sent.
    pub(super) fn is_all_sent(&self, committed: u64) -> bool {
        self.batched_to == committed && self.outgoing.is_empty()
    }

    /// Whether the receiver has released every frame that is sent.
    pub(super) fn is_idle(&self) -> bool {
        self.connection.released() == self.batched_to && self.outgoing.is_empty()
    }

    /// Whether the receiver has released every frame before the last batch.
    pub(super) fn is_nearly_idle(&self) -> bool {
        self.connection.released() >= self.last_batch_from && self.outgoing.is_empty()
    }

    /// Whether the receiver was told that nothing follows.
    pub(super) fn has_sent_goodbye(&self) -> bool {
        self.has_sent_goodbye && self.outgoing.is_empty()
    }

    /// Reads the receiver's credit. `true`: it has released more.
    pub(super) fn read_credit(&mut self) -> std::result::Result<bool, ConnectionEnd> {
        self.connection.read_credit(self.cursor())
    }

    /// Sends committed frames, as far as the socket takes them and the mode lets them. Returns the
    /// number of batches begun and of bytes written.
    pub(super) fn send(
        &mut self,
        source: &SendableFrames<'_>,
        mode: BatchWriteMode,
    ) -> Result<BatchSendCounts> {
        let mut sent = BatchSendCounts::default();
        loop {
            while !self.outgoing.is_full() && self.begin_next_batch(source) {
                sent.batches += 1;
            }
            let bytes = self.outgoing.unsent_bytes();
            let bytes = match mode {
                BatchWriteMode::WriteAll => bytes,
                BatchWriteMode::WriteFull(write_bytes) if bytes < write_bytes => 0,
                BatchWriteMode::WriteFull(write_bytes) => write_bytes,
            };
            self.is_blocked = false;
            if bytes == 0 {
                return Ok(sent);
            }
            let count =
                self.outgoing
                    .write(&self.connection.frames, source.retaining_reader, bytes)?;
            sent.bytes += count;
            if count == 0 {
                self.is_blocked = true;
                return Ok(sent);
            }
        }
    }

    /// Sends every committed frame, and then that nothing follows.
    pub(super) fn send_goodbye(&mut self, source: &SendableFrames<'_>) -> Result<()> {
        self.send(source, BatchWriteMode::WriteAll)?;
        if self.is_all_sent(source.retaining_reader.committed()) && !self.has_sent_goodbye {
            self.has_sent_goodbye = true;
            self.push_batch(self.batched_to, 0, BatchContent::EndOfStream);
            self.send(source, BatchWriteMode::WriteAll)?;
        }
        Ok(())
    }

    /// Begins the next batch: the frames that are contiguous. `false`: there are none to send.
    fn begin_next_batch(&mut self, source: &SendableFrames<'_>) -> bool {
        let from = self.batched_to;
        let bytes = source.retaining_reader.frames_from(from).len();
        let end = from + bytes as u64;
        if !(from..end).contains(&source.pad_at) {
            return self.push_batch(from, bytes, BatchContent::Frames);
        }
        if from < source.pad_at {
            let bytes = (source.pad_at - from) as usize;
            return self.push_batch(from, bytes, BatchContent::Frames);
        }
        self.batched_to = end;
        self.begin_next_batch(source)
    }

    /// Adds a batch. `false`: it would be empty.
    fn push_batch(&mut self, from: u64, bytes: usize, content: BatchContent) -> bool {
        if bytes == 0 && content != BatchContent::EndOfStream {
            return false;
        }
        let head = BatchHeader {
            position: from,
            bytes: bytes as u32,
            content,
        };
        let to = from + bytes as u64;
        self.outgoing.push(
            head.to_words(self.seal_key, self.expected_position),
            from,
            to,
        );
        (
            self.last_batch_from,
            self.batched_to,
            self.expected_position,
        ) = (from, to, to);
        true
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Read;
    use std::net::TcpStream;

    use ring::Writer;
    use ring::frame::FrameBatch;

    use super::super::batch_header::BATCH_HEADER_BYTES;
    use super::*;
    use crate::media::tcp_edge::handshake::{ConnectionPurpose, FramingProtocol, Handshake};
    use crate::media::tcp_edge::io_thread::Registration;
    use crate::media::tcp_edge::loopback::loopback_pair;
    use crate::media::tcp_edge::receiver_connection::ConnectionPair;

    const WHOLE: usize = 1000;

    fn key() -> BatchSealKey {
        BatchSealKey::from_handshake(&Handshake {
            protocol: FramingProtocol::Rum,
            edge: 0,
            receiver: 0,
            token: [0; 16],
            instance: 0,
            position: 0,
            purpose: ConnectionPurpose::Frames,
            liveness_port: 0,
        })
    }

    /// A batch sender, the stream at which its frames arrive, and the stream for credit to it.
    pub(in super::super) fn connected_batch_sender() -> (BatchSender, TcpStream, TcpStream) {
        let (frames, arrive) = loopback_pair();
        let address = frames.peer_addr().expect("an address");
        let (credit, far_credit) = loopback_pair();
        let connection = ReceiverConnection::new(
            ConnectionPair { frames, credit },
            0,
            Registration::reserve().expect("an IO thread"),
        );
        let peer = ReceiverIdentity {
            instance: 0,
            address,
            liveness_address: None,
        };
        (
            BatchSender::new(connection, key(), peer, 0),
            arrive,
            far_credit,
        )
    }

    pub(in super::super) fn commit(writer: &mut Writer, frames: usize) {
        for number in 0..frames {
            writer.claim(100).expect("room").fill(number as u8);
            writer.commit(1, 0, 100);
        }
    }

    #[test]
    fn what_does_not_fill_a_write_waits_for_the_next() {
        let (mut writer, reader) = ring::retaining_ring(1 << 16).expect("memory");
        let (mut batch_sender, mut arrive, _credit) = connected_batch_sender();
        let source = |reader| SendableFrames {
            retaining_reader: reader,
            pad_at: u64::MAX,
        };
        let send = |batch_sender: &mut BatchSender, mode| batch_sender.send(&source(&reader), mode);
        commit(&mut writer, 20);
        let sent = send(&mut batch_sender, BatchWriteMode::WriteFull(WHOLE)).expect("sent");
        assert_eq!(sent.batches, 1);
        let all = BATCH_HEADER_BYTES + 20 * 112;
        assert_eq!(batch_sender.held_back_bytes(), all % WHOLE);
        assert!(!batch_sender.is_all_sent(writer.committed()) && !batch_sender.is_blocked());
        commit(&mut writer, 5);
        send(&mut batch_sender, BatchWriteMode::WriteFull(WHOLE)).expect("nothing is sent");
        let all = all + BATCH_HEADER_BYTES + 5 * 112;
        assert_eq!(batch_sender.held_back_bytes(), all - 2 * WHOLE);
        send(&mut batch_sender, BatchWriteMode::WriteAll).expect("sent");
        assert!(batch_sender.is_all_sent(writer.committed()));
        assert_eq!(batch_sender.cursor(), writer.committed());
        let mut bytes = vec![0; all];
        arrive.read_exact(&mut bytes).expect("it arrives");
        let numbers: Vec<u8> = FrameBatch::new(&bytes)
            .map(|frame| frame.bytes[0])
            .collect();
        assert_eq!(numbers, (0..20).chain(0..5).collect::<Vec<_>>());
    }
}
