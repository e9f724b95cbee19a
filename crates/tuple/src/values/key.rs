//! Keys that sets and maps are searched for: a [`Value`], or a key that needs none to be built.

use std::hash::{BuildHasher, Hash, Hasher};

use super::key_hasher::{KeyHasher, float_key, hash_bytes, hash_float, hash_units, hash_word};
use crate::{Timestamp, Value};

/// A key that a set or map can be searched for.
pub(crate) trait LookupKey {
    /// Word that the search compares first, equal for equal keys: an integer as such (with its
    /// sign), of all other keys the hash. Compiled code computes the words of integers itself.
    fn word(&self) -> u64;
    /// Whether it is this key.
    fn matches(&self, key: &Value) -> bool;
}

impl LookupKey for Value {
    #[inline]
    fn word(&self) -> u64 {
        integer_word(self).unwrap_or_else(|| hash_of(self))
    }

    #[inline]
    fn matches(&self, key: &Value) -> bool {
        self == key
    }
}

/// The word of an integer.
#[inline]
fn integer_word(value: &Value) -> Option<u64> {
    Some(match *value {
        Value::Int64(x) => x as u64,
        Value::Int32(x) => i64::from(x) as u64,
        Value::Int16(x) => i64::from(x) as u64,
        Value::Int8(x) => i64::from(x) as u64,
        Value::Uint64(x) => x,
        Value::Uint32(x) => u64::from(x),
        Value::Uint16(x) => u64::from(x),
        Value::Uint8(x) => u64::from(x),
        _ => return None,
    })
}

fn hash_of(key: impl Hash) -> u64 {
    KeyHasher::default().hash_one(key)
}

/// A borrowed key. It has the word of the [`Value`] it stands for, and is that whatever the width:
/// `Int(3)` finds `Value::Int8(3)` as well as `Value::Int64(3)`.
#[derive(Clone, Copy, Debug)]
pub enum Key<'a> {
    /// Key of type boolean.
    Boolean(bool),
    /// Key of a type from int8 to int64.
    Int(i64),
    /// Key of a type from uint8 to uint64.
    Uint(u64),
    /// float32 (widened) and float64.
    Float(f64),
    /// Ordinal of an enumerator.
    Enum(u32),
    /// Key of type timestamp.
    Timestamp(Timestamp),
    /// Key of type rstring, blob or xml.
    Bytes(&'a [u8]),
    /// Key of type ustring.
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

impl LookupKey for Key<'_> {
    fn word(&self) -> u64 {
        match *self {
            Key::Int(x) => x as u64,
            Key::Uint(x) => x,
            _ => hash_of(self),
        }
    }

    fn matches(&self, key: &Value) -> bool {
        match (*self, key) {
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

/// An integer of any type by its word: nothing is left to find out while searching.
#[derive(Clone, Copy)]
pub(crate) struct IntegerKey(pub(crate) u64);

impl LookupKey for IntegerKey {
    #[inline]
    fn word(&self) -> u64 {
        self.0
    }

    #[inline]
    fn matches(&self, key: &Value) -> bool {
        integer_word(key) == Some(self.0)
    }
}

/// An rstring, blob or xml as a key.
#[derive(Clone, Copy)]
pub(crate) struct BytesKey<'a>(pub(crate) &'a [u8]);

impl Hash for BytesKey<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_bytes(self.0, state);
    }
}

impl LookupKey for BytesKey<'_> {
    #[inline]
    fn word(&self) -> u64 {
        hash_of(self)
    }

    #[inline]
    fn matches(&self, key: &Value) -> bool {
        match key {
            Value::RString(s) | Value::Xml(s) => s.0 == self.0,
            Value::Blob(b) => b == self.0,
            _ => false,
        }
    }
}
