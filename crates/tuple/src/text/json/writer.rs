//! The writer of the record format json: an object a line.

use std::sync::Arc;

use super::super::print::{print_bool, print_integer};
use super::super::record::{RecordWriter, WriteOptions, chosen_attributes};
use super::print::{
    JsonWriteOptions, print_json, print_json_f32, print_json_f64, print_json_text, print_key,
};
use crate::{Layout, Punctuation, TupleRef, Type};

/// Writes records of the json format.
#[derive(Debug)]
pub struct JsonWriter {
    /// Offset, name and type of each attribute that is written.
    entries: Vec<(usize, Arc<str>, Type)>,
    options: JsonWriteOptions,
}

impl JsonWriter {
    /// A writer of tuples of a layout.
    pub fn new(layout: Arc<Layout>, options: WriteOptions) -> JsonWriter {
        let chosen = chosen_attributes(&layout, &options.attributes).into_iter();
        let entries = chosen.map(|index| {
            let (at, ty) = layout.attribute(index);
            (at, layout.schema.attributes[index].name.clone(), ty.clone())
        });
        JsonWriter {
            entries: entries.collect(),
            options: JsonWriteOptions::default(),
        }
    }
}

impl RecordWriter for JsonWriter {
    fn write(&mut self, tuple: TupleRef<'_>, _delay: Option<f64>, out: &mut Vec<u8>) {
        out.push(b'{');
        for (index, (at, name, ty)) in self.entries.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            print_key(self.options.names.key(name), out);
            print_slot_json(tuple, *at, ty, &self.options, out);
        }
        out.extend_from_slice(b"}\n");
    }

    fn punctuate(&mut self, _punctuation: Punctuation, _out: &mut Vec<u8>) {}
}

/// Appends the slot at an offset of a tuple; most data without making values of it.
fn print_slot_json(
    tuple: TupleRef<'_>,
    at: usize,
    ty: &Type,
    options: &JsonWriteOptions,
    out: &mut Vec<u8>,
) {
    match ty {
        Type::Boolean => print_bool(tuple.bool_at(at), out),
        Type::Int32 => print_integer(tuple.i32_at(at), out),
        Type::Int64 => print_integer(tuple.i64_at(at), out),
        Type::Uint32 => print_integer(tuple.u32_at(at), out),
        Type::Uint64 => print_integer(tuple.u64_at(at), out),
        Type::Float32 => print_json_f32(tuple.f32_at(at), out),
        Type::Float64 => print_json_f64(tuple.f64_at(at), out),
        Type::RString | Type::BoundedRString(_) => print_json_text(tuple.text_at(at, ty), out),
        _ => print_json(&tuple.value_at(at, ty), ty, options, out),
    }
}
