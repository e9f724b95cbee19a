//! Arithmetic of the eight integer types.

use graph::BinaryOp;

use super::faults;
use crate::Fault;

/// One of SPL's integer types.
pub(super) trait IntegerArithmetic: Copy {
    /// `self op other`, wrapping around; not for shifts and comparisons.
    fn apply(self, op: BinaryOp, other: Self) -> Result<Self, Fault>;
    /// Computes `self << amount` as SPL defines it.
    fn shift_left(self, amount: u32) -> Self;
    /// Computes `self >> amount` as SPL defines it.
    fn shift_right(self, amount: u32) -> Self;
}

macro_rules! integer {
    ($($t:ty as $wide:ty),+) => { $(
        impl IntegerArithmetic for $t {
            fn apply(self, op: BinaryOp, other: $t) -> Result<$t, Fault> {
                Ok(match op {
                    BinaryOp::Add => self.wrapping_add(other),
                    BinaryOp::Sub => self.wrapping_sub(other),
                    BinaryOp::Mul => self.wrapping_mul(other),
                    BinaryOp::Div | BinaryOp::Rem if other == 0 => return Err(faults::division_by_zero()),
                    BinaryOp::Div => self.wrapping_div(other),
                    BinaryOp::Rem => self.wrapping_rem(other),
                    BinaryOp::BitAnd => self & other,
                    BinaryOp::BitXor => self ^ other,
                    BinaryOp::BitOr => self | other,
                    _ => return Err(faults::mistyped("the operator")),
                })
            }

            fn shift_left(self, amount: u32) -> $t {
                // Narrow numbers are widened first, as in C++; wrapping_shl takes the amount
                // modulo.
                <$wide>::from(self).wrapping_shl(amount) as $t
            }

            fn shift_right(self, amount: u32) -> $t {
                <$wide>::from(self).wrapping_shr(amount) as $t
            }
        }
    )+ };
}

integer!(
    i8 as i32, i16 as i32, i32 as i32, i64 as i64, u8 as u32, u16 as u32, u32 as u32, u64 as u64
);
