//! Comparisons of bytes that may be none.
//!
//! They are not left to memcmp if there is nothing to compare: an empty vector or slice often has
//! an address where no page is, and where memcmp loads no bytes from there by a masked vector load,
//! the processor takes up to a hundred nanoseconds to find out that this is no fault.

use std::cmp::Ordering;

/// Whether two pieces of memory hold the same.
#[inline]
pub fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && (a.is_empty() || a == b)
}

/// Orders two slices byte by byte; a slice that goes on is greater than one that ends.
///
/// # Example
/// ```
/// use std::cmp::Ordering;
/// use thalweg_tuple::compare_bytes;
///
/// assert_eq!(compare_bytes(b"ab", b"abc"), Ordering::Less);
/// assert_eq!(compare_bytes(b"", b""), Ordering::Equal);
/// ```
#[inline]
pub fn compare_bytes(a: &[u8], b: &[u8]) -> Ordering {
    if a.is_empty() || b.is_empty() {
        a.len().cmp(&b.len())
    } else {
        a.cmp(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_slices() {
        let all: [&[u8]; 6] = [b"", b"a", b"ab", b"b", b"\0", b"\xff"];
        for a in all {
            for b in all {
                assert_eq!(same_bytes(a, b), a == b, "{a:?} {b:?}");
                assert_eq!(compare_bytes(a, b), a.cmp(b), "{a:?} {b:?}");
            }
        }
    }
}
