//! One field of a csv line, from bytes into its slot.

use crate::text::line_tracker::count_lines;
use crate::text::number::{NumberFault, ScanNumber};
use crate::text::read_flat::{put_literal, put_utf8};
use crate::text::{ExpectedInput, TextReader, ValueParseError, read_slot};
use crate::{Decimal64, TupleBuf, Type};

/// Reads the field that begins at an offset with something else than a blank, a separator or a line
/// end. Returns the offset behind it, and how many line ends it holds.
///
/// Numbers and strings, of which files consist, take a short way.
#[inline]
pub(super) fn read_field(
    bytes: &[u8],
    at: usize,
    separator: u8,
    ty: &Type,
    out: &mut TupleBuf,
    slot: usize,
) -> Result<(usize, u64), ValueParseError> {
    match ty {
        Type::Int32 => number::<i32>(bytes, at, ty, out, slot),
        Type::Int64 => number::<i64>(bytes, at, ty, out, slot),
        Type::Uint32 => number::<u32>(bytes, at, ty, out, slot),
        Type::Uint64 => number::<u64>(bytes, at, ty, out, slot),
        Type::Float32 => number::<f32>(bytes, at, ty, out, slot),
        Type::Float64 => number::<f64>(bytes, at, ty, out, slot),
        Type::Decimal64 => number::<Decimal64>(bytes, at, ty, out, slot),
        Type::RString | Type::BoundedRString(_) | Type::UString => {
            if matches!(bytes[at], b'"' | b'\'') {
                return quoted(bytes, at, ty, out, slot);
            }
            let end = field_end(bytes, at, separator);
            match ty {
                Type::RString => out.put_bytes(slot, &bytes[at..end]),
                Type::BoundedRString(n) => out.put_bounded(slot, &bytes[at..end], *n),
                _ => put_utf8(&bytes[at..end], out, slot),
            }
            Ok((end, 0))
        }
        _ => {
            let mut reader = TextReader::new_at(bytes, at);
            read_slot(&mut reader, ty, out, slot)?;
            let end = reader.offset();
            Ok((end, count_lines(&bytes[at..end])))
        }
    }
}

#[inline]
fn number<T: ScanNumber + bytemuck::NoUninit>(
    bytes: &[u8],
    at: usize,
    ty: &Type,
    out: &mut TupleBuf,
    slot: usize,
) -> Result<(usize, u64), ValueParseError> {
    match T::scan(&bytes[at..]) {
        Ok((number, len)) => {
            out.put_scalar(slot, number);
            Ok((at + len, 0))
        }
        Err(fault) => Err(not_a_number(at, ty, fault)),
    }
}

#[cold]
fn not_a_number(offset: usize, ty: &Type, fault: NumberFault) -> ValueParseError {
    let expected = match fault {
        NumberFault::Syntax => ExpectedInput::Value(ty.clone()),
        NumberFault::Range => ExpectedInput::InRange(ty.clone()),
    };
    ValueParseError { offset, expected }
}

fn quoted(
    bytes: &[u8],
    at: usize,
    ty: &Type,
    out: &mut TupleBuf,
    slot: usize,
) -> Result<(usize, u64), ValueParseError> {
    let mut reader = TextReader::new_at(bytes, at);
    put_literal(reader.literal(ty)?, ty, out, slot);
    let end = reader.offset();
    Ok((end, count_lines(&bytes[at..end])))
}

/// The offset of the next separator, `\n` or `\r`, or the end.
///
/// Eight bytes at a time: a byte of `x ^ pattern` is 0 where it matches, and `(x - 1) & !x` has its
/// high bit set at the lowest zero byte (and perhaps at higher ones, which do not count).
#[inline]
pub(super) fn field_end(bytes: &[u8], mut at: usize, separator: u8) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zeros = |x: u64| x.wrapping_sub(ONES) & !x & HIGH;
    let pattern = u64::from(separator) * ONES;
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(*word);
        let found = zeros(word ^ pattern)
            | zeros(word ^ (u64::from(b'\n') * ONES))
            | zeros(word ^ (u64::from(b'\r') * ONES));
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let ends = |&b: &u8| b == separator || b == b'\n' || b == b'\r';
    bytes[at..]
        .iter()
        .position(ends)
        .map_or(bytes.len(), |found| at + found)
}
