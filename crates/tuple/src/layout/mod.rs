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
//! | decimal32/64 | 4/8 (4/8) | binary encoding (BID), native byte order |
//! | decimal128 | 16 (8) | binary encoding (BID), the low half first |
//! | complex32/64 | 8/16 (4/8) | real, imaginary |
//! | timestamp | 16 (8) | int64 seconds, uint32 nanos, int32 machine |
//! | enum | 4 (4) | uint32 ordinal |
//! | rstring, ustring, blob, xml | 8 (4) | *reference* |
//! | list, set, map | 8 (4) | *reference* |
//! | `rstring[n]` | 4 + n (4) | uint32 length, n bytes (unused ones 0), padded to 4 |
//! | fixed list, set, map | 8 + n * stride (8) | uint32 length, 0, elements (unused ones 0) |
//! | tuple | that of its attributes (8) | nested fixed part |
//! | `optional<T>` | align(T) + size(T) or more (align(T)) | uint8 present, padding, slot of T |
//!
//! A fixed list, set or map is one with a bound, `list<T>[n]`, `set<T>[n]` or `map<K,V>[n]`, whose
//! elements hold no reference; with other elements the bound does not matter and the slot is a
//! reference. The slot within an absent optional is zero.
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
//! may panic, never more. Bytes from elsewhere go through [`check()`] first.

mod check;
mod copy;
mod layout_error;
mod schema_layout;
mod slot;
#[cfg(test)]
mod tests;
mod tuple_buf;
mod tuple_ref;

pub use check::check;
pub use layout_error::LayoutError;
pub use schema_layout::Layout;
pub use slot::{
    ElementLayout, FIXED_BYTES_MAX, MapEntryLayout, REFERENCE_BYTES, is_fixed, slot, stride,
};
pub use tuple_buf::TupleBuf;
pub use tuple_ref::TupleRef;
