//! Numbered frames: the sender writes them, and the receiver knows their contents.

use ring::frame::Frame;
use transport::{Error, SendingEnd};

use crate::child::TestOutcome;

/// Lengths and flags of the frames of an edge, by number.
#[derive(Clone, Copy)]
pub struct Script {
    lengths: Lengths,
    has_flags: bool,
}

#[derive(Clone, Copy)]
enum Lengths {
    Of(usize),
    Rising(usize),
    Mixed(usize),
    Turns(usize, usize),
}

impl Script {
    /// Frames of one length.
    pub fn of(len: usize) -> Script {
        Script::new(Lengths::Of(len))
    }

    /// Frames of 0, 1, 2, ... up to `len_max` bytes, and again.
    pub fn rising(len_max: usize) -> Script {
        Script::new(Lengths::Rising(len_max + 1))
    }

    /// Frames of any length up to `len_max` bytes.
    pub fn mixed(len_max: usize) -> Script {
        Script::new(Lengths::Mixed(len_max + 1))
    }

    /// Frames of two lengths, by turns.
    pub fn turns(even: usize, odd: usize) -> Script {
        Script::new(Lengths::Turns(even, odd))
    }

    fn new(lengths: Lengths) -> Script {
        Script {
            lengths,
            has_flags: true,
        }
    }

    /// Frames as in this script, but without flags.
    pub fn without_flags(self) -> Script {
        Script {
            has_flags: false,
            ..self
        }
    }

    /// Bytes of the payload of a frame.
    pub fn len(&self, number: u64) -> usize {
        match self.lengths {
            Lengths::Of(len) => len,
            Lengths::Rising(lengths) => number as usize % lengths,
            Lengths::Mixed(lengths) => (mix(number, 1) >> 20) as usize % lengths,
            Lengths::Turns(even, odd) => [even, odd][number as usize % 2],
        }
    }

    /// Kind of a frame: any but that of padding.
    pub fn kind(&self, number: u64) -> u8 {
        1 + (number % 255) as u8
    }

    /// Flags of a frame: every value occurs in time.
    pub fn flags(&self, number: u64) -> u8 {
        (number / 3) as u8 * u8::from(self.has_flags)
    }

    /// Claims room for a frame and commits it. `false`: there is no room now.
    pub fn put(&self, out: &mut dyn SendingEnd, number: u64) -> Result<bool, Error> {
        let len = self.len(number);
        let Some(room) = out.claim(len)? else {
            return Ok(false);
        };
        assert_eq!(room.len(), len, "bytes of the claim for frame {number}");
        assert!(room.as_ptr().addr().is_multiple_of(8), "a crooked claim");
        fill(number, room);
        out.commit(self.kind(number), self.flags(number), len);
        Ok(true)
    }

    /// Checks that a frame is the one of this number, whole.
    pub fn check(&self, number: u64, frame: Frame<'_>) -> TestOutcome {
        let expected = (self.kind(number), self.flags(number), self.len(number));
        let found = (frame.kind, frame.flags, frame.bytes.len());
        if expected != found {
            return Err(format!(
                "frame {number} has kind, flags and length {found:?} and should have {expected:?}"
            )
            .into());
        }
        if !frame.bytes.as_ptr().addr().is_multiple_of(8) {
            return Err(format!("frame {number} begins at no multiple of 8").into());
        }
        match first_wrong(number, frame.bytes) {
            None => Ok(()),
            Some(at) => Err(format!("byte {at} of frame {number} is wrong").into()),
        }
    }
}

/// Writes the payload of the frame of this number.
pub fn fill(number: u64, room: &mut [u8]) {
    for (word, bytes) in (0..).zip(room.chunks_mut(8)) {
        bytes.copy_from_slice(&mix(number, word).to_le_bytes()[..bytes.len()]);
    }
}

fn first_wrong(number: u64, bytes: &[u8]) -> Option<usize> {
    let is_wrong =
        |(word, bytes): &(u64, &[u8])| *bytes != &mix(number, *word).to_le_bytes()[..bytes.len()];
    let wrong = (0..).zip(bytes.chunks(8)).find(is_wrong);
    wrong.map(|(word, _)| word as usize * 8)
}

/// Mixes numbers so that no byte of a frame equals its neighbour or the same byte of the next
/// frame.
fn mix(number: u64, word: u64) -> u64 {
    let mixed = (number << 16 ^ word).wrapping_add(1);
    let mixed = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}
