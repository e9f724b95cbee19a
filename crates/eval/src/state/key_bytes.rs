//! A value as bytes: values that are equal as keys of maps have equal bytes, and only those.
//!
//! The bytes of a flat tuple will not do: `-0.0` equals `0.0`, `1.0d` equals `1.00d`, sets and maps
//! have no order, and references hold offsets.

use tuple::Value;
use tuple::decimal::codec::UnpackedDecimal;

fn encode_bytes(bytes: &[u8], key: &mut Vec<u8>) {
    encode_length(bytes.len(), key);
    key.extend_from_slice(bytes);
}

fn encode_length(len: usize, key: &mut Vec<u8>) {
    key.extend_from_slice(&(len as u32).to_le_bytes());
}

fn encode_float(x: f64, key: &mut Vec<u8>) {
    let x = if x.is_nan() { f64::NAN } else { x + 0.0 };
    key.extend_from_slice(&x.to_bits().to_le_bytes());
}

fn encode_decimal(number: UnpackedDecimal, key: &mut Vec<u8>) {
    let (class, mut coefficient, mut exponent) = match number {
        UnpackedDecimal::Nan { .. } => (4u8, 0, 0),
        UnpackedDecimal::Infinite { negative } => (2 + u8::from(negative), 0, 0),
        UnpackedDecimal::Finite { coefficient: 0, .. } => (0, 0, 0),
        UnpackedDecimal::Finite {
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

/// Appends elements in the order of their bytes, so that the order of a set does not count.
fn encode_unordered(elements: impl Iterator<Item = Vec<u8>>, key: &mut Vec<u8>) {
    let mut elements: Vec<_> = elements.collect();
    elements.sort_unstable();
    encode_length(elements.len(), key);
    elements
        .iter()
        .for_each(|element| key.extend_from_slice(element));
}

fn encode_element(element: &Value) -> Vec<u8> {
    let mut key = Vec::new();
    encode_key_value(element, &mut key);
    key
}

/// Appends the bytes of a value to `key`.
pub fn encode_key_value(x: &Value, key: &mut Vec<u8>) {
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
        Value::Float32(x) => encode_float(f64::from(*x), key),
        Value::Float64(x) => encode_float(*x, key),
        Value::Decimal32(x) => encode_decimal(x.unpack(), key),
        Value::Decimal64(x) => encode_decimal(x.unpack(), key),
        Value::Decimal128(x) => encode_decimal(x.unpack(), key),
        Value::Complex32(re, im) => [*re, *im]
            .into_iter()
            .for_each(|x| encode_float(f64::from(x), key)),
        Value::Complex64(re, im) => [*re, *im].into_iter().for_each(|x| encode_float(x, key)),
        Value::Timestamp(t) => {
            key.extend_from_slice(&t.seconds.to_le_bytes());
            key.extend_from_slice(&t.nanos.to_le_bytes());
        }
        Value::RString(s) | Value::Xml(s) => encode_bytes(&s.0, key),
        Value::Blob(b) => encode_bytes(b, key),
        Value::UString(s) => {
            encode_length(s.0.len(), key);
            s.0.iter()
                .for_each(|unit| key.extend_from_slice(&unit.to_le_bytes()));
        }
        Value::List(list) => {
            encode_length(list.len(), key);
            list.iter()
                .for_each(|element| encode_key_value(&element, key));
        }
        Value::Set(set) => encode_unordered(set.iter().map(encode_element), key),
        Value::Map(map) => encode_unordered(
            map.iter()
                .map(|(k, v)| [encode_element(k), encode_element(v)].concat()),
            key,
        ),
        Value::Tuple(values) => values.iter().for_each(|x| encode_key_value(x, key)),
        Value::Optional(None) => key.push(0),
        Value::Optional(Some(x)) => {
            key.push(1);
            encode_key_value(x, key);
        }
    }
}
