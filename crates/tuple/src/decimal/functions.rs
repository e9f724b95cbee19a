//! Roots, powers, logarithms and rounding of decimals.
//!
//! Exponential and logarithms are within one unit of the last digit, as the library computes them;
//! the root and the roundings are exact.

use dec::Context;

use super::codec::{self, POWERS, UnpackedDecimal};
use super::context::{self, WideDecimal};
use super::{Decimal32, Decimal64, Decimal128};

/// How a fraction is removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IntegralRounding {
    Below,
    Above,
    Nearest,
}

/// An integer near a number, with exponent 0; what has no fraction stays as it is.
fn integral(value: UnpackedDecimal, toward: IntegralRounding) -> UnpackedDecimal {
    let UnpackedDecimal::Finite {
        negative,
        coefficient,
        exponent: exponent @ ..0,
    } = value
    else {
        return value;
    };
    let power = POWERS.get(exponent.unsigned_abs() as usize);
    let (whole, rest, half) = match power {
        Some(power) => (coefficient / power, coefficient % power, power / 2),
        None => (0, coefficient, u128::MAX),
    };
    let up = match toward {
        IntegralRounding::Below => negative && rest > 0,
        IntegralRounding::Above => !negative && rest > 0,
        IntegralRounding::Nearest => rest >= half,
    };
    UnpackedDecimal::Finite {
        negative,
        coefficient: whole + u128::from(up),
        exponent: 0,
    }
}

macro_rules! functions {
    ($type:ident, $format:ident) => {
        impl $type {
            /// The square root; NaN of a negative number.
            pub fn sqrt(self) -> $type {
                self.apply(|context, x| context.sqrt(x))
            }

            /// e to this power.
            pub fn exp(self) -> $type {
                self.apply(|context, x| context.exp(x))
            }

            /// The natural logarithm of this number.
            pub fn ln(self) -> $type {
                self.apply(|context, x| context.ln(x))
            }

            /// The logarithm to base 10.
            pub fn log10(self) -> $type {
                self.apply(|context, x| context.log10(x))
            }

            /// Raises the number to a power.
            pub fn pow(self, power: $type) -> $type {
                self.apply(|context, x| context.pow(x, &power.to_number()))
            }

            /// The largest integer that is not above it.
            pub fn floor(self) -> $type {
                $type::pack(integral(self.unpack(), IntegralRounding::Below))
            }

            /// The smallest integer that is not below it.
            pub fn ceil(self) -> $type {
                $type::pack(integral(self.unpack(), IntegralRounding::Above))
            }

            /// The nearest integer, half away from zero.
            pub fn round(self) -> $type {
                $type::pack(integral(self.unpack(), IntegralRounding::Nearest))
            }

            fn apply(
                self,
                function: impl FnOnce(&mut Context<WideDecimal>, &mut WideDecimal),
            ) -> $type {
                let mut number = self.to_number();
                function(&mut context::wide_context(codec::$format), &mut number);
                $type::from_number(&number)
            }
        }
    };
}

functions!(Decimal32, DECIMAL32);
functions!(Decimal64, DECIMAL64);
functions!(Decimal128, DECIMAL128);

#[cfg(test)]
mod tests {
    use super::*;

    fn d(text: &str) -> Decimal64 {
        text.parse().unwrap()
    }

    #[test]
    fn known_values() {
        assert_eq!(d("2").sqrt().to_string(), "1.414213562373095");
        assert_eq!(d("1.44").sqrt().to_string(), "1.2");
        assert_eq!(d("1").exp().to_string(), "2.718281828459045");
        assert_eq!(d("10").ln().to_string(), "2.302585092994046");
        assert_eq!(d("1000").log10().to_string(), "3");
        assert_eq!(d("2").pow(d("10")).to_string(), "1024");
        assert!(d("-1").sqrt().is_nan() && d("-1").ln().is_nan());
        assert_eq!(d("0").ln().to_string(), "-inf");
        let wide: Decimal128 = "2".parse().unwrap();
        assert_eq!(
            wide.sqrt().to_string(),
            "1.414213562373095048801688724209698"
        );
        let narrow: Decimal32 = "2".parse().unwrap();
        assert_eq!(narrow.sqrt().to_string(), "1.414214");
    }

    #[test]
    fn rounding() {
        assert_eq!(d("2.5").round().to_string(), "3");
        assert_eq!(d("-2.5").round().to_string(), "-3");
        assert_eq!(d("-2.1").floor().to_string(), "-3");
        assert_eq!(d("2.1").ceil().to_string(), "3");
        assert_eq!(d("-0.3").ceil().to_string(), "-0");
        assert_eq!(d("1e-300").ceil().to_string(), "1");
        assert_eq!(d("12e3").round().to_string(), "12000");
        assert!(d("nan").floor().is_nan());
    }
}
