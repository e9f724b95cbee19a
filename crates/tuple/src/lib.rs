//! SPL types, values, the flat tuple layout, and values' text and binary forms.
//!
//! All other crates pass [`Value`]s and flat tuples around. A [`Value`] is one SPL value in Rust
//! containers: the reference interpreter computes with it, operator state holds it. A flat
//! tuple ([`TupleRef`], [`TupleBuf`]) is one record in one piece of memory as laid out by a
//! [`Layout`]: streams carry it, compiled code reads and writes it, and it goes over the wire
//! unchanged.
//!
//! # Example
//! ```
//! use std::sync::Arc;
//! use thalweg_tuple::{Layout, TupleBuf, TupleType, Type, Value};
//!
//! let schema = Arc::new(TupleType::new([("id", Type::Int64), ("name", Type::RString)]));
//! let layout = Layout::new(&schema);
//! let mut buf = TupleBuf::default();
//! buf.begin(&layout);
//! buf.put_value(layout.attribute(0).0, &Type::Int64, &Value::Int64(7));
//! buf.put_bytes(layout.attribute(1).0, b"seven");
//! assert_eq!(buf.as_ref().i64_at(0), 7);
//! assert_eq!(buf.as_ref().bytes_at(layout.attribute(1).0), b"seven");
//! ```

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
pub use event_time::{EventTime, Resolution, Watermark, whole_units};
pub use layout::{Layout, TupleBuf, TupleRef};
pub use strings::{RString, UString, cmp_utf16};
pub use timestamp::Timestamp;
pub use types::{Attribute, EnumType, TupleType, Type};
pub use values::{Key, List, Map, PackedScalar, Set, TableLayout, Value};

/// A marker between the tuples of a stream. It keeps its position among them on every way, from
/// direct calls to frames on a socket. Programs see it in `onPunct`. Watermarks are no punctuation:
/// see [`Watermark`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Punctuation {
    /// `Sys.WindowMarker`: ends a group of tuples.
    Window = 0,
    /// `Sys.FinalMarker`: nothing comes after it.
    Final = 1,
}
