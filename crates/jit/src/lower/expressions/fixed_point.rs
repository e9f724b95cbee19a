//! Decimals in fixed point: an integer that is made of integers by way of decimals, such as
//! `(int64) ((decimal64) price * 0.908d)`, is computed in integers.
//!
//! ```text
//!   (decimal64) n    n, no places behind the point
//!   0.908d           908, 3 places
//!   a * b            product of the integers, places added
//!   a + b, a - b     of the same places
//!   (int64) a        quotient by 10^places, toward 0
//! ```
//! The result is that of decimals while the magnitude of each intermediate integer has at most 53
//! bits: a decimal64 holds all such integers exactly, so none of its operations would round. Where
//! a magnitude has more bits, the whole expression is evaluated again, by decimals. So the
//! expression may only read what evaluating it does not change.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::{BinaryOp, Expr, ExprKind};
use tuple::decimal::codec::{POWERS, UnpackedDecimal};
use tuple::{Type, Value};

use crate::lower::context::FunctionLowering;
use crate::lowered_value::LoweredValue;
use crate::type_parts;

/// Bits of an intermediate integer without its sign: fewer than 16 digits have, so that it is the
/// coefficient of a decimal64.
const MAGNITUDE_BITS: u32 = 53;

/// Most places behind the point: 10^15 fits [`MAGNITUDE_BITS`] and an int64.
const PLACES_MAX: u32 = 15;

/// Most operators of an expression, whose code is emitted twice.
const OPERATORS_MAX: u32 = 8;

/// A decimal whose number of places is known while compiling.
#[derive(Clone, Copy)]
struct FixedPoint {
    number: ir::Value,
    /// Bits that the number may have without its sign.
    bits: u32,
    places: u32,
}

impl FunctionLowering<'_, '_> {
    /// Lowers a cast of a decimal64 to an integer in fixed point; `None`, before any instruction is
    /// emitted, for expressions that have no such form or too little use of it.
    pub fn fixed_point_cast(&mut self, e: &Expr, inner: &Expr) -> Option<LoweredValue> {
        let has_form = e.ty.is_integral() && matches!(inner.kind, ExprKind::Binary(..));
        if !has_form || places(inner)? > PLACES_MAX || operators(inner) > OPERATORS_MAX {
            return None;
        }
        let part = type_parts::single_part(&e.ty);
        let (decimals, done) = (self.cold_block(), self.block_with(&[part]));
        let fixed = self.fixed_point(inner, decimals);
        let power = self.word(POWERS[fixed.places as usize] as i64);
        let whole = self.builder.ins().sdiv(fixed.number, power);
        let whole = self.resize(whole, &Type::Int64, part);
        self.jump(done, &[whole]);
        self.switch_to_sealed(decimals);
        let value = self.expr(inner);
        let value = self.cast_decimal(&value, &inner.ty, &e.ty);
        let whole = self.single_part(&value, &e.ty);
        self.jump(done, &[whole]);
        self.switch_to_sealed(done);
        Some(LoweredValue::from_part(self.block_params(done)[0]))
    }

    /// Emits an expression that [`places`] accepts. Leaves for a block if a number has too many
    /// bits.
    fn fixed_point(&mut self, e: &Expr, decimals: ir::Block) -> FixedPoint {
        let places = places(e).expect("it was asked before");
        match &e.kind {
            ExprKind::Const(Value::Decimal64(constant)) => {
                let (number, _) = fixed_constant(constant.unpack()).expect("it has places");
                FixedPoint {
                    number: self.word(number),
                    bits: 64 - number.unsigned_abs().leading_zeros(),
                    places,
                }
            }
            ExprKind::Cast(integer) => {
                let part = self.expr_single_part(integer);
                let number = self.resize(part, &integer.ty, types::I64);
                let bits = type_parts::single_part(&integer.ty).bits();
                self.bounded(number, bits, places, decimals)
            }
            ExprKind::Binary(op, left, right) => {
                let a = self.fixed_point(left, decimals);
                let b = self.fixed_point(right, decimals);
                let (number, bits) = match op {
                    BinaryOp::Mul => self.fixed_product(a, b, decimals),
                    op => {
                        let sum = match op {
                            BinaryOp::Add => self.builder.ins().iadd(a.number, b.number),
                            _ => self.builder.ins().isub(a.number, b.number),
                        };
                        (sum, a.bits.max(b.bits) + 1)
                    }
                };
                self.bounded(number, bits, places, decimals)
            }
            _ => unreachable!("it has no places"),
        }
    }

    /// A product, and the bits that it may have.
    fn fixed_product(
        &mut self,
        a: FixedPoint,
        b: FixedPoint,
        decimals: ir::Block,
    ) -> (ir::Value, u32) {
        if a.bits + b.bits < 64 {
            let product = self.builder.ins().imul(a.number, b.number);
            return (product, a.bits + b.bits);
        }
        let (product, overflow) = self.builder.ins().smul_overflow(a.number, b.number);
        self.leave_if(overflow, decimals);
        (product, 64)
    }

    /// Leaves for a block if a number has more than [`MAGNITUDE_BITS`].
    fn bounded(
        &mut self,
        number: ir::Value,
        bits: u32,
        places: u32,
        decimals: ir::Block,
    ) -> FixedPoint {
        if bits > MAGNITUDE_BITS {
            let limit = 1i64 << MAGNITUDE_BITS;
            let above = self.offset(number, limit - 1);
            let end = self.word(2 * limit - 1);
            let is_beyond = self.icmp(IntCC::UnsignedGreaterThanOrEqual, above, end);
            self.leave_if(is_beyond, decimals);
        }
        FixedPoint {
            number,
            bits: bits.min(MAGNITUDE_BITS),
            places,
        }
    }
}

/// Number of places behind the point of an expression's decimals; `None` if it is not known, or if
/// the expression is not one of integers and constants.
fn places(e: &Expr) -> Option<u32> {
    match &e.kind {
        ExprKind::Const(Value::Decimal64(constant)) => Some(fixed_constant(constant.unpack())?.1),
        ExprKind::Cast(integer) if e.ty == Type::Decimal64 => {
            // A uint64 may be beyond an int64.
            let is_integer = integer.ty.is_integral() && integer.ty != Type::Uint64;
            (is_integer && is_read(integer)).then_some(0)
        }
        ExprKind::Binary(op, left, right) if e.ty == Type::Decimal64 => {
            let (a, b) = (places(left)?, places(right)?);
            match op {
                BinaryOp::Mul => Some(a + b),
                BinaryOp::Add | BinaryOp::Sub => (a == b).then_some(a),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether an expression is a value that is there, so that evaluating it twice does no harm.
fn is_read(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Attribute { .. }
        | ExprKind::Local(_)
        | ExprKind::State(_)
        | ExprKind::Const(_) => true,
        ExprKind::Cast(inner) => inner.ty.is_integral() && is_read(inner),
        _ => false,
    }
}

fn operators(e: &Expr) -> u32 {
    match &e.kind {
        ExprKind::Binary(_, left, right) => 1 + operators(left) + operators(right),
        _ => 0,
    }
}

/// A constant as an integer and its places, if it has both.
fn fixed_constant(constant: UnpackedDecimal) -> Option<(i64, u32)> {
    let UnpackedDecimal::Finite {
        negative,
        coefficient,
        exponent: exponent @ ..=0,
    } = constant
    else {
        return None;
    };
    let magnitude = i64::try_from(coefficient).ok()?;
    let is_bounded = magnitude >> MAGNITUDE_BITS == 0;
    let number = if negative { -magnitude } else { magnitude };
    is_bounded.then_some((number, exponent.unsigned_abs()))
}
