//! Fields that are plain numbers from their first byte to their last, read by words of digits.
//!
//! ```text
//!   -83.10,...   the 8 bytes behind the sign, as one word
//!    00083.10    moved up to the field's end, behind '0'
//!    00008310    the point is taken out: 8310 * 10^-2
//! ```
//! Nothing depends on how many digits there are, so that the processor has no branch to guess.
//! Whatever is not plain (an exponent, more digits, `nan`, a blank) is left to [`super::number`],
//! by answering `None`; what both read is equal.

use std::ops::Range;

use super::number::FromDigits;

/// The digit 0 in each byte of a word.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The digit 0 in each byte of two words.
const LONG_ZEROS: u128 = u128::from_le_bytes([b'0'; 16]);

/// Reads a number that is all of a field, if it is plain. A word is read at once, so that some
/// bytes have to stand behind the field, whatever they are.
#[inline]
pub(super) fn plain_integer<T: FromDigits>(bytes: &[u8], field: Range<usize>) -> Option<T> {
    let (negative, first) = sign(bytes, field.start);
    let digits = match field.end - first {
        count @ 1..=8 => digits_of(word_at(bytes, first, count)?)?,
        count @ 9..=16 => long_digits_of(long_word_at(bytes, first, count)?)?,
        _ => return None,
    };
    T::from_digits(negative, digits, 0)
}

/// Reads a number that may have a point, as [`plain_integer`] reads one.
#[inline]
pub(super) fn plain_scientific<T: FromDigits>(bytes: &[u8], field: Range<usize>) -> Option<T> {
    let (negative, first) = sign(bytes, field.start);
    let (digits, places) = match field.end - first {
        // A point alone is no number.
        1 if bytes[first] == b'.' => return None,
        count @ 1..=8 => {
            let (word, places) = without_point(word_at(bytes, first, count)?);
            (digits_of(word)?, places)
        }
        count @ 9..=16 => {
            let (word, places) = without_point_long(long_word_at(bytes, first, count)?);
            (long_digits_of(word)?, places)
        }
        _ => return None,
    };
    T::from_digits(negative, digits, -places)
}

#[inline]
fn sign(bytes: &[u8], start: usize) -> (bool, usize) {
    match bytes[start] {
        b'-' => (true, start + 1),
        b'+' => (false, start + 1),
        _ => (false, start),
    }
}

/// The `count` bytes from an offset on, 1 to 8, behind as many `0` as fill the word.
#[inline]
fn word_at(bytes: &[u8], at: usize, count: usize) -> Option<u64> {
    let word = u64::from_le_bytes(*bytes[at..].first_chunk()?);
    Some(word << (64 - 8 * count) | ZEROS >> (8 * count - 8) >> 8)
}

/// The `count` bytes from an offset on, 1 to 16, behind as many `0` as fill two words.
#[inline]
fn long_word_at(bytes: &[u8], at: usize, count: usize) -> Option<u128> {
    let word = u128::from_le_bytes(*bytes[at..].first_chunk()?);
    Some(word << (128 - 8 * count) | LONG_ZEROS >> (8 * count - 8) >> 8)
}

/// A word whose first point is replaced by moving up all that is before it; and the number of bytes
/// behind the point, 0 without one.
///
/// A byte of `x` is 0 where the point is, and `(x - 1) & !x` has its high bit set at the lowest
/// zero byte (and perhaps at higher ones, which do not count).
#[inline]
fn without_point(word: u64) -> (u64, i32) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let x = word ^ (u64::from(b'.') * ONES);
    let found = x.wrapping_sub(ONES) & !x & (ONES << 7);
    if found == 0 {
        return (word, 0);
    }
    let at = found.trailing_zeros() / 8;
    let before = (1 << (8 * at)) - 1;
    let behind = u64::MAX << (8 * at) << 8;
    let moved = (word & before) << 8 | u64::from(b'0');
    (moved | word & behind, 7 - at as i32)
}

/// [`without_point`] for two words.
#[inline]
fn without_point_long(word: u128) -> (u128, i32) {
    const ONES: u128 = u128::from_le_bytes([1; 16]);
    let x = word ^ (u128::from(b'.') * ONES);
    let found = x.wrapping_sub(ONES) & !x & (ONES << 7);
    if found == 0 {
        return (word, 0);
    }
    let at = found.trailing_zeros() / 8;
    let before = (1 << (8 * at)) - 1;
    let behind = u128::MAX << (8 * at) << 8;
    let moved = (word & before) << 8 | u128::from(b'0');
    (moved | word & behind, 15 - at as i32)
}

/// The number that the 8 bytes of a word are digits of, the first one lowest in the word.
///
/// Neighbours are joined by twos, fours and eights: one multiplication adds the later one and the
/// earlier one times 10, 100 or 10,000.
#[inline]
fn digits_of(word: u64) -> Option<u64> {
    let digits = word.wrapping_sub(ZEROS);
    // Below `0` the one word has the high bit of a byte, above `9` the other or both. A carry comes
    // only out of a byte that is found anyway.
    let above = word.wrapping_add(0x4646_4646_4646_4646);
    if (digits | above) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_FFFF_0000_FFFF;
    Some(fours.wrapping_mul(10_000 << 32 | 1) >> 32)
}

#[inline]
fn long_digits_of(word: u128) -> Option<u64> {
    let (high, low) = (digits_of(word as u64)?, digits_of((word >> 64) as u64)?);
    Some(high * 100_000_000 + low)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::number::ScanNumber;
    use crate::{Decimal64, Decimal128};

    /// Whether the short way either declines, or reads what the long way reads.
    fn agrees<T: ScanNumber>(
        read: fn(&[u8], Range<usize>) -> Option<T>,
        text: &str,
        bits: impl Fn(T) -> u128,
    ) -> Result<bool, TestCaseError> {
        let bytes = format!("7.{text},-12.5e7,0.25,1,3,8");
        let Some(short) = read(bytes.as_bytes(), 2..2 + text.len()) else {
            return Ok(false);
        };
        let (long, len) = T::scan(text.as_bytes())
            .map_err(|_| TestCaseError::fail(format!("{text} is no number for the long way")))?;
        prop_assert_eq!(len, text.len(), "{}", text);
        prop_assert_eq!(bits(short), bits(long), "{}", text);
        Ok(true)
    }

    fn check(text: &str) -> Result<u32, TestCaseError> {
        let taken = [
            agrees(plain_integer::<i8>, text, |x| x as u128)?,
            agrees(plain_integer::<i32>, text, |x| x as u128)?,
            agrees(plain_integer::<i64>, text, |x| x as u128)?,
            agrees(plain_integer::<u16>, text, |x| x.into())?,
            agrees(plain_integer::<u64>, text, |x| x.into())?,
            agrees(plain_scientific::<f32>, text, |x| x.to_bits().into())?,
            agrees(plain_scientific::<f64>, text, |x| x.to_bits().into())?,
            agrees(plain_scientific::<Decimal64>, text, |x| {
                u64::from_le_bytes(x.to_le_bytes()).into()
            })?,
            agrees(plain_scientific::<Decimal128>, text, |x| {
                u128::from_le_bytes(x.to_le_bytes())
            })?,
        ];
        Ok(taken.iter().map(|&taken| u32::from(taken)).sum())
    }

    #[test]
    fn ordinary_numbers_take_the_short_way() {
        for (text, ways) in [
            ("0", 9),
            ("-7", 7),
            ("+12", 9),
            ("83.10", 4),
            (".5", 4),
            ("5.", 4),
            ("-0.0", 4),
            ("12345678", 7),
            ("9007199254740993", 4),
            ("12345.678", 4),
        ] {
            assert_eq!(check(text).unwrap(), ways, "{text}");
        }
        for text in [
            ".", "-", "+", "1..2", "1.2.3", "1e5", "nan", " 1", "1 ", "x", "--1", "1-", "/:",
        ] {
            assert_eq!(check(text).unwrap(), 0, "{text}");
        }
    }

    proptest! {
        #[test]
        fn both_ways_agree(text in "[+-]?[0-9]{0,17}(\\.[0-9]{0,9})?") {
            prop_assume!(!text.is_empty());
            check(&text)?;
        }

        #[test]
        fn anything_else_is_declined(text in "[-+0-9.e/: ]{1,17}") {
            check(&text)?;
        }
    }
}
