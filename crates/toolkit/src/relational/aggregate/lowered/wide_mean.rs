//! Means of integers of 64 bits, whose sum may need more: it is kept as two sums, of the upper and
//! the lower 32 bits of each value.
//!
//! ```text
//!   v = (v >> 32) * 2^32 + (v & 0xffffffff)      high = sum of v >> 32; low = sum of the rest
//!   high = q * n + r, 0 <= r < n                 rest = r * 2^32 + low
//!   mean, rounded down = q * 2^32 + rest / n
//! ```
//! For less than 2^31 values neither of the sums overflows, nor does `rest`. The mean is cut off
//! toward zero, as divisions of integers are.

use graph::{BinaryOp, Expr, ExprKind};
use tuple::{Type, Value};

use crate::lower;
use crate::stateful_lowering::StatefulLowering;

/// Part of a value that one of the sums adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SummedPart {
    /// The value in the type of the sum.
    Whole,
    /// The bits from the 32nd on, with the sign.
    High,
    /// The 32 bits before them.
    Low,
}

impl SummedPart {
    /// The part of a value, in the type of the sum.
    pub(super) fn of(self, code: &StatefulLowering, value: &Expr, ty: &Type) -> Expr {
        match self {
            SummedPart::Whole => code.cast(value, ty),
            SummedPart::High => code.binary(BinaryOp::Shr, value, &code.constant(Value::Int32(32))),
            SummedPart::Low => {
                let word = code.cast(value, &Type::Uint64);
                let mask = code.constant(Value::Uint64(u32::MAX.into()));
                code.binary(BinaryOp::BitAnd, &word, &mask)
            }
        }
    }
}

/// Whether the mean of a type is computed of two sums.
pub(super) fn needs_two_sums(ty: &Type) -> bool {
    matches!(ty, Type::Int64 | Type::Uint64)
}

/// The mean, given both sums and the number of values, a uint32.
pub(super) fn mean(code: &StatefulLowering, high: &Expr, low: &Expr, count: &Expr) -> Expr {
    use BinaryOp::{Add, Div, Lt, Ne, Rem, Shl, Sub};
    let ty = &high.ty;
    let (n, n_word) = (code.cast(count, ty), code.cast(count, &Type::Uint64));
    let bits = code.constant(Value::Int32(32));
    let remainder = code.binary(Rem, high, &n);
    // Of a negative sum it is negative: from 0 on, it is that of rounding down.
    let remainder = code.binary(Rem, &code.binary(Add, &remainder, &n), &n);
    let quotient = code.binary(Div, &code.binary(Sub, high, &remainder), &n);
    let rest = code.cast(&remainder, &Type::Uint64);
    let rest = code.binary(Add, &code.binary(Shl, &rest, &bits), low);
    let lower = code.cast(&code.binary(Div, &rest, &n_word), ty);
    let down = code.binary(Add, &code.binary(Shl, &quotient, &bits), &lower);
    if *ty == Type::Uint64 {
        return down;
    }
    let number = |value| lower::constant(Value::Int64(value), Type::Int64, code.pos);
    let is_negative = code.compare(Lt, &down, &number(0));
    let left = code.binary(Rem, &rest, &n_word);
    let is_cut = code.compare(Ne, &left, &code.constant(Value::Uint64(0)));
    let is_below = ExprKind::And(Box::new(is_negative), Box::new(is_cut));
    let is_below = lower::expr(is_below, Type::Boolean, code.pos);
    let step = ExprKind::Conditional(Box::new(is_below), Box::new(number(1)), Box::new(number(0)));
    code.binary(Add, &down, &lower::expr(step, Type::Int64, code.pos))
}
