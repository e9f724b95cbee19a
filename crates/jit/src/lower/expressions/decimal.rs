//! Decimals. Of decimal64 the most ordinary is done here, on bits; the rest is called.
//!
//! ```text
//!   sign 1 | exponent 10 | coefficient 53     a short number: the exponent does not begin with 11
//! ```
//! Two short numbers of one exponent are added by adding their words, as long as the coefficient
//! does not run over; prices and volumes are such numbers. [`tuple::Decimal64`] does the same in
//! the same steps, so the bits are the same.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::BinaryOp;
use tuple::decimal::codec::DECIMAL64;
use tuple::{Decimal32, Decimal64, Decimal128, Type};

use super::compare::signed_condition;
use crate::code::ImportedFunction;
use crate::lower::context::FunctionLowering;
use crate::lowered_value::LoweredValue;
use crate::type_parts;

const COEFFICIENT_BITS: i64 = 53;
const COEFFICIENT_MASK: i64 = (1 << COEFFICIENT_BITS) - 1;
const SIGN_MASK: i64 = i64::MIN;
/// Number of exponents. Each is written as its distance from the least.
const EXPONENT_COUNT: i64 = (DECIMAL64.exponent_max - DECIMAL64.exponent_min + 1) as i64;
/// A coefficient below this has a product of 64 bits with every other one.
const FEW_DIGITS_END: i64 = 1 << (64 - COEFFICIENT_BITS);
/// Distance of the exponent 0 from the least, as it is written.
const EXPONENT_BIAS: i64 = -DECIMAL64.exponent_min as i64;

const _: () = assert!(EXPONENT_COUNT == 3 << 8);

impl FunctionLowering<'_, '_> {
    /// Lowers `+ - * /` on two decimals of a type.
    pub fn decimal_arithmetic(
        &mut self,
        op: BinaryOp,
        a: &LoweredValue,
        b: &LoweredValue,
        ty: &Type,
    ) -> LoweredValue {
        let (x, y) = (self.parts(a, ty), self.parts(b, ty));
        match ty {
            Type::Decimal64 => LoweredValue::from_part(match op {
                BinaryOp::Add | BinaryOp::Sub => self.decimal_sum(op, x[0], y[0]),
                BinaryOp::Mul => self.decimal_product(x[0], y[0]),
                _ => self.call_for_word(ImportedFunction::DivideDecimal64, &[x[0], y[0]]),
            }),
            Type::Decimal32 => {
                let code = self.decimal_code(op);
                LoweredValue::from_part(
                    self.call_for_word(ImportedFunction::Decimal32, &[code, x[0], y[0]]),
                )
            }
            _ => {
                let code = self.decimal_code(op);
                let words = self.decimal_words(&x, &y);
                LoweredValue::from_parts(self.call(ImportedFunction::Decimal128, &[code, words]))
            }
        }
    }

    fn decimal_code(&mut self, op: BinaryOp) -> ir::Value {
        let code = match op {
            BinaryOp::Add => 0,
            BinaryOp::Sub => 1,
            BinaryOp::Mul => 2,
            _ => 3,
        };
        self.int(types::I32, code)
    }

    /// Two decimal128 as four words.
    fn decimal_words(&mut self, x: &[ir::Value], y: &[ir::Value]) -> ir::Value {
        let words = self.stack_words(4);
        for (at, &half) in x.iter().chain(y).enumerate() {
            self.store_word(half, words, at);
        }
        words
    }

    /// A sum or difference of words; by a call where they are not alike, or the sum runs over.
    fn decimal_sum(&mut self, op: BinaryOp, x: ir::Value, y: ir::Value) -> ir::Value {
        let (import, added) = match op {
            BinaryOp::Add => (ImportedFunction::AddDecimal64, y),
            _ => (ImportedFunction::SubtractDecimal64, self.flip_sign(y)),
        };
        let (other, call) = (self.block(), self.cold_block());
        let done = self.block_with(&[types::I64]);
        let differs = self.builder.ins().bxor(x, added);
        let low = self.coefficient(added);
        let sum = self.builder.ins().iadd(x, low);
        let carried = self.builder.ins().bxor(sum, x);
        let changed = self.builder.ins().bor(carried, differs);
        let front = self.builder.ins().ushr_imm_u(changed, COEFFICIENT_BITS);
        self.leave_if(front, other);
        self.leave_if_long(x, added, call);
        self.jump(done, &[sum]);
        self.switch_to_sealed(other);
        let exponents = self.exponent(differs);
        self.leave_if(exponents, call);
        self.leave_if_long(x, added, call);
        let is_other_sign = self.icmp_const(IntCC::SignedLessThan, differs, 0);
        self.leave_unless(is_other_sign, call);
        let difference = self.decimal_difference(x, added);
        self.jump(done, &[difference]);
        self.call_or_done(import, [x, y], call, done)
    }

    fn flip_sign(&mut self, x: ir::Value) -> ir::Value {
        match self.known_constant(x) {
            Some(bits) => self.word(bits ^ SIGN_MASK),
            None => {
                let sign = self.word(SIGN_MASK);
                self.builder.ins().bxor(x, sign)
            }
        }
    }

    /// The sum of two short numbers of one exponent and different signs.
    fn decimal_difference(&mut self, x: ir::Value, y: ir::Value) -> ir::Value {
        let (m, n) = (self.coefficient(x), self.coefficient(y));
        let (by_x, by_y) = (self.builder.ins().isub(x, n), self.builder.ins().isub(y, m));
        let is_x = self.icmp(IntCC::UnsignedGreaterThan, m, n);
        let larger = self.builder.ins().select(is_x, by_x, by_y);
        // The difference of equal numbers is a positive 0.
        let mask = self.word(!SIGN_MASK);
        let unsigned = self.builder.ins().band(larger, mask);
        let is_zero = self.icmp(IntCC::Equal, m, n);
        self.builder.ins().select(is_zero, unsigned, larger)
    }

    /// A product of words; by a call where one is not short, or it is too long, or 0.
    fn decimal_product(&mut self, x: ir::Value, y: ir::Value) -> ir::Value {
        let (call, done) = (self.cold_block(), self.block_with(&[types::I64]));
        match (self.short_constant(x), self.short_constant(y)) {
            (_, Some(constant)) => self.leave_unless_product_exponent(x, constant, call),
            (Some(constant), _) => self.leave_unless_product_exponent(y, constant, call),
            (None, None) => {
                let (p, q) = (self.exponent(x), self.exponent(y));
                let biased = self.builder.ins().iadd(p, q);
                let biased = self.offset(biased, -EXPONENT_BIAS);
                for exponent in [p, q, biased] {
                    self.leave_unless_exponent(exponent, call);
                }
            }
        }
        let (m, n) = (self.coefficient(x), self.coefficient(y));
        let is_few_digits = |word| {
            let constant = self.short_constant(word);
            constant.is_some_and(|bits| bits & COEFFICIENT_MASK < FEW_DIGITS_END)
        };
        let product = if is_few_digits(x) || is_few_digits(y) {
            self.builder.ins().imul(m, n)
        } else {
            let (product, overflow) = self.builder.ins().umul_overflow(m, n);
            self.leave_if(overflow, call);
            product
        };
        let before = self.offset(product, -1);
        let limit = self.word(COEFFICIENT_MASK);
        let fits = self.icmp(IntCC::UnsignedLessThan, before, limit);
        // The sum of the words in front of the coefficients: exponents added, signs multiplied.
        let (front, more) = (self.builder.ins().isub(x, m), self.builder.ins().isub(y, n));
        let more = self.offset(more, -(EXPONENT_BIAS << COEFFICIENT_BITS));
        let front = self.builder.ins().iadd(front, more);
        let word = [ir::BlockArg::Value(self.builder.ins().iadd(front, product))];
        self.builder.ins().brif(fits, done, &word, call, &[]);
        self.call_or_done(ImportedFunction::MultiplyDecimal64, [x, y], call, done)
    }

    /// The bits of a short number that is known.
    fn short_constant(&self, x: ir::Value) -> Option<i64> {
        let bits = self.known_constant(x);
        bits.filter(|bits| bits >> COEFFICIENT_BITS & 0x3FF < EXPONENT_COUNT)
    }

    /// Leaves for a block unless a number is short, and its product with a constant has an exponent
    /// that there is.
    fn leave_unless_product_exponent(&mut self, x: ir::Value, constant: i64, to: ir::Block) {
        let other = constant >> COEFFICIENT_BITS & 0x3FF;
        let least = (EXPONENT_BIAS - other).max(0);
        let end = (EXPONENT_COUNT + EXPONENT_BIAS - other).min(EXPONENT_COUNT);
        let exponent = self.exponent(x);
        let above = self.offset(exponent, -least);
        let is_one = self
            .builder
            .ins()
            .icmp_imm_u(IntCC::UnsignedLessThan, above, end - least);
        self.leave_unless(is_one, to);
    }

    fn coefficient(&mut self, x: ir::Value) -> ir::Value {
        let mask = self.word(COEFFICIENT_MASK);
        self.builder.ins().band(x, mask)
    }

    /// The exponent of a short number, counted from the least; of others at least
    /// [`EXPONENT_COUNT`].
    fn exponent(&mut self, x: ir::Value) -> ir::Value {
        let unsigned = self.builder.ins().ishl_imm_u(x, 1);
        self.builder
            .ins()
            .ushr_imm_u(unsigned, COEFFICIENT_BITS + 1)
    }

    fn leave_unless_exponent(&mut self, exponent: ir::Value, to: ir::Block) {
        let is_one =
            self.builder
                .ins()
                .icmp_imm_u(IntCC::UnsignedLessThan, exponent, EXPONENT_COUNT);
        self.leave_unless(is_one, to);
    }

    /// Leaves for a block if two numbers of one exponent are not short.
    fn leave_if_long(&mut self, x: ir::Value, y: ir::Value, to: ir::Block) {
        if self.short_constant(x).or(self.short_constant(y)).is_some() {
            return;
        }
        let unsigned = self.builder.ins().ishl_imm_u(x, 1);
        let limit = self.word(EXPONENT_COUNT << (COEFFICIENT_BITS + 1));
        let is_short = self.icmp(IntCC::UnsignedLessThan, unsigned, limit);
        self.leave_unless(is_short, to);
    }

    /// Leaves for a block unless a condition holds.
    pub fn leave_unless(&mut self, condition: ir::Value, to: ir::Block) {
        let next = self.block();
        self.branch(condition, next, to);
        self.switch_to_sealed(next);
    }

    /// The call in its block, and the result, here or there.
    fn call_or_done(
        &mut self,
        import: ImportedFunction,
        operands: [ir::Value; 2],
        call: ir::Block,
        done: ir::Block,
    ) -> ir::Value {
        self.switch_to_sealed(call);
        let result = self.call_for_word(import, &operands);
        self.jump(done, &[result]);
        self.switch_to_sealed(done);
        self.block_params(done)[0]
    }

    /// A decimal with the other sign. The zero word is plain 0, and its negative has other bits.
    pub fn negated_decimal(&mut self, x: &LoweredValue, ty: &Type) -> LoweredValue {
        let mut parts = self.parts(x, ty);
        let part = type_parts::single_part(ty);
        let (zero, sign) = match ty {
            Type::Decimal32 => (i64::from(Decimal32::from_i64(0).0), 1 << 31),
            Type::Decimal64 => (Decimal64::from_i64(0).0 as i64, SIGN_MASK),
            _ => (Decimal128::from_i64(0).0[1] as i64, SIGN_MASK),
        };
        let all = parts[1..]
            .iter()
            .fold(parts[0], |all, &part| self.builder.ins().bor(all, part));
        let is_zero = self.icmp_const(IntCC::Equal, all, 0);
        let (zero, sign) = (self.int(part, zero), self.int(part, sign));
        let top = parts.len() - 1;
        let number = self.builder.ins().select(is_zero, zero, parts[top]);
        parts[top] = self.builder.ins().bxor(number, sign);
        LoweredValue::from_parts(parts)
    }

    /// A comparison of two decimals of a type.
    pub fn compare_decimals(
        &mut self,
        op: BinaryOp,
        a: &LoweredValue,
        b: &LoweredValue,
        ty: &Type,
    ) -> ir::Value {
        let (x, y) = (self.parts(a, ty), self.parts(b, ty));
        let order = match ty {
            Type::Decimal32 => {
                self.call_for_word(ImportedFunction::CompareDecimal32, &[x[0], y[0]])
            }
            Type::Decimal64 => return self.compare_decimal64(op, x[0], y[0]),
            _ => {
                let words = self.decimal_words(&x, &y);
                self.call_for_word(ImportedFunction::CompareDecimal128, &[words])
            }
        };
        self.order_satisfies(op, order)
    }

    fn compare_decimal64(&mut self, op: BinaryOp, x: ir::Value, y: ir::Value) -> ir::Value {
        let (call, done) = (self.cold_block(), self.block_with(&[types::I8]));
        let differs = self.builder.ins().bxor(x, y);
        let exponents = self.exponent(differs);
        self.leave_if(exponents, call);
        self.leave_if_long(x, y, call);
        let (m, n) = (self.signed_coefficient(x), self.signed_coefficient(y));
        let holds = self.icmp(signed_condition(op), m, n);
        self.jump(done, &[holds]);
        self.switch_to_sealed(call);
        let order = self.call_for_word(ImportedFunction::CompareDecimal64, &[x, y]);
        let holds = self.order_satisfies(op, order);
        self.jump(done, &[holds]);
        self.switch_to_sealed(done);
        self.block_params(done)[0]
    }

    /// The coefficient of a short number, with its sign.
    fn signed_coefficient(&mut self, x: ir::Value) -> ir::Value {
        let coefficient = self.coefficient(x);
        let negated = self.builder.ins().ineg(coefficient);
        let is_negative = self.icmp_const(IntCC::SignedLessThan, x, 0);
        self.builder.ins().select(is_negative, negated, coefficient)
    }

    /// Whether a comparison holds for an order: -1, 0 or 1, or 2, which is unordered.
    fn order_satisfies(&mut self, op: BinaryOp, order: ir::Value) -> ir::Value {
        match op {
            BinaryOp::Eq => self.icmp_const(IntCC::Equal, order, 0),
            BinaryOp::Ne => self.icmp_const(IntCC::NotEqual, order, 0),
            BinaryOp::Lt => self.icmp_const(IntCC::SignedLessThan, order, 0),
            BinaryOp::Le => self.icmp_const(IntCC::SignedLessThanOrEqual, order, 0),
            BinaryOp::Gt => self.icmp_const(IntCC::Equal, order, 1),
            _ => self.icmp_const(IntCC::UnsignedLessThan, order, 2),
        }
    }
}
