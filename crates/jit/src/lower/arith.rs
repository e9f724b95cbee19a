//! Arithmetic on numbers, booleans and timestamps.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::{BinaryOp, Expr, ExprKind, UnaryOp};
use tuple::{Type, Value};

use super::Lower;
use crate::code::Op;
use crate::shape;
use crate::value::Val;

impl Lower<'_, '_> {
    /// A prefix operator.
    pub fn unary(&mut self, e: &Expr, op: UnaryOp, operand: &Expr) -> Val {
        let value = self.expr(operand);
        let ty = &operand.ty;
        if ty.is_decimal() {
            return self.negated_decimal(&value, ty);
        }
        if !ty.is_integral() && !ty.is_float() && *ty != Type::Boolean && !ty.is_complex() {
            let given = Lower::given(&value, ty);
            return self.run_site(e, Op::Unary(op), &[given]);
        }
        let parts = self.parts(&value, ty);
        let is_float = ty.is_float() || ty.is_complex();
        Val::parts(parts.into_iter().map(|x| match op {
            UnaryOp::Not => self.b.ins().bxor_imm_u(x, 1),
            UnaryOp::Negate if is_float => self.b.ins().fneg(x),
            UnaryOp::Negate => self.b.ins().ineg(x),
            UnaryOp::Complement => self.b.ins().bnot(x),
        }))
    }

    /// An infix operator.
    pub fn binary(&mut self, e: &Expr, op: BinaryOp, left: &Expr, right: &Expr) -> Val {
        if op == BinaryOp::Add && left.ty.is_string() {
            return self.concatenation(e, left, right);
        }
        let divisor = match &right.kind {
            ExprKind::Const(value) => integer(value),
            _ => None,
        };
        let a = self.expr(left);
        let b = self.expr(right);
        if op.is_comparison() {
            return Val::one(self.compare(op, &a, &b, &left.ty, e.pos));
        }
        self.operate(op, (&a, &left.ty), (&b, &right.ty), divisor, e)
    }

    /// `a op b`, which is no comparison; `divisor` is b if it is known.
    pub fn operate(
        &mut self,
        op: BinaryOp,
        (a, ty): (&Val, &Type),
        (b, right): (&Val, &Type),
        divisor: Option<i128>,
        e: &Expr,
    ) -> Val {
        if ty.is_integral() && right.is_integral() {
            let (x, y) = (self.part(a, ty), self.part(b, right));
            return Val::one(match op {
                BinaryOp::Shl | BinaryOp::Shr => self.shift(op, (x, ty), (y, right)),
                BinaryOp::Div | BinaryOp::Rem => {
                    if divisor.is_none_or(|divisor| divisor == 0) {
                        let operands = [Lower::given(a, ty), Lower::given(b, right)];
                        self.fault_if_zero(y, Op::Binary(op), &operands, e.pos);
                    }
                    self.divide(op, x, y, ty, divisor)
                }
                op => self.integers(op, x, y),
            });
        }
        match ty {
            Type::Boolean => {
                let (x, y) = (self.part(a, ty), self.part(b, ty));
                Val::one(self.integers(op, x, y))
            }
            Type::Float32 | Type::Float64 => {
                let (x, y) = (self.part(a, ty), self.part(b, ty));
                Val::one(self.floats(op, x, y))
            }
            Type::Complex32 | Type::Complex64 if matches!(op, BinaryOp::Add | BinaryOp::Sub) => {
                let (x, y) = (self.parts(a, ty), self.parts(b, ty));
                Val::parts([self.floats(op, x[0], y[0]), self.floats(op, x[1], y[1])])
            }
            Type::Decimal32 | Type::Decimal64 | Type::Decimal128 => self.decimals(op, a, b, ty),
            Type::Timestamp => self.timestamps(op, a, b),
            _ => {
                let operands = [Lower::given(a, ty), Lower::given(b, right)];
                self.run_site(e, Op::Binary(op), &operands)
            }
        }
    }

    fn integers(&mut self, op: BinaryOp, x: ir::Value, y: ir::Value) -> ir::Value {
        match op {
            BinaryOp::Add => self.b.ins().iadd(x, y),
            BinaryOp::Sub => self.b.ins().isub(x, y),
            BinaryOp::Mul => self.b.ins().imul(x, y),
            BinaryOp::BitAnd => self.b.ins().band(x, y),
            BinaryOp::BitXor => self.b.ins().bxor(x, y),
            BinaryOp::BitOr => self.b.ins().bor(x, y),
            other => unreachable!("{other:?} of integers"),
        }
    }

    fn floats(&mut self, op: BinaryOp, x: ir::Value, y: ir::Value) -> ir::Value {
        match op {
            BinaryOp::Add => self.b.ins().fadd(x, y),
            BinaryOp::Sub => self.b.ins().fsub(x, y),
            BinaryOp::Mul => self.b.ins().fmul(x, y),
            BinaryOp::Div => self.b.ins().fdiv(x, y),
            other => unreachable!("{other:?} of floats"),
        }
    }

    /// Division of numbers, the divisor not 0. `MIN / -1`, where the machine traps, is `MIN`.
    fn divide(
        &mut self,
        op: BinaryOp,
        x: ir::Value,
        y: ir::Value,
        ty: &Type,
        divisor: Option<i128>,
    ) -> ir::Value {
        if ty.is_unsigned() {
            return match op {
                BinaryOp::Div => self.b.ins().udiv(x, y),
                _ => self.b.ins().urem(x, y),
            };
        }
        let part = shape::single(ty);
        if divisor.is_some_and(|divisor| divisor != -1) {
            return match op {
                BinaryOp::Div => self.b.ins().sdiv(x, y),
                _ => self.b.ins().srem(x, y),
            };
        }
        let is_minus_one = self.icmp_const(IntCC::Equal, y, -1);
        let one = self.int(part, 1);
        let y = self.b.ins().select(is_minus_one, one, y);
        if op == BinaryOp::Rem {
            // x % 1 is 0, as x % -1 is.
            return self.b.ins().srem(x, y);
        }
        let quotient = self.b.ins().sdiv(x, y);
        let negated = self.b.ins().ineg(x);
        self.b.ins().select(is_minus_one, negated, quotient)
    }

    /// A shift: of 8 and 16 bits as one of 32, the amount modulo the width.
    fn shift(
        &mut self,
        op: BinaryOp,
        (x, ty): (ir::Value, &Type),
        (amount, right): (ir::Value, &Type),
    ) -> ir::Value {
        let part = shape::single(ty);
        let amount = self.resize(amount, right, types::I32);
        let wide = if part.bits() < 32 { types::I32 } else { part };
        let x = self.resize(x, ty, wide);
        let shifted = match op {
            BinaryOp::Shl => self.b.ins().ishl(x, amount),
            _ if ty.is_signed() => self.b.ins().sshr(x, amount),
            _ => self.b.ins().ushr(x, amount),
        };
        if wide == part {
            shifted
        } else {
            self.b.ins().ireduce(part, shifted)
        }
    }

    /// An integer of another width: extended as its type says, or its low bits.
    pub fn resize(&mut self, x: ir::Value, ty: &Type, to: ir::Type) -> ir::Value {
        let from = self.b.func.dfg.value_type(x);
        if to.bits() == from.bits() {
            x
        } else if to.bits() < from.bits() {
            self.b.ins().ireduce(to, x)
        } else if ty.is_signed() {
            self.b.ins().sextend(to, x)
        } else {
            self.b.ins().uextend(to, x)
        }
    }

    /// Seconds and nanoseconds, carried; the machine is that of the left one.
    fn timestamps(&mut self, op: BinaryOp, a: &Val, b: &Val) -> Val {
        let (x, y) = (
            self.parts(a, &Type::Timestamp),
            self.parts(b, &Type::Timestamp),
        );
        let x_nanos = self.b.ins().uextend(types::I64, x[1]);
        let y_nanos = self.b.ins().uextend(types::I64, y[1]);
        let seconds = self.integers(op, x[0], y[0]);
        let nanos = self.integers(op, x_nanos, y_nanos);
        // Of two proper timestamps there is at most one second to carry.
        let second = self.word(1_000_000_000);
        let (carry, rest, carried) = if op == BinaryOp::Add {
            let carry = self.icmp(IntCC::SignedGreaterThanOrEqual, nanos, second);
            let rest = self.b.ins().isub(nanos, second);
            (carry, rest, self.offset(seconds, 1))
        } else {
            let carry = self.icmp_const(IntCC::SignedLessThan, nanos, 0);
            let rest = self.b.ins().iadd(nanos, second);
            (carry, rest, self.offset(seconds, -1))
        };
        let rest = self.b.ins().select(carry, rest, nanos);
        let carried = self.b.ins().select(carry, carried, seconds);
        let (odd, done) = (
            self.cold_block(),
            self.block_with(&[types::I64, types::I32]),
        );
        let is_proper = self.icmp(IntCC::UnsignedLessThan, rest, second);
        let small = self.b.ins().ireduce(types::I32, rest);
        let proper = [carried, small].map(ir::BlockArg::Value);
        self.b.ins().brif(is_proper, done, &proper, odd, &[]);
        self.go_sealed(odd);
        let normal = self.normal_time(seconds, nanos, x[2]);
        let normal = self.parts(&normal, &Type::Timestamp);
        self.jump(done, &normal[..2]);
        self.go_sealed(done);
        let parts = self.params(done);
        Val::parts([parts[0], parts[1], x[2]])
    }

    /// A timestamp of seconds and any number of nanoseconds.
    pub fn normal_time(&mut self, seconds: ir::Value, nanos: ir::Value, machine: ir::Value) -> Val {
        let second = self.word(1_000_000_000);
        let quotient = self.b.ins().sdiv(nanos, second);
        let rest = self.b.ins().srem(nanos, second);
        // Rounded towards minus infinity, not towards 0.
        let borrow = self.b.ins().sshr_imm_u(rest, 63);
        let quotient = self.b.ins().iadd(quotient, borrow);
        let added = self.b.ins().band(second, borrow);
        let rest = self.b.ins().iadd(rest, added);
        let seconds = self.b.ins().iadd(seconds, quotient);
        Val::parts([seconds, self.b.ins().ireduce(types::I32, rest), machine])
    }
}

/// The number of an integer constant.
pub fn integer(value: &Value) -> Option<i128> {
    Some(match value {
        Value::Int8(x) => i128::from(*x),
        Value::Int16(x) => i128::from(*x),
        Value::Int32(x) => i128::from(*x),
        Value::Int64(x) => i128::from(*x),
        Value::Uint8(x) => i128::from(*x),
        Value::Uint16(x) => i128::from(*x),
        Value::Uint32(x) => i128::from(*x),
        Value::Uint64(x) => i128::from(*x),
        _ => return None,
    })
}
