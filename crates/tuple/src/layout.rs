//! The flat layout of a tuple in memory (format normative; bodies being built).
//!
//! ```text
//!   0                                   size          size+tail
//!   +-----------------------------------+-------------------+
//!   | fixed part: one slot an attribute,| tail: what varies |
//!   | natural alignment, in order       |                   |
//!   +-----------------------------------+-------------------+
//! ```
//! A tuple starts at an address that is a multiple of 8; `size` is a multiple of 8.
//!
//! | type | slot, bytes (alignment) | content |
//! | --- | --- | --- |
//! | boolean | 1 (1) | 0 or 1 |
//! | intN, uintN, floatN | N/8 (N/8) | native byte order |
//! | decimal32/64/128 | 4/8/16 (4/8/8) | DPD bits, native byte order; 128: low half first |
//! | complex32/64 | 8/16 (4/8) | real, imaginary |
//! | timestamp | 16 (8) | int64 seconds, uint32 nanos, int32 machine |
//! | enum | 4 (4) | uint32 ordinal |
//! | rstring, ustring, blob, xml, list, set, map | 8 (4) | `reference` |
//! | rstring[n] | 4 + n (4) | uint32 length, n bytes (unused ones 0), padded to 4 |
//! | list<T>[n], set<T>[n], map<K,V>[n] of fixed T, K, V | 8 + n * stride (8) | uint32 length, 0, elements (unused ones 0) |
//! | ... of varying ones | 8 (4) | `reference`, as if unbounded |
//! | tuple | that of its attributes (8) | nested fixed part |
//! | optional<T> | align(T) or more + size(T) (align(T)) | uint8 present, padding, T's slot (zero if absent) |
//!
//! A *reference* is uint32 `offset`, uint32 `len`. The offset counts **from the address of the
//! reference itself** to the data in the tail (0 if len is 0); so a value anywhere in a tuple is
//! addressed by one pointer, and a whole tuple can be copied with one memcpy. `len` counts bytes
//! (rstring, blob, xml), UTF-16 units (ustring) or elements. Elements lie one after the other, each
//! a slot of its type padded to its alignment (the *stride*); a map's element is key slot then value
//! slot as a tuple of two; list data is aligned to the larger of 4 and the element's alignment.
//! Sets and maps hold their elements in order of insertion.
//!
//! A schema is *fixed* if no reference can occur in it.

use std::sync::Arc;

use crate::{TupleType, Value};

/// Where each attribute of a schema lies.
#[derive(Debug, PartialEq)]
pub struct Layout {
    /// The schema.
    pub schema: Arc<TupleType>,
    /// Bytes of the fixed part; a multiple of 8.
    pub size: u32,
    /// Offset of each attribute's slot.
    pub offsets: Vec<u32>,
    /// Whether there is never a tail.
    pub is_fixed: bool,
}

impl Layout {
    /// The layout of a schema.
    pub fn of(schema: &Arc<TupleType>) -> Arc<Layout> {
        todo!("{schema}")
    }
    /// Size and alignment of a type's slot.
    pub fn slot(ty: &crate::Type) -> (u32, u32) {
        todo!("{ty}")
    }
}

/// A flat tuple, borrowed. The bytes start 8-aligned.
#[derive(Clone, Copy, Debug)]
pub struct TupleRef<'a> {
    bytes: &'a [u8],
}

impl<'a> TupleRef<'a> {
    /// All bytes, fixed part and tail.
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }
    /// One attribute as a value.
    pub fn get(self, layout: &Layout, attribute: usize) -> Value {
        todo!("{layout:?} {attribute}")
    }
    /// All attributes as a `Value::Tuple`.
    pub fn to_value(self, layout: &Layout) -> Value {
        todo!("{layout:?}")
    }
}

/// A flat tuple under construction or kept: owns its memory and reuses it.
#[derive(Clone, Debug, Default)]
pub struct TupleBuf {
    words: Vec<u64>,
    len: usize,
}

impl TupleBuf {
    /// Starts a tuple: the fixed part all zero (which is the default tuple), no tail. Keeps memory.
    pub fn begin(&mut self, layout: &Layout) {
        todo!("{layout:?}")
    }
    /// Writes one attribute. Each varying attribute should be written once a tuple: what it held
    /// before stays as unused tail.
    pub fn set(&mut self, layout: &Layout, attribute: usize, value: &Value) {
        todo!("{layout:?} {attribute} {value:?}")
    }
    /// Replaces the content by a copy of a tuple.
    pub fn copy_from(&mut self, tuple: TupleRef<'_>) {
        todo!("{tuple:?}")
    }
    /// The tuple.
    pub fn as_ref(&self) -> TupleRef<'_> {
        todo!("{} {}", self.words.len(), self.len)
    }
}
