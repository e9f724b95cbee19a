//! The bytes of a message, like the attributes of an SPL payload of equal size: each part holds the
//! number of the message.
//!
//! ```text
//!   | int64 | int64 | ... | int32 | int16 | int8 |      narrow ones only for what is left
//! ```

/// The layout of a message of a given size.
///
/// # Example
/// ```
/// use thalweg_control::Payload;
///
/// // Two int64, an int32 and an int16, each of which holds the number of the message.
/// let payload = Payload::with_bytes(22);
/// let mut message = vec![0; payload.bytes()];
/// payload.fill(5, &mut message);
/// assert_eq!(payload.sum(&message), 4 * 5);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Payload {
    word_count: usize,
    /// Bytes after the whole words, less than eight.
    rest_bytes: usize,
}

/// Widths of the narrow parts in bytes, in their order.
const NARROW_BYTES: [usize; 3] = [4, 2, 1];

impl Payload {
    /// The layout of a message of `bytes` bytes.
    pub fn with_bytes(bytes: usize) -> Payload {
        Payload {
            word_count: bytes / 8,
            rest_bytes: bytes % 8,
        }
    }

    /// Size of the message in bytes.
    pub fn bytes(self) -> usize {
        self.word_count * 8 + self.rest_bytes
    }

    /// Number of whole words.
    pub fn full_words(self) -> usize {
        self.word_count
    }

    /// Number of words that hold the message, the last of which may be partly filled.
    pub fn words(self) -> usize {
        self.word_count + usize::from(self.rest_bytes > 0)
    }

    /// The narrow parts of message `number`, packed into a word.
    pub fn rest_word(self, number: u64) -> u64 {
        let (mut word, mut shift) = (0, 0);
        for width in self.narrow_bytes() {
            word |= (number & (u64::MAX >> (64 - 8 * width))) << shift;
            shift += 8 * width;
        }
        word
    }

    /// The sum of the narrow parts in a word, each with its sign.
    pub fn rest_sum(self, word: u64) -> i64 {
        let (mut sum, mut shift) = (0, 0);
        for width in self.narrow_bytes() {
            let unused = 64 - 8 * width;
            sum += ((word >> shift) << unused) as i64 >> unused;
            shift += 8 * width;
        }
        sum
    }

    fn narrow_bytes(self) -> impl Iterator<Item = usize> {
        NARROW_BYTES
            .into_iter()
            .filter(move |width| self.rest_bytes & width != 0)
    }

    /// Writes message `number` into `room`, which has exactly its size.
    pub fn fill(self, number: u64, room: &mut [u8]) {
        let (wholes, rest) = room.split_at_mut(self.word_count * 8);
        let words = wholes.as_chunks_mut::<8>().0;
        words
            .iter_mut()
            .for_each(|word| *word = number.to_le_bytes());
        if self.rest_bytes > 0 {
            rest.copy_from_slice(&self.rest_word(number).to_le_bytes()[..self.rest_bytes]);
        }
    }

    /// The first part of a message: an int64, or an int32 in a message of four to seven bytes.
    pub fn first(self, message: &[u8]) -> i64 {
        match (message.first_chunk::<8>(), message.first_chunk::<4>()) {
            (Some(word), _) => i64::from_le_bytes(*word),
            (None, Some(half)) => i32::from_le_bytes(*half).into(),
            (None, None) => 0,
        }
    }

    /// Overwrites the first part of a message.
    pub fn set_first(self, message: &mut [u8], value: i64) {
        let bytes = value.to_le_bytes();
        let width = message.len().min(8);
        message[..width].copy_from_slice(&bytes[..width]);
    }

    /// Reads a whole message; the sum of its parts.
    pub fn sum(self, bytes: &[u8]) -> i64 {
        let (wholes, rest) = bytes.split_at(self.word_count * 8);
        let words = wholes.as_chunks::<8>().0.iter();
        let sum = words.fold(0_i64, |sum, word| {
            sum.wrapping_add(i64::from_le_bytes(*word))
        });
        if self.rest_bytes == 0 {
            return sum;
        }
        let mut word = [0; 8];
        word[..self.rest_bytes].copy_from_slice(rest);
        sum.wrapping_add(self.rest_sum(u64::from_le_bytes(word)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for bytes in [1, 4, 7, 8, 22, 108, 1004, 16384] {
            let payload = Payload::with_bytes(bytes);
            assert_eq!(payload.bytes(), bytes);
            let mut room = vec![0xff; bytes];
            payload.fill(5, &mut room);
            let parts = bytes / 8 + (bytes % 8).count_ones() as usize;
            assert_eq!(payload.sum(&room), 5 * parts as i64, "{bytes}");
        }
    }

    #[test]
    fn narrow_parts_are_cut_as_spl_cuts() {
        // int32, int16, int8 of 0x1_8000_80ff: each keeps its low bits, with their sign.
        let payload = Payload::with_bytes(7);
        let number = 0x1_8000_80ff_u64;
        let cut = i64::from(number as i32) + i64::from(number as i16) + i64::from(number as i8);
        assert_eq!(payload.rest_sum(payload.rest_word(number)), cut);
    }
}
