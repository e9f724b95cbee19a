//! Batches on their way out: the current one and the next. So a write can hold the end of one batch
//! and the beginning of the next, and have the length that the system handles best.
//!
//! ```text
//!   | header | frames            |    | header | frames              |
//!              sent  ^ cursor                     end ^
//!              -------+--------------------------------+-----
//!                     | one write                      |
//! ```

use std::net::TcpStream;

use ring::RetainingReader;
use rustix::io::Result;

use super::batch_header::{BATCH_HEADER_BYTES, BatchHeaderWords};
use crate::media::tcp_edge::receiver_connection::write_parts;

/// Parts of a write: header and frames of two batches.
const WRITE_PARTS_MAX: usize = 4;

/// A batch that is not sent as a whole.
#[derive(Debug)]
struct OutgoingBatch {
    header: BatchHeaderWords,
    /// Bytes of the header that are sent.
    header_sent_bytes: usize,
    /// Index up to which its frames are sent.
    cursor: u64,
    /// Index at which the batch ends.
    end: u64,
}

/// At most two batches on their way to a receiver.
#[derive(Debug, Default)]
pub(super) struct OutgoingBatches {
    first: Option<OutgoingBatch>,
    second: Option<OutgoingBatch>,
}

impl OutgoingBatches {
    /// Whether there are no batches.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Whether there is no room for another batch.
    pub(super) fn is_full(&self) -> bool {
        self.second.is_some()
    }

    /// Adds a batch with this header, of the frames between two indexes.
    pub(super) fn push(&mut self, head: BatchHeaderWords, from: u64, to: u64) {
        debug_assert!(!self.is_full());
        let batch = OutgoingBatch {
            header: head,
            header_sent_bytes: 0,
            cursor: from,
            end: to,
        };
        match &mut self.first {
            None => self.first = Some(batch),
            Some(_) => self.second = Some(batch),
        }
    }

    /// Index up to which frames are sent; `None`: all batches are.
    pub(super) fn cursor(&self) -> Option<u64> {
        self.first.as_ref().map(|batch| batch.cursor)
    }

    /// Bytes of the batches that are not sent yet.
    pub(super) fn unsent_bytes(&self) -> usize {
        let batches = self.first.iter().chain(&self.second);
        batches.map(OutgoingBatch::unsent_bytes).sum()
    }

    /// Writes at most `bytes_max` bytes. Returns the bytes that the socket took; 0: none now.
    pub(super) fn write(
        &mut self,
        stream: &TcpStream,
        reader: &RetainingReader,
        bytes_max: usize,
    ) -> Result<usize> {
        let count = write_parts(stream, self.parts(reader, bytes_max))?;
        self.advance(count);
        Ok(count)
    }

    /// The first `bytes_max` unsent bytes, in place.
    fn parts<'a>(
        &'a self,
        reader: &'a RetainingReader,
        bytes_max: usize,
    ) -> [&'a [u8]; WRITE_PARTS_MAX] {
        let (mut parts, mut left) = ([&[][..]; WRITE_PARTS_MAX], bytes_max);
        let batches = self.first.iter().chain(&self.second);
        let all = batches.flat_map(|batch| [batch.unsent_header(), batch.unsent_frames(reader)]);
        for (part, whole) in parts.iter_mut().zip(all) {
            *part = &whole[..whole.len().min(left)];
            left -= part.len();
        }
        parts
    }

    /// Notes that `count` bytes are sent.
    fn advance(&mut self, mut count: usize) {
        while let Some(batch) = &mut self.first {
            count -= batch.advance(count);
            if batch.unsent_bytes() > 0 {
                break;
            }
            self.first = self.second.take();
        }
    }
}

impl OutgoingBatch {
    fn unsent_bytes(&self) -> usize {
        BATCH_HEADER_BYTES - self.header_sent_bytes + (self.end - self.cursor) as usize
    }

    fn unsent_header(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.header)[self.header_sent_bytes..]
    }

    fn unsent_frames<'a>(&self, reader: &'a RetainingReader) -> &'a [u8] {
        match self.end - self.cursor {
            0 => &[],
            left => &reader.frames_from(self.cursor)[..left as usize],
        }
    }

    /// Notes that up to `count` bytes of this batch are sent, and returns how many it had.
    fn advance(&mut self, count: usize) -> usize {
        let count = count.min(self.unsent_bytes());
        let header_bytes = count.min(BATCH_HEADER_BYTES - self.header_sent_bytes);
        self.header_sent_bytes += header_bytes;
        self.cursor += (count - header_bytes) as u64;
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring with at least `bytes` bytes of frames, and its reader.
    fn ring(frames: usize) -> (ring::Writer, RetainingReader) {
        let (mut writer, reader) = ring::retaining_ring(4096).expect("memory");
        for number in 0..frames {
            writer.claim(56).expect("room").fill(number as u8);
            writer.commit(1, 0, 56);
        }
        (writer, reader)
    }

    fn bytes(going: &OutgoingBatches, reader: &RetainingReader, bytes_max: usize) -> Vec<u8> {
        going.parts(reader, bytes_max).concat()
    }

    #[test]
    fn what_is_out_is_not_sent_again() {
        let (_writer, reader) = ring(6);
        let heads = [[1; BATCH_HEADER_BYTES / 8], [2; BATCH_HEADER_BYTES / 8]];
        let begun = || {
            let mut going = OutgoingBatches::default();
            going.push(heads[0], 0, 128);
            going.push(heads[1], 128, 384);
            going
        };
        let all = bytes(&begun(), &reader, usize::MAX);
        assert_eq!(all.len(), 2 * BATCH_HEADER_BYTES + 384);
        for cut in 0..=all.len() {
            let mut going = begun();
            assert_eq!(bytes(&going, &reader, cut), &all[..cut]);
            going.advance(cut);
            assert_eq!(bytes(&going, &reader, usize::MAX), &all[cut..], "{cut}");
            assert_eq!(going.unsent_bytes(), all.len() - cut);
            assert_eq!(going.is_empty(), cut == all.len());
        }
    }

    #[test]
    fn the_cursor_is_where_frames_are_out() {
        let (_writer, reader) = ring(2);
        let mut going = OutgoingBatches::default();
        assert_eq!(going.cursor(), None);
        going.push([0; BATCH_HEADER_BYTES / 8], 0, 64);
        going.push([0; BATCH_HEADER_BYTES / 8], 64, 128);
        assert!(going.is_full());
        going.advance(BATCH_HEADER_BYTES + 10);
        assert_eq!(going.cursor(), Some(10));
        going.advance(54);
        assert_eq!((going.cursor(), going.is_full()), (Some(64), false));
        assert_eq!(bytes(&going, &reader, 1000).len(), BATCH_HEADER_BYTES + 64);
        going.advance(BATCH_HEADER_BYTES + 64);
        assert_eq!(going.cursor(), None);
    }
}
