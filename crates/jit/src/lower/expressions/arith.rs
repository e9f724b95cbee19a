//! Arithmetic on numbers, booleans and timestamps.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::{BinaryOp, Expr, ExprKind, UnaryOp};
use tuple::Type;

use crate::code::FallbackOp;
use crate::lower::context::FunctionLowering;
use crate::lowered_value::LoweredValue;
use crate::type_parts;

impl FunctionLowering<'_, '_> {
    /// Lowers a prefix operator.
    pub fn unary(&mut self, e: &Expr, op: UnaryOp, operand: &Expr) -> LoweredValue {
        let value = self.expr(operand);
        let ty = &operand.ty;
        if ty.is_decimal() {
            return self.negated_decimal(&value, ty);
        }
        if !ty.is_integral() && !ty.is_float() && *ty != Type::Boolean && !ty.is_complex() {
            let given = FunctionLowering::value_operand(&value, ty);
            return self.run_expr_fallback(e, FallbackOp::Unary(op), &[given]);
        }
        let parts = self.parts(&value, ty);
        let is_float = ty.is_float() || ty.is_complex();
        LoweredValue::from_parts(parts.into_iter().map(|x| match op {
            UnaryOp::Not => self.builder.ins().bxor_imm_u(x, 1),
            UnaryOp::Negate if is_float => self.builder.ins().fneg(x),
            UnaryOp::Negate => self.builder.ins().ineg(x),
            UnaryOp::Complement => self.builder.ins().bnot(x),
        }))
    }

    /// Lowers an infix operator.
    pub fn binary(&mut self, e: &Expr, op: BinaryOp, left: &Expr, right: &Expr) -> LoweredValue {
        if op == BinaryOp::Add && left.ty.is_string() {
            return self.concatenation(e, left, right);
        }
        let divisor = match &right.kind {
            ExprKind::Const(value) => value.as_integer(),
            _ => None,
        };
        let a = self.expr(left);
        let b = self.expr(right);
        if op.is_comparison() {
            return LoweredValue::from_part(self.compare(op, &a, &b, &left.ty, e.pos));
        }
        self.arithmetic(op, (&a, &left.ty), (&b, &right.ty), divisor, e)
    }

    /// Lowers `a op b`, which is no comparison; `divisor` is `b` if it is known.
    pub fn arithmetic(
        &mut self,
        op: BinaryOp,
        (a, ty): (&LoweredValue, &Type),
        (b, right): (&LoweredValue, &Type),
        divisor: Option<i128>,
        e: &Expr,
    ) -> LoweredValue {
        if ty.is_integral() && right.is_integral() {
            let (x, y) = (self.single_part(a, ty), self.single_part(b, right));
            return LoweredValue::from_part(match op {
                BinaryOp::Shl | BinaryOp::Shr => self.shift(op, (x, ty), (y, right)),
                BinaryOp::Div | BinaryOp::Rem => {
                    if divisor.is_none_or(|divisor| divisor == 0) {
                        let operands = [
                            FunctionLowering::value_operand(a, ty),
                            FunctionLowering::value_operand(b, right),
                        ];
                        self.fault_if_zero(y, FallbackOp::Binary(op), &operands, e.pos);
                    }
                    self.divide(op, x, y, ty, divisor)
                }
                op => self.integer_arithmetic(op, x, y),
            });
        }
        match ty {
            Type::Boolean => {
                let (x, y) = (self.single_part(a, ty), self.single_part(b, ty));
                LoweredValue::from_part(self.integer_arithmetic(op, x, y))
            }
            Type::Float32 | Type::Float64 => {
                let (x, y) = (self.single_part(a, ty), self.single_part(b, ty));
                LoweredValue::from_part(self.float_arithmetic(op, x, y))
            }
            Type::Complex32 | Type::Complex64 if matches!(op, BinaryOp::Add | BinaryOp::Sub) => {
                let (x, y) = (self.parts(a, ty), self.parts(b, ty));
                LoweredValue::from_parts([
                    self.float_arithmetic(op, x[0], y[0]),
                    self.float_arithmetic(op, x[1], y[1]),
                ])
            }
            Type::Decimal32 | Type::Decimal64 | Type::Decimal128 => {
                self.decimal_arithmetic(op, a, b, ty)
            }
            Type::Timestamp => self.timestamp_arithmetic(op, a, b),
            _ => {
                let operands = [
                    FunctionLowering::value_operand(a, ty),
                    FunctionLowering::value_operand(b, right),
                ];
                self.run_expr_fallback(e, FallbackOp::Binary(op), &operands)
            }
        }
    }

    fn integer_arithmetic(&mut self, op: BinaryOp, x: ir::Value, y: ir::Value) -> ir::Value {
        match op {
            BinaryOp::Add => self.builder.ins().iadd(x, y),
            BinaryOp::Sub => self.builder.ins().isub(x, y),
            BinaryOp::Mul => self.builder.ins().imul(x, y),
            BinaryOp::BitAnd => self.builder.ins().band(x, y),
            BinaryOp::BitXor => self.builder.ins().bxor(x, y),
            BinaryOp::BitOr => self.builder.ins().bor(x, y),
            other => unreachable!("{other:?} of integers"),
        }
    }

    fn float_arithmetic(&mut self, op: BinaryOp, x: ir::Value, y: ir::Value) -> ir::Value {
        match op {
            BinaryOp::Add => self.builder.ins().fadd(x, y),
            BinaryOp::Sub => self.builder.ins().fsub(x, y),
            BinaryOp::Mul => self.builder.ins().fmul(x, y),
            BinaryOp::Div => self.builder.ins().fdiv(x, y),
            other => unreachable!("{other:?} of floats"),
        }
    }

    /// Divides numbers, where the divisor is not 0. `MIN / -1`, where the machine traps, is `MIN`.
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
                BinaryOp::Div => self.builder.ins().udiv(x, y),
                _ => self.builder.ins().urem(x, y),
            };
        }
        let part = type_parts::single_part(ty);
        if divisor.is_some_and(|divisor| divisor != -1) {
            return match op {
                BinaryOp::Div => self.builder.ins().sdiv(x, y),
                _ => self.builder.ins().srem(x, y),
            };
        }
        let is_minus_one = self.icmp_const(IntCC::Equal, y, -1);
        let one = self.int(part, 1);
        let y = self.builder.ins().select(is_minus_one, one, y);
        if op == BinaryOp::Rem {
            // x % 1 is 0, as x % -1 is.
            return self.builder.ins().srem(x, y);
        }
        let quotient = self.builder.ins().sdiv(x, y);
        let negated = self.builder.ins().ineg(x);
        self.builder.ins().select(is_minus_one, negated, quotient)
    }

    /// Shifts a number: one of 8 or 16 bits as one of 32, the amount modulo the width.
    fn shift(
        &mut self,
        op: BinaryOp,
        (x, ty): (ir::Value, &Type),
        (amount, right): (ir::Value, &Type),
    ) -> ir::Value {
        let part = type_parts::single_part(ty);
        let amount = self.resize(amount, right, types::I32);
        let wide = if part.bits() < 32 { types::I32 } else { part };
        let x = self.resize(x, ty, wide);
        let shifted = match op {
            BinaryOp::Shl => self.builder.ins().ishl(x, amount),
            _ if ty.is_signed() => self.builder.ins().sshr(x, amount),
            _ => self.builder.ins().ushr(x, amount),
        };
        if wide == part {
            shifted
        } else {
            self.builder.ins().ireduce(part, shifted)
        }
    }

    /// An integer of another width: extended as its type says, or its low bits.
    pub fn resize(&mut self, x: ir::Value, ty: &Type, to: ir::Type) -> ir::Value {
        let from = self.builder.func.dfg.value_type(x);
        if to.bits() == from.bits() {
            x
        } else if to.bits() < from.bits() {
            self.builder.ins().ireduce(to, x)
        } else if ty.is_signed() {
            self.builder.ins().sextend(to, x)
        } else {
            self.builder.ins().uextend(to, x)
        }
    }

    /// Seconds and nanoseconds, carried; the machine is that of the left one.
    fn timestamp_arithmetic(
        &mut self,
        op: BinaryOp,
        a: &LoweredValue,
        b: &LoweredValue,
    ) -> LoweredValue {
        let (x, y) = (
            self.parts(a, &Type::Timestamp),
            self.parts(b, &Type::Timestamp),
        );
        let x_nanos = self.builder.ins().uextend(types::I64, x[1]);
        let y_nanos = self.builder.ins().uextend(types::I64, y[1]);
        let seconds = self.integer_arithmetic(op, x[0], y[0]);
        let nanos = self.integer_arithmetic(op, x_nanos, y_nanos);
        // Of two proper timestamps there is at most one second to carry.
        let second = self.word(1_000_000_000);
        let (carry, rest, carried) = if op == BinaryOp::Add {
            let carry = self.icmp(IntCC::SignedGreaterThanOrEqual, nanos, second);
            let rest = self.builder.ins().isub(nanos, second);
            (carry, rest, self.offset(seconds, 1))
        } else {
            let carry = self.icmp_const(IntCC::SignedLessThan, nanos, 0);
            let rest = self.builder.ins().iadd(nanos, second);
            (carry, rest, self.offset(seconds, -1))
        };
        let rest = self.builder.ins().select(carry, rest, nanos);
        let carried = self.builder.ins().select(carry, carried, seconds);
        let (odd, done) = (
            self.cold_block(),
            self.block_with(&[types::I64, types::I32]),
        );
        let is_proper = self.icmp(IntCC::UnsignedLessThan, rest, second);
        let small = self.builder.ins().ireduce(types::I32, rest);
        let proper = [carried, small].map(ir::BlockArg::Value);
        self.builder.ins().brif(is_proper, done, &proper, odd, &[]);
        self.switch_to_sealed(odd);
        let normal = self.normalized_timestamp(seconds, nanos, x[2]);
        let normal = self.parts(&normal, &Type::Timestamp);
        self.jump(done, &normal[..2]);
        self.switch_to_sealed(done);
        let parts = self.block_params(done);
        LoweredValue::from_parts([parts[0], parts[1], x[2]])
    }

    /// A timestamp of seconds and any number of nanoseconds.
    pub fn normalized_timestamp(
        &mut self,
        seconds: ir::Value,
        nanos: ir::Value,
        machine: ir::Value,
    ) -> LoweredValue {
        let second = self.word(1_000_000_000);
        let quotient = self.builder.ins().sdiv(nanos, second);
        let rest = self.builder.ins().srem(nanos, second);
        // Rounded towards minus infinity, not towards 0.
        let borrow = self.builder.ins().sshr_imm_u(rest, 63);
        let quotient = self.builder.ins().iadd(quotient, borrow);
        let added = self.builder.ins().band(second, borrow);
        let rest = self.builder.ins().iadd(rest, added);
        let seconds = self.builder.ins().iadd(seconds, quotient);
        LoweredValue::from_parts([
            seconds,
            self.builder.ins().ireduce(types::I32, rest),
            machine,
        ])
    }
}
