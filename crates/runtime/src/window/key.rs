//! Partition keys as bytes: equal keys have equal bytes.
//!
//! A key is a flat tuple of the partition expressions' values. Its bytes alone will not do: `-0.0`
//! equals `0.0`, `1.0d` equals `1.00d`, sets and maps have no order, and references hold offsets.

use std::hash::Hasher;

use rustc_hash::FxHasher;
use tuple::decimal::codec::Unpacked;
use tuple::{Layout, TupleRef, Type, Value};

/// Appends the canonical bytes of a tuple's attributes. Values are equal iff their bytes are, as keys
/// of maps are equal.
pub fn encode_key(tuple: TupleRef<'_>, layout: &Layout, key: &mut Vec<u8>) {
    encode_first(tuple, layout, layout.schema.attributes.len(), key);
}

/// The same for the first so many attributes only.
pub fn encode_first(tuple: TupleRef<'_>, layout: &Layout, count: usize, key: &mut Vec<u8>) {
    for (at, attribute) in layout.schema.attributes.iter().enumerate().take(count) {
        let offset = layout.offsets[at] as usize;
        match attribute.ty {
            // What needs no value to be made of it: the usual keys.
            Type::RString | Type::BoundedRString(_) => {
                bytes(tuple.text_at(offset, &attribute.ty), key);
            }
            Type::Boolean | Type::Int8 | Type::Uint8 => raw::<1>(tuple, offset, key),
            Type::Int16 | Type::Uint16 => raw::<2>(tuple, offset, key),
            Type::Int32 | Type::Uint32 | Type::Enum(_) => raw::<4>(tuple, offset, key),
            Type::Int64 | Type::Uint64 => raw::<8>(tuple, offset, key),
            _ => value(&tuple.get(layout, at), key),
        }
    }
}

/// A hash of a key's bytes.
pub fn hash_key(key: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(key);
    hasher.finish()
}

fn raw<const N: usize>(tuple: TupleRef<'_>, at: usize, key: &mut Vec<u8>) {
    key.extend_from_slice(&tuple.bytes()[at..at + N]);
}

fn bytes(bytes: &[u8], key: &mut Vec<u8>) {
    length(bytes.len(), key);
    key.extend_from_slice(bytes);
}

fn length(len: usize, key: &mut Vec<u8>) {
    key.extend_from_slice(&(len as u32).to_le_bytes());
}

fn float(x: f64, key: &mut Vec<u8>) {
    let x = if x.is_nan() { f64::NAN } else { x + 0.0 };
    key.extend_from_slice(&x.to_bits().to_le_bytes());
}

fn decimal(number: Unpacked, key: &mut Vec<u8>) {
    let (class, mut coefficient, mut exponent) = match number {
        Unpacked::Nan { .. } => (4u8, 0, 0),
        Unpacked::Infinite { negative } => (2 + u8::from(negative), 0, 0),
        Unpacked::Finite { coefficient: 0, .. } => (0, 0, 0),
        Unpacked::Finite {
            negative,
            coefficient,
            exponent,
        } => (u8::from(negative), coefficient, exponent),
    };
    while coefficient != 0 && coefficient % 10 == 0 {
        coefficient /= 10;
        exponent += 1;
    }
    key.push(class);
    key.extend_from_slice(&coefficient.to_le_bytes());
    key.extend_from_slice(&exponent.to_le_bytes());
}

/// Elements in the order of their bytes.
fn unordered(elements: impl Iterator<Item = Vec<u8>>, key: &mut Vec<u8>) {
    let mut elements: Vec<_> = elements.collect();
    elements.sort_unstable();
    length(elements.len(), key);
    elements
        .iter()
        .for_each(|element| key.extend_from_slice(element));
}

fn one(element: &Value) -> Vec<u8> {
    let mut key = Vec::new();
    value(element, &mut key);
    key
}

fn value(x: &Value, key: &mut Vec<u8>) {
    match x {
        Value::Boolean(x) => key.push(u8::from(*x)),
        Value::Int8(x) => key.extend_from_slice(&x.to_ne_bytes()),
        Value::Int16(x) => key.extend_from_slice(&x.to_ne_bytes()),
        Value::Int32(x) => key.extend_from_slice(&x.to_ne_bytes()),
        Value::Int64(x) => key.extend_from_slice(&x.to_ne_bytes()),
        Value::Uint8(x) => key.push(*x),
        Value::Uint16(x) => key.extend_from_slice(&x.to_ne_bytes()),
        Value::Uint32(x) | Value::Enum(x) => key.extend_from_slice(&x.to_ne_bytes()),
        Value::Uint64(x) => key.extend_from_slice(&x.to_ne_bytes()),
        Value::Float32(x) => float(f64::from(*x), key),
        Value::Float64(x) => float(*x, key),
        Value::Decimal32(x) => decimal(x.unpack(), key),
        Value::Decimal64(x) => decimal(x.unpack(), key),
        Value::Decimal128(x) => decimal(x.unpack(), key),
        Value::Complex32(re, im) => [*re, *im]
            .into_iter()
            .for_each(|x| float(f64::from(x), key)),
        Value::Complex64(re, im) => [*re, *im].into_iter().for_each(|x| float(x, key)),
        Value::Timestamp(t) => {
            key.extend_from_slice(&t.seconds.to_le_bytes());
            key.extend_from_slice(&t.nanos.to_le_bytes());
        }
        Value::RString(s) | Value::Xml(s) => bytes(&s.0, key),
        Value::Blob(b) => bytes(b, key),
        Value::UString(s) => {
            length(s.0.len(), key);
            s.0.iter()
                .for_each(|unit| key.extend_from_slice(&unit.to_le_bytes()));
        }
        Value::List(list) => {
            length(list.len(), key);
            list.iter().for_each(|element| value(&element, key));
        }
        Value::Set(set) => unordered(set.iter().map(one), key),
        Value::Map(map) => unordered(map.iter().map(|(k, v)| [one(k), one(v)].concat()), key),
        Value::Tuple(values) => values.iter().for_each(|x| value(x, key)),
        Value::Optional(None) => key.push(0),
        Value::Optional(Some(x)) => {
            key.push(1);
            value(x, key);
        }
    }
}
