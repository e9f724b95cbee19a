//! Sizes, alignments and offsets of slots.

use crate::{Decimal32, Decimal64, Decimal128, Timestamp, TupleType, Type};

/// The largest fixed part of a schema and of one element, in bytes: 1 GiB.
pub const FIXED_BYTES_MAX: u32 = 1 << 30;

/// Bytes of a reference.
pub const REFERENCE_BYTES: u32 = 8;

// The slots of scalars are the scalars themselves.
const _: () = assert!(size_of::<Timestamp>() == 16 && align_of::<Timestamp>() == 8);
const _: () = assert!(size_of::<Decimal32>() == 4 && align_of::<Decimal32>() == 4);
const _: () = assert!(size_of::<Decimal64>() == 8 && align_of::<Decimal64>() == 8);
const _: () = assert!(size_of::<Decimal128>() == 16 && align_of::<Decimal128>() == 8);
const _: () = assert!(size_of::<[f32; 2]>() == 8 && align_of::<[f32; 2]>() == 4);
const _: () = assert!(size_of::<[f64; 2]>() == 16 && align_of::<[f64; 2]>() == 8);

/// Size and alignment of a type's slot. A size beyond [`FIXED_BYTES_MAX`] comes as some number
/// beyond it.
pub fn slot(ty: &Type) -> (u32, u32) {
    match ty {
        Type::Boolean | Type::Int8 | Type::Uint8 => (1, 1),
        Type::Int16 | Type::Uint16 => (2, 2),
        Type::Int32 | Type::Uint32 | Type::Float32 | Type::Decimal32 | Type::Enum(_) => (4, 4),
        Type::Int64 | Type::Uint64 | Type::Float64 | Type::Decimal64 => (8, 8),
        Type::Decimal128 | Type::Complex64 | Type::Timestamp => (16, 8),
        Type::Complex32 => (8, 4),
        Type::RString | Type::UString | Type::Blob | Type::Xml(_) => (REFERENCE_BYTES, 4),
        Type::BoundedRString(n) => (pad(n.saturating_add(4), 4), 4),
        Type::List(..) | Type::Set(..) | Type::Map(..) => match ElementLayout::for_collection(ty) {
            Some(ElementLayout {
                stride,
                bound: Some(n),
                ..
            }) => (
                stride.saturating_mul(n).saturating_add(8).min(u32::MAX - 7),
                8,
            ),
            _ => (REFERENCE_BYTES, 4),
        },
        Type::Tuple(t) => (tuple_size(t), 8),
        Type::Optional(t) => {
            let (size, align) = slot(t);
            (pad(align.saturating_add(size), align), align)
        }
        Type::Void => (0, 1),
    }
}

/// Distance between two elements of a type that lie one after the other.
pub fn stride(ty: &Type) -> u32 {
    let (size, align) = slot(ty);
    pad(size.max(1), align)
}

/// Whether no reference can occur in a type's slot.
pub fn is_fixed(ty: &Type) -> bool {
    match ty {
        Type::RString | Type::UString | Type::Blob | Type::Xml(_) => false,
        Type::List(_, None) | Type::Set(_, None) | Type::Map(_, None) => false,
        Type::List(t, Some(_)) | Type::Set(t, Some(_)) | Type::Optional(t) => is_fixed(t),
        Type::Map(kv, Some(_)) => is_fixed(&kv.0) && is_fixed(&kv.1),
        Type::Tuple(t) => t.attributes.iter().all(|a| is_fixed(&a.ty)),
        _ => true,
    }
}

/// How a list's, set's or map's elements lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementLayout {
    /// Bytes from one element to the next.
    pub stride: u32,
    /// Alignment of the first element; at least 4.
    pub align: u32,
    /// How many fit in the slot itself, or `None` if the slot is a reference.
    pub bound: Option<u32>,
}

impl ElementLayout {
    /// The elements of a collection type; `None` for other types.
    pub fn for_collection(ty: &Type) -> Option<ElementLayout> {
        let (stride, align, bound, fixed) = match ty {
            Type::List(t, n) | Type::Set(t, n) => (stride(t), slot(t).1, n, is_fixed(t)),
            Type::Map(kv, n) => {
                let pair = MapEntryLayout::for_map(kv);
                (pair.stride, 8, n, is_fixed(&kv.0) && is_fixed(&kv.1))
            }
            _ => return None,
        };
        let bound = bound.filter(|_| fixed);
        Some(ElementLayout {
            stride,
            align: align.max(4),
            bound,
        })
    }
}

/// How a map's element lies: the key at its start, as in a tuple of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapEntryLayout {
    /// Offset of the value's slot in the element.
    pub value: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
}

impl MapEntryLayout {
    /// The element of a map of this key and value type.
    pub fn for_map(types: &(Type, Type)) -> MapEntryLayout {
        let (size, align) = slot(&types.1);
        let value = pad(slot(&types.0).0, align);
        let stride = pad(value.saturating_add(size).max(1), 8);
        MapEntryLayout { value, stride }
    }
}

/// The attributes' offsets and types, in order.
pub(super) fn offsets(schema: &TupleType) -> impl Iterator<Item = (u32, &Type)> {
    schema.attributes.iter().scan(0u32, |end, attribute| {
        let (size, align) = slot(&attribute.ty);
        let offset = pad(*end, align);
        *end = offset.saturating_add(size);
        Some((offset, &attribute.ty))
    })
}

/// Bytes of the fixed part of a tuple type.
pub(super) fn tuple_size(schema: &TupleType) -> u32 {
    let end = offsets(schema)
        .last()
        .map(|(at, ty)| at.saturating_add(slot(ty).0));
    pad(end.unwrap_or(0), 8)
}

/// Whether no fixed part in a type is larger than [`FIXED_BYTES_MAX`].
pub(super) fn fits_fixed_part(ty: &Type) -> bool {
    let parts = match ty {
        Type::List(t, _) | Type::Set(t, _) | Type::Optional(t) => fits_fixed_part(t),
        Type::Map(kv, _) => {
            fits_fixed_part(&kv.0)
                && fits_fixed_part(&kv.1)
                && MapEntryLayout::for_map(kv).stride <= FIXED_BYTES_MAX
        }
        Type::Tuple(t) => t.attributes.iter().all(|a| fits_fixed_part(&a.ty)),
        _ => true,
    };
    parts && slot(ty).0 <= FIXED_BYTES_MAX
}

/// The next multiple of an alignment (a power of two); saturates.
pub(super) fn pad(size: u32, align: u32) -> u32 {
    size.saturating_add(align - 1) & !(align - 1)
}
