//! Decimals. Of decimal64 the most ordinary is done here, on bits; the rest is called.
//!
//! ```text
//!   sign 1 | exponent 10 | coefficient 53     a short number: the exponent does not begin with 11
//! ```
//! Two short numbers of one exponent are added by adding their words, as long as the coefficient does
//! not run over; prices and volumes are such numbers. [`tuple::Decimal64`] does the same in the same
//! steps, so the bits are the same.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::BinaryOp;
use tuple::decimal::codec::DOUBLE;
use tuple::{Decimal32, Decimal64, Decimal128, Type};

use super::Lower;
use super::compare::signed;
use crate::code::Import;
use crate::shape;
use crate::value::Val;

const WIDTH: i64 = 53;
const COEFFICIENT: i64 = (1 << WIDTH) - 1;
const SIGN: i64 = i64::MIN;
/// How many exponents there are. Each is written as its distance from the least.
const EXPONENTS: i64 = (DOUBLE.exponent_max - DOUBLE.exponent_min + 1) as i64;
/// How the exponent of whole numbers is written.
const EXPONENT_OF_WHOLE: i64 = -DOUBLE.exponent_min as i64;

const _: () = assert!(EXPONENTS == 3 << 8);

impl Lower<'_, '_> {
    /// `+ - * /` of two decimals of a type.
    pub fn decimals(&mut self, op: BinaryOp, a: &Val, b: &Val, ty: &Type) -> Val {
        let (x, y) = (self.parts(a, ty), self.parts(b, ty));
        match ty {
            Type::Decimal64 => Val::one(match op {
                BinaryOp::Add | BinaryOp::Sub => self.decimal_sum(op, x[0], y[0]),
                BinaryOp::Mul => self.decimal_product(x[0], y[0]),
                _ => self.call1(Import::DivideDecimal64, &[x[0], y[0]]),
            }),
            Type::Decimal32 => {
                let code = self.decimal_code(op);
                Val::one(self.call1(Import::Decimal32, &[code, x[0], y[0]]))
            }
            _ => {
                let code = self.decimal_code(op);
                let words = self.decimal_words(&x, &y);
                Val::parts(self.call(Import::Decimal128, &[code, words]))
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
        let words = self.stack(4);
        for (at, &half) in x.iter().chain(y).enumerate() {
            self.store_word(half, words, at);
        }
        words
    }

    /// A sum or difference of words; by a call where they are not alike, or the sum runs over.
    fn decimal_sum(&mut self, op: BinaryOp, x: ir::Value, y: ir::Value) -> ir::Value {
        let (import, added) = match op {
            BinaryOp::Add => (Import::AddDecimal64, y),
            _ => (Import::SubtractDecimal64, self.other_sign(y)),
        };
        let (other, call) = (self.block(), self.cold_block());
        let done = self.block_with(&[types::I64]);
        let differs = self.b.ins().bxor(x, added);
        let low = self.coefficient(added);
        let sum = self.b.ins().iadd(x, low);
        let carried = self.b.ins().bxor(sum, x);
        let changed = self.b.ins().bor(carried, differs);
        let front = self.b.ins().ushr_imm_u(changed, WIDTH);
        self.leave_if(front, other);
        self.leave_if_long(x, added, call);
        self.jump(done, &[sum]);
        self.go_sealed(other);
        let exponents = self.exponent(differs);
        self.leave_if(exponents, call);
        self.leave_if_long(x, added, call);
        let is_other_sign = self.icmp_const(IntCC::SignedLessThan, differs, 0);
        self.leave_unless(is_other_sign, call);
        let difference = self.decimal_difference(x, added);
        self.jump(done, &[difference]);
        self.call_or_done(import, [x, y], call, done)
    }

    fn other_sign(&mut self, x: ir::Value) -> ir::Value {
        match self.known(x) {
            Some(bits) => self.word(bits ^ SIGN),
            None => {
                let sign = self.word(SIGN);
                self.b.ins().bxor(x, sign)
            }
        }
    }

    /// The sum of two short numbers of one exponent and different signs.
    fn decimal_difference(&mut self, x: ir::Value, y: ir::Value) -> ir::Value {
        let (m, n) = (self.coefficient(x), self.coefficient(y));
        let (by_x, by_y) = (self.b.ins().isub(x, n), self.b.ins().isub(y, m));
        let is_x = self.icmp(IntCC::UnsignedGreaterThan, m, n);
        let larger = self.b.ins().select(is_x, by_x, by_y);
        // The difference of equal numbers is a positive 0.
        let mask = self.word(!SIGN);
        let unsigned = self.b.ins().band(larger, mask);
        let is_zero = self.icmp(IntCC::Equal, m, n);
        self.b.ins().select(is_zero, unsigned, larger)
    }

    /// A product of words; by a call where one is not short, or it is too long, or 0.
    fn decimal_product(&mut self, x: ir::Value, y: ir::Value) -> ir::Value {
        let (call, done) = (self.cold_block(), self.block_with(&[types::I64]));
        let (p, q) = (self.exponent(x), self.exponent(y));
        let biased = self.b.ins().iadd(p, q);
        let biased = self.offset(biased, -EXPONENT_OF_WHOLE);
        for exponent in [p, q, biased] {
            self.leave_unless_exponent(exponent, call);
        }
        let (m, n) = (self.coefficient(x), self.coefficient(y));
        let (product, overflow) = self.b.ins().umul_overflow(m, n);
        self.leave_if(overflow, call);
        let before = self.offset(product, -1);
        let limit = self.word(COEFFICIENT);
        let fits = self.icmp(IntCC::UnsignedLessThan, before, limit);
        // The sum of the words in front of the coefficients: exponents added, signs multiplied.
        let (front, more) = (self.b.ins().isub(x, m), self.b.ins().isub(y, n));
        let more = self.offset(more, -(EXPONENT_OF_WHOLE << WIDTH));
        let front = self.b.ins().iadd(front, more);
        let word = [ir::BlockArg::Value(self.b.ins().iadd(front, product))];
        self.b.ins().brif(fits, done, &word, call, &[]);
        self.call_or_done(Import::MultiplyDecimal64, [x, y], call, done)
    }

    fn coefficient(&mut self, x: ir::Value) -> ir::Value {
        let mask = self.word(COEFFICIENT);
        self.b.ins().band(x, mask)
    }

    /// The exponent of a short number, counted from the least; of others at least [`EXPONENTS`].
    fn exponent(&mut self, x: ir::Value) -> ir::Value {
        let unsigned = self.b.ins().ishl_imm_u(x, 1);
        self.b.ins().ushr_imm_u(unsigned, WIDTH + 1)
    }

    fn leave_unless_exponent(&mut self, exponent: ir::Value, to: ir::Block) {
        let is_one = self
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedLessThan, exponent, EXPONENTS);
        self.leave_unless(is_one, to);
    }

    /// Leaves for a block if two numbers of one exponent are not short.
    fn leave_if_long(&mut self, x: ir::Value, y: ir::Value, to: ir::Block) {
        let is_short = |x| {
            self.known(x)
                .is_some_and(|bits| bits >> WIDTH & 0x3FF < EXPONENTS)
        };
        if is_short(x) || is_short(y) {
            return;
        }
        let unsigned = self.b.ins().ishl_imm_u(x, 1);
        let limit = self.word(EXPONENTS << (WIDTH + 1));
        let is_short = self.icmp(IntCC::UnsignedLessThan, unsigned, limit);
        self.leave_unless(is_short, to);
    }

    /// Leaves for a block unless a condition holds.
    fn leave_unless(&mut self, condition: ir::Value, to: ir::Block) {
        let next = self.block();
        self.branch(condition, next, to);
        self.go_sealed(next);
    }

    /// The call in its block, and the result, here or there.
    fn call_or_done(
        &mut self,
        import: Import,
        operands: [ir::Value; 2],
        call: ir::Block,
        done: ir::Block,
    ) -> ir::Value {
        self.go_sealed(call);
        let result = self.call1(import, &operands);
        self.jump(done, &[result]);
        self.go_sealed(done);
        self.params(done)[0]
    }

    /// A decimal with the other sign. The zero word is plain 0, and its negative has other bits.
    pub fn negated_decimal(&mut self, x: &Val, ty: &Type) -> Val {
        let mut parts = self.parts(x, ty);
        let part = shape::single(ty);
        let (zero, sign) = match ty {
            Type::Decimal32 => (i64::from(Decimal32::from_i64(0).0), 1 << 31),
            Type::Decimal64 => (Decimal64::from_i64(0).0 as i64, SIGN),
            _ => (Decimal128::from_i64(0).0[1] as i64, SIGN),
        };
        let all = parts[1..]
            .iter()
            .fold(parts[0], |all, &part| self.b.ins().bor(all, part));
        let is_zero = self.icmp_const(IntCC::Equal, all, 0);
        let (zero, sign) = (self.int(part, zero), self.int(part, sign));
        let top = parts.len() - 1;
        let number = self.b.ins().select(is_zero, zero, parts[top]);
        parts[top] = self.b.ins().bxor(number, sign);
        Val::parts(parts)
    }

    /// A comparison of two decimals of a type.
    pub fn compare_decimals(&mut self, op: BinaryOp, a: &Val, b: &Val, ty: &Type) -> ir::Value {
        let (x, y) = (self.parts(a, ty), self.parts(b, ty));
        let order = match ty {
            Type::Decimal32 => self.call1(Import::CompareDecimal32, &[x[0], y[0]]),
            Type::Decimal64 => return self.compare_decimal64(op, x[0], y[0]),
            _ => {
                let words = self.decimal_words(&x, &y);
                self.call1(Import::CompareDecimal128, &[words])
            }
        };
        self.holds(op, order)
    }

    fn compare_decimal64(&mut self, op: BinaryOp, x: ir::Value, y: ir::Value) -> ir::Value {
        let (call, done) = (self.cold_block(), self.block_with(&[types::I8]));
        let differs = self.b.ins().bxor(x, y);
        let exponents = self.exponent(differs);
        self.leave_if(exponents, call);
        self.leave_if_long(x, y, call);
        let (m, n) = (self.signed_coefficient(x), self.signed_coefficient(y));
        let holds = self.icmp(signed(op), m, n);
        self.jump(done, &[holds]);
        self.go_sealed(call);
        let order = self.call1(Import::CompareDecimal64, &[x, y]);
        let holds = self.holds(op, order);
        self.jump(done, &[holds]);
        self.go_sealed(done);
        self.params(done)[0]
    }

    /// The coefficient of a short number, with its sign.
    fn signed_coefficient(&mut self, x: ir::Value) -> ir::Value {
        let coefficient = self.coefficient(x);
        let negated = self.b.ins().ineg(coefficient);
        let is_negative = self.icmp_const(IntCC::SignedLessThan, x, 0);
        self.b.ins().select(is_negative, negated, coefficient)
    }

    /// Whether a comparison holds for an order: -1, 0 or 1, or 2, which is unordered.
    fn holds(&mut self, op: BinaryOp, order: ir::Value) -> ir::Value {
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
