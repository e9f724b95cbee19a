//! `list<T>`: packed for scalars, values for the rest.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use crate::{Decimal32, Decimal64, Decimal128, Timestamp, Type, Value};

/// `list<T>`. The variant follows from the element type ([`List::new_for`]); use the methods rather
/// than the variants where speed does not matter.
///
/// Elements of scalar types lie packed, in the bytes that they have in a flat tuple; elements of
/// other types are a [`Value`] of 32 bytes each. Indexes count from 0.
#[derive(Clone, Debug)]
#[expect(
    missing_docs,
    reason = "each holds elements of the SPL type of its name"
)]
pub enum List {
    Boolean(Vec<bool>),
    Int8(Vec<i8>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Uint8(Vec<u8>),
    Uint16(Vec<u16>),
    Uint32(Vec<u32>),
    Uint64(Vec<u64>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Decimal32(Vec<Decimal32>),
    Decimal64(Vec<Decimal64>),
    Decimal128(Vec<Decimal128>),
    /// Real and imaginary part.
    Complex32(Vec<[f32; 2]>),
    /// Real and imaginary part.
    Complex64(Vec<[f64; 2]>),
    Timestamp(Vec<Timestamp>),
    /// Ordinals of an enum's values.
    Enum(Vec<u32>),
    /// Strings, blobs, xml, composites, optionals.
    Any(Vec<Value>),
}

/// Runs the same expression on the vector of whichever variant a list has.
macro_rules! each {
    ($list:expr, $v:ident => $body:expr) => {
        match $list {
            List::Boolean($v) => $body,
            List::Int8($v) => $body,
            List::Int16($v) => $body,
            List::Int32($v) => $body,
            List::Int64($v) => $body,
            List::Uint8($v) => $body,
            List::Uint16($v) => $body,
            List::Uint32($v) => $body,
            List::Uint64($v) => $body,
            List::Float32($v) => $body,
            List::Float64($v) => $body,
            List::Decimal32($v) => $body,
            List::Decimal64($v) => $body,
            List::Decimal128($v) => $body,
            List::Complex32($v) => $body,
            List::Complex64($v) => $body,
            List::Timestamp($v) => $body,
            List::Enum($v) => $body,
            List::Any($v) => $body,
        }
    };
}

/// Runs an expression on a list's vector and a value of its element type; the last arm otherwise.
macro_rules! matched {
    ($list:expr, $value:expr, ($v:ident, $x:ident) => $body:expr, _ => $other:expr) => {
        match ($list, $value) {
            (List::Boolean($v), Value::Boolean($x)) => $body,
            (List::Int8($v), Value::Int8($x)) => $body,
            (List::Int16($v), Value::Int16($x)) => $body,
            (List::Int32($v), Value::Int32($x)) => $body,
            (List::Int64($v), Value::Int64($x)) => $body,
            (List::Uint8($v), Value::Uint8($x)) => $body,
            (List::Uint16($v), Value::Uint16($x)) => $body,
            (List::Uint32($v), Value::Uint32($x)) => $body,
            (List::Uint64($v), Value::Uint64($x)) => $body,
            (List::Float32($v), Value::Float32($x)) => $body,
            (List::Float64($v), Value::Float64($x)) => $body,
            (List::Decimal32($v), Value::Decimal32($x)) => $body,
            (List::Decimal64($v), Value::Decimal64($x)) => $body,
            (List::Decimal128($v), Value::Decimal128($x)) => $body,
            (List::Timestamp($v), Value::Timestamp($x)) => $body,
            (List::Enum($v), Value::Enum($x)) => $body,
            (List::Complex32($v), Value::Complex32(re, im)) => {
                let $x = [re, im];
                $body
            }
            (List::Complex64($v), Value::Complex64(re, im)) => {
                let $x = [re, im];
                $body
            }
            (List::Any($v), $x) => $body,
            _ => $other,
        }
    };
}

impl List {
    /// An empty list of elements of a type.
    pub fn new_for(element: &Type) -> List {
        List::with_capacity(element, 0)
    }

    /// An empty list of elements of a type, with room for some.
    pub fn with_capacity(element: &Type, capacity: usize) -> List {
        match element {
            Type::Boolean => List::Boolean(Vec::with_capacity(capacity)),
            Type::Int8 => List::Int8(Vec::with_capacity(capacity)),
            Type::Int16 => List::Int16(Vec::with_capacity(capacity)),
            Type::Int32 => List::Int32(Vec::with_capacity(capacity)),
            Type::Int64 => List::Int64(Vec::with_capacity(capacity)),
            Type::Uint8 => List::Uint8(Vec::with_capacity(capacity)),
            Type::Uint16 => List::Uint16(Vec::with_capacity(capacity)),
            Type::Uint32 => List::Uint32(Vec::with_capacity(capacity)),
            Type::Uint64 => List::Uint64(Vec::with_capacity(capacity)),
            Type::Float32 => List::Float32(Vec::with_capacity(capacity)),
            Type::Float64 => List::Float64(Vec::with_capacity(capacity)),
            Type::Decimal32 => List::Decimal32(Vec::with_capacity(capacity)),
            Type::Decimal64 => List::Decimal64(Vec::with_capacity(capacity)),
            Type::Decimal128 => List::Decimal128(Vec::with_capacity(capacity)),
            Type::Complex32 => List::Complex32(Vec::with_capacity(capacity)),
            Type::Complex64 => List::Complex64(Vec::with_capacity(capacity)),
            Type::Timestamp => List::Timestamp(Vec::with_capacity(capacity)),
            Type::Enum(_) => List::Enum(Vec::with_capacity(capacity)),
            _ => List::Any(Vec::with_capacity(capacity)),
        }
    }

    /// A list of elements of a type. Values of other types are left out (a debug build asserts).
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::{List, Type, Value};
    ///
    /// let list = List::from_values(&Type::Int64, [Value::Int64(3), Value::Int64(1)]);
    /// assert_eq!(list.as_slice::<i64>(), Some(&[3, 1][..]));
    /// assert_eq!(list.get(2), None);
    /// ```
    pub fn from_values(element: &Type, values: impl IntoIterator<Item = Value>) -> List {
        let values = values.into_iter();
        let mut list = List::with_capacity(element, values.size_hint().0);
        list.extend(values);
        list
    }

    /// Number of elements in the list.
    pub fn len(&self) -> usize {
        each!(self, v => v.len())
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Clones the element at a position; `None` beyond the end.
    pub fn get(&self, at: usize) -> Option<Value> {
        Some(match self {
            List::Boolean(v) => Value::Boolean(*v.get(at)?),
            List::Int8(v) => Value::Int8(*v.get(at)?),
            List::Int16(v) => Value::Int16(*v.get(at)?),
            List::Int32(v) => Value::Int32(*v.get(at)?),
            List::Int64(v) => Value::Int64(*v.get(at)?),
            List::Uint8(v) => Value::Uint8(*v.get(at)?),
            List::Uint16(v) => Value::Uint16(*v.get(at)?),
            List::Uint32(v) => Value::Uint32(*v.get(at)?),
            List::Uint64(v) => Value::Uint64(*v.get(at)?),
            List::Float32(v) => Value::Float32(*v.get(at)?),
            List::Float64(v) => Value::Float64(*v.get(at)?),
            List::Decimal32(v) => Value::Decimal32(*v.get(at)?),
            List::Decimal64(v) => Value::Decimal64(*v.get(at)?),
            List::Decimal128(v) => Value::Decimal128(*v.get(at)?),
            List::Complex32(v) => v.get(at).map(|c| Value::Complex32(c[0], c[1]))?,
            List::Complex64(v) => v.get(at).map(|c| Value::Complex64(c[0], c[1]))?,
            List::Timestamp(v) => Value::Timestamp(*v.get(at)?),
            List::Enum(v) => Value::Enum(*v.get(at)?),
            List::Any(v) => v.get(at)?.clone(),
        })
    }

    /// An element borrowed; `None` also for packed lists.
    pub fn get_ref(&self, at: usize) -> Option<&Value> {
        if let List::Any(v) = self {
            v.get(at)
        } else {
            None
        }
    }

    /// An element for change in place; `None` also for packed lists.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut Value> {
        if let List::Any(v) = self {
            v.get_mut(at)
        } else {
            None
        }
    }

    /// Replaces an element. False, and nothing changes, if there is none at that index or the value
    /// is of another type.
    pub fn set(&mut self, at: usize, value: Value) -> bool {
        if at >= self.len() {
            return false;
        }
        matched!(self, value, (v, x) => { v[at] = x; true }, _ => false)
    }

    /// Appends an element. False, and nothing changes, if the value is of another type.
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::{List, Type, Value};
    ///
    /// let mut list = List::new_for(&Type::RString);
    /// assert!(list.push(Value::RString("a".into())));
    /// assert_eq!(list.len(), 1);
    /// ```
    pub fn push(&mut self, value: Value) -> bool {
        matched!(self, value, (v, x) => { v.push(x); true }, _ => false)
    }

    /// Inserts an element before an index up to the length. False, and nothing changes, if the
    /// index is beyond it or the value is of another type.
    pub fn insert(&mut self, at: usize, value: Value) -> bool {
        if at > self.len() {
            return false;
        }
        matched!(self, value, (v, x) => { v.insert(at, x); true }, _ => false)
    }

    /// Takes an element out; what follows moves up.
    pub fn remove(&mut self, at: usize) -> Option<Value> {
        let value = self.get(at)?;
        each!(self, v => drop(v.remove(at)));
        Some(value)
    }

    /// Takes the elements of a range out. What of the range lies beyond the end is ignored.
    pub fn remove_range(&mut self, start: usize, end: usize) {
        let end = end.min(self.len());
        if start < end {
            each!(self, v => drop(v.drain(start..end)));
        }
    }

    /// Drops what lies beyond a length.
    pub fn truncate(&mut self, len: usize) {
        each!(self, v => v.truncate(len));
    }

    /// Drops all elements; keeps the memory.
    pub fn clear(&mut self) {
        each!(self, v => v.clear());
    }

    /// The elements in order, cloned.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Value> + ExactSizeIterator {
        (0..self.len()).map(|at| self.get(at).expect("an index below the length"))
    }

    /// Appends a copy of another list of the same element type; nothing if it is of another.
    pub fn extend_from(&mut self, other: &List) {
        self.extend_from_range(other, 0, other.len());
    }

    /// Appends a copy of a range of another list of the same element type. What of the range lies
    /// beyond the end is ignored.
    pub fn extend_from_range(&mut self, other: &List, start: usize, end: usize) {
        let end = end.min(other.len());
        let range = start.min(end)..end;
        macro_rules! append {
            ($($variant:ident)+) => {
                match (self, other) {
                    $((List::$variant(a), List::$variant(b)) => a.extend_from_slice(&b[range]),)+
                    _ => debug_assert!(false, "lists of two element types"),
                }
            };
        }
        append!(Boolean Int8 Int16 Int32 Int64 Uint8 Uint16 Uint32 Uint64 Float32 Float64 Decimal32
            Decimal64 Decimal128 Complex32 Complex64 Timestamp Enum Any);
    }

    /// An empty list of the same element type.
    pub fn new_same_type(&self) -> List {
        macro_rules! empty {
            ($($variant:ident)+) => {
                match self { $(List::$variant(_) => List::$variant(Vec::new()),)+ }
            };
        }
        empty!(Boolean Int8 Int16 Int32 Int64 Uint8 Uint16 Uint32 Uint64 Float32 Float64 Decimal32
            Decimal64 Decimal128 Complex32 Complex64 Timestamp Enum Any)
    }

    /// A copy of a range. What of the range lies beyond the end is ignored.
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::List;
    ///
    /// let list = List::Int32(vec![1, 2, 3, 4]);
    /// assert_eq!(list.slice(1, 3), List::Int32(vec![2, 3]));
    /// assert_eq!(list.slice(3, 9), List::Int32(vec![4]));
    /// ```
    pub fn slice(&self, start: usize, end: usize) -> List {
        let mut list = self.new_same_type();
        list.extend_from_range(self, start, end);
        list
    }

    /// Turns the order round.
    pub fn reverse(&mut self) {
        each!(self, v => v.reverse());
    }

    /// Sorts ascending by [`Value::total_cmp`], stable.
    pub fn sort(&mut self) {
        match self {
            List::Boolean(v) => v.sort_unstable(),
            List::Int8(v) => v.sort_unstable(),
            List::Int16(v) => v.sort_unstable(),
            List::Int32(v) => v.sort_unstable(),
            List::Int64(v) => v.sort_unstable(),
            List::Uint8(v) => v.sort_unstable(),
            List::Uint16(v) => v.sort_unstable(),
            List::Uint32(v) | List::Enum(v) => v.sort_unstable(),
            List::Uint64(v) => v.sort_unstable(),
            List::Float32(v) => v.sort_by(|a, b| total_cmp(f64::from(*a), f64::from(*b))),
            List::Float64(v) => v.sort_by(|a, b| total_cmp(*a, *b)),
            List::Decimal32(v) => v.sort(),
            List::Decimal64(v) => v.sort(),
            List::Decimal128(v) => v.sort(),
            List::Timestamp(v) => v.sort(),
            List::Complex32(v) => v.sort_by(|a, b| {
                let order = total_cmp(a[0].into(), b[0].into());
                order.then_with(|| total_cmp(a[1].into(), b[1].into()))
            }),
            List::Complex64(v) => {
                v.sort_by(|a, b| total_cmp(a[0], b[0]).then_with(|| total_cmp(a[1], b[1])))
            }
            List::Any(v) => v.sort_by(Value::total_cmp),
        }
    }

    /// The elements, if they are not packed.
    pub fn as_values(&self) -> Option<&[Value]> {
        if let List::Any(v) = self {
            Some(v)
        } else {
            None
        }
    }

    /// Whether the variant is the one for an element type, and the elements are of it.
    pub fn has_type(&self, element: &Type) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(&List::new_for(element))
            && match (self, element) {
                (List::Any(v), _) => v.iter().all(|x| x.has_type(element)),
                (List::Enum(v), Type::Enum(e)) => v.iter().all(|&x| (x as usize) < e.names.len()),
                _ => true,
            }
    }

    /// SPL's `==` on two lists: of equal length, elements equal by [`Value::spl_eq`].
    pub fn spl_eq(&self, other: &List) -> bool {
        match (self, other) {
            (List::Float32(a), List::Float32(b)) => a == b,
            (List::Float64(a), List::Float64(b)) => a == b,
            (List::Complex32(a), List::Complex32(b)) => a == b,
            (List::Complex64(a), List::Complex64(b)) => a == b,
            (List::Any(a), List::Any(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.spl_eq(b))
            }
            _ => {
                self.len() == other.len()
                    && self.iter().zip(other.iter()).all(|(a, b)| a.spl_eq(&b))
            }
        }
    }

    /// Lexicographic order of the elements by [`Value::total_cmp`].
    pub fn total_cmp(&self, other: &List) -> Ordering {
        let pairs = self.iter().zip(other.iter());
        let unequal = pairs.map(|(a, b)| a.total_cmp(&b)).find(|o| o.is_ne());
        unequal.unwrap_or_else(|| self.len().cmp(&other.len()))
    }
}

/// Elements of another type are left out (a debug build asserts).
impl Extend<Value> for List {
    fn extend<I: IntoIterator<Item = Value>>(&mut self, values: I) {
        if let List::Any(all) = self {
            all.extend(values);
            return;
        }
        for value in values {
            let fits = self.push(value);
            debug_assert!(fits, "a value of another type than the list's elements");
        }
    }
}

/// Equality of keys (see [`Value`]).
impl PartialEq for List {
    fn eq(&self, other: &List) -> bool {
        match (self, other) {
            (List::Int32(a), List::Int32(b)) => a == b,
            (List::Int64(a), List::Int64(b)) => a == b,
            (List::Any(a), List::Any(b)) => a == b,
            _ => self.len() == other.len() && self.iter().eq(other.iter()),
        }
    }
}

impl Eq for List {}

impl Hash for List {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len());
        match self {
            List::Any(v) => v.iter().for_each(|x| x.hash(state)),
            _ => self.iter().for_each(|x| x.hash(state)),
        }
    }
}

/// Ascending, NaN after everything.
pub(crate) fn total_cmp(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b)
        .unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}
