//! JSON straight into slots of flat tuples.
//!
//! Scalars, strings and nested tuples, which are most of all data, take no memory of their own
//! here; everything else is read as a value first.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::read_flat::put_utf8;
use super::value_seed::{JsonReading, KeySeed, ValueSeed, needs_digits};
use crate::layout::slot;
use crate::{Layout, TupleBuf, TupleType, Type, Value};

/// Reads an object into a tuple that has just begun.
pub(super) struct RecordSeed<'a> {
    pub(super) layout: &'a Layout,
    /// For each attribute whether records have it.
    pub(super) chosen: &'a [bool],
    pub(super) buf: &'a mut TupleBuf,
    pub(super) reading: JsonReading<'a>,
}

impl<'de> DeserializeSeed<'de> for RecordSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for RecordSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<(), A::Error> {
        let RecordSeed { layout, chosen, .. } = self;
        let place = |index: usize| chosen[index].then(|| layout.attribute(index).0);
        visit_entries(entries, &layout.schema, place, self.buf, self.reading)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Err(self.reading.notes.no_object("null"))
    }

    fn visit_bool<E: Error>(self, x: bool) -> Result<(), E> {
        Err(self.reading.notes.no_object(x))
    }

    fn visit_i64<E: Error>(self, x: i64) -> Result<(), E> {
        Err(self.reading.notes.no_object(x))
    }

    fn visit_u64<E: Error>(self, x: u64) -> Result<(), E> {
        Err(self.reading.notes.no_object(x))
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<(), E> {
        Err(self.reading.notes.no_object(x))
    }

    fn visit_str<E: Error>(self, x: &str) -> Result<(), E> {
        Err(self.reading.notes.no_object(x))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(self.reading.notes.no_object("["))
    }
}

/// Reads the entries of an object into the slots of a tuple type's attributes; `place` gives the
/// offset of an attribute's slot, or nothing if the entry is passed over.
fn visit_entries<'de, A: MapAccess<'de>>(
    mut entries: A,
    t: &TupleType,
    place: impl Fn(usize) -> Option<usize>,
    buf: &mut TupleBuf,
    reading: JsonReading<'_>,
) -> Result<(), A::Error> {
    let mut next = 0;
    while let Some(found) = entries.next_key_seed(KeySeed { t, reading, next })? {
        let Some((index, at)) = found.and_then(|index| Some((index, place(index)?))) else {
            entries.next_value::<IgnoredAny>()?;
            continue;
        };
        let attribute = &t.attributes[index];
        let seed = SlotSeed {
            ty: &attribute.ty,
            at,
            buf: &mut *buf,
            reading,
        };
        let read = entries.next_value_seed(seed);
        read.map_err(|error| reading.notes.within(&attribute.name, error))?;
        next = index + 1;
    }
    Ok(())
}

/// Reads a value into the slot at an offset.
struct SlotSeed<'a> {
    ty: &'a Type,
    at: usize,
    buf: &'a mut TupleBuf,
    reading: JsonReading<'a>,
}

impl SlotSeed<'_> {
    fn put(self, value: Option<Value>) {
        match value {
            Some(value) => self.buf.put_value(self.at, self.ty, &value),
            None => self.buf.clear(self.at, self.ty),
        }
    }

    fn by_value(&self) -> ValueSeed<'_> {
        ValueSeed {
            ty: self.ty,
            reading: self.reading,
        }
    }
}

impl<'de> DeserializeSeed<'de> for SlotSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        match self.ty {
            Type::Optional(_) => from.deserialize_option(self),
            ty if needs_digits(ty) || ty.is_collection() => {
                let value = self.by_value().deserialize(from)?;
                self.put(value);
                Ok(())
            }
            _ => from.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for SlotSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value of type {}", self.ty)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.put(None);
        Ok(())
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        let Type::Optional(t) = self.ty else {
            return from.deserialize_any(self);
        };
        let inner = SlotSeed {
            ty: t,
            at: self.buf.put_present(self.at, t),
            ..self
        };
        inner.deserialize(from)
    }

    fn visit_bool<E: Error>(self, x: bool) -> Result<(), E> {
        let value = self.by_value().visit_bool(x)?;
        self.put(value);
        Ok(())
    }

    fn visit_i64<E: Error>(self, x: i64) -> Result<(), E> {
        let value = self.by_value().visit_i64(x)?;
        self.put(value);
        Ok(())
    }

    fn visit_u64<E: Error>(self, x: u64) -> Result<(), E> {
        let value = self.by_value().visit_u64(x)?;
        self.put(value);
        Ok(())
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<(), E> {
        let value = self.by_value().visit_f64(x)?;
        self.put(value);
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        match self.ty {
            Type::RString | Type::BoundedRString(_) | Type::Xml(_) => {
                self.buf.put_text(self.at, self.ty, text.as_bytes());
            }
            Type::UString => put_utf8(text.as_bytes(), self.buf, self.at),
            _ => {
                let value = self.by_value().visit_str(text)?;
                self.put(value);
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<(), A::Error> {
        let value = self.by_value().visit_seq(elements)?;
        self.put(value);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<(), A::Error> {
        if let Type::Tuple(t) = self.ty {
            let place = |index: usize| Some(self.at + slot_offset(t, index));
            return visit_entries(entries, t, place, self.buf, self.reading);
        }
        let value = self.by_value().visit_map(entries)?;
        self.put(value);
        Ok(())
    }
}

/// The offset of an attribute's slot within that of its tuple.
fn slot_offset(t: &TupleType, index: usize) -> usize {
    let mut end = 0;
    for attribute in &t.attributes[..index] {
        let (size, align) = slot(&attribute.ty);
        end = u32::next_multiple_of(end, align) + size;
    }
    let align = slot(&t.attributes[index].ty).1;
    u32::next_multiple_of(end, align) as usize
}
