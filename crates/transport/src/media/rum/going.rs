//! Batches on their way out: the one that is going, and the one after it. So a write can take the end
//! of a batch along with the beginning of the next, and be as long as the system likes it best.
//!
//! ```text
//!   | head | frames            |      | head | frames                |
//!            sent  ^ cursor                     to ^
//!            -------+------------------------------+-------
//!                   | one write                    |
//! ```

use std::net::TcpStream;

use ring::Keeper;
use rustix::io::Result;

use super::batch::{HEAD_BYTES, Words};
use crate::media::tcp::line::write;

/// Head and frames of two batches.
const PARTS: usize = 4;

/// A batch that is not all out.
#[derive(Debug)]
struct Batch {
    head: Words,
    /// Bytes of the head that are out.
    head_sent: usize,
    /// Up to where its frames are out.
    at: u64,
    /// Where it ends.
    to: u64,
}

/// Batches on their way to a receiver.
#[derive(Debug, Default)]
pub(super) struct Going {
    first: Option<Batch>,
    second: Option<Batch>,
}

impl Going {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Whether there is no room for another one.
    pub(super) fn is_full(&self) -> bool {
        self.second.is_some()
    }

    /// Another batch, with this head, of the frames between two positions.
    pub(super) fn push(&mut self, head: Words, from: u64, to: u64) {
        debug_assert!(!self.is_full());
        let batch = Batch {
            head,
            head_sent: 0,
            at: from,
            to,
        };
        match &mut self.first {
            None => self.first = Some(batch),
            Some(_) => self.second = Some(batch),
        }
    }

    /// Up to where frames are out; `None`: all that were begun.
    pub(super) fn cursor(&self) -> Option<u64> {
        self.first.as_ref().map(|batch| batch.at)
    }

    /// Bytes that are to go out.
    pub(super) fn bytes(&self) -> usize {
        let batches = self.first.iter().chain(&self.second);
        batches.map(Batch::bytes).sum()
    }

    /// Writes so many bytes, or what the socket takes of them; 0: nothing now.
    pub(super) fn write(
        &mut self,
        stream: &TcpStream,
        keeper: &Keeper,
        most: usize,
    ) -> Result<usize> {
        let count = write(stream, self.parts(keeper, most))?;
        self.advance(count);
        Ok(count)
    }

    /// The first so many bytes, as they lie.
    fn parts<'a>(&'a self, keeper: &'a Keeper, most: usize) -> [&'a [u8]; PARTS] {
        let (mut parts, mut left) = ([&[][..]; PARTS], most);
        let batches = self.first.iter().chain(&self.second);
        let all = batches.flat_map(|batch| [batch.head_left(), batch.frames_left(keeper)]);
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
            if batch.bytes() > 0 {
                break;
            }
            self.first = self.second.take();
        }
    }
}

impl Batch {
    fn bytes(&self) -> usize {
        HEAD_BYTES - self.head_sent + (self.to - self.at) as usize
    }

    fn head_left(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.head)[self.head_sent..]
    }

    fn frames_left<'a>(&self, keeper: &'a Keeper) -> &'a [u8] {
        match self.to - self.at {
            0 => &[],
            left => &keeper.frames(self.at)[..left as usize],
        }
    }

    /// So many bytes are out, or as many as it has: how many.
    fn advance(&mut self, count: usize) -> usize {
        let count = count.min(self.bytes());
        let of_head = count.min(HEAD_BYTES - self.head_sent);
        self.head_sent += of_head;
        self.at += (count - of_head) as u64;
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring with so many bytes of frames, and its keeper.
    fn ring(frames: usize) -> (ring::Writer, Keeper) {
        let (mut writer, keeper) = ring::keeping(4096).expect("memory");
        for number in 0..frames {
            writer.claim(56).expect("room").fill(number as u8);
            writer.commit(1, 0, 56);
        }
        (writer, keeper)
    }

    fn bytes(going: &Going, keeper: &Keeper, most: usize) -> Vec<u8> {
        going.parts(keeper, most).concat()
    }

    #[test]
    fn what_is_out_is_not_sent_again() {
        let (_writer, keeper) = ring(6);
        let heads = [[1; HEAD_BYTES / 8], [2; HEAD_BYTES / 8]];
        let begun = || {
            let mut going = Going::default();
            going.push(heads[0], 0, 128);
            going.push(heads[1], 128, 384);
            going
        };
        let all = bytes(&begun(), &keeper, usize::MAX);
        assert_eq!(all.len(), 2 * HEAD_BYTES + 384);
        for cut in 0..=all.len() {
            let mut going = begun();
            assert_eq!(bytes(&going, &keeper, cut), &all[..cut]);
            going.advance(cut);
            assert_eq!(bytes(&going, &keeper, usize::MAX), &all[cut..], "{cut}");
            assert_eq!(going.bytes(), all.len() - cut);
            assert_eq!(going.is_empty(), cut == all.len());
        }
    }

    #[test]
    fn the_cursor_is_where_frames_are_out() {
        let (_writer, keeper) = ring(2);
        let mut going = Going::default();
        assert_eq!(going.cursor(), None);
        going.push([0; HEAD_BYTES / 8], 0, 64);
        going.push([0; HEAD_BYTES / 8], 64, 128);
        assert!(going.is_full());
        going.advance(HEAD_BYTES + 10);
        assert_eq!(going.cursor(), Some(10));
        going.advance(54);
        assert_eq!((going.cursor(), going.is_full()), (Some(64), false));
        assert_eq!(bytes(&going, &keeper, 1000).len(), HEAD_BYTES + 64);
        going.advance(HEAD_BYTES + 64);
        assert_eq!(going.cursor(), None);
    }
}
