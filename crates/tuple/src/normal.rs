//! The normal codec of crossing edges: a tuple field by field, in network byte order.
//!
//! It is the [bin format](crate::text::bin) of one tuple with nothing around it: what peers of
//! another byte order read, and what the flat layout is measured against. Reading proves what it
//! reads: any bytes give a tuple that [`crate::layout::check`] accepts, or an error.
//!
//! [`NormalSteps`] are made once for a stream and do for each tuple what [`encode`] and [`decode`]
//! do by looking at each type.
//!
//! # Example
//! ```
//! use std::sync::Arc;
//! use thalweg_tuple::{Layout, TupleBuf, TupleType, Type, Value, normal};
//!
//! let schema = TupleType::new([("n", Type::Int16), ("s", Type::RString)]);
//! let layout = Layout::new(&Arc::new(schema));
//! let tuple = Value::Tuple([Value::Int16(258), Value::RString("hi".into())].into());
//! let (mut flat, mut bytes) = (TupleBuf::default(), Vec::new());
//! flat.set_all(&layout, &tuple);
//! normal::encode(flat.as_ref(), &layout, &mut bytes);
//! assert_eq!(bytes, [1, 2, 2, b'h', b'i']);
//!
//! normal::decode(&bytes, &layout, &mut flat)?;
//! assert_eq!(flat.as_ref().to_value(&layout), tuple);
//! assert!(normal::decode(&bytes[..4], &layout, &mut flat).is_err());
//! # Ok::<(), thalweg_tuple::text::ValueParseError>(())
//! ```

pub use crate::text::bin::{
    BinSteps as NormalSteps, decode_tuple as decode, encode_tuple as encode,
};

use crate::Type;

/// Bytes of a value of a type whose values have their flat form here but for the order of bytes and
/// the gaps between them; `None` for other types.
pub fn scalar_bytes(ty: &Type) -> Option<u32> {
    Some(match ty {
        Type::Boolean | Type::Int8 | Type::Uint8 => 1,
        Type::Int16 | Type::Uint16 => 2,
        Type::Int32 | Type::Uint32 | Type::Float32 | Type::Enum(_) => 4,
        Type::Int64 | Type::Uint64 | Type::Float64 | Type::Complex32 => 8,
        Type::Complex64 | Type::Timestamp => 16,
        _ => return None,
    })
}
