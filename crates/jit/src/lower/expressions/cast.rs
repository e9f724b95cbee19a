//! Casts: those that compiled code does itself, and a call for the others.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::Expr;
use tuple::Type;

use crate::code::{FallbackOp, ImportedFunction};
use crate::lower::context::FunctionLowering;
use crate::lowered_value::LoweredValue;
use crate::type_parts;

impl FunctionLowering<'_, '_> {
    /// Lowers a cast, `(T) e`.
    pub fn cast(&mut self, e: &Expr, inner: &Expr) -> LoweredValue {
        if let Some(value) = self.fixed_point_cast(e, inner) {
            return value;
        }
        let value = self.expr(inner);
        match self.native_cast(&value, &inner.ty, &e.ty) {
            Some(value) => value,
            None => {
                let given = FunctionLowering::value_operand(&value, &inner.ty);
                self.run_expr_fallback(e, FallbackOp::Cast, &[given])
            }
        }
    }

    /// A conversion that compiled code does itself.
    fn native_cast(
        &mut self,
        value: &LoweredValue,
        from: &Type,
        to: &Type,
    ) -> Option<LoweredValue> {
        if from == to {
            return Some(value.clone());
        }
        match (from, to) {
            (Type::Complex32, Type::Complex64) => {
                let parts = self.parts(value, from);
                Some(LoweredValue::from_parts(
                    parts
                        .iter()
                        .map(|&x| self.builder.ins().fpromote(types::F64, x)),
                ))
            }
            (Type::Complex64, Type::Complex32) => {
                let parts = self.parts(value, from);
                Some(LoweredValue::from_parts(
                    parts
                        .iter()
                        .map(|&x| self.builder.ins().fdemote(types::F32, x)),
                ))
            }
            (Type::Enum(_), to) if to.is_integral() => {
                let part = self.single_part(value, from);
                Some(LoweredValue::from_part(self.resize(
                    part,
                    &Type::Uint32,
                    type_parts::single_part(to),
                )))
            }
            (from, to) if is_number(from) && is_number(to) => {
                let part = self.single_part(value, from);
                Some(LoweredValue::from_part(self.convert_number(part, from, to)))
            }
            (from, to) if is_real(from) && is_real(to) => Some(self.cast_decimal(value, from, to)),
            (Type::BoundedRString(_), Type::RString) => Some(
                LoweredValue::from_parts(self.parts(value, from))
                    .with_volatility(value.is_volatile()),
            ),
            (from, Type::BoundedRString(n)) if from.is_rstring() => {
                Some(self.truncate_string(value, from, i64::from(*n)))
            }
            (from, Type::RString) if from.is_integral() => {
                self.allocations += 1;
                let part = self.single_part(value, from);
                let wide = self.resize(part, from, types::I64);
                let import = if from.is_signed() {
                    ImportedFunction::FormatSigned
                } else {
                    ImportedFunction::FormatUnsigned
                };
                Some(LoweredValue::from_parts(self.call(import, &[wide])))
            }
            (Type::Tuple(source), Type::Tuple(target)) => {
                let fields = target.attributes.iter().map(|a| {
                    let (at, found) = source.find(&a.name)?;
                    let field = self.field(value, source, at);
                    self.native_cast(&field, &found.ty, &a.ty)
                });
                let fields: Option<Vec<LoweredValue>> = fields.collect();
                Some(LoweredValue::from_fields(fields?))
            }
            _ => None,
        }
    }

    /// Cuts a string to at most `bound` bytes.
    fn truncate_string(&mut self, value: &LoweredValue, ty: &Type, bound: i64) -> LoweredValue {
        let parts = self.parts(value, ty);
        let bound = self.word(bound);
        let len = self.builder.ins().umin(parts[1], bound);
        LoweredValue::from_parts([parts[0], len]).with_volatility(value.is_volatile())
    }

    /// A number (integer or float) as another.
    fn convert_number(&mut self, x: ir::Value, from: &Type, to: &Type) -> ir::Value {
        let part = type_parts::single_part(to);
        match (from.is_float(), to.is_float()) {
            (false, false) => self.resize(x, from, part),
            (false, true) if *from == Type::Uint64 => self.float_of_uint64(x, part),
            (false, true) => {
                let wide = self.resize(x, from, types::I64);
                self.builder.ins().fcvt_from_sint(part, wide)
            }
            (true, true) if part == types::F64 => self.builder.ins().fpromote(part, x),
            (true, true) => self.builder.ins().fdemote(part, x),
            (true, false) => self.saturate(x, to),
        }
    }

    /// The float next to a uint64, halves to even. Cranelift's own conversion of unsigned numbers
    /// makes each depend on what its register held before, which binds one tuple to the next.
    fn float_of_uint64(&mut self, x: ir::Value, part: ir::Type) -> ir::Value {
        let (large, done) = (self.cold_block(), self.block_with(&[part]));
        let float = self.builder.ins().fcvt_from_sint(part, x);
        let is_large = self.icmp_const(IntCC::SignedLessThan, x, 0);
        self.branch_with(is_large, (large, &[]), (done, &[float]));
        self.switch_to_sealed(large);
        // Half of it has a bit less; the last bit stays set if it was, so that it rounds as before.
        let half = self.builder.ins().ushr_imm_u(x, 1);
        let last = self.builder.ins().band_imm_u(x, 1);
        let half = self.builder.ins().bor(half, last);
        let float = self.builder.ins().fcvt_from_sint(part, half);
        let float = self.builder.ins().fadd(float, float);
        self.jump(done, &[float]);
        self.switch_to_sealed(done);
        self.block_params(done)[0]
    }

    /// A float as the nearest integer towards zero that the type has; NaN is 0.
    fn saturate(&mut self, x: ir::Value, to: &Type) -> ir::Value {
        let part = type_parts::single_part(to);
        let wide = if part.bits() < 32 { types::I32 } else { part };
        if to.is_unsigned() {
            let whole = self.builder.ins().fcvt_to_uint_sat(wide, x);
            if wide == part {
                return whole;
            }
            let top = self.int(wide, (1 << part.bits()) - 1);
            let inside = self.builder.ins().umin(whole, top);
            return self.builder.ins().ireduce(part, inside);
        }
        let whole = self.builder.ins().fcvt_to_sint_sat(wide, x);
        if wide == part {
            return whole;
        }
        let half = 1i64 << (part.bits() - 1);
        let (bottom, top) = (self.int(wide, -half), self.int(wide, half - 1));
        let inside = self.builder.ins().smin(whole, top);
        let inside = self.builder.ins().smax(inside, bottom);
        self.builder.ins().ireduce(part, inside)
    }
}

/// Whether a type is an integer, a binary float or a decimal.
fn is_real(ty: &Type) -> bool {
    is_number(ty) || ty.is_decimal()
}

/// Whether a type is an integer or a binary float.
fn is_number(ty: &Type) -> bool {
    ty.is_integral() || ty.is_float()
}
