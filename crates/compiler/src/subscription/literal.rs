//! Values of properties and of the literals in subscriptions, and their order.

use std::cmp::Ordering;
use std::fmt;

use tuple::{RString, Type, Value};

/// A value of a property, or what one is compared with.
#[derive(Clone, Debug)]
pub(crate) enum PropertyLiteral {
    /// An integer of any type.
    Int(i128),
    /// A float of any width.
    Float(f64),
    /// The bytes of an rstring.
    Text(Vec<u8>),
}

impl PropertyLiteral {
    /// Of a value of whatever width; `None` if it is neither a number nor an rstring.
    pub fn from_value(value: &Value) -> Option<PropertyLiteral> {
        Some(match value {
            Value::Int8(n) => PropertyLiteral::Int((*n).into()),
            Value::Int16(n) => PropertyLiteral::Int((*n).into()),
            Value::Int32(n) => PropertyLiteral::Int((*n).into()),
            Value::Int64(n) => PropertyLiteral::Int((*n).into()),
            Value::Uint8(n) => PropertyLiteral::Int((*n).into()),
            Value::Uint16(n) => PropertyLiteral::Int((*n).into()),
            Value::Uint32(n) => PropertyLiteral::Int((*n).into()),
            Value::Uint64(n) => PropertyLiteral::Int((*n).into()),
            Value::Float32(x) => PropertyLiteral::Float((*x).into()),
            Value::Float64(x) => PropertyLiteral::Float(*x),
            Value::RString(text) => PropertyLiteral::Text(text.as_bytes().to_vec()),
            _ => return None,
        })
    }

    /// The order of two numbers by value, or of two texts by byte; `None` of a number and a text,
    /// and of a NaN and anything.
    pub fn compare(&self, other: &PropertyLiteral) -> Option<Ordering> {
        match (self, other) {
            (PropertyLiteral::Int(a), PropertyLiteral::Int(b)) => Some(a.cmp(b)),
            (PropertyLiteral::Float(a), PropertyLiteral::Float(b)) => a.partial_cmp(b),
            (PropertyLiteral::Int(a), PropertyLiteral::Float(b)) => compare_exactly(*a, *b),
            (PropertyLiteral::Float(a), PropertyLiteral::Int(b)) => {
                compare_exactly(*b, *a).map(Ordering::reverse)
            }
            (PropertyLiteral::Text(a), PropertyLiteral::Text(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

/// The order of an integer of 64 bits and a float, without rounding either.
fn compare_exactly(integer: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // The cast saturates far beyond 64 bits, so that a float out of range is on its side.
    let whole = float.floor();
    let order = integer.cmp(&(whole as i128));
    let has_fraction = float > whole;
    Some(order.then(if has_fraction {
        Ordering::Less
    } else {
        Ordering::Equal
    }))
}

/// As SPL writes it; an integer without suffix, for its type does not count.
impl fmt::Display for PropertyLiteral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, ty) = match self {
            PropertyLiteral::Int(n) => return write!(f, "{n}"),
            PropertyLiteral::Float(x) => (Value::Float64(*x), Type::Float64),
            PropertyLiteral::Text(text) => (Value::RString(RString(text.clone())), Type::RString),
        };
        let mut text = Vec::new();
        tuple::text::print(&value, &ty, &mut text);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_by_value() {
        use Ordering::{Equal, Greater, Less};
        let (int, float) = (PropertyLiteral::Int, PropertyLiteral::Float);
        let cases = [
            (int(2), float(2.0), Some(Equal)),
            (int(2), float(2.5), Some(Less)),
            (int(-2), float(-2.5), Some(Greater)),
            (int(0), float(-0.0), Some(Equal)),
            (
                int(9_007_199_254_740_993),
                float(9_007_199_254_740_992.0),
                Some(Greater),
            ),
            (int(u64::MAX.into()), float(u64::MAX as f64), Some(Less)),
            (int(i64::MIN.into()), float(i64::MIN as f64), Some(Equal)),
            (
                int(i64::MIN.into()),
                float(f64::NEG_INFINITY),
                Some(Greater),
            ),
            (int(u64::MAX.into()), float(1e300), Some(Less)),
            (int(0), float(5e-324), Some(Less)),
            (int(1), float(f64::NAN), None),
            (int(1), PropertyLiteral::Text(b"1".to_vec()), None),
        ];
        for (a, b, order) in cases {
            assert_eq!(a.compare(&b), order, "{a} and {b}");
            assert_eq!(b.compare(&a), order.map(Ordering::reverse), "{b} and {a}");
        }
    }
}
