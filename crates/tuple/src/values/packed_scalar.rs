//! The scalars that a list stores one after the other without the wrapping of a `Value`.

use crate::{Decimal32, Decimal64, Decimal128, List, Timestamp};

/// A scalar that lists hold packed.
///
/// `u32` stands for uint32 and for the ordinals of an enum; `[f32; 2]` and `[f64; 2]` are complex
/// numbers, real part first.
pub trait PackedScalar: Copy + 'static {
    /// The elements, if the list is one of this scalar.
    fn slice(list: &List) -> Option<&[Self]>;
    /// The elements for change in place, if the list is one of this scalar.
    fn vec_mut(list: &mut List) -> Option<&mut Vec<Self>>;
}

impl List {
    /// The elements, if they are packed scalars of this type.
    pub fn as_slice<T: PackedScalar>(&self) -> Option<&[T]> {
        T::slice(self)
    }

    /// The elements for change in place, if they are packed scalars of this type.
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::List;
    ///
    /// let mut list = List::Float64(vec![1.0, 2.0]);
    /// for x in list.as_mut_slice::<f64>().expect("float64 values") {
    ///     *x *= 2.0;
    /// }
    /// assert_eq!(list, List::Float64(vec![2.0, 4.0]));
    /// ```
    pub fn as_mut_slice<T: PackedScalar>(&mut self) -> Option<&mut [T]> {
        T::vec_mut(self).map(Vec::as_mut_slice)
    }
}

macro_rules! packed {
    ($($scalar:ty: $($variant:ident)|+;)+) => { $(
        impl PackedScalar for $scalar {
            fn slice(list: &List) -> Option<&[Self]> {
                match list {
                    $(List::$variant(v) => Some(v),)+
                    _ => None,
                }
            }
            fn vec_mut(list: &mut List) -> Option<&mut Vec<Self>> {
                match list {
                    $(List::$variant(v) => Some(v),)+
                    _ => None,
                }
            }
        }
    )+ };
}

packed! {
    bool: Boolean;
    i8: Int8;
    i16: Int16;
    i32: Int32;
    i64: Int64;
    u8: Uint8;
    u16: Uint16;
    u32: Uint32 | Enum;
    u64: Uint64;
    f32: Float32;
    f64: Float64;
    Decimal32: Decimal32;
    Decimal64: Decimal64;
    Decimal128: Decimal128;
    [f32; 2]: Complex32;
    [f64; 2]: Complex64;
    Timestamp: Timestamp;
}
