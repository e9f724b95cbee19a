//! Where the parts of a [`Value`] lie in memory, measured once at start-up.
//!
//! Rust does not promise the layout of an enum or of a `Vec`, but it is one fixed layout for a
//! whole build. So compiled code may load an int64 out of a `Value::Int64`, or the data pointer out
//! of a `Vec`, at offsets that are measured here on sample values by comparing addresses.

use std::sync::OnceLock;

use tuple::{
    Decimal32, Decimal64, Decimal128, List, Map, RString, Set, TableLayout, Timestamp, Type,
    UString, Value,
};

/// Bytes from one [`Value`] of an array to the next.
pub const VALUE_BYTES: i32 = size_of::<Value>() as i32;

/// Offsets within a `Vec` of any elements.
#[derive(Clone, Copy, Debug)]
pub struct VecLayout {
    /// Offset of the data pointer, in bytes.
    pub data: i32,
    /// Offset of the length, which counts elements.
    pub len: i32,
}

/// Distance in bytes from the start of a value to a part of it.
fn offset<T, P>(whole: &T, part: &P) -> i32 {
    let distance = std::ptr::from_ref(part).addr() - std::ptr::from_ref(whole).addr();
    assert!(distance + size_of::<P>() <= size_of::<T>());
    distance as i32
}

/// Builds a sample of a variant and measures its fields.
macro_rules! measure {
    ($sample:expr, $pattern:pat => $($part:expr),+) => {{
        let sample: Value = $sample;
        match &sample {
            $pattern => vec![$(offset(&sample, $part)),+],
            _ => unreachable!("the sample is of this variant"),
        }
    }};
}

/// The offsets of a scalar's parts within its [`Value`], in the order of
/// [`crate::type_parts::parts`]. Empty for a type that is not a scalar.
pub fn scalar_offsets(ty: &Type) -> Vec<i32> {
    match ty {
        Type::Boolean => measure!(Value::Boolean(false), Value::Boolean(x) => x),
        Type::Int8 => measure!(Value::Int8(0), Value::Int8(x) => x),
        Type::Int16 => measure!(Value::Int16(0), Value::Int16(x) => x),
        Type::Int32 => measure!(Value::Int32(0), Value::Int32(x) => x),
        Type::Int64 => measure!(Value::Int64(0), Value::Int64(x) => x),
        Type::Uint8 => measure!(Value::Uint8(0), Value::Uint8(x) => x),
        Type::Uint16 => measure!(Value::Uint16(0), Value::Uint16(x) => x),
        Type::Uint32 => measure!(Value::Uint32(0), Value::Uint32(x) => x),
        Type::Uint64 => measure!(Value::Uint64(0), Value::Uint64(x) => x),
        Type::Float32 => measure!(Value::Float32(0.0), Value::Float32(x) => x),
        Type::Float64 => measure!(Value::Float64(0.0), Value::Float64(x) => x),
        Type::Decimal32 => measure!(Value::Decimal32(Decimal32(0)), Value::Decimal32(x) => &x.0),
        Type::Decimal64 => measure!(Value::Decimal64(Decimal64(0)), Value::Decimal64(x) => &x.0),
        Type::Decimal128 => {
            let sample = Value::Decimal128(Decimal128([0; 2]));
            measure!(sample, Value::Decimal128(x) => &x.0[0], &x.0[1])
        }
        Type::Complex32 => {
            measure!(Value::Complex32(0.0, 0.0), Value::Complex32(re, im) => re, im)
        }
        Type::Complex64 => {
            measure!(Value::Complex64(0.0, 0.0), Value::Complex64(re, im) => re, im)
        }
        Type::Timestamp => {
            let sample = Value::Timestamp(Timestamp::default());
            measure!(sample, Value::Timestamp(t) => &t.seconds, &t.nanos, &t.machine)
        }
        Type::Enum(_) => measure!(Value::Enum(0), Value::Enum(x) => x),
        _ => Vec::new(),
    }
}

/// The offset of the `Vec` within a value that is one vector: a string, a blob, a list.
pub fn vec_offset(ty: &Type) -> Option<i32> {
    let found = match ty {
        Type::RString | Type::BoundedRString(_) => {
            measure!(Value::RString(RString::default()), Value::RString(s) => &s.0)
        }
        Type::Xml(_) => measure!(Value::Xml(RString::default()), Value::Xml(s) => &s.0),
        Type::UString => measure!(Value::UString(UString::default()), Value::UString(s) => &s.0),
        Type::Blob => measure!(Value::Blob(Vec::new()), Value::Blob(b) => b),
        Type::List(element, _) => packed_list_offsets(element),
        _ => return None,
    };
    found.first().copied()
}

fn packed_list_offsets(element: &Type) -> Vec<i32> {
    macro_rules! vectors {
        ($($variant:ident)+) => {
            match List::new_for(element) {
                $(List::$variant(_) => {
                    let sample = List::new_for(element);
                    measure!(Value::List(sample), Value::List(List::$variant(v)) => v)
                })+
            }
        };
    }
    vectors!(Boolean Int8 Int16 Int32 Int64 Uint8 Uint16 Uint32 Uint64 Float32 Float64 Decimal32
        Decimal64 Decimal128 Complex32 Complex64 Timestamp Enum Any)
}

/// The offset of the pointer to the attributes of a `Value::Tuple`.
pub fn tuple_data_offset() -> i32 {
    let whole = measure!(Value::Tuple(Box::new([])), Value::Tuple(t) => t)[0];
    let fields: Box<[Value]> = Box::new([Value::Boolean(true), Value::Boolean(false)]);
    let words = boxed_slice_words(&fields);
    let at = words.iter().position(|&w| w == fields.as_ptr().addr());
    whole + 8 * at.expect("a boxed slice holds its address") as i32
}

/// The offset of the pointer to the content of a `Value::Optional`; null if absent.
pub fn optional_data_offset() -> i32 {
    measure!(Value::Optional(None), Value::Optional(o) => o)[0]
}

/// The offset of the pointer to the table in a `Value::Set` or `Value::Map`, and what lies there.
pub fn table_layout(ty: &Type) -> (i32, TableLayout) {
    const { assert!(size_of::<Set>() == size_of::<usize>() && size_of::<Map>() == size_of::<usize>()) };
    match ty {
        Type::Set(..) => (
            measure!(Value::Set(Set::new()), Value::Set(set) => set)[0],
            Set::LAYOUT,
        ),
        _ => (
            measure!(Value::Map(Map::new()), Value::Map(map) => map)[0],
            Map::LAYOUT,
        ),
    }
}

/// Offsets of the pointer and of the length within a `Vec`.
pub fn vec_layout() -> VecLayout {
    static SHAPE: OnceLock<VecLayout> = OnceLock::new();
    *SHAPE.get_or_init(|| {
        let mut sample = Vec::<u64>::with_capacity(7);
        sample.extend([1, 2, 3]);
        let words = vec_words(&sample);
        let find = |word: usize| {
            let at = words.iter().position(|&w| w == word);
            8 * at.expect("a vector holds its address and its length") as i32
        };
        VecLayout {
            data: find(sample.as_ptr().addr()),
            len: find(sample.len()),
        }
    })
}

/// The two words of a boxed slice.
#[expect(clippy::borrowed_box, reason = "the box itself is looked at")]
fn boxed_slice_words(boxed: &Box<[Value]>) -> [usize; 2] {
    const { assert!(size_of::<Box<[Value]>>() == size_of::<[usize; 2]>()) };
    // SAFETY: a boxed slice is an address and a length, both initialised words.
    unsafe { std::ptr::from_ref(boxed).cast::<[usize; 2]>().read() }
}

/// The three words of a vector.
fn vec_words(vec: &Vec<u64>) -> [usize; 3] {
    const { assert!(size_of::<Vec<u64>>() == size_of::<[usize; 3]>()) };
    // SAFETY: a vector is an address, a capacity and a length, all initialised words.
    unsafe { std::ptr::from_ref(vec).cast::<[usize; 3]>().read() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_seen_from_outside() {
        let shape = vec_layout();
        assert_ne!(shape.data, shape.len);
        for words in [0, 1, 5] {
            let sample: Vec<u64> = (0..words).collect();
            let seen = vec_words(&sample);
            assert_eq!(seen[shape.data as usize / 8], sample.as_ptr().addr());
            assert_eq!(seen[shape.len as usize / 8], sample.len());
        }
    }

    #[test]
    fn scalars_have_an_offset_for_each_part() {
        assert_eq!(scalar_offsets(&Type::Int64).len(), 1);
        assert_eq!(scalar_offsets(&Type::Complex64).len(), 2);
        assert_eq!(scalar_offsets(&Type::Timestamp).len(), 3);
        assert!(scalar_offsets(&Type::RString).is_empty());
        assert!(vec_offset(&Type::RString).is_some());
        assert!(vec_offset(&Type::Int8).is_none());
    }
}
