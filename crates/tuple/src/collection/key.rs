//! Keys by which sets and maps are searched without building a [`Value`].

use std::hash::{Hash, Hasher};

use indexmap::Equivalent;

use crate::{Timestamp, Value};

/// A borrowed key. It hashes as the [`Value`] it stands for does, and equals it whatever the width:
/// `Int(3)` finds `Value::Int8(3)` as well as `Value::Int64(3)`.
#[derive(Clone, Copy, Debug)]
pub enum Key<'a> {
    /// boolean.
    Boolean(bool),
    /// int8 to int64.
    Int(i64),
    /// uint8 to uint64.
    Uint(u64),
    /// float32 (widened) and float64.
    Float(f64),
    /// Ordinal of an enumerator.
    Enum(u32),
    /// timestamp.
    Timestamp(Timestamp),
    /// rstring, blob, xml.
    Bytes(&'a [u8]),
    /// ustring.
    Units(&'a [u16]),
}

impl Hash for Key<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match *self {
            Key::Boolean(x) => hash_word(u64::from(x), state),
            Key::Int(x) => hash_word(x as u64, state),
            Key::Uint(x) => hash_word(x, state),
            Key::Float(x) => hash_float(x, state),
            Key::Enum(x) => hash_word(u64::from(x), state),
            Key::Timestamp(x) => x.hash(state),
            Key::Bytes(x) => hash_bytes(x, state),
            Key::Units(x) => hash_units(x, state),
        }
    }
}

impl Equivalent<Value> for Key<'_> {
    fn equivalent(&self, value: &Value) -> bool {
        match (*self, value) {
            (Key::Boolean(a), Value::Boolean(b)) => a == *b,
            (Key::Int(a), Value::Int8(b)) => a == i64::from(*b),
            (Key::Int(a), Value::Int16(b)) => a == i64::from(*b),
            (Key::Int(a), Value::Int32(b)) => a == i64::from(*b),
            (Key::Int(a), Value::Int64(b)) => a == *b,
            (Key::Uint(a), Value::Uint8(b)) => a == u64::from(*b),
            (Key::Uint(a), Value::Uint16(b)) => a == u64::from(*b),
            (Key::Uint(a), Value::Uint32(b)) => a == u64::from(*b),
            (Key::Uint(a), Value::Uint64(b)) => a == *b,
            (Key::Float(a), Value::Float32(b)) => float_key(a) == float_key(f64::from(*b)),
            (Key::Float(a), Value::Float64(b)) => float_key(a) == float_key(*b),
            (Key::Enum(a), Value::Enum(b)) => a == *b,
            (Key::Timestamp(a), Value::Timestamp(b)) => a == *b,
            (Key::Bytes(a), Value::RString(b) | Value::Xml(b)) => a == b.0,
            (Key::Bytes(a), Value::Blob(b)) => a == b,
            (Key::Units(a), Value::UString(b)) => a == b.0,
            _ => false,
        }
    }
}

/// A signed integer as a key: as [`Key::Int`], but nothing is left to find out while searching.
#[derive(Clone, Copy)]
pub(crate) struct Signed(pub(crate) i64);

/// An unsigned integer as a key.
#[derive(Clone, Copy)]
pub(crate) struct Unsigned(pub(crate) u64);

/// An rstring, blob or xml as a key.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Hash for Signed {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_word(self.0 as u64, state);
    }
}

impl Hash for Unsigned {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_word(self.0, state);
    }
}

impl Hash for Bytes<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_bytes(self.0, state);
    }
}

impl Equivalent<Value> for Signed {
    #[inline]
    fn equivalent(&self, value: &Value) -> bool {
        match value {
            Value::Int64(x) => *x == self.0,
            Value::Int32(x) => i64::from(*x) == self.0,
            Value::Int16(x) => i64::from(*x) == self.0,
            Value::Int8(x) => i64::from(*x) == self.0,
            _ => false,
        }
    }
}

impl Equivalent<Value> for Unsigned {
    #[inline]
    fn equivalent(&self, value: &Value) -> bool {
        match value {
            Value::Uint64(x) => *x == self.0,
            Value::Uint32(x) => u64::from(*x) == self.0,
            Value::Uint16(x) => u64::from(*x) == self.0,
            Value::Uint8(x) => u64::from(*x) == self.0,
            _ => false,
        }
    }
}

impl Equivalent<Value> for Bytes<'_> {
    #[inline]
    fn equivalent(&self, value: &Value) -> bool {
        match value {
            Value::RString(s) | Value::Xml(s) => s.0 == self.0,
            Value::Blob(b) => b == self.0,
            _ => false,
        }
    }
}

/// Bits that are equal iff two floats are the same key: one zero, one NaN.
pub(crate) fn float_key(x: f64) -> u64 {
    if x == 0.0 {
        0
    } else if x.is_nan() {
        f64::NAN.to_bits()
    } else {
        x.to_bits()
    }
}

pub(crate) fn hash_word<H: Hasher>(word: u64, state: &mut H) {
    state.write_u64(word);
}

pub(crate) fn hash_float<H: Hasher>(x: f64, state: &mut H) {
    state.write_u64(float_key(x));
}

/// The hasher's `write` counts the length, so no terminator is needed.
pub(crate) fn hash_bytes<H: Hasher>(bytes: &[u8], state: &mut H) {
    state.write(bytes);
}

pub(crate) fn hash_units<H: Hasher>(units: &[u16], state: &mut H) {
    state.write(bytemuck::cast_slice(units));
}
