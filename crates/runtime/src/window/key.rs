//! Partition keys as bytes: equal keys have equal bytes.
//!
//! A key is a flat tuple of the partition expressions' values. Its bytes alone will not do: `-0.0`
//! equals `0.0`, `1.0d` equals `1.00d`, sets and maps have no order, and references hold offsets.

use std::hash::Hasher;

use eval::encode_key_value;
use rustc_hash::FxHasher;
use tuple::{Layout, TupleRef, Type};

/// Appends the canonical bytes of a tuple's attributes to `key`. Two values have equal bytes if and
/// only if they are equal as keys of maps.
pub fn encode_key(tuple: TupleRef<'_>, layout: &Layout, key: &mut Vec<u8>) {
    encode_key_prefix(tuple, layout, layout.schema.attributes.len(), key);
}

/// Like [`encode_key`], for the first `count` attributes only.
pub fn encode_key_prefix(tuple: TupleRef<'_>, layout: &Layout, count: usize, key: &mut Vec<u8>) {
    for (at, attribute) in layout.schema.attributes.iter().enumerate().take(count) {
        let offset = layout.offsets[at] as usize;
        match attribute.ty {
            // The usual keys, which are encoded without a value of their own.
            Type::RString | Type::BoundedRString(_) => {
                encode_bytes(tuple.text_at(offset, &attribute.ty), key);
            }
            Type::Boolean | Type::Int8 | Type::Uint8 => encode_raw::<1>(tuple, offset, key),
            Type::Int16 | Type::Uint16 => encode_raw::<2>(tuple, offset, key),
            Type::Int32 | Type::Uint32 | Type::Enum(_) => encode_raw::<4>(tuple, offset, key),
            Type::Int64 | Type::Uint64 => encode_raw::<8>(tuple, offset, key),
            _ => encode_key_value(&tuple.get(layout, at), key),
        }
    }
}

/// A hash of a key's bytes.
pub fn hash_key(key: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(key);
    hasher.finish()
}

fn encode_raw<const N: usize>(tuple: TupleRef<'_>, at: usize, key: &mut Vec<u8>) {
    key.extend_from_slice(&tuple.bytes()[at..at + N]);
}

fn encode_bytes(bytes: &[u8], key: &mut Vec<u8>) {
    key.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    key.extend_from_slice(bytes);
}
