//! Length, case, blanks, parts and concatenation of strings.

use eval::{Fault, NativeCall, NativeFn};
use tuple::{RString, UString, Value};

use crate::function::arguments::{NativeArguments, NativeResult, VOID, bound, check_growth};
use crate::function::entry::string;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    string(
        "<string T> int32 length(T str)",
        "The length of a string: bytes of an rstring, code points of a ustring.",
        |c| {
            Ok(Value::Int32(match c.arg(0) {
                Value::UString(s) => s.len() as i32,
                _ => c.bytes(0).len() as i32,
            }))
        },
    ),
    string(
        "<string T> T lower(T str)",
        "The string in lower case. Of an rstring only the ASCII letters change.",
        |c| match c.arg(0) {
            Value::UString(s) => Ok(fold_case(s, str::to_lowercase)),
            _ => c.bounded_rstring(c.bytes(0).to_ascii_lowercase()),
        },
    ),
    string(
        "<string T> T upper(T str)",
        "The string in upper case. Of an rstring only the ASCII letters change.",
        |c| match c.arg(0) {
            Value::UString(s) => Ok(fold_case(s, str::to_uppercase)),
            _ => c.bounded_rstring(c.bytes(0).to_ascii_uppercase()),
        },
    ),
    string(
        "<string T> T trim(T str, T t)",
        "The string without the characters of `t` at its two ends.",
        |c| trim(c, true, true),
    ),
    string(
        "<string T> T ltrim(T str, T t)",
        "The string without the characters of `t` at its beginning.",
        |c| trim(c, true, false),
    ),
    string(
        "<string T> T rtrim(T str, T t)",
        "The string without the characters of `t` at its end.",
        |c| trim(c, false, true),
    ),
    string(
        "<string T> T substring(T str, int32 sidx, int32 slen)",
        "At most `slen` characters from index `sidx` on. A negative `sidx` starts at 0 and \
         shortens `slen` by as much; a negative `slen` gives an empty string. Faults if `sidx` is \
         beyond the end.",
        substring,
    ),
    string(
        "<string T> uint32 toCharacterCode(T str)",
        "The number of the first character: a byte of an rstring, a code point of a ustring; 0 if \
         the string is empty.",
        |c| {
            Ok(Value::Uint32(match c.arg(0) {
                Value::UString(s) => s.code_points().next().unwrap_or(0),
                _ => c.bytes(0).first().map_or(0, |&b| b.into()),
            }))
        },
    ),
    string(
        "rstring concat(rstring lstr, rstring rstr)",
        "The two strings one after the other.",
        |c| {
            let lens = (c.bytes(0).len(), c.bytes(1).len());
            check_growth(lens, bound(c.result), "string")?;
            c.bounded_rstring([c.bytes(0), c.bytes(1)].concat())
        },
    ),
    string(
        "void appendM(mutable rstring str, rstring value)",
        "Appends `value` to `str`. What does not fit into a bounded string is left out.",
        |c| {
            let room = c.capacity(0);
            check_growth((c.bytes(0).len(), c.bytes(1).len()), room, "string")?;
            let more = c.bytes(1).to_vec();
            let RString(bytes) = c.rstring_mut(0);
            bytes.extend_from_slice(&more);
            bytes.truncate(room);
            Ok(VOID)
        },
    ),
    string(
        "rstring convertFromBlob(blob b)",
        "The bytes of the blob as a string.",
        |c| c.bounded_rstring(c.blob(0).clone()),
    ),
    string(
        "blob convertToBlob(rstring str)",
        "The bytes of the string as a blob.",
        |c| Ok(Value::Blob(c.bytes(0).to_vec())),
    ),
];

/// Folds whole runs of text, for some letters depend on their neighbours; lone surrogates stay.
fn fold_case(text: &UString, fold: fn(&str) -> String) -> Value {
    let mut folded = UString::default();
    let mut run = String::new();
    for c in char::decode_utf16(text.as_units().iter().copied()) {
        match c {
            Ok(c) => run.push(c),
            Err(lone) => {
                folded
                    .0
                    .extend(fold(&std::mem::take(&mut run)).encode_utf16());
                folded.0.push(lone.unpaired_surrogate());
            }
        }
    }
    folded.0.extend(fold(&run).encode_utf16());
    Value::UString(folded)
}

fn trim(c: &mut NativeCall<'_>, left: bool, right: bool) -> NativeResult {
    match (c.arg(0), c.arg(1)) {
        (Value::UString(s), Value::UString(set)) => {
            let text: Vec<u32> = s.code_points().collect();
            let set: Vec<u32> = set.code_points().collect();
            let (start, end) = trimmed(&text, &set, left, right);
            Ok(Value::UString(s.slice(start, end)))
        }
        _ => {
            let (start, end) = trimmed(c.bytes(0), c.bytes(1), left, right);
            c.bounded_rstring(&c.bytes(0)[start..end])
        }
    }
}

/// The range that stays.
fn trimmed<T: PartialEq>(text: &[T], set: &[T], left: bool, right: bool) -> (usize, usize) {
    let keeps = |x: &T| !set.contains(x);
    let Some(first) = text.iter().position(keeps) else {
        return (0, 0);
    };
    let last = text.iter().rposition(keeps).unwrap_or(first);
    (
        if left { first } else { 0 },
        if right { last + 1 } else { text.len() },
    )
}

fn substring(c: &mut NativeCall<'_>) -> NativeResult {
    let len = match c.arg(0) {
        Value::UString(s) => s.len(),
        _ => c.bytes(0).len(),
    };
    let (start, end) = part(len, c.int32(1), c.int32(2))?;
    match c.arg(0) {
        Value::UString(s) => Ok(Value::UString(s.slice(start, end))),
        _ => c.bounded_rstring(&c.bytes(0)[start..end]),
    }
}

/// The range of a part of a string of `len` characters.
fn part(len: usize, from: i32, count: i32) -> Result<(usize, usize), Fault> {
    let count = i64::from(count) + i64::from(from.min(0));
    let start = from.max(0) as usize;
    if start > len {
        return Err(Fault::value(format!(
            "substring starts at index {start} of a string of length {len}"
        )));
    }
    if count <= 0 {
        return Ok((0, 0));
    }
    Ok((start, len.min(start + count as usize)))
}
