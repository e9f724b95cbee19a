//! One SPL value in ordinary Rust containers.

use std::cmp::Ordering;

use crate::{Decimal32, Decimal64, Decimal128, List, Map, Set, Timestamp, Type};

/// An SPL value. It does not know its type beyond its variant: enum names, attribute names and
/// bounds are in the [`Type`] that goes with it.
///
/// `Eq` and `Hash` are those of map keys: floats compare by value with `-0.0 == 0.0`, and a NaN
/// equals itself, so that every value can be a key. SPL's own `==` is [`Value::spl_eq`].
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is the SPL type of its name")]
pub enum Value {
    Boolean(bool),
    Int8(i8),
    Int16(i16),
    Int32(i32),
    Int64(i64),
    Uint8(u8),
    Uint16(u16),
    Uint32(u32),
    Uint64(u64),
    Float32(f32),
    Float64(f64),
    Decimal32(Decimal32),
    Decimal64(Decimal64),
    Decimal128(Decimal128),
    /// Real and imaginary part.
    Complex32(f32, f32),
    /// Real and imaginary part.
    Complex64(f64, f64),
    Timestamp(Timestamp),
    /// Ordinal of the enumerator.
    Enum(u32),
    /// `rstring`, bounded or not.
    RString(RString),
    UString(UString),
    Blob(Vec<u8>),
    /// The text.
    Xml(RString),
    List(List),
    Set(Set),
    Map(Map),
    /// The attributes in order.
    Tuple(Box<[Value]>),
    Optional(Option<Box<Value>>),
}

/// Bytes, normally UTF-8; lengths and indices are in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RString(pub Vec<u8>);

/// UTF-16 code units; may hold lone surrogates. Lengths and indices are in code points. Order is that
/// of code points.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct UString(pub Vec<u16>);

impl Value {
    /// The default of a type: zero, false, first enumerator, empty, null, tuple of defaults.
    ///
    /// # Panics
    /// On `Type::Void`.
    pub fn default_of(ty: &Type) -> Value {
        todo!("{ty}")
    }

    /// SPL's `==`: IEEE on floats (NaN equals nothing), timestamps without machine id.
    pub fn spl_eq(&self, other: &Value) -> bool {
        todo!("{other:?}")
    }

    /// SPL's order on two values of one ordered type; `None` for NaN. Enums by ordinal, booleans
    /// false before true, rstring and blob bytewise, ustring by code point.
    pub fn spl_cmp(&self, other: &Value) -> Option<Ordering> {
        todo!("{other:?}")
    }

    /// A total order for sorting and `max`/`min`: [`Value::spl_cmp`] with NaN after everything.
    pub fn total_cmp(&self, other: &Value) -> Ordering {
        todo!("{other:?}")
    }

    /// Whether its variant (and its elements') fits the type; for assertions at wiring.
    pub fn has_type(&self, ty: &Type) -> bool {
        todo!("{ty}")
    }
}
