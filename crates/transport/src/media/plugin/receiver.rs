//! The receiving end of an edge over a library: whole frames among the bytes that have come.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use ::plugin::LibraryReceiver;
use ring::frame::{FrameBatch, FrameHeader, PAD, frame_bytes};

use super::medium::edge_error;
use crate::{Error, ReceivingEnd, Waitable};

/// The receiving end of an edge over a library.
pub(super) struct PluginReceivingEnd {
    receiver: LibraryReceiver,
    name: Arc<str>,
    /// Most bytes of a frame with its header.
    frame_bytes_max: u64,
    /// Bytes of whole frames that were polled and not released.
    polled_bytes: u64,
}

impl PluginReceivingEnd {
    pub(super) fn new(
        name: Arc<str>,
        receiver: LibraryReceiver,
        frame_bytes_max: u64,
    ) -> PluginReceivingEnd {
        PluginReceivingEnd {
            receiver,
            name,
            frame_bytes_max,
            polled_bytes: 0,
        }
    }
}

impl ReceivingEnd for PluginReceivingEnd {
    fn poll(&mut self) -> Result<FrameBatch<'_>, Error> {
        let (name, skip) = (&self.name, self.polled_bytes);
        let shown = self.receiver.poll(skip);
        let shown = shown.map_err(|error| edge_error(error, name, None))?;
        let frames = whole_frames(shown.bytes, self.frame_bytes_max);
        let frames = frames.map_err(|what| edge_error(shown.broken(what), name, None))?;
        match shown.end {
            Some(end) if frames == 0 => Err(edge_error(end, name, None)),
            _ => {
                self.polled_bytes += frames as u64;
                Ok(FrameBatch::new(&shown.bytes[..frames]))
            }
        }
    }

    fn release(&mut self) {
        let polled = std::mem::take(&mut self.polled_bytes);
        if polled > 0 {
            self.receiver.release(polled);
        }
    }
}

/// Bytes of the whole frames at the beginning of `bytes`; the last frame may not have come whole.
///
/// # Errors
/// Words for bytes that are no frame; they complete the sentence "poll ...".
fn whole_frames(bytes: &[u8], frame_bytes_max: u64) -> Result<usize, String> {
    let mut at = 0;
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_ne_bytes(*word);
        let header = FrameHeader::try_from_word(word).filter(|header| header.kind != PAD);
        let Some(header) = header else {
            return Err(format!(
                "shows {word:#x} where a frame begins, which no sender has written"
            ));
        };
        let whole = frame_bytes(header.len as usize);
        if whole as u64 > frame_bytes_max {
            return Err(format!(
                "shows a frame of {whole} bytes, and {frame_bytes_max} is the most"
            ));
        }
        if bytes.len() - at < whole {
            break;
        }
        at += whole;
    }
    Ok(at)
}

impl Waitable for PluginReceivingEnd {
    fn arm(&mut self) -> Result<bool, Error> {
        let armed = self.receiver.arm();
        armed.map_err(|error| edge_error(error, &self.name, None))
    }

    fn disarm(&mut self) {
        self.receiver.disarm();
    }

    fn poll_fds<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        self.receiver.poll_fds(readable, writable);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, payload: usize) -> Vec<u8> {
        let len = payload as u32;
        let header = FrameHeader {
            len,
            kind,
            flags: 0,
        };
        let mut bytes = header.to_word().to_ne_bytes().to_vec();
        bytes.resize(frame_bytes(payload), 7);
        bytes
    }

    #[test]
    fn a_frame_that_has_not_come_whole_is_left() {
        let bytes = [frame(1, 5), frame(2, 0), frame(3, 17)].concat();
        for end in 0..=bytes.len() {
            let whole = [0, 16, 24, 56].into_iter().rfind(|at| *at <= end);
            assert_eq!(whole_frames(&bytes[..end], 64).ok(), whole, "{end}");
        }
    }

    #[test]
    fn what_is_no_frame_is_said() {
        let zeros = vec![0; 64];
        let reserved = [&[1, 0, 0, 0, 1, 0, 1, 0][..], &zeros].concat();
        for wrong in [zeros, reserved, [frame(1, 5), frame(PAD, 8)].concat()] {
            let found = whole_frames(&wrong, 64).unwrap_err();
            assert!(found.contains("where a frame begins"), "{found}");
        }
        let found = whole_frames(&frame(1, 64), 64).unwrap_err();
        assert!(
            found.contains("a frame of 72 bytes, and 64 is the most"),
            "{found}"
        );
    }
}
