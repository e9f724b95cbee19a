//! Reading values straight into slots of flat tuples.

use super::{Expected, ReadError, Reader, read, unquote_bytes};
use crate::layout::slot;
use crate::{Layout, TupleBuf, TupleType, Type};

/// Reads a value into the slot at an offset of a tuple under construction, as [`read`] does. The
/// slot must be its default before.
///
/// # Errors
/// As [`read`]; the slot may then hold a part of the value, which is a value still.
pub fn read_slot(
    reader: &mut Reader<'_>,
    ty: &Type,
    buf: &mut TupleBuf,
    at: usize,
) -> Result<(), ReadError> {
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
        Type::RString | Type::BoundedRString(_) => {
            let literal = reader.literal(ty)?;
            put_literal(literal, ty, buf, at);
        }
        Type::UString => buf.put_units(at, &reader.units(ty)?),
        Type::Blob => buf.put_bytes(at, &reader.blob()?),
        Type::Xml(_) => buf.put_bytes(at, &reader.xml(ty)?),
        Type::Tuple(t) => read_attributes(reader, t, buf, at)?,
        Type::Optional(t) => {
            if !reader.null() {
                let inner = at + slot(t).1 as usize;
                read_slot(reader, t, buf, inner)?;
                buf.put_present(at, t);
            }
        }
        Type::List(..) | Type::Set(..) | Type::Map(..) => {
            let value = read(reader, ty)?;
            buf.put_value(at, ty, &value);
        }
        Type::Void => return Err(reader.error(Expected::Value(Type::Void))),
    }
    Ok(())
}

/// Reads a tuple literal into a tuple that has just begun.
///
/// # Errors
/// As [`read`].
pub fn read_tuple(
    reader: &mut Reader<'_>,
    layout: &Layout,
    buf: &mut TupleBuf,
) -> Result<(), ReadError> {
    read_attributes(reader, &layout.schema, buf, 0)
}

fn read_attributes(
    reader: &mut Reader<'_>,
    t: &TupleType,
    buf: &mut TupleBuf,
    start: usize,
) -> Result<(), ReadError> {
    let mut end = 0;
    reader.tuple(t, |reader, index| {
        let ty = &t.attributes[index].ty;
        let (size, align) = slot(ty);
        let offset = u32::next_multiple_of(end, align);
        end = offset + size;
        read_slot(reader, ty, buf, start + offset as usize)
    })
}

/// Writes the content of a literal into an rstring slot.
pub(super) fn put_literal(literal: &[u8], ty: &Type, buf: &mut TupleBuf, at: usize) {
    if memchr::memchr(b'\\', literal).is_none() {
        return buf.put_text(at, ty, literal);
    }
    let mut bytes = Vec::with_capacity(literal.len());
    unquote_bytes(literal, &mut bytes);
    buf.put_text(at, ty, &bytes);
}
