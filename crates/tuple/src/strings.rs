//! SPL's two string types: raw bytes, and UTF-16 that counts in code points.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use crate::bytes::{compare_bytes, same_bytes};

/// Bytes, normally UTF-8; lengths and indices are in bytes.
#[derive(Clone, Debug, Default)]
pub struct RString(pub Vec<u8>);

/// UTF-16 code units; may hold lone surrogates. Lengths and indices are in code points. Order is
/// that of code points.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct UString(pub Vec<u16>);

impl RString {
    /// The bytes of the string.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Converts to text; bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::RString;
    ///
    /// let text = RString(b"caf\xe9".to_vec());
    /// assert_eq!(text.len(), 4);
    /// assert_eq!(text.to_string_lossy(), "caf\u{FFFD}");
    /// ```
    pub fn to_string_lossy(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// Length of the string in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PartialEq for RString {
    fn eq(&self, other: &RString) -> bool {
        same_bytes(&self.0, &other.0)
    }
}

impl Eq for RString {}

impl Hash for RString {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash(hasher);
    }
}

impl PartialOrd for RString {
    fn partial_cmp(&self, other: &RString) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RString {
    fn cmp(&self, other: &RString) -> Ordering {
        compare_bytes(&self.0, &other.0)
    }
}

impl From<&str> for RString {
    fn from(text: &str) -> RString {
        RString(text.as_bytes().to_vec())
    }
}

impl From<String> for RString {
    fn from(text: String) -> RString {
        RString(text.into_bytes())
    }
}

impl From<&[u8]> for RString {
    fn from(bytes: &[u8]) -> RString {
        RString(bytes.to_vec())
    }
}

impl From<Vec<u8>> for RString {
    fn from(bytes: Vec<u8>) -> RString {
        RString(bytes)
    }
}

impl From<&UString> for RString {
    fn from(text: &UString) -> RString {
        let mut bytes = Vec::with_capacity(text.0.len());
        text.write_utf8(&mut bytes);
        RString(bytes)
    }
}

impl UString {
    /// The UTF-16 code units of the string.
    pub fn as_units(&self) -> &[u16] {
        &self.0
    }

    /// Converts from UTF-8; bytes that are not UTF-8 become U+FFFD.
    pub fn from_utf8_lossy(bytes: &[u8]) -> UString {
        UString(String::from_utf8_lossy(bytes).encode_utf16().collect())
    }

    /// Converts to text; lone surrogates become U+FFFD.
    pub fn to_string_lossy(&self) -> String {
        String::from_utf16_lossy(&self.0)
    }

    /// Appends it as UTF-8; a lone surrogate becomes U+FFFD.
    pub fn write_utf8(&self, out: &mut Vec<u8>) {
        for c in char::decode_utf16(self.0.iter().copied()) {
            let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    /// Length in code points; a lone surrogate is one.
    pub fn len(&self) -> usize {
        self.0.len() - pairs(&self.0)
    }

    /// Whether it has no code points.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The code points in order; a lone surrogate comes as its own number.
    pub fn code_points(&self) -> impl Iterator<Item = u32> {
        char::decode_utf16(self.0.iter().copied()).map(|c| match c {
            Ok(c) => u32::from(c),
            Err(lone) => u32::from(lone.unpaired_surrogate()),
        })
    }

    /// Appends a code point (a surrogate's number gives a lone surrogate).
    pub fn push_code_point(&mut self, point: u32) {
        match char::from_u32(point) {
            Some(c) => self.0.extend_from_slice(c.encode_utf16(&mut [0; 2])),
            None => self.0.push(point as u16),
        }
    }

    /// The unit index at which a code point begins; the number of units if there are fewer points.
    pub fn unit_index(&self, point: usize) -> usize {
        if pairs(&self.0) == 0 {
            return point.min(self.0.len());
        }
        let mut at = 0;
        for _ in 0..point {
            at += match self.0.get(at..) {
                Some([first, second, ..]) if is_high(*first) && is_low(*second) => 2,
                Some([_, ..]) => 1,
                _ => break,
            };
        }
        at
    }

    /// The code points from `start` up to `end` (exclusive); both may lie beyond the end.
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::UString;
    ///
    /// let text = UString::from("naïve 😀!");
    /// assert_eq!(text.len(), 8);
    /// assert_eq!(text.slice(6, 7), UString::from("😀"));
    /// ```
    pub fn slice(&self, start: usize, end: usize) -> UString {
        let from = self.unit_index(start);
        let to = self.unit_index(end).max(from);
        UString(self.0[from..to].to_vec())
    }
}

impl From<&str> for UString {
    fn from(text: &str) -> UString {
        UString(text.encode_utf16().collect())
    }
}

impl From<&RString> for UString {
    fn from(text: &RString) -> UString {
        UString::from_utf8_lossy(&text.0)
    }
}

impl PartialOrd for UString {
    fn partial_cmp(&self, other: &UString) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for UString {
    fn cmp(&self, other: &UString) -> Ordering {
        cmp_utf16(&self.0, &other.0)
    }
}

/// The order of two UTF-16 texts by code point.
pub fn cmp_utf16(a: &[u16], b: &[u16]) -> Ordering {
    // Surrogates stand for points above U+FFFF but are numbered below U+E000: rotate them up.
    let rank = |unit: u16| match unit {
        0xE000.. => unit - 0x800,
        0xD800.. => unit + 0x2000,
        _ => unit,
    };
    a.iter().map(|&u| rank(u)).cmp(b.iter().map(|&u| rank(u)))
}

fn is_high(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

fn is_low(unit: u16) -> bool {
    (0xDC00..0xE000).contains(&unit)
}

/// How many surrogate pairs there are.
fn pairs(units: &[u16]) -> usize {
    units
        .windows(2)
        .filter(|w| is_high(w[0]) && is_low(w[1]))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ustring_counts_code_points() {
        let text = UString::from("a😀b");
        assert_eq!((text.0.len(), text.len()), (4, 3));
        assert_eq!(text.slice(1, 2), UString::from("😀"));
        assert_eq!(text.slice(2, 9), UString::from("b"));
        assert_eq!(text.slice(9, 2), UString::default());
        let points: Vec<u32> = text.code_points().collect();
        assert_eq!(points, [0x61, 0x1F600, 0x62]);
    }

    #[test]
    fn lone_surrogates_survive() {
        let text = UString(vec![0xDC00, 0xD800]);
        assert_eq!(text.len(), 2);
        let mut copy = UString::default();
        text.code_points().for_each(|p| copy.push_code_point(p));
        assert_eq!(copy, text);
        assert_eq!(text.to_string_lossy(), "\u{FFFD}\u{FFFD}");
    }

    #[test]
    fn ustring_order_is_that_of_code_points() {
        assert!(UString::from("\u{FFFF}") < UString::from("\u{10000}"));
        assert!(UString::from("\u{D7FF}") < UString::from("\u{E000}"));
        assert!(UString::from("a") < UString::from("ab"));
    }
}
