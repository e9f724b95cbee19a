//! One SPL value in ordinary Rust containers.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::key_hasher::{float_key, hash_bytes, hash_float, hash_units, hash_word};
use super::list::total_cmp;
use crate::{Decimal32, Decimal64, Decimal128, List, Map, RString, Set, Timestamp, Type, UString};

/// An SPL value. It does not know its type beyond its variant: enum names, attribute names and
/// bounds are in the [`Type`] that goes with it.
///
/// `Eq` and `Hash` are those of map keys: floats compare by value with `-0.0 == 0.0`, and a NaN
/// equals itself, so that every value can be a key. SPL's own `==` is [`Value::spl_eq`].
///
/// A value has 32 bytes; what is larger lies on the heap. Streams do not carry values: a tuple on
/// its way is flat ([`TupleRef`](crate::TupleRef)), and becomes a value only where the interpreter
/// or an operator's state needs one.
///
/// # Example
/// ```
/// use std::sync::Arc;
/// use thalweg_tuple::{Layout, TupleBuf, TupleType, Type, Value};
///
/// let schema = TupleType::new([("symbol", Type::RString), ("price", Type::Float64)]);
/// let trade = Value::Tuple([Value::RString("IBM".into()), Value::Float64(83.58)].into());
///
/// // A value written into a flat tuple is read again as an equal value.
/// let layout = Layout::new(&Arc::new(schema));
/// let mut buf = TupleBuf::default();
/// buf.set_all(&layout, &trade);
/// assert_eq!(buf.as_ref().to_value(&layout), trade);
/// ```
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
    /// Text of the document.
    Xml(RString),
    List(List),
    Set(Set),
    Map(Map),
    /// The attributes in order.
    Tuple(Box<[Value]>),
    Optional(Option<Box<Value>>),
}

// Values are kept by the million in windows and maps, so their size is a promise.
const _: () = assert!(size_of::<Value>() == 32);

impl Value {
    /// The number of an integer of any type; `None` for other values.
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::Value;
    ///
    /// assert_eq!(Value::Uint8(200).as_integer(), Some(200));
    /// assert_eq!(Value::Float64(2.0).as_integer(), None);
    /// ```
    #[inline]
    pub fn as_integer(&self) -> Option<i128> {
        Some(match *self {
            Value::Int8(x) => x.into(),
            Value::Int16(x) => x.into(),
            Value::Int32(x) => x.into(),
            Value::Int64(x) => x.into(),
            Value::Uint8(x) => x.into(),
            Value::Uint16(x) => x.into(),
            Value::Uint32(x) => x.into(),
            Value::Uint64(x) => x.into(),
            _ => return None,
        })
    }

    /// The default of a type: zero, false, first enumerator, empty, null, tuple of defaults.
    ///
    /// # Panics
    /// On `Type::Void`.
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::{Type, Value};
    ///
    /// assert_eq!(Value::default_of(&Type::Int32), Value::Int32(0));
    /// assert_eq!(Value::default_of(&Type::RString), Value::RString("".into()));
    /// ```
    pub fn default_of(ty: &Type) -> Value {
        match ty {
            Type::Boolean => Value::Boolean(false),
            Type::Int8 => Value::Int8(0),
            Type::Int16 => Value::Int16(0),
            Type::Int32 => Value::Int32(0),
            Type::Int64 => Value::Int64(0),
            Type::Uint8 => Value::Uint8(0),
            Type::Uint16 => Value::Uint16(0),
            Type::Uint32 => Value::Uint32(0),
            Type::Uint64 => Value::Uint64(0),
            Type::Float32 => Value::Float32(0.0),
            Type::Float64 => Value::Float64(0.0),
            Type::Decimal32 => Value::Decimal32(Decimal32::ZERO),
            Type::Decimal64 => Value::Decimal64(Decimal64::ZERO),
            Type::Decimal128 => Value::Decimal128(Decimal128::ZERO),
            Type::Complex32 => Value::Complex32(0.0, 0.0),
            Type::Complex64 => Value::Complex64(0.0, 0.0),
            Type::Timestamp => Value::Timestamp(Timestamp::default()),
            Type::RString | Type::BoundedRString(_) => Value::RString(RString::default()),
            Type::UString => Value::UString(UString::default()),
            Type::Blob => Value::Blob(Vec::new()),
            Type::Xml(_) => Value::Xml(RString::default()),
            Type::Enum(_) => Value::Enum(0),
            Type::List(element, _) => Value::List(List::new_for(element)),
            Type::Set(..) => Value::Set(Set::new()),
            Type::Map(..) => Value::Map(Map::new()),
            Type::Tuple(t) => Value::Tuple(
                t.attributes
                    .iter()
                    .map(|a| Value::default_of(&a.ty))
                    .collect(),
            ),
            Type::Optional(_) => Value::Optional(None),
            Type::Void => panic!("void has no values, so no default"),
        }
    }

    /// SPL's `==`: IEEE on floats (NaN equals nothing), timestamps without machine id. A plain
    /// value equals an optional that holds an equal one.
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::Value;
    ///
    /// let nan = Value::Float64(f64::NAN);
    /// assert!(!nan.spl_eq(&nan));
    /// // Equality of keys, which `==` is, takes a NaN as equal to itself.
    /// assert_eq!(nan, nan);
    /// ```
    pub fn spl_eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Float32(a), Value::Float32(b)) => a == b,
            (Value::Float64(a), Value::Float64(b)) => a == b,
            (Value::Decimal32(a), Value::Decimal32(b)) => a.compare(*b) == Some(Ordering::Equal),
            (Value::Decimal64(a), Value::Decimal64(b)) => a.compare(*b) == Some(Ordering::Equal),
            (Value::Decimal128(a), Value::Decimal128(b)) => a.compare(*b) == Some(Ordering::Equal),
            (Value::Complex32(a, b), Value::Complex32(c, d)) => a == c && b == d,
            (Value::Complex64(a, b), Value::Complex64(c, d)) => a == c && b == d,
            (Value::List(a), Value::List(b)) => a.spl_eq(b),
            (Value::Map(a), Value::Map(b)) => a.spl_eq(b),
            (Value::Tuple(a), Value::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.spl_eq(b))
            }
            (Value::Optional(Some(a)), Value::Optional(Some(b))) => a.spl_eq(b),
            (Value::Optional(a), Value::Optional(b)) => a.is_none() && b.is_none(),
            (Value::Optional(a), b) => a.as_ref().is_some_and(|a| a.spl_eq(b)),
            (a, Value::Optional(b)) => b.as_ref().is_some_and(|b| a.spl_eq(b)),
            (a, b) => a == b,
        }
    }

    /// SPL's order on two values of one ordered type; `None` for NaN. Enums by ordinal, booleans
    /// false before true, rstring and blob bytewise, ustring by code point. An optional that holds
    /// a value is ordered as that value; null has no order.
    pub fn spl_cmp(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Boolean(a), Value::Boolean(b)) => Some(a.cmp(b)),
            (Value::Int8(a), Value::Int8(b)) => Some(a.cmp(b)),
            (Value::Int16(a), Value::Int16(b)) => Some(a.cmp(b)),
            (Value::Int32(a), Value::Int32(b)) => Some(a.cmp(b)),
            (Value::Int64(a), Value::Int64(b)) => Some(a.cmp(b)),
            (Value::Uint8(a), Value::Uint8(b)) => Some(a.cmp(b)),
            (Value::Uint16(a), Value::Uint16(b)) => Some(a.cmp(b)),
            (Value::Uint32(a), Value::Uint32(b)) => Some(a.cmp(b)),
            (Value::Uint64(a), Value::Uint64(b)) => Some(a.cmp(b)),
            (Value::Float32(a), Value::Float32(b)) => a.partial_cmp(b),
            (Value::Float64(a), Value::Float64(b)) => a.partial_cmp(b),
            (Value::Decimal32(a), Value::Decimal32(b)) => a.compare(*b),
            (Value::Decimal64(a), Value::Decimal64(b)) => a.compare(*b),
            (Value::Decimal128(a), Value::Decimal128(b)) => a.compare(*b),
            (Value::Timestamp(a), Value::Timestamp(b)) => Some(a.cmp(b)),
            (Value::Enum(a), Value::Enum(b)) => Some(a.cmp(b)),
            (Value::RString(a), Value::RString(b)) => Some(a.cmp(b)),
            (Value::UString(a), Value::UString(b)) => Some(a.cmp(b)),
            (Value::Blob(a), Value::Blob(b)) => Some(a.cmp(b)),
            (Value::Optional(a), Value::Optional(b)) => a.as_ref()?.spl_cmp(b.as_ref()?),
            (Value::Optional(a), b) => a.as_ref()?.spl_cmp(b),
            (a, Value::Optional(b)) => a.spl_cmp(b.as_ref()?),
            _ => None,
        }
    }

    /// A total order for sorting and `max`/`min`: [`Value::spl_cmp`] with NaN after everything.
    /// What has no order in SPL is ordered by its parts, null last, sets and maps by length alone.
    ///
    /// # Example
    /// ```
    /// use std::cmp::Ordering;
    /// use thalweg_tuple::Value;
    ///
    /// let (one, nan) = (Value::Float64(1.0), Value::Float64(f64::NAN));
    /// assert_eq!(one.spl_cmp(&nan), None);
    /// assert_eq!(one.total_cmp(&nan), Ordering::Less);
    /// ```
    pub fn total_cmp(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Float32(a), Value::Float32(b)) => total_cmp((*a).into(), (*b).into()),
            (Value::Float64(a), Value::Float64(b)) => total_cmp(*a, *b),
            (Value::Decimal32(a), Value::Decimal32(b)) => a.cmp(b),
            (Value::Decimal64(a), Value::Decimal64(b)) => a.cmp(b),
            (Value::Decimal128(a), Value::Decimal128(b)) => a.cmp(b),
            (Value::Complex32(a, b), Value::Complex32(c, d)) => {
                let order = total_cmp((*a).into(), (*c).into());
                order.then_with(|| total_cmp((*b).into(), (*d).into()))
            }
            (Value::Complex64(a, b), Value::Complex64(c, d)) => {
                total_cmp(*a, *c).then_with(|| total_cmp(*b, *d))
            }
            (Value::Xml(a), Value::Xml(b)) => a.cmp(b),
            (Value::List(a), Value::List(b)) => a.total_cmp(b),
            (Value::Set(a), Value::Set(b)) => a.len().cmp(&b.len()),
            (Value::Map(a), Value::Map(b)) => a.len().cmp(&b.len()),
            (Value::Tuple(a), Value::Tuple(b)) => {
                let unequal = a
                    .iter()
                    .zip(b)
                    .map(|(a, b)| a.total_cmp(b))
                    .find(|o| o.is_ne());
                unequal.unwrap_or_else(|| a.len().cmp(&b.len()))
            }
            (Value::Optional(Some(a)), Value::Optional(Some(b))) => a.total_cmp(b),
            (Value::Optional(a), Value::Optional(b)) => a.is_none().cmp(&b.is_none()),
            (a, b) => a.spl_cmp(b).unwrap_or(Ordering::Equal),
        }
    }

    /// Whether its variant (and its elements') fits the type; for assertions at wiring.
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::{Type, Value};
    ///
    /// assert!(Value::Uint8(3).has_type(&Type::Uint8));
    /// assert!(!Value::Uint8(3).has_type(&Type::Int8));
    /// ```
    pub fn has_type(&self, ty: &Type) -> bool {
        let within = |len: usize, bound: &Option<u32>| bound.is_none_or(|n| len <= n as usize);
        match (self, ty) {
            (Value::Boolean(_), Type::Boolean)
            | (Value::Int8(_), Type::Int8)
            | (Value::Int16(_), Type::Int16)
            | (Value::Int32(_), Type::Int32)
            | (Value::Int64(_), Type::Int64)
            | (Value::Uint8(_), Type::Uint8)
            | (Value::Uint16(_), Type::Uint16)
            | (Value::Uint32(_), Type::Uint32)
            | (Value::Uint64(_), Type::Uint64)
            | (Value::Float32(_), Type::Float32)
            | (Value::Float64(_), Type::Float64)
            | (Value::Decimal32(_), Type::Decimal32)
            | (Value::Decimal64(_), Type::Decimal64)
            | (Value::Decimal128(_), Type::Decimal128)
            | (Value::Complex32(..), Type::Complex32)
            | (Value::Complex64(..), Type::Complex64)
            | (Value::Timestamp(_), Type::Timestamp)
            | (Value::RString(_), Type::RString)
            | (Value::UString(_), Type::UString)
            | (Value::Blob(_), Type::Blob)
            | (Value::Xml(_), Type::Xml(_)) => true,
            (Value::Enum(at), Type::Enum(e)) => (*at as usize) < e.names.len(),
            (Value::RString(s), Type::BoundedRString(n)) => s.0.len() <= *n as usize,
            (Value::List(l), Type::List(e, n)) => within(l.len(), n) && l.has_type(e),
            (Value::Set(s), Type::Set(e, n)) => {
                within(s.len(), n) && s.iter().all(|x| x.has_type(e))
            }
            (Value::Map(m), Type::Map(kv, n)) => {
                within(m.len(), n)
                    && m.iter()
                        .all(|(k, v)| k.has_type(&kv.0) && v.has_type(&kv.1))
            }
            (Value::Tuple(values), Type::Tuple(t)) => {
                let types = t.attributes.iter().map(|a| &a.ty);
                values.len() == types.len() && values.iter().zip(types).all(|(v, t)| v.has_type(t))
            }
            (Value::Optional(v), Type::Optional(t)) => v.as_ref().is_none_or(|v| v.has_type(t)),
            _ => false,
        }
    }
}

/// Equality of keys: see the type.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Boolean(a), Value::Boolean(b)) => a == b,
            (Value::Int8(a), Value::Int8(b)) => a == b,
            (Value::Int16(a), Value::Int16(b)) => a == b,
            (Value::Int32(a), Value::Int32(b)) => a == b,
            (Value::Int64(a), Value::Int64(b)) => a == b,
            (Value::Uint8(a), Value::Uint8(b)) => a == b,
            (Value::Uint16(a), Value::Uint16(b)) => a == b,
            (Value::Uint32(a), Value::Uint32(b)) => a == b,
            (Value::Uint64(a), Value::Uint64(b)) => a == b,
            (Value::Float32(a), Value::Float32(b)) => same_float((*a).into(), (*b).into()),
            (Value::Float64(a), Value::Float64(b)) => same_float(*a, *b),
            (Value::Decimal32(a), Value::Decimal32(b)) => a == b,
            (Value::Decimal64(a), Value::Decimal64(b)) => a == b,
            (Value::Decimal128(a), Value::Decimal128(b)) => a == b,
            (Value::Complex32(a, b), Value::Complex32(c, d)) => {
                same_float((*a).into(), (*c).into()) && same_float((*b).into(), (*d).into())
            }
            (Value::Complex64(a, b), Value::Complex64(c, d)) => {
                same_float(*a, *c) && same_float(*b, *d)
            }
            (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
            (Value::Enum(a), Value::Enum(b)) => a == b,
            (Value::RString(a), Value::RString(b)) => a == b,
            (Value::UString(a), Value::UString(b)) => a == b,
            (Value::Blob(a), Value::Blob(b)) => a == b,
            (Value::Xml(a), Value::Xml(b)) => a == b,
            (Value::List(a), Value::List(b)) => a == b,
            (Value::Set(a), Value::Set(b)) => a == b,
            (Value::Map(a), Value::Map(b)) => a == b,
            (Value::Tuple(a), Value::Tuple(b)) => a == b,
            (Value::Optional(a), Value::Optional(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

/// Hashes without the variant, which is equal for all keys of a map. [`crate::Key`] relies on the
/// way scalars are hashed here.
impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Value::Boolean(x) => hash_word(u64::from(*x), state),
            Value::Int8(x) => hash_word(i64::from(*x) as u64, state),
            Value::Int16(x) => hash_word(i64::from(*x) as u64, state),
            Value::Int32(x) => hash_word(i64::from(*x) as u64, state),
            Value::Int64(x) => hash_word(*x as u64, state),
            Value::Uint8(x) => hash_word(u64::from(*x), state),
            Value::Uint16(x) => hash_word(u64::from(*x), state),
            Value::Uint32(x) | Value::Enum(x) => hash_word(u64::from(*x), state),
            Value::Uint64(x) => hash_word(*x, state),
            Value::Float32(x) => hash_float((*x).into(), state),
            Value::Float64(x) => hash_float(*x, state),
            Value::Decimal32(x) => x.hash(state),
            Value::Decimal64(x) => x.hash(state),
            Value::Decimal128(x) => x.hash(state),
            Value::Complex32(re, im) => {
                hash_float((*re).into(), state);
                hash_float((*im).into(), state);
            }
            Value::Complex64(re, im) => {
                hash_float(*re, state);
                hash_float(*im, state);
            }
            Value::Timestamp(x) => x.hash(state),
            Value::RString(x) | Value::Xml(x) => hash_bytes(&x.0, state),
            Value::UString(x) => hash_units(&x.0, state),
            Value::Blob(x) => hash_bytes(x, state),
            Value::List(x) => x.hash(state),
            Value::Set(x) => x.hash(state),
            Value::Map(x) => x.hash(state),
            Value::Tuple(x) => x.iter().for_each(|v| v.hash(state)),
            Value::Optional(None) => hash_word(0, state),
            Value::Optional(Some(x)) => {
                hash_word(1, state);
                x.hash(state);
            }
        }
    }
}

/// Whether two floats are the same key.
fn same_float(a: f64, b: f64) -> bool {
    float_key(a) == float_key(b)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn some(value: Value) -> Value {
        Value::Optional(Some(Box::new(value)))
    }

    #[test]
    fn keys_and_spl_differ_on_nan() {
        let (nan, zero) = (Value::Float64(f64::NAN), Value::Float64(0.0));
        assert!(nan == nan.clone() && !nan.spl_eq(&nan) && nan.spl_cmp(&nan).is_none());
        assert!(zero == Value::Float64(-0.0) && zero.spl_eq(&Value::Float64(-0.0)));
        assert_eq!(nan.total_cmp(&zero), Ordering::Greater);
        assert_eq!(nan.total_cmp(&nan), Ordering::Equal);
        let list = Value::List(List::Float64(vec![f64::NAN]));
        assert!(list == list.clone() && !list.spl_eq(&list));
    }

    #[test]
    fn decimals_are_equal_by_number() {
        let decimal = |text: &str| Value::Decimal64(text.parse().expect("a decimal"));
        assert_eq!(decimal("1.0"), decimal("1.00"));
        assert!(decimal("1.0").spl_eq(&decimal("1")));
        assert_eq!(
            decimal("-1").spl_cmp(&decimal("1e-300")),
            Some(Ordering::Less)
        );
        assert_eq!(decimal("nan").spl_cmp(&decimal("0")), None);
        assert_eq!(decimal("nan").total_cmp(&decimal("inf")), Ordering::Greater);
    }

    #[test]
    fn order_of_ordered_types() {
        let text = |s: &str| Value::RString(s.into());
        let less = [
            (Value::Boolean(false), Value::Boolean(true)),
            (Value::Enum(0), Value::Enum(2)),
            (text("ab"), text("b")),
            (Value::Blob(vec![1]), Value::Blob(vec![1, 0])),
            (
                Value::UString("\u{FFFF}".into()),
                Value::UString("😀".into()),
            ),
            (some(Value::Int8(-1)), Value::Int8(0)),
        ];
        for (a, b) in less {
            assert_eq!(a.spl_cmp(&b), Some(Ordering::Less), "{a:?} {b:?}");
            assert_eq!(b.total_cmp(&a), Ordering::Greater, "{a:?} {b:?}");
        }
    }

    #[test]
    fn optionals_mix_with_plain_values() {
        let one = Value::Int32(1);
        assert!(some(one.clone()).spl_eq(&one) && one.spl_eq(&some(one.clone())));
        assert!(!Value::Optional(None).spl_eq(&one));
        assert!(Value::Optional(None).spl_eq(&Value::Optional(None)));
        assert_eq!(Value::Optional(None).spl_cmp(&one), None);
    }

    #[test]
    fn timestamps_ignore_the_machine() {
        let time = |machine| {
            let (seconds, nanos) = (7, 8);
            Value::Timestamp(Timestamp {
                seconds,
                nanos,
                machine,
            })
        };
        assert!(time(1) == time(2) && time(1).spl_eq(&time(2)));
    }

    #[test]
    fn bounds_count_for_a_type() {
        let list = Value::List(List::Int8(vec![1, 2]));
        let ty = |bound| Type::List(Arc::new(Type::Int8), bound);
        assert!(list.has_type(&ty(None)) && list.has_type(&ty(Some(2))));
        assert!(!list.has_type(&ty(Some(1))) && !list.has_type(&Type::Blob));
        assert!(!Value::RString("abc".into()).has_type(&Type::BoundedRString(2)));
        assert!(Value::default_of(&ty(Some(1))).has_type(&ty(Some(1))));
    }
}
