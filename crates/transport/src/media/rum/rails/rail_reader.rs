//! The reader of one rail: takes batches from its connection and puts their bytes into place.
//!
//! One call of the system reads the rest of the current batch into its place in the ring, and what
//! follows, a header at least, into a small buffer. So large batches are not copied, and a lone
//! frame takes one call.

use std::io::IoSliceMut;
use std::net::TcpStream;

use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvFlags, recvmsg};

use super::reorder_ring::ReorderRing;
use crate::media::rum::batch_header::{
    BATCH_HEADER_BYTES, BatchContent, BatchHeader, BatchSealKey,
};
use crate::media::tcp_edge::acknowledge;
use crate::media::tcp_edge::receive_buffer::ReadOutcome;

/// Bytes of the buffer for headers and small batches.
const STAGED_BYTES: usize = 4096;

/// Words of a batch header.
const HEADER_WORDS: usize = BATCH_HEADER_BYTES / 8;

/// The reading side of one rail's connection.
pub(super) struct RailReader {
    pub(super) stream: TcpStream,
    seal_key: BatchSealKey,
    /// Bytes that were read and not looked at.
    staged: Box<[u8; STAGED_BYTES]>,
    staged_bytes: usize,
    /// The batch whose bytes come next: the position of the next byte, and its end.
    batch: Option<(u64, u64)>,
    /// Number of batches whose header was read.
    headers: u64,
    /// Number of batches that were received as a whole.
    received: u64,
    /// Bytes of batches that were received.
    received_bytes: u64,
    /// A probe has come, a batch without bytes, whose sender waits for a report.
    has_probe: bool,
    /// Bytes were read that are not acknowledged yet.
    is_unacknowledged: bool,
    /// Position of the stream's end, once it is known.
    end_position: Option<u64>,
}

impl RailReader {
    /// Reads from a new connection, whose batches are sealed by this key.
    pub(super) fn new(stream: TcpStream, seal_key: BatchSealKey) -> RailReader {
        RailReader {
            stream,
            seal_key,
            staged: Box::new([0; STAGED_BYTES]),
            staged_bytes: 0,
            batch: None,
            headers: 0,
            received: 0,
            received_bytes: 0,
            has_probe: false,
            is_unacknowledged: false,
            end_position: None,
        }
    }

    /// Number of batches that were received as a whole.
    pub(super) fn received(&self) -> u64 {
        self.received
    }

    /// Bytes that have come, of whole and of incomplete batches.
    pub(super) fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Whether a probe has come since the last call.
    pub(super) fn take_probe(&mut self) -> bool {
        std::mem::take(&mut self.has_probe)
    }

    /// Position of the stream's end, once the sender has said it here.
    pub(super) fn end_position(&self) -> Option<u64> {
        self.end_position
    }

    /// Reads from the connection once, without waiting.
    ///
    /// # Errors
    /// The sender has sent bytes that are not the next batch.
    pub(super) fn read(&mut self, ring: &mut ReorderRing) -> Result<ReadOutcome, String> {
        loop {
            match self.receive(ring) {
                Ok(0) => return Ok(ReadOutcome::Closed("its connection has ended".to_owned())),
                Ok(count) => {
                    self.is_unacknowledged = true;
                    self.note_read(count, ring)?;
                    return Ok(ReadOutcome::Received);
                }
                Err(Errno::AGAIN) => {
                    if std::mem::take(&mut self.is_unacknowledged) {
                        acknowledge::send_acknowledgement(&self.stream);
                    }
                    return Ok(ReadOutcome::WouldBlock);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Ok(ReadOutcome::Closed(error.to_string().to_lowercase())),
            }
        }
    }

    /// The part of the current batch that is received into its place.
    fn placed(&self, ring: &ReorderRing) -> Option<(u64, u64)> {
        self.batch.filter(|(from, _)| *from >= ring.in_order())
    }

    fn receive(&mut self, ring: &mut ReorderRing) -> rustix::io::Result<usize> {
        let staged = &mut self.staged[self.staged_bytes..];
        let Some((from, to)) = self.batch.filter(|(from, _)| *from >= ring.in_order()) else {
            let (count, _) = rustix::net::recv(&self.stream, staged, RecvFlags::DONTWAIT)?;
            return Ok(count);
        };
        let mut parts = [
            IoSliceMut::new(ring.place(from, to)),
            IoSliceMut::new(staged),
        ];
        let none = &mut RecvAncillaryBuffer::default();
        let read = recvmsg(&self.stream, &mut parts, none, RecvFlags::DONTWAIT)?;
        Ok(read.bytes)
    }

    /// Notes that bytes were read: first those in their place, then those in the buffer.
    fn note_read(&mut self, count: usize, ring: &mut ReorderRing) -> Result<(), String> {
        let placed = self
            .placed(ring)
            .map_or(0, |(from, to)| (to - from).min(count as u64));
        if let Some((from, to)) = self.batch.filter(|_| placed > 0) {
            ring.note_received(from, from + placed);
            self.go_on_in_batch(from + placed, to);
        }
        self.staged_bytes += count - placed as usize;
        self.take_staged(ring)
    }

    fn go_on_in_batch(&mut self, from: u64, to: u64) {
        if let Some((before, _)) = self.batch {
            self.received_bytes += from - before;
        }
        self.batch = (from < to).then_some((from, to));
        self.received += u64::from(from == to);
    }

    /// Takes headers and bytes of batches from the buffer.
    fn take_staged(&mut self, ring: &mut ReorderRing) -> Result<(), String> {
        let mut at = 0;
        loop {
            let rest = &self.staged[at..self.staged_bytes];
            match self.batch {
                Some(_) if rest.is_empty() => break,
                Some((from, to)) => {
                    let bytes = rest.len().min((to - from) as usize);
                    let piece_to = from + bytes as u64;
                    // Bytes that are there already came by another rail.
                    let known = ring.in_order().clamp(from, piece_to);
                    let new = &rest[(known - from) as usize..bytes];
                    if !new.is_empty() {
                        ring.place(known, piece_to).copy_from_slice(new);
                        ring.note_received(known, piece_to);
                    }
                    at += bytes;
                    self.go_on_in_batch(piece_to, to);
                }
                None => {
                    let Some(header) = rest.first_chunk::<BATCH_HEADER_BYTES>() else {
                        break;
                    };
                    let header = *header;
                    at += BATCH_HEADER_BYTES;
                    self.begin_batch(&header, ring)?;
                }
            }
        }
        self.staged.copy_within(at..self.staged_bytes, 0);
        self.staged_bytes -= at;
        Ok(())
    }

    fn begin_batch(
        &mut self,
        header: &[u8; BATCH_HEADER_BYTES],
        ring: &mut ReorderRing,
    ) -> Result<(), String> {
        let mut words = [0; HEADER_WORDS];
        for (word, bytes) in words.iter_mut().zip(header.as_chunks().0) {
            *word = u64::from_ne_bytes(*bytes);
        }
        let head = BatchHeader::from_words(words, self.seal_key, self.headers)?;
        self.headers += 1;
        let (from, bytes) = (head.position, u64::from(head.bytes));
        ring.check_batch(from, bytes)?;
        let to = from + bytes;
        match head.content {
            BatchContent::Frames => self.batch = Some((from, to)),
            BatchContent::Padding => ring.receive_padding(from, to)?,
            BatchContent::EndOfStream => self.end_position = Some(from),
        }
        if head.content != BatchContent::Frames || from == to {
            self.batch = None;
            self.received += 1;
            self.has_probe |= from == to;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::media::tcp_edge::handshake::{ConnectionPurpose, FramingProtocol, Handshake};
    use crate::media::tcp_edge::loopback::loopback_pair;

    #[test]
    fn a_batch_without_bytes_is_a_probe() {
        let key = BatchSealKey::from_handshake(&Handshake {
            protocol: FramingProtocol::RumRails,
            edge: 0,
            receiver: 0,
            token: [0; 16],
            instance: 0,
            position: 0,
            purpose: ConnectionPurpose::Frames,
            liveness_port: 0,
        });
        let (mut sender, receiver) = loopback_pair();
        let (mut reader, mut ring) = (RailReader::new(receiver, key), ReorderRing::new(4096, 100));
        for (number, bytes) in [8, 0, 8].into_iter().enumerate() {
            let content = BatchContent::Frames;
            let position = 0;
            let head = BatchHeader {
                position,
                bytes,
                content,
            };
            let words = head.to_words(key, number as u64);
            sender
                .write_all(bytemuck::cast_slice(&words))
                .expect("written");
            sender
                .write_all(&[0; 8][..bytes as usize])
                .expect("written");
            while reader.received() == number as u64 {
                reader.read(&mut ring).expect("sound batches");
            }
            assert_eq!(reader.take_probe(), bytes == 0);
        }
        assert!(!reader.take_probe(), "it is answered once");
    }
}
