//! The flat layout of a tuple in memory (the format is normative).
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
//! | decimal32/64/128 | 4/8/16 (4/8/8) | binary encoding (BID), native byte order; 128: low half first |
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
//! a slot of its type padded to its alignment (the *stride*); a map's element is key slot then
//! value slot as a tuple of two; list data is aligned to the larger of 4 and the element's
//! alignment. Sets and maps hold their elements in order of insertion.
//!
//! A stride is at least 1 byte before padding, so that elements without attributes can be told
//! apart.
//!
//! A schema is *fixed* if no reference can occur in it. Its fixed part is at most
//! [`FIXED_BYTES_MAX`], a whole tuple less than 4 GiB.
//!
//! A decimal slot of zero bits is plain 0 (see [`crate::decimal`]): a zeroed fixed part is the
//! default tuple whatever its types.
//!
//! [`TupleRef`] and its accessors trust the bytes to be what [`TupleBuf`] writes: on others they
//! may panic, never more. Bytes from elsewhere go through [`check`] first.

mod check;
mod copy;
mod slot;
mod tuple_buf;
mod tuple_ref;

use std::fmt;
use std::sync::Arc;

pub use check::check;
pub use slot::{ElementLayout, MapEntryLayout, is_fixed, slot, stride};
pub use tuple_buf::TupleBuf;
pub use tuple_ref::TupleRef;

use crate::{TupleType, Type};

/// The largest fixed part of a schema and of one element, in bytes: 1 GiB.
pub const FIXED_BYTES_MAX: u32 = 1 << 30;

/// Bytes of a reference.
pub const REFERENCE_BYTES: u32 = 8;

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
    ///
    /// # Panics
    /// If bounded types make it larger than [`FIXED_BYTES_MAX`]; see [`Layout::try_new`].
    pub fn new(schema: &Arc<TupleType>) -> Arc<Layout> {
        match Layout::try_new(schema) {
            Ok(layout) => layout,
            Err(error) => panic!("{error}: {schema}"),
        }
    }

    /// The layout of a schema.
    ///
    /// # Errors
    /// If bounded types make the fixed part, or that of an element in it, larger than
    /// [`FIXED_BYTES_MAX`].
    pub fn try_new(schema: &Arc<TupleType>) -> Result<Arc<Layout>, LayoutError> {
        if !schema
            .attributes
            .iter()
            .all(|a| slot::fits_fixed_part(&a.ty))
        {
            return Err(LayoutError::TooLarge);
        }
        let offsets: Vec<u32> = slot::offsets(schema).map(|(offset, _)| offset).collect();
        let size = slot::tuple_size(schema);
        if size > FIXED_BYTES_MAX {
            return Err(LayoutError::TooLarge);
        }
        let is_fixed = schema.attributes.iter().all(|a| is_fixed(&a.ty));
        let schema = schema.clone();
        Ok(Arc::new(Layout {
            schema,
            size,
            offsets,
            is_fixed,
        }))
    }

    /// Size and alignment of a type's slot.
    pub fn slot(ty: &Type) -> (u32, u32) {
        slot(ty)
    }

    /// The offset and type of an attribute's slot.
    ///
    /// # Panics
    /// If there is no such attribute.
    pub fn attribute(&self, attribute: usize) -> (usize, &Type) {
        (
            self.offsets[attribute] as usize,
            &self.schema.attributes[attribute].ty,
        )
    }
}

/// Why bytes are not a tuple of a schema, or a schema has no layout.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// Bounded types make a fixed part larger than [`FIXED_BYTES_MAX`].
    TooLarge,
    /// The bytes do not begin at a multiple of 8.
    Unaligned,
    /// There are fewer bytes than the fixed part needs.
    TooShort {
        /// The bytes there are.
        bytes: usize,
        /// The bytes of the fixed part.
        needed: usize,
    },
    /// What lies in a slot cannot be of its type.
    Slot {
        /// Offset of the slot in the tuple.
        offset: usize,
        /// What is wrong, to be read after "the slot".
        fault: &'static str,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::TooLarge => {
                write!(
                    f,
                    "the fixed part would be larger than {FIXED_BYTES_MAX} bytes"
                )
            }
            LayoutError::Unaligned => f.write_str("the tuple does not begin at a multiple of 8"),
            LayoutError::TooShort { bytes, needed } => {
                write!(
                    f,
                    "the tuple has {bytes} bytes, its fixed part needs {needed}"
                )
            }
            LayoutError::Slot { offset, fault } => write!(f, "the slot at byte {offset} {fault}"),
        }
    }
}

impl std::error::Error for LayoutError {}

#[cfg(test)]
mod tests;
