//! The receiving end of an edge over a library: whole frames among the bytes that have come.
//!
//! If the library says that its polls show whole blocks, headers are checked when frames are read,
//! and what is no frame is an error of the next poll. Otherwise a poll looks for the last whole
//! frame first.

use std::cell::Cell;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use ::plugin::LibraryReceiver;
use ring::frame::{FrameBatch, FrameHeader, HEADER_BYTES, PAD, TornFrame, frame_bytes};

use super::medium::edge_error;
use crate::{Error, ReceivingEnd, Waitable};

/// The receiving end of an edge over a library.
pub(super) struct PluginReceivingEnd {
    receiver: LibraryReceiver,
    name: Arc<str>,
    /// Most bytes of a frame with its header.
    frame_bytes_max: u64,
    /// Whether the bytes of a poll end with a frame, as the library says.
    polls_whole_frames: bool,
    /// Bytes in a batch that are no frame, once they were read.
    torn: Cell<Option<TornFrame>>,
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
            polls_whole_frames: receiver.polls_whole_blocks(),
            torn: Cell::new(None),
            receiver,
            name,
            frame_bytes_max,
            polled_bytes: 0,
        }
    }
}

impl ReceivingEnd for PluginReceivingEnd {
    fn poll(&mut self) -> Result<FrameBatch<'_>, Error> {
        let (name, skip, most) = (&self.name, self.polled_bytes, self.frame_bytes_max);
        if let Some(torn) = self.torn.get() {
            let what = describe_torn(torn, most);
            return Err(edge_error(self.receiver.broken(what), name, None));
        }
        let shown = self.receiver.poll(skip);
        let shown = shown.map_err(|error| edge_error(error, name, None))?;
        let frames = match self.polls_whole_frames {
            true => shown.bytes.len(),
            false => whole_frames(shown.bytes, most)
                .map_err(|what| edge_error(shown.broken(what), name, None))?,
        };
        match shown.end {
            Some(end) if frames == 0 => Err(edge_error(end, name, None)),
            _ => {
                self.polled_bytes += frames as u64;
                let frames = &shown.bytes[..frames];
                Ok(FrameBatch::unchecked(frames, most as usize, &self.torn))
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
        let whole = whole_frame_bytes(u64::from_ne_bytes(*word), frame_bytes_max)?;
        if bytes.len() - at < whole {
            break;
        }
        at += whole;
    }
    Ok(at)
}

/// Bytes of the frame with this header.
///
/// # Errors
/// Words for a header that no sender has written.
fn whole_frame_bytes(word: u64, frame_bytes_max: u64) -> Result<usize, String> {
    let header = FrameHeader::try_from_word(word).filter(|header| header.kind != PAD);
    let Some(header) = header else {
        return Err(format!(
            "shows {word:#x} where a frame begins, which no sender has written"
        ));
    };
    let whole = frame_bytes(header.len as usize);
    match whole as u64 > frame_bytes_max {
        true => Err(format!(
            "shows a frame of {whole} bytes, and {frame_bytes_max} is the most"
        )),
        false => Ok(whole),
    }
}

/// Words for what a batch has come to that is no frame, or no whole one.
#[cold]
fn describe_torn(torn: TornFrame, frame_bytes_max: u64) -> String {
    let rest = torn.rest_bytes;
    if rest < HEADER_BYTES {
        return format!("shows {rest} bytes where a frame begins, fewer than a header");
    }
    match whole_frame_bytes(torn.header, frame_bytes_max) {
        Err(what) => what,
        Ok(whole) => format!(
            "shows {rest} bytes of a frame of {whole}, and the library says that it shows whole \
             blocks"
        ),
    }
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
    fn what_is_found_when_frames_are_read_is_said() {
        let whole = [frame(1, 5), frame(2, 17)].concat();
        let reserved = [&whole[..], &[1, 0, 0, 0, 1, 0, 1, 0]].concat();
        let zeros = [&whole[..], &[0; 8]].concat();
        for (bytes, words) in [
            (&zeros[..], "shows 0x0 where a frame begins"),
            (&reserved, "shows 0x1000100000001 where a frame begins"),
            (
                &[&whole[..], &frame(1, 64)].concat(),
                "a frame of 72 bytes, and 64 is the most",
            ),
            (&whole[..32], "shows 16 bytes of a frame of 32"),
            (&whole[..20], "shows 4 bytes where a frame begins"),
        ] {
            let torn = Cell::new(None);
            let batch = FrameBatch::unchecked(bytes, 64, &torn);
            assert!((1..=2).contains(&batch.count()));
            let found = describe_torn(torn.get().expect("a torn frame"), 64);
            assert!(found.contains(words), "{found}");
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
