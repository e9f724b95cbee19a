//! Comparisons of two values of one type.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::{BinaryOp, Pos};
use tuple::Type;

use crate::code::{FallbackOp, ImportedFunction};
use crate::lower::context::FunctionLowering;
use crate::lowered_value::LoweredValue;

impl FunctionLowering<'_, '_> {
    /// Lowers the comparison `a op b` of two values of one type to a boolean.
    pub fn compare(
        &mut self,
        op: BinaryOp,
        a: &LoweredValue,
        b: &LoweredValue,
        ty: &Type,
        pos: Pos,
    ) -> ir::Value {
        match ty {
            ty if ty.is_signed() => {
                let (x, y) = (self.single_part(a, ty), self.single_part(b, ty));
                self.icmp(signed_condition(op), x, y)
            }
            ty if ty.is_unsigned() || matches!(ty, Type::Boolean | Type::Enum(_)) => {
                let (x, y) = (self.single_part(a, ty), self.single_part(b, ty));
                self.icmp(unsigned_condition(op), x, y)
            }
            ty if ty.is_float() => {
                let (x, y) = (self.single_part(a, ty), self.single_part(b, ty));
                self.builder.ins().fcmp(float_condition(op), x, y)
            }
            Type::Complex32 | Type::Complex64 => {
                let (x, y) = (self.parts(a, ty), self.parts(b, ty));
                let re = self.builder.ins().fcmp(FloatCC::Equal, x[0], y[0]);
                let im = self.builder.ins().fcmp(FloatCC::Equal, x[1], y[1]);
                let same = self.builder.ins().band(re, im);
                self.equal_or_not(op, same)
            }
            ty if ty.is_decimal() => self.compare_decimals(op, a, b, ty),
            Type::Timestamp => self.compare_times(op, a, b),
            ty if ty.is_rstring() || *ty == Type::Blob => self.compare_bytes(op, a, b, ty),
            Type::UString => {
                let (x, y) = (self.parts(a, ty), self.parts(b, ty));
                let order =
                    self.call_for_word(ImportedFunction::CompareUtf16, &[x[0], x[1], y[0], y[1]]);
                self.icmp_const(signed_condition(op), order, 0)
            }
            Type::Tuple(t) if t.attributes.len() <= 16 => {
                let mut same = self.int(types::I8, 1);
                for (index, attribute) in t.attributes.iter().enumerate() {
                    let (x, y) = (self.field(a, t, index), self.field(b, t, index));
                    let equal = self.compare(BinaryOp::Eq, &x, &y, &attribute.ty, pos);
                    same = self.builder.ins().band(same, equal);
                }
                self.equal_or_not(op, same)
            }
            ty => {
                let operands = [
                    FunctionLowering::value_operand(a, ty),
                    FunctionLowering::value_operand(b, ty),
                ];
                let result =
                    self.run_fallback(FallbackOp::Binary(op), &operands, &Type::Boolean, pos);
                self.single_part(&result, &Type::Boolean)
            }
        }
    }

    /// `==` or `!=` from whether two values are the same.
    fn equal_or_not(&mut self, op: BinaryOp, same: ir::Value) -> ir::Value {
        if op == BinaryOp::Ne {
            self.builder.ins().bxor_imm_u(same, 1)
        } else {
            same
        }
    }

    fn compare_times(&mut self, op: BinaryOp, a: &LoweredValue, b: &LoweredValue) -> ir::Value {
        let (x, y) = (
            self.parts(a, &Type::Timestamp),
            self.parts(b, &Type::Timestamp),
        );
        let same_second = self.icmp(IntCC::Equal, x[0], y[0]);
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
            let same_nanos = self.icmp(IntCC::Equal, x[1], y[1]);
            let same = self.builder.ins().band(same_second, same_nanos);
            return self.equal_or_not(op, same);
        }
        let by_second = self.icmp(signed_condition(op), x[0], y[0]);
        let by_nanos = self.icmp(unsigned_condition(op), x[1], y[1]);
        self.builder.ins().select(same_second, by_nanos, by_second)
    }

    fn compare_bytes(
        &mut self,
        op: BinaryOp,
        a: &LoweredValue,
        b: &LoweredValue,
        ty: &Type,
    ) -> ir::Value {
        let (x, y) = (self.parts(a, ty), self.parts(b, ty));
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
            let same = self.same_bytes(&x, &y);
            return self.equal_or_not(op, same);
        }
        let order = self.call_for_word(ImportedFunction::CompareBytes, &[x[0], x[1], y[0], y[1]]);
        self.icmp_const(signed_condition(op), order, 0)
    }

    /// Whether two strings are equal: first by length, and inline if that is known and small.
    fn same_bytes(&mut self, x: &[ir::Value], y: &[ir::Value]) -> ir::Value {
        let same_len = self.icmp(IntCC::Equal, x[1], y[1]);
        let (more, done) = (self.block(), self.block_with(&[types::I8]));
        let no = [ir::BlockArg::Value(self.int(types::I8, 0))];
        self.builder.ins().brif(same_len, more, &[], done, &no);
        self.switch_to_sealed(more);
        let known = self
            .known_constant(x[1])
            .or_else(|| self.known_constant(y[1]));
        let same = match known {
            Some(len @ 0..=16) => self.equal_short_bytes(x[0], y[0], len as i32),
            _ => {
                let same = self.call_for_word(ImportedFunction::SameBytes, &[x[0], y[0], x[1]]);
                self.builder.ins().ireduce(types::I8, same)
            }
        };
        self.jump(done, &[same]);
        self.switch_to_sealed(done);
        self.block_params(done)[0]
    }

    /// The number that a value is known to be.
    pub fn known_constant(&self, value: ir::Value) -> Option<i64> {
        let dfg = &self.builder.func.dfg;
        let inst = dfg.value_def(value).inst()?;
        match dfg.insts[inst] {
            ir::InstructionData::UnaryImm {
                opcode: ir::Opcode::Iconst,
                imm,
            } => Some(imm.bits()),
            _ => None,
        }
    }

    /// Whether `len` bytes at two addresses are equal, compared by words.
    fn equal_short_bytes(&mut self, x: ir::Value, y: ir::Value, len: i32) -> ir::Value {
        let flags = ir::MemFlagsData::new().with_notrap();
        let mut same = self.int(types::I8, 1);
        let mut at = 0;
        while at < len {
            let (ty, step) = match len - at {
                8.. => (types::I64, 8),
                4.. => (types::I32, 4),
                2.. => (types::I16, 2),
                _ => (types::I8, 1),
            };
            let a = self.builder.ins().load(ty, flags, x, at);
            let b = self.builder.ins().load(ty, flags, y, at);
            let equal = self.icmp(IntCC::Equal, a, b);
            same = self.builder.ins().band(same, equal);
            at += step;
        }
        same
    }
}

/// The comparison of signed integers.
pub fn signed_condition(op: BinaryOp) -> IntCC {
    match op {
        BinaryOp::Lt => IntCC::SignedLessThan,
        BinaryOp::Le => IntCC::SignedLessThanOrEqual,
        BinaryOp::Gt => IntCC::SignedGreaterThan,
        BinaryOp::Ge => IntCC::SignedGreaterThanOrEqual,
        BinaryOp::Ne => IntCC::NotEqual,
        _ => IntCC::Equal,
    }
}

fn unsigned_condition(op: BinaryOp) -> IntCC {
    signed_condition(op).unsigned()
}

/// NaN: only `!=` holds.
fn float_condition(op: BinaryOp) -> FloatCC {
    match op {
        BinaryOp::Lt => FloatCC::LessThan,
        BinaryOp::Le => FloatCC::LessThanOrEqual,
        BinaryOp::Gt => FloatCC::GreaterThan,
        BinaryOp::Ge => FloatCC::GreaterThanOrEqual,
        BinaryOp::Ne => FloatCC::NotEqual,
        _ => FloatCC::Equal,
    }
}
