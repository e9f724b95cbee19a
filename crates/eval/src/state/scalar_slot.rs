//! Scalars in two words, as they lie in the slot of a flat tuple.

use tuple::{Decimal32, Decimal64, Decimal128, Timestamp, Type, Value};

/// Whether values of a type are scalars.
pub(super) fn is_scalar(ty: &Type) -> bool {
    ty.is_numeric() || matches!(ty, Type::Boolean | Type::Timestamp | Type::Enum(_))
}

/// A scalar as in a flat tuple's slot; `None` for what is no scalar.
pub(super) fn pack_scalar(value: &Value) -> Option<[u64; 2]> {
    let mut slot = [0; 16];
    let mut put = |at: usize, bytes: &[u8]| slot[at..at + bytes.len()].copy_from_slice(bytes);
    match value {
        Value::Boolean(x) => put(0, &[u8::from(*x)]),
        Value::Int8(x) => put(0, &x.to_ne_bytes()),
        Value::Int16(x) => put(0, &x.to_ne_bytes()),
        Value::Int32(x) => put(0, &x.to_ne_bytes()),
        Value::Int64(x) => put(0, &x.to_ne_bytes()),
        Value::Uint8(x) => put(0, &x.to_ne_bytes()),
        Value::Uint16(x) => put(0, &x.to_ne_bytes()),
        Value::Uint32(x) | Value::Enum(x) => put(0, &x.to_ne_bytes()),
        Value::Uint64(x) => put(0, &x.to_ne_bytes()),
        Value::Float32(x) => put(0, &x.to_ne_bytes()),
        Value::Float64(x) => put(0, &x.to_ne_bytes()),
        Value::Decimal32(x) => put(0, &x.0.to_ne_bytes()),
        Value::Decimal64(x) => put(0, &x.0.to_ne_bytes()),
        Value::Decimal128(x) => return Some(x.0),
        Value::Complex32(re, im) => {
            put(0, &re.to_ne_bytes());
            put(4, &im.to_ne_bytes());
        }
        Value::Complex64(re, im) => return Some([re.to_bits(), im.to_bits()]),
        Value::Timestamp(x) => {
            put(0, &x.seconds.to_ne_bytes());
            put(8, &x.nanos.to_ne_bytes());
            put(12, &x.machine.to_ne_bytes());
        }
        _ => return None,
    }
    let word = |at| u64::from_ne_bytes(*slot[at..].first_chunk().expect("16 bytes"));
    Some([word(0), word(8)])
}

/// The scalar in a slot.
pub(super) fn unpack_scalar(ty: &Type, words: [u64; 2]) -> Value {
    fn part<const N: usize>(words: [u64; 2], at: usize) -> [u8; N] {
        let mut slot = [0; 16];
        slot[..8].copy_from_slice(&words[0].to_ne_bytes());
        slot[8..].copy_from_slice(&words[1].to_ne_bytes());
        *slot[at..].first_chunk().expect("a part within 16 bytes")
    }
    match ty {
        Type::Boolean => Value::Boolean(part::<1>(words, 0) != [0]),
        Type::Int8 => Value::Int8(i8::from_ne_bytes(part(words, 0))),
        Type::Int16 => Value::Int16(i16::from_ne_bytes(part(words, 0))),
        Type::Int32 => Value::Int32(i32::from_ne_bytes(part(words, 0))),
        Type::Int64 => Value::Int64(i64::from_ne_bytes(part(words, 0))),
        Type::Uint8 => Value::Uint8(u8::from_ne_bytes(part(words, 0))),
        Type::Uint16 => Value::Uint16(u16::from_ne_bytes(part(words, 0))),
        Type::Uint32 => Value::Uint32(u32::from_ne_bytes(part(words, 0))),
        Type::Uint64 => Value::Uint64(u64::from_ne_bytes(part(words, 0))),
        Type::Enum(_) => Value::Enum(u32::from_ne_bytes(part(words, 0))),
        Type::Float32 => Value::Float32(f32::from_ne_bytes(part(words, 0))),
        Type::Float64 => Value::Float64(f64::from_ne_bytes(part(words, 0))),
        Type::Decimal32 => Value::Decimal32(Decimal32(u32::from_ne_bytes(part(words, 0)))),
        Type::Decimal64 => Value::Decimal64(Decimal64(words[0])),
        Type::Decimal128 => Value::Decimal128(Decimal128(words)),
        Type::Complex32 => {
            let number = |at| f32::from_ne_bytes(part(words, at));
            Value::Complex32(number(0), number(4))
        }
        Type::Complex64 => Value::Complex64(f64::from_bits(words[0]), f64::from_bits(words[1])),
        Type::Timestamp => Value::Timestamp(Timestamp {
            seconds: i64::from_ne_bytes(part(words, 0)),
            nanos: u32::from_ne_bytes(part(words, 8)),
            machine: i32::from_ne_bytes(part(words, 12)),
        }),
        other => Value::default_of(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_keep_the_machine() {
        let stamp = Timestamp {
            seconds: -7,
            nanos: 999_999_999,
            machine: -2,
        };
        let words = pack_scalar(&Value::Timestamp(stamp)).expect("a scalar");
        let Value::Timestamp(back) = unpack_scalar(&Type::Timestamp, words) else {
            panic!("not a timestamp");
        };
        assert_eq!(
            (back.seconds, back.nanos, back.machine),
            (-7, 999_999_999, -2)
        );
    }
}
