//! Batches on their way out: the one that is going, and the one after it. So a write can take the
//! end of a batch along with the beginning of the next, and be as long as the system likes it best.
//!
//! ```text
//!   | head | frames            |      | head | frames                |
//!            sent  ^ cursor                     to ^
//!            -------+------------------------------+-------
//!                   | one write                    |
//! ```

use std::net::TcpStream;

use ring::RetainingReader;
use rustix::io::Result;

use super::batch_header::{BATCH_HEADER_BYTES, BatchHeaderWords};
use crate::media::tcp_edge::receiver_connection::write_parts;

/// Head and frames of two batches.
const WRITE_PARTS_MAX: usize = 4;

/// A batch that is not all out.
#[derive(Debug)]
struct OutgoingBatch {
    header: BatchHeaderWords,
    /// Bytes of the head that are out.
    header_sent_bytes: usize,
    /// Up to where its frames are out.
    cursor: u64,
    /// Where it ends.
    end: u64,
}

/// Batches on their way to a receiver.
#[derive(Debug, Default)]
pub(super) struct OutgoingBatches {
    first: Option<OutgoingBatch>,
    second: Option<OutgoingBatch>,
}

impl OutgoingBatches {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Whether there is no room for another one.
    pub(super) fn is_full(&self) -> bool {
        self.second.is_some()
    }

    /// Another batch, with this head, of the frames between two positions.
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

    /// Up to where frames are out; `None`: all that were begun.
    pub(super) fn cursor(&self) -> Option<u64> {
        self.first.as_ref().map(|batch| batch.cursor)
    }

    /// Bytes that are to go out.
    pub(super) fn unsent_bytes(&self) -> usize {
        let batches = self.first.iter().chain(&self.second);
        batches.map(OutgoingBatch::unsent_bytes).sum()
    }

    /// Writes so many bytes, or what the socket takes of them; 0: nothing now.
    pub(super) fn write(
        &mut self,
        stream: &TcpStream,
        keeper: &RetainingReader,
        most: usize,
    ) -> Result<usize> {
        let count = write_parts(stream, self.parts(keeper, most))?;
        self.advance(count);
        Ok(count)
    }

    /// The first so many bytes, as they lie.
    fn parts<'a>(
        &'a self,
        keeper: &'a RetainingReader,
        most: usize,
    ) -> [&'a [u8]; WRITE_PARTS_MAX] {
        let (mut parts, mut left) = ([&[][..]; WRITE_PARTS_MAX], most);
        let batches = self.first.iter().chain(&self.second);
        let all = batches.flat_map(|batch| [batch.unsent_header(), batch.unsent_frames(keeper)]);
        for (part, whole) in parts.iter_mut().zip(all) {
            *part = &whole[..whole.len().min(left)];
            left -= part.len();
        }
        parts
    }

    /// So many bytes are out.
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

    fn unsent_frames<'a>(&self, keeper: &'a RetainingReader) -> &'a [u8] {
        match self.end - self.cursor {
            0 => &[],
            left => &keeper.frames_from(self.cursor)[..left as usize],
        }
    }

    /// So many bytes are out, or as many as it has: how many.
    fn advance(&mut self, count: usize) -> usize {
        let count = count.min(self.unsent_bytes());
        let of_head = count.min(BATCH_HEADER_BYTES - self.header_sent_bytes);
        self.header_sent_bytes += of_head;
        self.cursor += (count - of_head) as u64;
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring with so many bytes of frames, and its keeper.
    fn ring(frames: usize) -> (ring::Writer, RetainingReader) {
        let (mut writer, keeper) = ring::retaining_ring(4096).expect("memory");
        for number in 0..frames {
            writer.claim(56).expect("room").fill(number as u8);
            writer.commit(1, 0, 56);
        }
        (writer, keeper)
    }

    fn bytes(going: &OutgoingBatches, keeper: &RetainingReader, most: usize) -> Vec<u8> {
        going.parts(keeper, most).concat()
    }

    #[test]
    fn what_is_out_is_not_sent_again() {
        let (_writer, keeper) = ring(6);
        let heads = [[1; BATCH_HEADER_BYTES / 8], [2; BATCH_HEADER_BYTES / 8]];
        let begun = || {
            let mut going = OutgoingBatches::default();
            going.push(heads[0], 0, 128);
            going.push(heads[1], 128, 384);
            going
        };
        let all = bytes(&begun(), &keeper, usize::MAX);
        assert_eq!(all.len(), 2 * BATCH_HEADER_BYTES + 384);
        for cut in 0..=all.len() {
            let mut going = begun();
            assert_eq!(bytes(&going, &keeper, cut), &all[..cut]);
            going.advance(cut);
            assert_eq!(bytes(&going, &keeper, usize::MAX), &all[cut..], "{cut}");
            assert_eq!(going.unsent_bytes(), all.len() - cut);
            assert_eq!(going.is_empty(), cut == all.len());
        }
    }

    #[test]
    fn the_cursor_is_where_frames_are_out() {
        let (_writer, keeper) = ring(2);
        let mut going = OutgoingBatches::default();
        assert_eq!(going.cursor(), None);
        going.push([0; BATCH_HEADER_BYTES / 8], 0, 64);
        going.push([0; BATCH_HEADER_BYTES / 8], 64, 128);
        assert!(going.is_full());
        going.advance(BATCH_HEADER_BYTES + 10);
        assert_eq!(going.cursor(), Some(10));
        going.advance(54);
        assert_eq!((going.cursor(), going.is_full()), (Some(64), false));
        assert_eq!(bytes(&going, &keeper, 1000).len(), BATCH_HEADER_BYTES + 64);
        going.advance(BATCH_HEADER_BYTES + 64);
        assert_eq!(going.cursor(), None);
    }
}
