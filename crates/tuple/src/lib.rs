//! SPL types, values, the flat tuple layout, and values' text and binary forms.
//!
//! Floor 0 of the building: everything else passes [`Value`]s and flat tuples around. A [`Value`]
//! is one SPL value in ordinary Rust containers: what the reference interpreter computes with, what
//! operator state holds. A flat tuple ([`TupleRef`], [`TupleBuf`]) is one record in one piece of
//! memory as laid out by a [`Layout`]: what streams carry, what compiled code reads and writes, and
//! what goes over the wire unchanged.

#[cfg(any(test, feature = "testing"))]
pub mod arbitrary;
mod bytes;
pub mod decimal;
mod event_time;
pub mod layout;
pub mod normal;
#[cfg(test)]
mod properties;
mod strings;
pub mod text;
mod timestamp;
mod types;
mod values;

pub use bytes::{compare_bytes, same_bytes};
pub use decimal::{Decimal32, Decimal64, Decimal128};
pub use event_time::{EventTime, Resolution, Watermark};
pub use layout::{Layout, TupleBuf, TupleRef};
pub use strings::{RString, UString, cmp_utf16};
pub use timestamp::Timestamp;
pub use types::{Attribute, EnumType, TupleType, Type};
pub use values::{Key, List, Map, PackedScalar, Set, TableLayout, Value};

/// A marker between the tuples of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Punctuation {
    /// `Sys.WindowMarker`: ends a group of tuples.
    Window = 0,
    /// `Sys.FinalMarker`: nothing comes after it.
    Final = 1,
}
