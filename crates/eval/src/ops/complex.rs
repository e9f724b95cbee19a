//! Arithmetic of complex numbers, as C++'s `std::complex` has it.
//!
//! Multiplication is the schoolbook formula, division Smith's method; both mend a result of NaN
//! that should be infinite by the rules of C99's annex G.

use graph::BinaryOp;

use super::faults;
use crate::Fault;

macro_rules! complex {
    ($name:ident, $t:ty) => {
        /// `left op right` of two complex numbers, real part first.
        pub(super) fn $name(
            op: BinaryOp,
            left: ($t, $t),
            right: ($t, $t),
        ) -> Result<($t, $t), Fault> {
            fn multiply((a, b): ($t, $t), (c, d): ($t, $t)) -> ($t, $t) {
                let product = (a * c - b * d, a * d + b * c);
                if product.0.is_nan() && product.1.is_nan() {
                    return mend_product((a, b), (c, d)).unwrap_or(product);
                }
                product
            }

            /// An infinite operand makes the product infinite.
            fn mend_product(x: ($t, $t), y: ($t, $t)) -> Option<($t, $t)> {
                let infinite = |z: ($t, $t)| z.0.is_infinite() || z.1.is_infinite();
                let unit = |z: $t| if z.is_infinite() { 1.0 } else { 0.0 as $t }.copysign(z);
                let tame = |z: $t| {
                    if z.is_nan() {
                        (0.0 as $t).copysign(z)
                    } else {
                        z
                    }
                };
                let (boxed, other) = match (infinite(x), infinite(y)) {
                    (true, true) => ((unit(x.0), unit(x.1)), (unit(y.0), unit(y.1))),
                    (true, false) => ((unit(x.0), unit(x.1)), (tame(y.0), tame(y.1))),
                    (false, true) => ((tame(x.0), tame(x.1)), (unit(y.0), unit(y.1))),
                    (false, false) => return None,
                };
                let ((a, b), (c, d)) = (boxed, other);
                Some((
                    <$t>::INFINITY * (a * c - b * d),
                    <$t>::INFINITY * (a * d + b * c),
                ))
            }

            fn divide((a, b): ($t, $t), (c, d): ($t, $t)) -> ($t, $t) {
                let quotient = if c.abs() < d.abs() {
                    let ratio = c / d;
                    let denominator = c * ratio + d;
                    ((a * ratio + b) / denominator, (b * ratio - a) / denominator)
                } else {
                    let ratio = d / c;
                    let denominator = d * ratio + c;
                    ((b * ratio + a) / denominator, (b - a * ratio) / denominator)
                };
                let by_zero = c == 0.0 && d == 0.0;
                if quotient.0.is_nan()
                    && quotient.1.is_nan()
                    && by_zero
                    && !(a.is_nan() && b.is_nan())
                {
                    let infinity = <$t>::INFINITY.copysign(c);
                    return (infinity * a, infinity * b);
                }
                quotient
            }

            Ok(match op {
                BinaryOp::Add => (left.0 + right.0, left.1 + right.1),
                BinaryOp::Sub => (left.0 - right.0, left.1 - right.1),
                BinaryOp::Mul => multiply(left, right),
                BinaryOp::Div => divide(left, right),
                _ => return Err(faults::mistyped("the operator")),
            })
        }
    };
}

complex!(complex32, f32);
complex!(complex64, f64);
