//! A batch that is going out on a rail: what of it is sent, and what is still to send.
//!
//! ```text
//!   | header | filler: released meanwhile | bytes of the ring |
//!              sent ^ cursor                              end ^
//! ```

use ring::RetainingReader;

use crate::media::rum::batch_header::{BATCH_HEADER_BYTES, BatchHeaderWords};

/// Bytes that are sent in place of those that were released while a batch was going out: another
/// rail has delivered them, and the receiver drops these.
static FILLER: [u8; 64 * 1024] = [0; 64 * 1024];

/// A batch that is not sent as a whole.
pub(super) struct OutgoingSegment {
    header: BatchHeaderWords,
    header_sent_bytes: usize,
    cursor: u64,
    end: u64,
}

impl OutgoingSegment {
    /// A batch with this header, of the bytes between two positions.
    pub(super) fn new(header: BatchHeaderWords, from: u64, end: u64) -> OutgoingSegment {
        OutgoingSegment {
            header,
            header_sent_bytes: 0,
            cursor: from,
            end,
        }
    }

    /// The bytes that are not sent yet: of the header, of what was released meanwhile, and of the
    /// ring.
    pub(super) fn parts<'a>(&'a self, reader: &'a RetainingReader) -> [&'a [u8]; 3] {
        let header = &bytemuck::cast_slice(&self.header)[self.header_sent_bytes..];
        let kept = reader.released().clamp(self.cursor, self.end);
        let filler = &FILLER[..(kept - self.cursor) as usize];
        let frames = match self.end - kept {
            0 => &[],
            bytes => &reader.frames_from(kept)[..bytes as usize],
        };
        [header, filler, frames]
    }

    /// Notes that `count` bytes are sent. `true`: the batch is out.
    pub(super) fn advance(&mut self, count: usize) -> bool {
        let header_bytes = count.min(BATCH_HEADER_BYTES - self.header_sent_bytes);
        self.header_sent_bytes += header_bytes;
        self.cursor += (count - header_bytes) as u64;
        self.header_sent_bytes == BATCH_HEADER_BYTES && self.cursor == self.end
    }
}
