//! Values within sentences.

use std::fmt;

use tuple::Value;

/// A value in a sentence: numbers and strings in full, the rest by kind.
pub struct BriefValue<'a>(pub &'a Value);

impl fmt::Display for BriefValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Boolean(x) => write!(f, "{x}"),
            Value::Int8(x) => write!(f, "{x}"),
            Value::Int16(x) => write!(f, "{x}"),
            Value::Int32(x) => write!(f, "{x}"),
            Value::Int64(x) => write!(f, "{x}"),
            Value::Uint8(x) => write!(f, "{x}"),
            Value::Uint16(x) => write!(f, "{x}"),
            Value::Uint32(x) => write!(f, "{x}"),
            Value::Uint64(x) => write!(f, "{x}"),
            Value::Float32(x) => write!(f, "{x}"),
            Value::Float64(x) => write!(f, "{x}"),
            Value::RString(s) => write!(f, "{:?}", s.to_string_lossy()),
            Value::UString(s) => write!(f, "{:?}", s.to_string_lossy()),
            Value::Timestamp(t) => write!(f, "({},{},{})", t.seconds, t.nanos, t.machine),
            Value::Tuple(_) => f.write_str("equal to the tuple"),
            Value::List(_) => f.write_str("equal to the list"),
            _ => f.write_str("of this value"),
        }
    }
}
