//! Printing slots of flat tuples without building values.

use super::print::{
    print_all, print_bool, print_enum, print_hex, print_integer, print_pair, print_timestamp,
};
use super::{print_bytes_quoted, print_f32, print_f64, print_units_quoted};
use crate::layout::{MapEntryLayout, slot};
use crate::{Layout, TupleRef, Type};

/// Appends the serialised form of the slot at an offset of a tuple, as [`super::print()`] does.
pub fn print_slot(tuple: TupleRef<'_>, at: usize, ty: &Type, out: &mut Vec<u8>) {
    match ty {
        Type::Boolean => print_bool(tuple.bool_at(at), out),
        Type::Int8 => print_integer(tuple.i8_at(at), out),
        Type::Int16 => print_integer(tuple.i16_at(at), out),
        Type::Int32 => print_integer(tuple.i32_at(at), out),
        Type::Int64 => print_integer(tuple.i64_at(at), out),
        Type::Uint8 => print_integer(tuple.u8_at(at), out),
        Type::Uint16 => print_integer(tuple.u16_at(at), out),
        Type::Uint32 => print_integer(tuple.u32_at(at), out),
        Type::Uint64 => print_integer(tuple.u64_at(at), out),
        Type::Float32 => print_f32(tuple.f32_at(at), out),
        Type::Float64 => print_f64(tuple.f64_at(at), out),
        Type::Decimal32 => tuple.decimal32_at(at).print(out),
        Type::Decimal64 => tuple.decimal64_at(at).print(out),
        Type::Decimal128 => tuple.decimal128_at(at).print(out),
        Type::Complex32 => print_pair(tuple.f32_at(at), tuple.f32_at(at + 4), print_f32, out),
        Type::Complex64 => print_pair(tuple.f64_at(at), tuple.f64_at(at + 8), print_f64, out),
        Type::Timestamp => print_timestamp(tuple.timestamp_at(at), out),
        Type::Enum(e) => print_enum(tuple.u32_at(at), e, out),
        Type::RString | Type::BoundedRString(_) => print_bytes_quoted(tuple.text_at(at, ty), out),
        Type::UString => print_units_quoted(tuple.units_at(at), out),
        Type::Blob => print_hex(tuple.bytes_at(at), out),
        Type::Xml(_) => {
            print_bytes_quoted(tuple.bytes_at(at), out);
            out.push(b'x');
        }
        Type::Optional(t) => match tuple.optional_at(at, t) {
            Some(inner) => print_slot(tuple, inner, t, out),
            None => out.extend_from_slice(b"null"),
        },
        _ => print_composite(tuple, at, ty, out),
    }
}

/// Appends what a cast of the slot to a string gives, as [`super::print_raw`] does.
pub fn print_raw_slot(tuple: TupleRef<'_>, at: usize, ty: &Type, out: &mut Vec<u8>) {
    match ty {
        Type::RString | Type::BoundedRString(_) | Type::Xml(_) => {
            out.extend_from_slice(tuple.text_at(at, ty));
        }
        Type::UString => {
            for c in char::decode_utf16(tuple.units_at(at).iter().copied()) {
                let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        Type::Optional(t) => match tuple.optional_at(at, t) {
            Some(inner) => print_raw_slot(tuple, inner, t, out),
            None => out.extend_from_slice(b"null"),
        },
        _ => print_slot(tuple, at, ty, out),
    }
}

/// Appends a whole tuple: `{a=1,b="x"}`.
///
/// # Example
/// ```
/// use std::sync::Arc;
/// use thalweg_tuple::text::{TextReader, print_tuple, read_tuple};
/// use thalweg_tuple::{Layout, TupleBuf, TupleType, Type};
///
/// let schema = TupleType::new([("a", Type::Int32), ("b", Type::RString)]);
/// let layout = Layout::new(&Arc::new(schema));
/// let mut buf = TupleBuf::default();
/// buf.begin(&layout);
/// read_tuple(&mut TextReader::new(br#"{a=1,b="x"}"#), &layout, &mut buf)?;
/// let mut text = Vec::new();
/// print_tuple(buf.as_ref(), &layout, &mut text);
/// assert_eq!(text, br#"{a=1,b="x"}"#);
/// # Ok::<(), thalweg_tuple::text::ValueParseError>(())
/// ```
pub fn print_tuple(tuple: TupleRef<'_>, layout: &Layout, out: &mut Vec<u8>) {
    let attributes = layout.schema.attributes.iter().zip(&layout.offsets);
    print_all(b"{}", attributes, out, |(attribute, &at), out| {
        out.extend_from_slice(attribute.name.as_bytes());
        out.push(b'=');
        print_slot(tuple, at as usize, &attribute.ty, out);
    });
}

fn print_composite(tuple: TupleRef<'_>, at: usize, ty: &Type, out: &mut Vec<u8>) {
    match ty {
        Type::List(t, _) => {
            print_all(b"[]", tuple.offsets_at(at, ty), out, |at, out| {
                print_slot(tuple, at, t, out);
            });
        }
        Type::Set(t, _) => {
            print_all(b"{}", tuple.offsets_at(at, ty), out, |at, out| {
                print_slot(tuple, at, t, out);
            });
        }
        Type::Map(kv, _) => {
            let value = MapEntryLayout::for_map(kv).value as usize;
            print_all(b"{}", tuple.offsets_at(at, ty), out, |at, out| {
                print_slot(tuple, at, &kv.0, out);
                out.push(b':');
                print_slot(tuple, at + value, &kv.1, out);
            });
        }
        Type::Tuple(t) => {
            let mut end = 0u32;
            print_all(b"{}", t.attributes.iter(), out, |attribute, out| {
                let (size, align) = slot(&attribute.ty);
                let offset = end.next_multiple_of(align);
                end = offset + size;
                out.extend_from_slice(attribute.name.as_bytes());
                out.push(b'=');
                print_slot(tuple, at + offset as usize, &attribute.ty, out);
            });
        }
        _ => {}
    }
}
