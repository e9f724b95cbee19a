//! Scalars in their flat slots: what a state variable or the element of a packed list is.

use tuple::{Decimal32, Decimal64, Decimal128, Timestamp, Type, Value};

/// Reads a scalar of a type.
pub fn load(ty: &Type, at: *const u8) -> Value {
    fn read<T: Copy>(at: *const u8) -> T {
        // SAFETY: compiled code passes the address of a slot of this type, aligned or not.
        unsafe { at.cast::<T>().read_unaligned() }
    }
    match ty {
        Type::Boolean => Value::Boolean(read::<u8>(at) != 0),
        Type::Int8 => Value::Int8(read(at)),
        Type::Int16 => Value::Int16(read(at)),
        Type::Int32 => Value::Int32(read(at)),
        Type::Int64 => Value::Int64(read(at)),
        Type::Uint8 => Value::Uint8(read(at)),
        Type::Uint16 => Value::Uint16(read(at)),
        Type::Uint32 => Value::Uint32(read(at)),
        Type::Uint64 => Value::Uint64(read(at)),
        Type::Float32 => Value::Float32(read(at)),
        Type::Float64 => Value::Float64(read(at)),
        Type::Decimal32 => Value::Decimal32(Decimal32(read(at))),
        Type::Decimal64 => Value::Decimal64(Decimal64(read(at))),
        Type::Decimal128 => Value::Decimal128(Decimal128(read(at))),
        Type::Complex32 => Value::Complex32(read(at), read(at.wrapping_add(4))),
        Type::Complex64 => Value::Complex64(read(at), read(at.wrapping_add(8))),
        Type::Timestamp => Value::Timestamp(read::<Timestamp>(at)),
        Type::Enum(_) => Value::Enum(read(at)),
        other => Value::default_of(other),
    }
}

/// Writes a scalar to its flat slot.
pub fn store(value: &Value, at: *mut u8) {
    fn write<T: Copy>(at: *mut u8, scalar: T) {
        // SAFETY: compiled code passes the address of a slot of this type, aligned or not.
        unsafe { at.cast::<T>().write_unaligned(scalar) }
    }
    match value {
        Value::Boolean(x) => write(at, *x),
        Value::Int8(x) => write(at, *x),
        Value::Int16(x) => write(at, *x),
        Value::Int32(x) => write(at, *x),
        Value::Int64(x) => write(at, *x),
        Value::Uint8(x) => write(at, *x),
        Value::Uint16(x) => write(at, *x),
        Value::Uint32(x) | Value::Enum(x) => write(at, *x),
        Value::Uint64(x) => write(at, *x),
        Value::Float32(x) => write(at, *x),
        Value::Float64(x) => write(at, *x),
        Value::Decimal32(x) => write(at, x.0),
        Value::Decimal64(x) => write(at, x.0),
        Value::Decimal128(x) => write(at, x.0),
        Value::Complex32(re, im) => write(at, [*re, *im]),
        Value::Complex64(re, im) => write(at, [*re, *im]),
        Value::Timestamp(x) => write(at, *x),
        _ => debug_assert!(false, "a scalar"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_survive_their_slots() {
        let stamp = Timestamp {
            seconds: -3,
            nanos: 7,
            machine: -1,
        };
        let values = [
            (Type::Int16, Value::Int16(-7)),
            (Type::Complex32, Value::Complex32(1.5, -2.5)),
            (Type::Timestamp, Value::Timestamp(stamp)),
            (Type::Decimal128, Value::Decimal128(Decimal128([1, 2]))),
        ];
        for (ty, value) in values {
            let mut slot = [0u64; 2];
            store(&value, slot.as_mut_ptr().cast());
            let back = load(&ty, slot.as_ptr().cast());
            assert_eq!(format!("{back:?}"), format!("{value:?}"));
        }
    }
}
