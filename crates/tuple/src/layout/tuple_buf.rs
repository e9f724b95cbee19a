//! Buffer of a flat tuple, and writing attributes into it.

use bytemuck::NoUninit;

use super::slot::{self, ElementLayout, MapEntryLayout};
use super::{Layout, TupleRef};
use crate::{List, Type, Value};

/// Bytes of a string that is copied whole, whatever its length: two words of most processors.
const SHORT_BYTES: usize = 16;

/// Words that are made zero at once, whatever their number; the least that a buffer has.
const SHORT_WORDS: usize = 8;

/// A flat tuple under construction or kept: owns its memory and reuses it.
///
/// Offsets are those of slots from the start of the tuple, as with [`TupleRef`].
///
/// # Memory
/// [`TupleBuf::begin`] keeps what an earlier tuple needed, so that building tuples of about one
/// size allocates nothing. Whatever grows the tail ([`TupleBuf::ensure_tail`], writing what varies)
/// may move the tuple: pointers into it must be taken anew.
///
/// # Panics
/// Methods that take an offset panic if the slot does not lie within the tuple, so
/// [`TupleBuf::begin`] comes first. They do not know whether the offset is that of a slot of the
/// type: a wrong one changes other attributes.
///
/// # Example
/// A tuple built twice in one buffer, by attribute and by offset:
/// ```
/// use std::sync::Arc;
/// use thalweg_tuple::{Layout, TupleBuf, TupleType, Type, Value};
///
/// let schema = TupleType::new([("n", Type::Int64), ("name", Type::RString)]);
/// let layout = Layout::new(&Arc::new(schema));
/// let mut buf = TupleBuf::default();
/// buf.begin(&layout);
/// buf.set(&layout, 0, &Value::Int64(7));
/// buf.set(&layout, 1, &Value::RString("seven".into()));
/// // Eight bytes of `n`, eight of the reference, five of its text.
/// assert_eq!(buf.len(), 21);
///
/// let (n, name) = (layout.attribute(0).0, layout.attribute(1).0);
/// buf.begin(&layout);
/// buf.put_scalar(n, 8_i64);
/// buf.put_bytes(name, b"eight");
/// assert_eq!(buf.as_ref().i64_at(n), 8);
/// assert_eq!(buf.as_ref().bytes_at(name), b"eight");
/// ```
#[derive(Clone, Debug, Default)]
pub struct TupleBuf {
    /// Holds at least `len` bytes.
    words: Vec<u64>,
    /// Bytes of the tuple, fixed part and tail.
    len: usize,
}

impl TupleBuf {
    /// Starts a tuple: the fixed part all zero (which is the default tuple), no tail. Keeps memory.
    #[inline]
    pub fn begin(&mut self, layout: &Layout) {
        self.len = layout.size as usize;
        self.ensure_capacity(self.len);
        let words = self.len / 8;
        match self.words.first_chunk_mut() {
            // What is behind the tuple does not count, and no call is needed.
            Some(all) if words <= SHORT_WORDS => *all = [0; SHORT_WORDS],
            _ => self.words[..words].fill(0),
        }
    }

    /// Starts with no bytes at all. Keeps memory.
    pub(crate) fn reset(&mut self) {
        self.len = 0;
    }

    /// Writes one attribute. Each varying attribute should be written once a tuple: what it held
    /// before stays as unused tail. What exceeds a bound is dropped.
    ///
    /// # Panics
    /// If the tuple would reach 4 GiB.
    pub fn set(&mut self, layout: &Layout, attribute: usize, value: &Value) {
        let (offset, ty) = layout.attribute(attribute);
        self.put_value(offset, ty, value);
    }

    /// Writes all attributes from a `Value::Tuple`, after [`TupleBuf::begin`].
    ///
    /// # Example
    /// ```
    /// use std::sync::Arc;
    /// use thalweg_tuple::{Layout, TupleBuf, TupleType, Type, Value};
    ///
    /// let layout = Layout::new(&Arc::new(TupleType::new([("n", Type::Int32)])));
    /// let mut buf = TupleBuf::default();
    /// buf.set_all(&layout, &Value::Tuple([Value::Int32(5)].into()));
    /// assert_eq!(buf.as_ref().get(&layout, 0), Value::Int32(5));
    /// ```
    pub fn set_all(&mut self, layout: &Layout, tuple: &Value) {
        self.begin(layout);
        if let Value::Tuple(values) = tuple {
            values
                .iter()
                .enumerate()
                .for_each(|(at, value)| self.set(layout, at, value));
        } else {
            debug_assert!(false, "a tuple is set from {tuple:?}");
        }
    }

    /// Replaces the content by a copy of a tuple: one memcpy of its fixed part and tail. Allocates
    /// only if no earlier tuple in this buffer was as long.
    pub fn copy_from(&mut self, tuple: TupleRef<'_>) {
        self.copy_from_bytes(tuple.bytes);
    }

    /// Replaces the content by a copy of a tuple's bytes, at whatever address they begin. Bytes
    /// from another process have to be checked afterwards ([`super::check()`]).
    pub fn copy_from_bytes(&mut self, bytes: &[u8]) {
        self.ensure_capacity(bytes.len());
        self.len = bytes.len();
        self.as_bytes_mut().copy_from_slice(bytes);
    }

    /// The tuple in the buffer, borrowed.
    pub fn as_ref(&self) -> TupleRef<'_> {
        TupleRef {
            bytes: &bytemuck::cast_slice(&self.words)[..self.len],
        }
    }

    /// Bytes of the tuple so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes of memory that it keeps, at least [`TupleBuf::len`].
    pub fn capacity_bytes(&self) -> usize {
        self.words.len() * 8
    }

    /// Whether there are no bytes: no tuple, or one without attributes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The tuple's bytes, for change in place.
    #[inline]
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len]
    }

    /// The address of the tuple, a multiple of 8, for compiled code; valid until the tail grows or
    /// the tuple is dropped.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    /// Adds a zeroed piece of tail and returns its offset from the start of the tuple. The
    /// alignment is a power of two up to 8. May move the tuple.
    ///
    /// A reference slot at offset `s` that is to point to it holds the returned offset less `s`.
    ///
    /// # Panics
    /// If the tuple would reach 4 GiB.
    pub fn ensure_tail(&mut self, bytes: usize, align: usize) -> usize {
        let (old, at) = (self.len, self.grow(bytes, align));
        self.as_bytes_mut()[old..].fill(0);
        at
    }

    /// Begins a piece of tail that [`TupleBuf::push_tail`] adds to; returns its offset. The
    /// alignment is a power of two up to 8.
    pub fn begin_tail(&mut self, align: usize) -> usize {
        self.ensure_tail(0, align)
    }

    /// Adds bytes behind all there is.
    ///
    /// # Panics
    /// If the tuple would reach 4 GiB.
    #[inline]
    pub fn push_tail(&mut self, bytes: &[u8]) {
        let at = self.grow(bytes.len(), 1);
        self.as_bytes_mut()[at..].copy_from_slice(bytes);
    }

    /// Makes room for a tail of `bytes` bytes, so that adding it does not move the tuple.
    pub fn reserve_tail(&mut self, bytes: usize) {
        self.ensure_capacity(self.len + bytes + 8);
    }

    /// Writes a scalar's slot (u8 or bool for boolean, u32 for an enum, arrays of two for complex).
    #[inline]
    pub fn put_scalar<T: NoUninit>(&mut self, offset: usize, value: T) {
        let bytes = &mut self.as_bytes_mut()[offset..offset + size_of::<T>()];
        bytes.copy_from_slice(bytemuck::bytes_of(&value));
    }

    /// Writes an rstring, blob or xml slot.
    ///
    /// # Panics
    /// If the tuple would reach 4 GiB.
    #[inline]
    pub fn put_bytes(&mut self, offset: usize, bytes: &[u8]) {
        self.put_block(offset, bytes, bytes.len(), 1);
    }

    /// Writes an rstring, blob or xml slot from a part of some bytes. A short part is copied with
    /// what is behind it, which takes no call and is written over by the next piece of tail.
    ///
    /// # Panics
    /// If the part is not within the bytes, or the tuple would reach 4 GiB.
    #[inline]
    pub fn put_bytes_within(&mut self, offset: usize, bytes: &[u8], part: std::ops::Range<usize>) {
        let (at, len) = (self.len, part.len());
        let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        if len <= SHORT_BYTES
            && at + len <= u32::MAX as usize
            && let Some(source) = bytes[part.start..].first_chunk::<SHORT_BYTES>()
            && let Some(place) = memory[at..].first_chunk_mut()
        {
            *place = *source;
            self.len = at + len;
            return self.put_reference(offset, at, len);
        }
        self.put_bytes(offset, &bytes[part]);
    }

    /// Writes an `rstring[n]` slot; what exceeds the bound is dropped.
    #[inline]
    pub fn put_bounded(&mut self, offset: usize, bytes: &[u8], bound: u32) {
        let kept = &bytes[..bytes.len().min(bound as usize)];
        self.put_scalar(offset, kept.len() as u32);
        let (used, unused) = self.as_bytes_mut()[offset + 4..][..slot::pad(bound, 4) as usize]
            .split_at_mut(kept.len());
        used.copy_from_slice(kept);
        unused.fill(0);
    }

    /// The n bytes of an `rstring[n]` slot, zeroed; the caller writes the length, a u32 at the
    /// slot's offset.
    pub fn bounded_mut(&mut self, offset: usize, bound: u32) -> &mut [u8] {
        let bytes = &mut self.as_bytes_mut()[offset..][..4 + slot::pad(bound, 4) as usize];
        bytes.fill(0);
        &mut bytes[4..4 + bound as usize]
    }

    /// Writes an rstring slot, bounded or not, a blob's or an xml's.
    #[inline]
    pub fn put_text(&mut self, offset: usize, ty: &Type, bytes: &[u8]) {
        match ty {
            Type::BoundedRString(bound) => self.put_bounded(offset, bytes, *bound),
            _ => self.put_bytes(offset, bytes),
        }
    }

    /// Writes a ustring slot.
    pub fn put_units(&mut self, offset: usize, units: &[u16]) {
        self.put_block(offset, bytemuck::cast_slice(units), units.len(), 2);
    }

    /// Writes the slot of an unbounded list of scalars.
    ///
    /// # Example
    /// ```
    /// use std::sync::Arc;
    /// use thalweg_tuple::{Layout, TupleBuf, TupleType, Type};
    ///
    /// let ty = Type::List(Arc::new(Type::Int64), None);
    /// let layout = Layout::new(&Arc::new(TupleType::new([("values", ty)])));
    /// let mut buf = TupleBuf::default();
    /// buf.begin(&layout);
    /// buf.put_list(0, &[1_i64, 2, 3]);
    /// assert_eq!(buf.as_ref().list_at::<i64>(0), [1, 2, 3]);
    /// assert_eq!(buf.len(), 8 + 3 * 8);
    /// ```
    pub fn put_list<T: NoUninit>(&mut self, offset: usize, elements: &[T]) {
        let align = align_of::<T>().max(4);
        self.put_block(
            offset,
            bytemuck::cast_slice(elements),
            elements.len(),
            align,
        );
    }

    /// Starts a list, set or map slot: writes its length, makes room for the elements, and returns
    /// the offset of the first one and how many there are, which is fewer than asked for if a bound
    /// says so. The caller writes the elements' slots, which are zero.
    pub fn put_elements(
        &mut self,
        offset: usize,
        elements: ElementLayout,
        len: usize,
    ) -> (usize, usize) {
        let stride = elements.stride as usize;
        if let Some(bound) = elements.bound {
            let len = len.min(bound as usize);
            let all = bound as usize * stride;
            self.as_bytes_mut()[offset..][..8 + all].fill(0);
            self.put_scalar(offset, len as u32);
            (offset + 8, len)
        } else {
            let at = self.ensure_tail(len * stride, elements.align as usize);
            self.put_reference(offset, at, len);
            (at, len)
        }
    }

    /// Writes a reference slot to data at an offset in the tuple; `len` is in the slot's unit.
    #[inline]
    pub fn put_reference(&mut self, offset: usize, data: usize, len: usize) {
        let distance = if len == 0 { 0 } else { data - offset };
        self.put_scalar(offset, [distance as u32, len as u32]);
    }

    /// Writes a slot of any type. A value that is too long for a bound is cut.
    ///
    /// # Panics
    /// If the tuple would reach 4 GiB; in debug builds, if the value is not of the type.
    pub fn put_value(&mut self, at: usize, ty: &Type, value: &Value) {
        match (value, ty) {
            (Value::Boolean(x), Type::Boolean) => self.put_scalar(at, *x),
            (Value::Int8(x), Type::Int8) => self.put_scalar(at, *x),
            (Value::Int16(x), Type::Int16) => self.put_scalar(at, *x),
            (Value::Int32(x), Type::Int32) => self.put_scalar(at, *x),
            (Value::Int64(x), Type::Int64) => self.put_scalar(at, *x),
            (Value::Uint8(x), Type::Uint8) => self.put_scalar(at, *x),
            (Value::Uint16(x), Type::Uint16) => self.put_scalar(at, *x),
            (Value::Uint32(x), Type::Uint32) => self.put_scalar(at, *x),
            (Value::Enum(x), Type::Enum(_)) => self.put_scalar(at, *x),
            (Value::Uint64(x), Type::Uint64) => self.put_scalar(at, *x),
            (Value::Float32(x), Type::Float32) => self.put_scalar(at, *x),
            (Value::Float64(x), Type::Float64) => self.put_scalar(at, *x),
            (Value::Decimal32(x), Type::Decimal32) => self.put_scalar(at, *x),
            (Value::Decimal64(x), Type::Decimal64) => self.put_scalar(at, *x),
            (Value::Decimal128(x), Type::Decimal128) => self.put_scalar(at, *x),
            (Value::Complex32(re, im), Type::Complex32) => self.put_scalar(at, [*re, *im]),
            (Value::Complex64(re, im), Type::Complex64) => self.put_scalar(at, [*re, *im]),
            (Value::Timestamp(x), Type::Timestamp) => self.put_scalar(at, *x),
            (Value::RString(x), Type::RString | Type::BoundedRString(_)) => {
                self.put_text(at, ty, &x.0);
            }
            (Value::UString(x), Type::UString) => self.put_units(at, &x.0),
            (Value::Blob(x), Type::Blob) => self.put_bytes(at, x),
            (Value::Xml(x), Type::Xml(_)) => self.put_bytes(at, &x.0),
            _ => self.put_composite(at, ty, value),
        }
    }

    fn put_composite(&mut self, at: usize, ty: &Type, value: &Value) {
        match (value, ty) {
            (Value::List(list), Type::List(element, _)) => {
                self.put_list_value(at, ty, element, list)
            }
            (Value::Set(set), Type::Set(element, _)) => {
                self.put_each(at, ty, set.iter(), |buf, at, x| {
                    buf.put_value(at, element, x)
                });
            }
            (Value::Map(map), Type::Map(kv, _)) => {
                let value = MapEntryLayout::for_map(kv).value as usize;
                self.put_each(at, ty, map.iter(), |buf, at, (k, v)| {
                    buf.put_value(at, &kv.0, k);
                    buf.put_value(at + value, &kv.1, v);
                });
            }
            (Value::Tuple(values), Type::Tuple(t)) => {
                for ((offset, ty), value) in slot::offsets(t).zip(values) {
                    self.put_value(at + offset as usize, ty, value);
                }
            }
            (Value::Optional(None), Type::Optional(_)) => self.clear(at, ty),
            (Value::Optional(Some(value)), Type::Optional(t)) => {
                let inner = self.put_present(at, t);
                self.put_value(inner, t, value);
            }
            _ => debug_assert!(false, "a slot of {ty} is set from {value:?}"),
        }
    }

    /// Marks an `optional<T>` slot as present and returns the offset of T's slot.
    pub fn put_present(&mut self, offset: usize, ty: &Type) -> usize {
        self.put_scalar(offset, 1u8);
        offset + slot::slot(ty).1 as usize
    }

    /// Makes a slot the default of its type: all zero.
    pub fn clear(&mut self, offset: usize, ty: &Type) {
        let size = slot::slot(ty).0 as usize;
        self.as_bytes_mut()[offset..offset + size].fill(0);
    }

    fn put_list_value(&mut self, at: usize, ty: &Type, element: &Type, list: &List) {
        let list = match list {
            List::Boolean(v) => return self.put_packed(at, ty, v),
            List::Int8(v) => return self.put_packed(at, ty, v),
            List::Int16(v) => return self.put_packed(at, ty, v),
            List::Int32(v) => return self.put_packed(at, ty, v),
            List::Int64(v) => return self.put_packed(at, ty, v),
            List::Uint8(v) => return self.put_packed(at, ty, v),
            List::Uint16(v) => return self.put_packed(at, ty, v),
            List::Uint32(v) | List::Enum(v) => return self.put_packed(at, ty, v),
            List::Uint64(v) => return self.put_packed(at, ty, v),
            List::Float32(v) => return self.put_packed(at, ty, v),
            List::Float64(v) => return self.put_packed(at, ty, v),
            List::Decimal32(v) => return self.put_packed(at, ty, v),
            List::Decimal64(v) => return self.put_packed(at, ty, v),
            List::Decimal128(v) => return self.put_packed(at, ty, v),
            List::Complex32(v) => return self.put_packed(at, ty, v),
            List::Complex64(v) => return self.put_packed(at, ty, v),
            List::Timestamp(v) => return self.put_packed(at, ty, v),
            List::Any(v) => v,
        };
        self.put_each(at, ty, list.iter(), |buf, at, x| {
            buf.put_value(at, element, x)
        });
    }

    /// A list of scalars, which lie in the tuple as they lie in the vector.
    fn put_packed<T: NoUninit>(&mut self, at: usize, ty: &Type, values: &[T]) {
        match ElementLayout::for_collection(ty) {
            Some(elements) if elements.stride as usize == size_of::<T>() => {
                if elements.bound.is_none() {
                    return self.put_list(at, values);
                }
                let (data, len) = self.put_elements(at, elements, values.len());
                let bytes = bytemuck::cast_slice(&values[..len]);
                self.as_bytes_mut()[data..data + bytes.len()].copy_from_slice(bytes);
            }
            _ => debug_assert!(false, "a slot of {ty} is set from a list of other elements"),
        }
    }

    fn put_each<T>(
        &mut self,
        at: usize,
        ty: &Type,
        values: impl ExactSizeIterator<Item = T>,
        put: impl Fn(&mut TupleBuf, usize, T),
    ) {
        if let Some(elements) = ElementLayout::for_collection(ty) {
            let (data, len) = self.put_elements(at, elements, values.len());
            for (index, value) in values.take(len).enumerate() {
                put(self, data + index * elements.stride as usize, value);
            }
        }
    }

    /// Writes a reference slot and a copy of what it points to; `len` is in the slot's unit, the
    /// alignment a power of two up to 8.
    ///
    /// # Panics
    /// If the tuple would reach 4 GiB.
    #[inline]
    pub fn put_block(&mut self, offset: usize, bytes: &[u8], len: usize, align: usize) {
        let (old, at) = (self.len, self.grow(bytes.len(), align));
        let tail = self.as_bytes_mut();
        tail[old..at].fill(0);
        tail[at..].copy_from_slice(bytes);
        self.put_reference(offset, at, len);
    }

    /// Adds a piece of tail with whatever was there before, padding too; returns its offset.
    #[inline]
    fn grow(&mut self, bytes: usize, align: usize) -> usize {
        let at = self.len.next_multiple_of(align);
        let len = at.saturating_add(bytes);
        assert!(
            len <= u32::MAX as usize,
            "a tuple must be smaller than 4 GiB"
        );
        self.ensure_capacity(len);
        self.len = len;
        at
    }

    #[inline]
    fn ensure_capacity(&mut self, bytes: usize) {
        if self.words.len() * 8 < bytes {
            let doubled = self.words.len() * 2;
            self.words
                .resize(bytes.div_ceil(8).max(doubled).max(SHORT_WORDS), 0);
        }
    }
}

impl TupleRef<'_> {
    /// Copies the tuple into a buffer of its own.
    pub fn to_buf(self) -> TupleBuf {
        let mut buf = TupleBuf::default();
        buf.copy_from(self);
        buf
    }
}
