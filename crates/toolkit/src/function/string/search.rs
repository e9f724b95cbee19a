//! Searches in strings: the `find*` functions.
//!
//! All of them give the index in bytes (rstring) or code points (ustring), or -1. A start index
//! below 0 counts as 0; a last index below 0 finds nothing, one beyond the end counts as the last.

use eval::{NativeCall, NativeFn};
use tuple::Value;

use crate::function::arguments::{NativeArguments, NativeResult};
use crate::function::entry::string;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    string(
        "<string T> int32 findFirst(T str, T ps, int32 sidx)",
        "Index of the first occurrence of `ps` that begins at `sidx` or later; -1 if there is \
         none.",
        find_first,
    ),
    string(
        "<string T> int32 findFirst(T str, T ps)",
        "Index of the first occurrence of `ps`; -1 if there is none.",
        find_first,
    ),
    string(
        "<string T> int32 findLast(T str, T ps, int32 sidx)",
        "Index of the last occurrence of `ps` that begins at `sidx` or earlier; -1 if there is \
         none.",
        |c| search(c, last::<u8>, last::<u32>),
    ),
    string(
        "<string T> int32 findFirstOf(T str, T ps, int32 sidx)",
        "Index of the first character, from `sidx` on, that is one of `ps`; -1 if there is none.",
        |c| search(c, first_of::<u8>, first_of::<u32>),
    ),
    string(
        "<string T> int32 findFirstOf(T str, T ps)",
        "Index of the first character that is one of `ps`; -1 if there is none.",
        |c| search(c, first_of::<u8>, first_of::<u32>),
    ),
    string(
        "<string T> int32 findLastOf(T str, T ps, int32 sidx)",
        "Index of the last character, up to `sidx`, that is one of `ps`; -1 if there is none.",
        |c| search(c, last_of::<u8>, last_of::<u32>),
    ),
    string(
        "<string T> int32 findFirstNotOf(T str, T ps, int32 sidx)",
        "Index of the first character, from `sidx` on, that is none of `ps`; -1 if all are.",
        |c| search(c, first_not_of::<u8>, first_not_of::<u32>),
    ),
    string(
        "<string T> int32 findFirstNotOf(T str, T ps)",
        "Index of the first character that is none of `ps`; -1 if all are.",
        |c| search(c, first_not_of::<u8>, first_not_of::<u32>),
    ),
    string(
        "<string T> int32 findLastNotOf(T str, T ps, int32 sidx)",
        "Index of the last character, up to `sidx`, that is none of `ps`; -1 if all are.",
        |c| search(c, last_not_of::<u8>, last_not_of::<u32>),
    ),
];

/// Text, what is looked for, where to begin (or to end).
type StringSearch<T> = fn(&[T], &[T], i32) -> Option<usize>;

fn search(
    c: &mut NativeCall<'_>,
    bytes: StringSearch<u8>,
    points: StringSearch<u32>,
) -> NativeResult {
    let at = if c.args.len() > 2 { c.int32(2) } else { 0 };
    let found = match (c.arg(0), c.arg(1)) {
        (Value::UString(s), Value::UString(pattern)) => {
            let text: Vec<u32> = s.code_points().collect();
            let pattern: Vec<u32> = pattern.code_points().collect();
            points(&text, &pattern, at)
        }
        _ => bytes(c.bytes(0), c.bytes(1), at),
    };
    Ok(Value::Int32(found.map_or(-1, |at| at as i32)))
}

fn find_first(c: &mut NativeCall<'_>) -> NativeResult {
    search(c, first_bytes, first::<u32>)
}

fn first_bytes(text: &[u8], pattern: &[u8], from: i32) -> Option<usize> {
    let from = from.max(0) as usize;
    memchr::memmem::find(text.get(from..)?, pattern).map(|at| at + from)
}

fn first<T: PartialEq>(text: &[T], pattern: &[T], from: i32) -> Option<usize> {
    let from = from.max(0) as usize;
    let text = text.get(from..)?;
    let starts = 0..=text.len().checked_sub(pattern.len())?;
    starts
        .into_iter()
        .find(|&at| text[at..].starts_with(pattern))
        .map(|at| at + from)
}

fn last<T: PartialEq>(text: &[T], pattern: &[T], upto: i32) -> Option<usize> {
    let upto = usize::try_from(upto).ok()?;
    let latest = text.len().checked_sub(pattern.len())?.min(upto);
    (0..=latest)
        .rev()
        .find(|&at| text[at..].starts_with(pattern))
}

fn first_of<T: PartialEq>(text: &[T], set: &[T], from: i32) -> Option<usize> {
    first_that(text, from, |x| set.contains(x))
}

fn first_not_of<T: PartialEq>(text: &[T], set: &[T], from: i32) -> Option<usize> {
    first_that(text, from, |x| !set.contains(x))
}

fn last_of<T: PartialEq>(text: &[T], set: &[T], upto: i32) -> Option<usize> {
    last_that(text, upto, |x| set.contains(x))
}

fn last_not_of<T: PartialEq>(text: &[T], set: &[T], upto: i32) -> Option<usize> {
    last_that(text, upto, |x| !set.contains(x))
}

fn first_that<T>(text: &[T], from: i32, wanted: impl Fn(&T) -> bool) -> Option<usize> {
    let from = from.max(0) as usize;
    text.get(from..)?
        .iter()
        .position(wanted)
        .map(|at| at + from)
}

fn last_that<T>(text: &[T], upto: i32, wanted: impl Fn(&T) -> bool) -> Option<usize> {
    let end = usize::try_from(upto)
        .ok()?
        .saturating_add(1)
        .min(text.len());
    text[..end].iter().rposition(wanted)
}
