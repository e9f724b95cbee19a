//! Reading flat tuples: typed accessors by slot offset, and whole values.

use bytemuck::{AnyBitPattern, Pod};

use super::slot::{self, ElementLayout, MapEntryLayout};
use super::{Layout, LayoutError};
use crate::{
    Decimal32, Decimal64, Decimal128, List, Map, RString, Timestamp, Type, UString, Value,
};

/// A flat tuple, borrowed. The bytes start 8-aligned.
///
/// Accessors take the offset of a slot from the start of the tuple: that of an attribute
/// ([`Layout::offsets`]), or one within it. They read in place and allocate nothing, except for
/// those that return a [`Value`].
///
/// # Panics
/// Accessors panic if the slot, or what it points to, does not lie within the bytes. They do not
/// know the schema: at an offset of a slot of another type they return other bits.
///
/// # Example
/// ```
/// use std::sync::Arc;
/// use thalweg_tuple::{Layout, TupleBuf, TupleType, Type, Value};
///
/// let schema = TupleType::new([("ok", Type::Boolean), ("n", Type::Int32)]);
/// let layout = Layout::new(&Arc::new(schema));
/// let mut buf = TupleBuf::default();
/// buf.set_all(&layout, &Value::Tuple([Value::Boolean(true), Value::Int32(5)].into()));
///
/// let tuple = buf.as_ref();
/// assert!(tuple.bool_at(0));
/// assert_eq!(tuple.i32_at(layout.attribute(1).0), 5);
/// assert_eq!(tuple.get(&layout, 1), Value::Int32(5));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TupleRef<'a> {
    pub(super) bytes: &'a [u8],
}

macro_rules! scalars {
    ($($name:ident $type:ty;)+) => { $(
        /// Reads the scalar in the slot at `offset`.
        #[inline]
        pub fn $name(self, offset: usize) -> $type {
            self.pod_at(offset)
        }
    )+ };
}

impl<'a> TupleRef<'a> {
    /// A tuple over bytes that a [`super::TupleBuf`] has built, or that [`super::check()`] has
    /// accepted.
    ///
    /// # Errors
    /// If the bytes do not begin at a multiple of 8. [`super::TupleBuf::copy_from_bytes`] makes an
    /// aligned copy.
    ///
    /// # Example
    /// ```
    /// use std::sync::Arc;
    /// use thalweg_tuple::layout::check;
    /// use thalweg_tuple::{Layout, TupleBuf, TupleRef, TupleType, Type};
    ///
    /// let layout = Layout::new(&Arc::new(TupleType::new([("n", Type::Int64)])));
    /// let mut buf = TupleBuf::default();
    /// buf.copy_from_bytes(&7_i64.to_ne_bytes());
    /// check(&layout, buf.as_ref().bytes())?;
    /// let tuple = TupleRef::from_bytes(buf.as_ref().bytes())?;
    /// assert_eq!(tuple.i64_at(0), 7);
    /// # Ok::<(), thalweg_tuple::layout::LayoutError>(())
    /// ```
    pub fn from_bytes(bytes: &'a [u8]) -> Result<TupleRef<'a>, LayoutError> {
        if bytes.is_empty() || bytes.as_ptr().addr().is_multiple_of(8) {
            Ok(TupleRef { bytes })
        } else {
            Err(LayoutError::Unaligned)
        }
    }

    /// All bytes, fixed part and tail.
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// One attribute as a value.
    pub fn get(self, layout: &Layout, attribute: usize) -> Value {
        let (offset, ty) = layout.attribute(attribute);
        self.value_at(offset, ty)
    }

    /// All attributes as a `Value::Tuple`.
    pub fn to_value(self, layout: &Layout) -> Value {
        let attributes = layout.offsets.iter().zip(&layout.schema.attributes);
        Value::Tuple(
            attributes
                .map(|(&at, a)| self.value_at(at as usize, &a.ty))
                .collect(),
        )
    }

    scalars! {
        i8_at i8;
        i16_at i16;
        i32_at i32;
        i64_at i64;
        u8_at u8;
        u16_at u16;
        u32_at u32;
        u64_at u64;
        f32_at f32;
        f64_at f64;
        decimal32_at Decimal32;
        decimal64_at Decimal64;
        decimal128_at Decimal128;
        complex32_at [f32; 2];
        complex64_at [f64; 2];
        timestamp_at Timestamp;
    }

    /// Reads the boolean in the slot at `offset`.
    #[inline]
    pub fn bool_at(self, offset: usize) -> bool {
        self.bytes[offset] != 0
    }

    /// The slot of any scalar that is plain memory.
    #[inline]
    pub fn pod_at<T: AnyBitPattern>(self, offset: usize) -> T {
        bytemuck::pod_read_unaligned(&self.bytes[offset..offset + size_of::<T>()])
    }

    /// Target of a reference, as an offset in the tuple, and its length.
    #[inline]
    pub fn reference_at(self, offset: usize) -> (usize, usize) {
        let [distance, len]: [u32; 2] = self.pod_at(offset);
        (offset + distance as usize, len as usize)
    }

    /// The bytes of an rstring, blob or xml slot.
    #[inline]
    pub fn bytes_at(self, offset: usize) -> &'a [u8] {
        let (data, len) = self.reference_at(offset);
        &self.bytes[data..data + len]
    }

    /// The bytes of an `rstring[n]` slot.
    #[inline]
    pub fn bounded_at(self, offset: usize) -> &'a [u8] {
        let data = offset + 4;
        &self.bytes[data..data + self.u32_at(offset) as usize]
    }

    /// The bytes of an rstring slot, bounded or not, a blob's or an xml's.
    #[inline]
    pub fn text_at(self, offset: usize, ty: &Type) -> &'a [u8] {
        if let Type::BoundedRString(_) = ty {
            self.bounded_at(offset)
        } else {
            self.bytes_at(offset)
        }
    }

    /// The UTF-16 units of a ustring slot.
    #[inline]
    pub fn units_at(self, offset: usize) -> &'a [u16] {
        let (data, len) = self.reference_at(offset);
        bytemuck::cast_slice(&self.bytes[data..data + 2 * len])
    }

    /// The elements of an unbounded list of scalars (u8 for boolean, u32 for an enum, arrays of two
    /// for complex numbers).
    #[inline]
    pub fn list_at<T: Pod>(self, offset: usize) -> &'a [T] {
        let (data, len) = self.reference_at(offset);
        self.packed(data, len)
    }

    /// The elements of a list slot of fixed elements that lie in the slot (`list<T>[n]`).
    #[inline]
    pub fn bounded_list_at<T: Pod>(self, offset: usize) -> &'a [T] {
        self.packed(offset + 8, self.u32_at(offset) as usize)
    }

    /// Offset and number of the elements of a list, set or map slot.
    #[inline]
    pub fn elements_at(self, offset: usize, elements: ElementLayout) -> (usize, usize) {
        match elements.bound {
            Some(_) => (offset + 8, self.u32_at(offset) as usize),
            None => self.reference_at(offset),
        }
    }

    /// Number of elements of a list, set or map slot, of bytes of a string or blob, of UTF-16
    /// units.
    #[inline]
    pub fn len_at(self, offset: usize, ty: &Type) -> usize {
        let inline = matches!(ty, Type::BoundedRString(_))
            || ElementLayout::for_collection(ty).is_some_and(|e| e.bound.is_some());
        self.u32_at(if inline { offset } else { offset + 4 }) as usize
    }

    /// The offset of the value's slot in an `optional<T>` slot, if one is present.
    #[inline]
    pub fn optional_at(self, offset: usize, ty: &Type) -> Option<usize> {
        self.bool_at(offset)
            .then(|| offset + slot::slot(ty).1 as usize)
    }

    /// A slot as a value.
    pub fn value_at(self, at: usize, ty: &Type) -> Value {
        match ty {
            Type::Boolean => Value::Boolean(self.bool_at(at)),
            Type::Int8 => Value::Int8(self.i8_at(at)),
            Type::Int16 => Value::Int16(self.i16_at(at)),
            Type::Int32 => Value::Int32(self.i32_at(at)),
            Type::Int64 => Value::Int64(self.i64_at(at)),
            Type::Uint8 => Value::Uint8(self.u8_at(at)),
            Type::Uint16 => Value::Uint16(self.u16_at(at)),
            Type::Uint32 => Value::Uint32(self.u32_at(at)),
            Type::Uint64 => Value::Uint64(self.u64_at(at)),
            Type::Float32 => Value::Float32(self.f32_at(at)),
            Type::Float64 => Value::Float64(self.f64_at(at)),
            Type::Decimal32 => Value::Decimal32(self.decimal32_at(at)),
            Type::Decimal64 => Value::Decimal64(self.decimal64_at(at)),
            Type::Decimal128 => Value::Decimal128(self.decimal128_at(at)),
            Type::Complex32 => Value::Complex32(self.f32_at(at), self.f32_at(at + 4)),
            Type::Complex64 => Value::Complex64(self.f64_at(at), self.f64_at(at + 8)),
            Type::Timestamp => Value::Timestamp(self.timestamp_at(at)),
            Type::Enum(_) => Value::Enum(self.u32_at(at)),
            Type::RString | Type::BoundedRString(_) => {
                Value::RString(RString(self.text_at(at, ty).to_vec()))
            }
            Type::UString => Value::UString(UString(self.units_at(at).to_vec())),
            Type::Blob => Value::Blob(self.bytes_at(at).to_vec()),
            Type::Xml(_) => Value::Xml(RString(self.bytes_at(at).to_vec())),
            Type::List(t, _) => Value::List(self.list_value(at, ty, t)),
            Type::Set(t, _) => Value::Set(
                self.offsets_at(at, ty)
                    .map(|at| self.value_at(at, t))
                    .collect(),
            ),
            Type::Map(kv, _) => Value::Map(self.map_value(at, ty, kv)),
            Type::Tuple(t) => {
                let slots = slot::offsets(t);
                Value::Tuple(
                    slots
                        .map(|(o, ty)| self.value_at(at + o as usize, ty))
                        .collect(),
                )
            }
            Type::Optional(t) => {
                let inner = self.optional_at(at, t);
                Value::Optional(inner.map(|at| Box::new(self.value_at(at, t))))
            }
            Type::Void => Value::Tuple(Box::new([])),
        }
    }

    /// The offsets of a collection's elements.
    pub fn offsets_at(
        self,
        at: usize,
        ty: &Type,
    ) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator {
        let (stride, data, len) = match ElementLayout::for_collection(ty) {
            Some(elements) => {
                let (data, len) = self.elements_at(at, elements);
                (elements.stride as usize, data, len)
            }
            None => (0, 0, 0),
        };
        (0..len).map(move |index| data + index * stride)
    }

    #[inline]
    fn packed<T: Pod>(self, data: usize, len: usize) -> &'a [T] {
        if len == 0 {
            // A reference to nothing says nothing of alignment.
            return &[];
        }
        bytemuck::cast_slice(&self.bytes[data..data + len * size_of::<T>()])
    }

    fn map_value(self, at: usize, ty: &Type, kv: &(Type, Type)) -> Map {
        let value = MapEntryLayout::for_map(kv).value as usize;
        let entries = self.offsets_at(at, ty);
        entries
            .map(|at| (self.value_at(at, &kv.0), self.value_at(at + value, &kv.1)))
            .collect()
    }

    fn list_value(self, at: usize, ty: &Type, element: &Type) -> List {
        let (data, len) =
            ElementLayout::for_collection(ty).map_or((0, 0), |e| self.elements_at(at, e));
        match element {
            Type::Boolean => {
                let flags = self.packed::<u8>(data, len);
                List::Boolean(flags.iter().map(|&flag| flag != 0).collect())
            }
            Type::Int8 => List::Int8(self.packed(data, len).to_vec()),
            Type::Int16 => List::Int16(self.packed(data, len).to_vec()),
            Type::Int32 => List::Int32(self.packed(data, len).to_vec()),
            Type::Int64 => List::Int64(self.packed(data, len).to_vec()),
            Type::Uint8 => List::Uint8(self.packed(data, len).to_vec()),
            Type::Uint16 => List::Uint16(self.packed(data, len).to_vec()),
            Type::Uint32 => List::Uint32(self.packed(data, len).to_vec()),
            Type::Uint64 => List::Uint64(self.packed(data, len).to_vec()),
            Type::Float32 => List::Float32(self.packed(data, len).to_vec()),
            Type::Float64 => List::Float64(self.packed(data, len).to_vec()),
            Type::Decimal32 => List::Decimal32(self.packed(data, len).to_vec()),
            Type::Decimal64 => List::Decimal64(self.packed(data, len).to_vec()),
            Type::Decimal128 => List::Decimal128(self.packed(data, len).to_vec()),
            Type::Complex32 => List::Complex32(self.packed(data, len).to_vec()),
            Type::Complex64 => List::Complex64(self.packed(data, len).to_vec()),
            Type::Timestamp => List::Timestamp(self.packed(data, len).to_vec()),
            Type::Enum(_) => List::Enum(self.packed(data, len).to_vec()),
            _ => List::Any(
                self.offsets_at(at, ty)
                    .map(|at| self.value_at(at, element))
                    .collect(),
            ),
        }
    }
}
