//! Columns: which attribute a field is stored in, and the short way there, chosen with the schema.

use std::ops::Range;

use bytemuck::NoUninit;

use crate::text::number::FromDigits;
use crate::text::plain_number::{plain_integer, plain_scientific};
use crate::{Decimal32, Decimal64, Decimal128, TupleBuf, Type};

/// Attribute that a field is stored in.
#[derive(Debug)]
pub(super) struct CsvColumn {
    pub attribute: usize,
    pub slot: usize,
    form: FieldForm,
    pub ty: Type,
}

/// Types with a short way from a field to their slot.
#[derive(Clone, Copy, Debug)]
enum FieldForm {
    Int8,
    Int16,
    Int32,
    Int64,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Float32,
    Float64,
    Decimal32,
    Decimal64,
    Decimal128,
    Text,
    /// A type without a short way.
    Other,
}

impl CsvColumn {
    /// The column of an attribute with its slot and type.
    pub fn new(attribute: usize, (slot, ty): (usize, &Type)) -> CsvColumn {
        let form = match ty {
            Type::Int8 => FieldForm::Int8,
            Type::Int16 => FieldForm::Int16,
            Type::Int32 => FieldForm::Int32,
            Type::Int64 => FieldForm::Int64,
            Type::Uint8 => FieldForm::Uint8,
            Type::Uint16 => FieldForm::Uint16,
            Type::Uint32 => FieldForm::Uint32,
            Type::Uint64 => FieldForm::Uint64,
            Type::Float32 => FieldForm::Float32,
            Type::Float64 => FieldForm::Float64,
            Type::Decimal32 => FieldForm::Decimal32,
            Type::Decimal64 => FieldForm::Decimal64,
            Type::Decimal128 => FieldForm::Decimal128,
            Type::RString => FieldForm::Text,
            _ => FieldForm::Other,
        };
        CsvColumn {
            attribute,
            slot,
            form,
            ty: ty.clone(),
        }
    }

    /// Stores a field, which has at least one byte, if it is a plain number or a string without
    /// quotes and blanks before it. Returns whether it was stored.
    #[inline]
    pub fn store_plain(&self, bytes: &[u8], field: Range<usize>, out: &mut TupleBuf) -> bool {
        let slot = self.slot;
        let (start, field) = (field.start, (bytes, field));
        match self.form {
            FieldForm::Int8 => integer::<i8>(field, slot, out),
            FieldForm::Int16 => integer::<i16>(field, slot, out),
            FieldForm::Int32 => integer::<i32>(field, slot, out),
            FieldForm::Int64 => integer::<i64>(field, slot, out),
            FieldForm::Uint8 => integer::<u8>(field, slot, out),
            FieldForm::Uint16 => integer::<u16>(field, slot, out),
            FieldForm::Uint32 => integer::<u32>(field, slot, out),
            FieldForm::Uint64 => integer::<u64>(field, slot, out),
            FieldForm::Float32 => scientific::<f32>(field, slot, out),
            FieldForm::Float64 => scientific::<f64>(field, slot, out),
            FieldForm::Decimal32 => scientific::<Decimal32>(field, slot, out),
            FieldForm::Decimal64 => scientific::<Decimal64>(field, slot, out),
            FieldForm::Decimal128 => scientific::<Decimal128>(field, slot, out),
            FieldForm::Text => {
                let is_plain = !matches!(bytes[start], b'"' | b'\'' | b' ' | b'\t');
                if is_plain {
                    out.put_bytes_within(slot, bytes, field.1);
                }
                is_plain
            }
            FieldForm::Other => false,
        }
    }
}

/// Bytes, and the part of them that is a field.
type FieldIn<'a> = (&'a [u8], Range<usize>);

#[inline]
fn integer<T: FromDigits + NoUninit>(field: FieldIn<'_>, slot: usize, out: &mut TupleBuf) -> bool {
    put(plain_integer::<T>(field.0, field.1), slot, out)
}

#[inline]
fn scientific<T: FromDigits + NoUninit>(
    field: FieldIn<'_>,
    slot: usize,
    out: &mut TupleBuf,
) -> bool {
    put(plain_scientific::<T>(field.0, field.1), slot, out)
}

#[inline]
fn put<T: NoUninit>(number: Option<T>, slot: usize, out: &mut TupleBuf) -> bool {
    number
        .inspect(|&number| out.put_scalar(slot, number))
        .is_some()
}
