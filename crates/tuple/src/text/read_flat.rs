//! Reading values straight into slots of flat tuples.

use super::unquote::{each_unit, unquote_each_unit, unquote_pieces};
use super::{ExpectedInput, TextReader, ValueParseError, read};
use crate::layout::slot;
use crate::{Layout, TupleBuf, TupleType, Type};

/// Reads a value into the slot at an offset of a tuple under construction, as [`read()`] does. The
/// slot must be its default before.
///
/// # Errors
/// Reads a value into a slot, like [`read()`] otherwise. After an error the slot may hold a part of
/// the value, which is still valid.
pub fn read_slot(
    reader: &mut TextReader<'_>,
    ty: &Type,
    buf: &mut TupleBuf,
    at: usize,
) -> Result<(), ValueParseError> {
    reader.skip_blanks();
    match ty {
        Type::Boolean => buf.put_scalar(at, reader.boolean()?),
        Type::Int8 => buf.put_scalar(at, reader.number::<i8>(ty)?),
        Type::Int16 => buf.put_scalar(at, reader.number::<i16>(ty)?),
        Type::Int32 => buf.put_scalar(at, reader.number::<i32>(ty)?),
        Type::Int64 => buf.put_scalar(at, reader.number::<i64>(ty)?),
        Type::Uint8 => buf.put_scalar(at, reader.number::<u8>(ty)?),
        Type::Uint16 => buf.put_scalar(at, reader.number::<u16>(ty)?),
        Type::Uint32 => buf.put_scalar(at, reader.number::<u32>(ty)?),
        Type::Uint64 => buf.put_scalar(at, reader.number::<u64>(ty)?),
        Type::Float32 => buf.put_scalar(at, reader.number::<f32>(ty)?),
        Type::Float64 => buf.put_scalar(at, reader.number::<f64>(ty)?),
        Type::Decimal32 => buf.put_scalar(at, reader.number::<crate::Decimal32>(ty)?),
        Type::Decimal64 => buf.put_scalar(at, reader.number::<crate::Decimal64>(ty)?),
        Type::Decimal128 => buf.put_scalar(at, reader.number::<crate::Decimal128>(ty)?),
        Type::Complex32 => buf.put_scalar(at, reader.complex::<f32>(&Type::Float32)?),
        Type::Complex64 => buf.put_scalar(at, reader.complex::<f64>(&Type::Float64)?),
        Type::Timestamp => buf.put_scalar(at, reader.timestamp()?),
        Type::Enum(e) => buf.put_scalar(at, reader.enumerator(e, ty)?),
        Type::RString | Type::BoundedRString(_) | Type::UString => {
            put_literal(reader.literal(ty)?, ty, buf, at);
        }
        Type::Blob => {
            let tail = buf.begin_tail(1);
            let pairs = reader.hex_pairs()?;
            pairs.for_each(|byte| buf.push_tail(&[byte]));
            buf.put_reference(at, tail, buf.len() - tail);
        }
        Type::Xml(_) => put_literal(reader.xml(ty)?, ty, buf, at),
        Type::Tuple(t) => read_attributes(reader, t, buf, at)?,
        Type::Optional(t) => {
            if !reader.accept_null() {
                let inner = at + slot(t).1 as usize;
                read_slot(reader, t, buf, inner)?;
                buf.put_present(at, t);
            }
        }
        Type::List(..) | Type::Set(..) | Type::Map(..) => {
            let value = read(reader, ty)?;
            buf.put_value(at, ty, &value);
        }
        Type::Void => return Err(reader.error(ExpectedInput::Value(Type::Void))),
    }
    Ok(())
}

/// Reads a tuple literal into a tuple that has just begun.
///
/// # Errors
/// Like [`read()`], for a whole tuple.
pub fn read_tuple(
    reader: &mut TextReader<'_>,
    layout: &Layout,
    buf: &mut TupleBuf,
) -> Result<(), ValueParseError> {
    read_attributes(reader, &layout.schema, buf, 0)
}

fn read_attributes(
    reader: &mut TextReader<'_>,
    t: &TupleType,
    buf: &mut TupleBuf,
    start: usize,
) -> Result<(), ValueParseError> {
    let mut end = 0;
    reader.tuple(t, |reader, index| {
        let ty = &t.attributes[index].ty;
        let (size, align) = slot(ty);
        let offset = u32::next_multiple_of(end, align);
        end = offset + size;
        read_slot(reader, ty, buf, start + offset as usize)
    })
}

/// Writes the content of a literal into a slot of a string type or xml, without memory of its own.
#[inline]
pub(super) fn put_literal(literal: &[u8], ty: &Type, buf: &mut TupleBuf, at: usize) {
    let is_plain = memchr::memchr(b'\\', literal).is_none();
    match ty {
        Type::UString if is_plain => put_utf8(literal, buf, at),
        Type::UString => put_each_unit(buf, at, |sink| unquote_each_unit(literal, sink)),
        _ if is_plain => buf.put_text(at, ty, literal),
        Type::BoundedRString(bound) => {
            let (mut bytes, mut len) = (buf.bounded_mut(at, *bound), 0);
            unquote_pieces(literal, |piece| {
                let kept = piece.len().min(bytes.len());
                let (place, rest) = std::mem::take(&mut bytes).split_at_mut(kept);
                place.copy_from_slice(&piece[..kept]);
                bytes = rest;
                len += kept;
            });
            buf.put_scalar(at, len as u32);
        }
        _ => {
            let tail = buf.begin_tail(1);
            unquote_pieces(literal, |piece| buf.push_tail(piece));
            buf.put_reference(at, tail, buf.len() - tail);
        }
    }
}

/// Writes UTF-8 into a ustring slot; what is none becomes U+FFFD.
pub(super) fn put_utf8(bytes: &[u8], buf: &mut TupleBuf, at: usize) {
    put_each_unit(buf, at, |sink| each_unit(bytes, sink));
}

/// Writes a ustring slot from units that are handed out one by one.
pub(super) fn put_each_unit(
    buf: &mut TupleBuf,
    at: usize,
    units: impl FnOnce(&mut dyn FnMut(u16)),
) {
    let tail = buf.begin_tail(2);
    units(&mut |unit| buf.push_tail(&unit.to_ne_bytes()));
    buf.put_reference(at, tail, (buf.len() - tail) / 2);
}
