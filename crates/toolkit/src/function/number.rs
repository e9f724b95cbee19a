//! Arithmetic that is generic over SPL's numeric types.
//!
//! [`numeric!`] picks the Rust type of an SPL type once a call; the loops behind it run on packed
//! lists without wrapping each number.

use eval::{Fault, FaultKind};
use tuple::{Decimal32, Decimal64, Decimal128, List, PackedScalar, Value};

use super::complex::Complex;

/// Evaluates an expression with a name bound to the Rust type of a numeric SPL type.
macro_rules! numeric {
    ($ty:expr, $T:ident => $body:expr) => {{
        macro_rules! with {
            ($kind:ty) => {{
                type $T = $kind;
                $body
            }};
        }
        match $ty {
            tuple::Type::Int8 => with!(i8),
            tuple::Type::Int16 => with!(i16),
            tuple::Type::Int32 => with!(i32),
            tuple::Type::Int64 => with!(i64),
            tuple::Type::Uint8 => with!(u8),
            tuple::Type::Uint16 => with!(u16),
            tuple::Type::Uint32 => with!(u32),
            tuple::Type::Uint64 => with!(u64),
            tuple::Type::Float32 => with!(f32),
            tuple::Type::Float64 => with!(f64),
            tuple::Type::Decimal32 => with!(tuple::Decimal32),
            tuple::Type::Decimal64 => with!(tuple::Decimal64),
            tuple::Type::Decimal128 => with!(tuple::Decimal128),
            tuple::Type::Complex32 => with!([f32; 2]),
            tuple::Type::Complex64 => with!([f64; 2]),
            other => panic!("{other} is not numeric, but the prototype says so"),
        }
    }};
}

pub(crate) use numeric;

/// A Rust type that stands for a numeric type of SPL.
pub(crate) trait NumericScalar: PackedScalar + Send + Sync {
    /// Type of sums: wide enough that integers do not overflow, else the type itself.
    type Wide: WideNumber;
    /// The number in a value.
    fn from_value(value: &Value) -> Self;
    /// The value of a number.
    fn to_value(self) -> Value;
    /// A list of numbers.
    fn to_list(numbers: Vec<Self>) -> List;
    /// The number in the type of sums.
    fn widen(self) -> Self::Wide;
    /// A sum as the type; integers wrap around.
    fn narrow(wide: Self::Wide) -> Self;
    /// The absolute value; of the least integer itself.
    fn magnitude(self) -> Self;
}

/// The sum of numbers, from the first to the last; 0 if there is none.
pub(crate) fn total<T: NumericScalar>(numbers: &[T]) -> T::Wide {
    WideNumber::total(numbers.iter().map(|number| number.widen()))
}

/// A type in which sums and means are computed.
pub(crate) trait WideNumber: Copy + Send + Sync {
    /// The number of a count or a factor.
    fn from_i64(n: i64) -> Self;
    /// The sum of two numbers.
    fn add(self, other: Self) -> Self;
    /// The difference of two numbers.
    fn sub(self, other: Self) -> Self;
    /// The product of two numbers.
    fn mul(self, other: Self) -> Self;
    /// The quotient; only integers fail, on a zero divisor.
    fn div(self, other: Self) -> Result<Self, Fault>;
    /// The square root; of an integer through float64.
    fn sqrt(self) -> Self;
    /// The sum of all, from the first to the last.
    fn total(mut numbers: impl Iterator<Item = Self>) -> Self {
        let first = numbers.next().unwrap_or_else(|| WideNumber::from_i64(0));
        numbers.fold(first, Self::add)
    }
}

impl WideNumber for i128 {
    fn from_i64(n: i64) -> i128 {
        n.into()
    }
    fn add(self, other: i128) -> i128 {
        self.saturating_add(other)
    }
    fn sub(self, other: i128) -> i128 {
        self.saturating_sub(other)
    }
    fn mul(self, other: i128) -> i128 {
        self.saturating_mul(other)
    }
    fn div(self, other: i128) -> Result<i128, Fault> {
        let by_zero = || Fault::new(FaultKind::Division, "an integer is divided by zero");
        self.checked_div(other).ok_or_else(by_zero)
    }
    fn sqrt(self) -> i128 {
        (self as f64).sqrt() as i128
    }
    /// Sums of integers of 64 bits: 128 bits suffice for as many of them as fit into memory.
    fn total(numbers: impl Iterator<Item = i128>) -> i128 {
        numbers.fold(0, i128::wrapping_add)
    }
}

macro_rules! wide_float {
    ($($float:ty)+) => { $(
        impl WideNumber for $float {
            fn from_i64(n: i64) -> $float {
                n as $float
            }
            fn add(self, other: $float) -> $float {
                self + other
            }
            fn sub(self, other: $float) -> $float {
                self - other
            }
            fn mul(self, other: $float) -> $float {
                self * other
            }
            fn div(self, other: $float) -> Result<$float, Fault> {
                Ok(self / other)
            }
            fn sqrt(self) -> $float {
                <$float>::sqrt(self)
            }
        }
    )+ };
}

wide_float!(f32 f64);

macro_rules! wide_decimal {
    ($($decimal:ty)+) => { $(
        impl WideNumber for $decimal {
            fn from_i64(n: i64) -> $decimal {
                <$decimal>::from_i64(n)
            }
            fn add(self, other: $decimal) -> $decimal {
                self + other
            }
            fn sub(self, other: $decimal) -> $decimal {
                self - other
            }
            fn mul(self, other: $decimal) -> $decimal {
                self * other
            }
            fn div(self, other: $decimal) -> Result<$decimal, Fault> {
                Ok(self / other)
            }
            fn sqrt(self) -> $decimal {
                <$decimal>::sqrt(self)
            }
        }
    )+ };
}

wide_decimal!(Decimal32 Decimal64 Decimal128);

macro_rules! wide_complex {
    ($($part:ty)+) => { $(
        impl WideNumber for [$part; 2] {
            fn from_i64(n: i64) -> [$part; 2] {
                [n as $part, 0.0]
            }
            fn add(self, other: [$part; 2]) -> [$part; 2] {
                [self[0] + other[0], self[1] + other[1]]
            }
            fn sub(self, other: [$part; 2]) -> [$part; 2] {
                [self[0] - other[0], self[1] - other[1]]
            }
            fn mul(self, other: [$part; 2]) -> [$part; 2] {
                let ([a, b], [c, d]) = (self, other);
                [a * c - b * d, a * d + b * c]
            }
            fn div(self, other: [$part; 2]) -> Result<[$part; 2], Fault> {
                Ok((Complex::from(self) / Complex::from(other)).into())
            }
            fn sqrt(self) -> [$part; 2] {
                Complex::from(self).sqrt().into()
            }
        }
    )+ };
}

wide_complex!(f32 f64);

/// Declares a scalar number: type, variant, type of sums, narrowing, absolute value.
macro_rules! number {
    ($($scalar:ty = $variant:ident, $wide:ty, $narrow:expr, $abs:expr;)+) => { $(
        impl NumericScalar for $scalar {
            type Wide = $wide;
            fn from_value(value: &Value) -> $scalar {
                match value {
                    Value::$variant(x) => *x,
                    other => panic!("{other:?} should be a {}", stringify!($variant)),
                }
            }
            fn to_value(self) -> Value {
                Value::$variant(self)
            }
            fn to_list(numbers: Vec<$scalar>) -> List {
                List::$variant(numbers)
            }
            fn widen(self) -> $wide {
                self.into()
            }
            fn narrow(wide: $wide) -> $scalar {
                let narrow: fn($wide) -> $scalar = $narrow;
                narrow(wide)
            }
            fn magnitude(self) -> $scalar {
                let abs: fn($scalar) -> $scalar = $abs;
                abs(self)
            }
        }
    )+ };
}

number! {
    i8 = Int8, i128, |w| w as i8, i8::wrapping_abs;
    i16 = Int16, i128, |w| w as i16, i16::wrapping_abs;
    i32 = Int32, i128, |w| w as i32, i32::wrapping_abs;
    i64 = Int64, i128, |w| w as i64, i64::wrapping_abs;
    u8 = Uint8, i128, |w| w as u8, |x| x;
    u16 = Uint16, i128, |w| w as u16, |x| x;
    u32 = Uint32, i128, |w| w as u32, |x| x;
    u64 = Uint64, i128, |w| w as u64, |x| x;
    f32 = Float32, f32, |w| w, f32::abs;
    f64 = Float64, f64, |w| w, f64::abs;
    Decimal32 = Decimal32, Decimal32, |w| w, Decimal32::abs;
    Decimal64 = Decimal64, Decimal64, |w| w, Decimal64::abs;
    Decimal128 = Decimal128, Decimal128, |w| w, Decimal128::abs;
}

/// Declares a complex number: type of its parts, variant.
macro_rules! complex_number {
    ($($part:ty = $variant:ident;)+) => { $(
        impl NumericScalar for [$part; 2] {
            type Wide = [$part; 2];
            fn from_value(value: &Value) -> [$part; 2] {
                match value {
                    Value::$variant(re, im) => [*re, *im],
                    other => panic!("{other:?} should be a {}", stringify!($variant)),
                }
            }
            fn to_value(self) -> Value {
                Value::$variant(self[0], self[1])
            }
            fn to_list(numbers: Vec<[$part; 2]>) -> List {
                List::$variant(numbers)
            }
            fn widen(self) -> [$part; 2] {
                self
            }
            fn narrow(wide: [$part; 2]) -> [$part; 2] {
                wide
            }
            fn magnitude(self) -> [$part; 2] {
                [self[0].hypot(self[1]), 0.0]
            }
        }
    )+ };
}

complex_number! {
    f32 = Complex32;
    f64 = Complex64;
}
