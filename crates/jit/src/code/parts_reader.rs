//! Values as compiled code holds them, in memory: each part of a type (see [`crate::type_parts`])
//! in a word of 8 bytes, one after the other.
//!
//! This is how operands that live in registers reach a function that works on [`Value`]s.

use tuple::{Decimal32, Decimal64, Decimal128, List, RString, Timestamp, Type, UString, Value};

use crate::type_parts;

/// Words of operands, read from the front.
pub struct PartsReader {
    next: *const u64,
}

impl PartsReader {
    /// The words at an address.
    ///
    /// # Safety
    /// At `next` there is a word for each part of the types that are then read; each holds a part
    /// of its type, and the addresses among them are good for as long as the words are read.
    pub unsafe fn new(next: *const u64) -> PartsReader {
        PartsReader { next }
    }

    /// The next word, or its low bytes.
    fn next_part<T: Copy>(&mut self) -> T {
        const { assert!(size_of::<T>() <= 8) };
        let at = self.next;
        self.next = at.wrapping_add(1);
        // SAFETY: the row is as long as its types have parts, and the part is a T (see `at`).
        unsafe { at.cast::<T>().read() }
    }

    /// Reads an address, for an operand that is passed by its place.
    pub fn next_address<T>(&mut self) -> *mut T {
        self.next_part()
    }

    /// Reads the address and the length of elements that lie elsewhere.
    fn next_slice<T>(&mut self) -> RawSlice<T> {
        RawSlice {
            data: self.next_part(),
            len: self.next_part(),
        }
    }

    /// Reads the address of a value.
    fn next_boxed<'a>(&mut self) -> &'a Value {
        let value: *const Value = self.next_part();
        // SAFETY: a boxed part is the address of a value (see `at`).
        unsafe { &*value }
    }

    /// Passes over a type's parts.
    fn skip(&mut self, ty: &Type) {
        self.next = self.next.wrapping_add(type_parts::part_count(ty));
    }

    /// The value that a type's parts make.
    pub fn build(&mut self, ty: &Type) -> Value {
        match ty {
            Type::Boolean => Value::Boolean(self.next_part::<u8>() != 0),
            Type::Int8 => Value::Int8(self.next_part()),
            Type::Int16 => Value::Int16(self.next_part()),
            Type::Int32 => Value::Int32(self.next_part()),
            Type::Int64 => Value::Int64(self.next_part()),
            Type::Uint8 => Value::Uint8(self.next_part()),
            Type::Uint16 => Value::Uint16(self.next_part()),
            Type::Uint32 => Value::Uint32(self.next_part()),
            Type::Uint64 => Value::Uint64(self.next_part()),
            Type::Float32 => Value::Float32(self.next_part()),
            Type::Float64 => Value::Float64(self.next_part()),
            Type::Decimal32 => Value::Decimal32(Decimal32(self.next_part())),
            Type::Decimal64 => Value::Decimal64(Decimal64(self.next_part())),
            Type::Decimal128 => Value::Decimal128(Decimal128([self.next_part(), self.next_part()])),
            Type::Complex32 => Value::Complex32(self.next_part(), self.next_part()),
            Type::Complex64 => Value::Complex64(self.next_part(), self.next_part()),
            Type::Timestamp => Value::Timestamp(self.timestamp()),
            Type::Enum(_) => Value::Enum(self.next_part()),
            Type::RString | Type::BoundedRString(_) => {
                Value::RString(RString(self.next_slice().to_vec()))
            }
            Type::Xml(_) => Value::Xml(RString(self.next_slice().to_vec())),
            Type::UString => Value::UString(UString(self.next_slice().to_vec())),
            Type::Blob => Value::Blob(self.next_slice().to_vec()),
            Type::List(element, _) if type_parts::is_scalar(element) => {
                let mut list = List::new_for(element);
                self.refill_list(&mut list);
                Value::List(list)
            }
            Type::Tuple(t) => {
                Value::Tuple(t.attributes.iter().map(|a| self.build(&a.ty)).collect())
            }
            Type::Optional(inner) => self.build_optional(inner),
            _ => self.next_boxed().clone(),
        }
    }

    fn timestamp(&mut self) -> Timestamp {
        Timestamp {
            seconds: self.next_part(),
            nanos: self.next_part(),
            machine: self.next_part(),
        }
    }

    fn build_optional(&mut self, inner: &Type) -> Value {
        if self.next_part::<u8>() == 0 {
            self.skip(inner);
            return Value::Optional(None);
        }
        Value::Optional(Some(Box::new(self.build(inner))))
    }

    /// Writes the value that a type's parts make over another of that type, whose memory is reused.
    pub fn assign(&mut self, ty: &Type, to: &mut Value) {
        match (ty, to) {
            (Type::RString | Type::BoundedRString(_), Value::RString(s)) => {
                refill(&mut s.0, self.next_slice());
            }
            (Type::UString, Value::UString(s)) => refill(&mut s.0, self.next_slice()),
            (Type::Blob, Value::Blob(b)) => refill(b, self.next_slice()),
            (Type::Xml(_), Value::Xml(s)) => refill(&mut s.0, self.next_slice()),
            (Type::List(element, _), Value::List(list)) if type_parts::is_scalar(element) => {
                self.refill_list(list);
            }
            (Type::Tuple(t), Value::Tuple(fields)) => {
                let pairs = t.attributes.iter().zip(fields);
                pairs.for_each(|(a, field)| self.assign(&a.ty, field));
            }
            (Type::Optional(inner), Value::Optional(to)) => self.assign_optional(inner, to),
            (ty, to) if type_parts::is_boxed(ty) => {
                let from = self.next_boxed();
                if !std::ptr::eq(from, to) {
                    let copy = from.clone();
                    *to = copy;
                }
            }
            (ty, to) => *to = self.build(ty),
        }
    }

    fn assign_optional(&mut self, inner: &Type, to: &mut Option<Box<Value>>) {
        if self.next_part::<u8>() == 0 {
            self.skip(inner);
            *to = None;
        } else if let Some(to) = to {
            self.assign(inner, to);
        } else {
            *to = Some(Box::new(self.build(inner)));
        }
    }

    fn refill_list(&mut self, list: &mut List) {
        macro_rules! refill {
            ($($variant:ident)+) => {
                match list {
                    $(List::$variant(v) => refill(v, self.next_slice()),)+
                    List::Any(_) => debug_assert!(false, "a list of scalars is packed"),
                }
            };
        }
        refill!(Boolean Int8 Int16 Int32 Int64 Uint8 Uint16 Uint32 Uint64 Float32 Float64 Decimal32
            Decimal64 Decimal128 Complex32 Complex64 Timestamp Enum);
    }
}

/// Elements by address and number, as compiled code holds strings and lists.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RawSlice<T> {
    /// Address of the first element; any address if there is none.
    pub data: *const T,
    /// Number of the elements there.
    pub len: usize,
}

impl<T: Copy> RawSlice<T> {
    /// The elements of the slice, where they lie.
    ///
    /// # Safety
    /// The elements exist, and nothing writes to them during `'a`.
    pub unsafe fn slice<'a>(self) -> &'a [T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }

    /// A copy of the elements.
    fn to_vec(self) -> Vec<T> {
        // SAFETY: a view among words is good while they are read (see `PartsReader::new`).
        unsafe { self.slice() }.to_vec()
    }
}

/// Replaces a vector's content by elements that may lie in the vector itself.
pub fn refill<T: Copy>(to: &mut Vec<T>, from: RawSlice<T>) {
    let start = to.as_ptr().addr();
    let inside = from.data.addr().wrapping_sub(start) / size_of::<T>();
    if from.data.addr() >= start && inside < to.len() {
        to.copy_within(inside..inside + from.len, 0);
        to.truncate(from.len);
    } else {
        to.clear();
        // SAFETY: a view among words is good while they are read, and lies elsewhere.
        to.extend_from_slice(unsafe { from.slice() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_values() {
        let tuple = tuple::TupleType::new([("a", Type::Int8), ("b", Type::RString)]);
        let ty = Type::Optional(Type::Tuple(tuple.into()).into());
        let text = "abc";
        let words = [1, 0xffu64, text.as_ptr().expose_provenance() as u64, 2];
        // SAFETY: four words for the four parts of the type.
        let value = unsafe { PartsReader::new(words.as_ptr()) }.build(&ty);
        let Value::Optional(Some(content)) = value else {
            panic!("present")
        };
        let Value::Tuple(fields) = *content else {
            panic!("a tuple")
        };
        assert!(matches!(fields[0], Value::Int8(-1)));
        assert!(matches!(&fields[1], Value::RString(s) if s.0 == b"ab"));
    }

    #[test]
    fn a_vector_is_refilled_from_itself() {
        let mut v = vec![1, 2, 3, 4, 5];
        let part = RawSlice {
            data: &raw const v[2],
            len: 2,
        };
        refill(&mut v, part);
        assert_eq!(v, [3, 4]);
    }
}
