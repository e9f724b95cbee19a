//! Writer of the bin format: records, flat tuples and single values.

use std::sync::Arc;

use super::steps::BinSteps;
use crate::layout::{MapEntryLayout, slot};
use crate::text::WriteOptions;
use crate::text::record::{RecordWriter, chosen_attributes};
use crate::{Layout, Punctuation, TupleBuf, TupleRef, Type, Value};

/// Writes records of the bin format.
#[derive(Debug)]
pub struct BinWriter {
    steps: BinSteps,
    punctuations: bool,
}

impl BinWriter {
    /// A writer of tuples of a layout.
    pub fn new(layout: Arc<Layout>, options: WriteOptions) -> BinWriter {
        let chosen = chosen_attributes(&layout, &options.attributes);
        BinWriter {
            steps: BinSteps::new(&layout, chosen),
            punctuations: options.punctuations,
        }
    }
}

impl RecordWriter for BinWriter {
    fn write(&mut self, tuple: TupleRef<'_>, delay: Option<f64>, out: &mut Vec<u8>) {
        if self.punctuations {
            out.push(0);
        }
        if let Some(delay) = delay {
            out.extend_from_slice(&delay.to_be_bytes());
        }
        self.steps.write(tuple, out);
    }

    fn punctuate(&mut self, punctuation: Punctuation, out: &mut Vec<u8>) {
        if self.punctuations {
            out.push(match punctuation {
                Punctuation::Window => 1,
                Punctuation::Final => 2,
            });
        }
    }
}

/// Appends the attributes of a tuple, slot by slot. [`BinSteps`] do it faster for many tuples.
pub fn encode_tuple(tuple: TupleRef<'_>, layout: &Layout, out: &mut Vec<u8>) {
    let attributes = layout.offsets.iter().zip(&layout.schema.attributes);
    attributes.for_each(|(&at, a)| write_slot(tuple, at as usize, &a.ty, out));
}

/// Appends one value in the bin format.
///
/// # Example
/// ```
/// use thalweg_tuple::text::bin::{read_value, write_value};
/// use thalweg_tuple::{Type, Value};
///
/// let mut bytes = Vec::new();
/// write_value(&Value::RString("hi".into()), &Type::RString, &mut bytes);
/// assert_eq!(bytes, [2, b'h', b'i']);
/// assert_eq!(read_value(&bytes, &Type::RString), Ok((Value::RString("hi".into()), 3)));
/// ```
pub fn write_value(value: &Value, ty: &Type, out: &mut Vec<u8>) {
    let mut buf = TupleBuf::default();
    buf.ensure_tail(slot(ty).0 as usize, 8);
    buf.put_value(0, ty, value);
    write_slot(buf.as_ref(), 0, ty, out);
}

/// Appends the slot at an offset of a tuple.
pub(super) fn write_slot(tuple: TupleRef<'_>, at: usize, ty: &Type, out: &mut Vec<u8>) {
    match ty {
        Type::Boolean => out.push(u8::from(tuple.bool_at(at))),
        Type::Int8 | Type::Uint8 => out.push(tuple.u8_at(at)),
        Type::Int16 | Type::Uint16 => out.extend_from_slice(&tuple.u16_at(at).to_be_bytes()),
        Type::Int32 | Type::Uint32 | Type::Float32 | Type::Enum(_) => {
            out.extend_from_slice(&tuple.u32_at(at).to_be_bytes());
        }
        Type::Int64 | Type::Uint64 | Type::Float64 => {
            out.extend_from_slice(&tuple.u64_at(at).to_be_bytes());
        }
        Type::Decimal32 => out.extend_from_slice(&tuple.decimal32_at(at).to_le_bytes()),
        Type::Decimal64 => out.extend_from_slice(&tuple.decimal64_at(at).to_le_bytes()),
        Type::Decimal128 => out.extend_from_slice(&tuple.decimal128_at(at).to_le_bytes()),
        Type::Complex32 => {
            write_slot(tuple, at, &Type::Float32, out);
            write_slot(tuple, at + 4, &Type::Float32, out);
        }
        Type::Complex64 => {
            write_slot(tuple, at, &Type::Float64, out);
            write_slot(tuple, at + 8, &Type::Float64, out);
        }
        Type::Timestamp => {
            let time = tuple.timestamp_at(at);
            out.extend_from_slice(&time.seconds.to_be_bytes());
            out.extend_from_slice(&time.nanos.to_be_bytes());
            out.extend_from_slice(&time.machine.to_be_bytes());
        }
        Type::RString | Type::BoundedRString(_) | Type::Blob | Type::Xml(_) => {
            write_bytes(tuple.text_at(at, ty), out);
        }
        Type::UString => write_units(tuple.units_at(at), out),
        _ => write_composite(tuple, at, ty, out),
    }
}

fn write_composite(tuple: TupleRef<'_>, at: usize, ty: &Type, out: &mut Vec<u8>) {
    match ty {
        Type::List(t, _) | Type::Set(t, _) => {
            let offsets = tuple.offsets_at(at, ty);
            write_length(offsets.len(), out);
            offsets.for_each(|at| write_slot(tuple, at, t, out));
        }
        Type::Map(kv, _) => {
            let (offsets, value) = (
                tuple.offsets_at(at, ty),
                MapEntryLayout::for_map(kv).value as usize,
            );
            write_length(offsets.len(), out);
            offsets.for_each(|at| {
                write_slot(tuple, at, &kv.0, out);
                write_slot(tuple, at + value, &kv.1, out);
            });
        }
        Type::Tuple(t) => {
            let mut end = 0u32;
            for attribute in &t.attributes {
                let (size, align) = slot(&attribute.ty);
                let offset = end.next_multiple_of(align);
                end = offset + size;
                write_slot(tuple, at + offset as usize, &attribute.ty, out);
            }
        }
        Type::Optional(t) => {
            let inner = tuple.optional_at(at, t);
            out.push(u8::from(inner.is_some()));
            if let Some(at) = inner {
                write_slot(tuple, at, t, out);
            }
        }
        _ => {}
    }
}

pub(super) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_length(bytes.len(), out);
    out.extend_from_slice(bytes);
}

fn write_length(len: usize, out: &mut Vec<u8>) {
    match u8::try_from(len) {
        Ok(len @ ..0x80) => out.push(len),
        _ => {
            out.push(0x80);
            out.extend_from_slice(&(len as u32).to_be_bytes());
        }
    }
}

/// A length in bytes, and UTF-8 in which a lone surrogate has the three bytes of its number.
fn write_units(units: &[u16], out: &mut Vec<u8>) {
    let points = || char::decode_utf16(units.iter().copied());
    write_length(points().map(|c| c.map_or(3, char::len_utf8)).sum(), out);
    for c in points() {
        match c {
            Ok(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Err(lone) => {
                let unit = lone.unpaired_surrogate();
                let tail = |shift: u16| 0x80 | (unit >> shift & 0x3F) as u8;
                out.extend_from_slice(&[0xED, tail(6), tail(0)]);
            }
        }
    }
}
