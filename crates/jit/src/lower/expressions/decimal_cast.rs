//! Casts between decimals and other real numbers. The most ordinary are done here, on bits; the
//! rest is called.
//!
//! ```text
//!   sign 1 | exponent | coefficient      a short number: the exponent does not begin with 11
//! ```
//! A short number whose coefficient has at most 53 bits is taken apart into three words, which are
//! alike for all widths of decimals. The integers, floats and decimals of another width that need
//! no rounding, or only that of one instruction, are made of these words.
//!
//! | from | to | here, if |
//! | --- | --- | --- |
//! | integer | decimal | the coefficient is short |
//! | decimal | integer | the exponent is not above 0 |
//! | decimal | float | the power of ten is one that a float64 holds exactly |
//! | decimal | decimal | coefficient and exponent fit |
//! | float | decimal | never |

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use tuple::Type;
use tuple::decimal::codec::{DECIMAL32, DECIMAL64, DECIMAL128, DecimalFormat};

use crate::code::{ImportedFunction, NumberKind, decimal_tables};
use crate::lower::context::FunctionLowering;
use crate::lower::values::AccessRegion;
use crate::lowered_value::LoweredValue;
use crate::type_parts;

const SIGN_MASK: i64 = i64::MIN;

/// Bits of a coefficient that is taken apart; so many a float64 holds exactly.
const COEFFICIENT_BITS_MAX: i64 = decimal_tables::DIVIDEND_BITS as i64;

/// Low bits of a float64 that a float32 has not, and their value half way between two float32s.
const FLOAT32_REST: (i64, i64) = ((1 << 29) - 1, 1 << 28);

/// How a width of decimals lays out its numbers.
#[derive(Clone, Copy)]
struct DecimalShape {
    /// Bits of a short coefficient in the word that holds the exponent.
    coefficient_bits: i64,
    exponent_bits: i64,
    /// Number of exponents. Each is written as its distance from the least.
    exponent_count: i64,
    /// Distance of the exponent 0 from the least.
    exponent_bias: i64,
}

impl DecimalShape {
    fn of(ty: &Type) -> DecimalShape {
        let shape = |format: DecimalFormat, coefficient_bits, exponent_bits| DecimalShape {
            coefficient_bits,
            exponent_bits,
            exponent_count: i64::from(format.exponent_max - format.exponent_min + 1),
            exponent_bias: i64::from(-format.exponent_min),
        };
        match ty {
            Type::Decimal32 => shape(DECIMAL32, 23, 8),
            Type::Decimal64 => shape(DECIMAL64, 53, 10),
            // Of the upper half; the lower half is coefficient.
            _ => shape(DECIMAL128, 49, 14),
        }
    }
}

/// Bits of an integer that are always a short coefficient of a type.
fn short_integer_bits(ty: &Type) -> i64 {
    match ty {
        Type::Decimal128 => 64,
        ty => DecimalShape::of(ty).coefficient_bits,
    }
}

/// A short number with a coefficient of at most [`COEFFICIENT_BITS_MAX`].
#[derive(Clone, Copy)]
struct ShortDecimal {
    /// A word whose first bit is the sign.
    sign: ir::Value,
    /// Distance of the exponent from the least. Of numbers that are not short it is at least the
    /// number of exponents.
    exponent: ir::Value,
    coefficient: ir::Value,
}

impl FunctionLowering<'_, '_> {
    /// A cast between real numbers, one of which is a decimal.
    pub fn cast_decimal(&mut self, value: &LoweredValue, from: &Type, to: &Type) -> LoweredValue {
        let parts = self.parts(value, from);
        if from.is_integral() && integer_bits(from) <= short_integer_bits(to) {
            let (sign, magnitude) = self.sign_and_magnitude(parts[0], from);
            return LoweredValue::from_parts(self.short_integer(sign, magnitude, to));
        }
        if from.is_float() {
            return LoweredValue::from_parts(self.cast_by_call(&parts, from, to));
        }
        let (call, done) = (self.cold_block(), self.block_with(&type_parts::parts(to)));
        let result = if from.is_integral() {
            self.integer_to_decimal(parts[0], from, to, call)
        } else if to.is_integral() {
            vec![self.decimal_to_integer(&parts, from, to, call)]
        } else if to.is_float() {
            vec![self.decimal_to_float(&parts, from, to, call)]
        } else {
            self.decimal_to_decimal(&parts, from, to, call)
        };
        self.jump(done, &result);
        self.switch_to_sealed(call);
        let result = self.cast_by_call(&parts, from, to);
        self.jump(done, &result);
        self.switch_to_sealed(done);
        LoweredValue::from_parts(self.block_params(done))
    }

    fn cast_by_call(&mut self, parts: &[ir::Value], from: &Type, to: &Type) -> Vec<ir::Value> {
        let code = |ty| NumberKind::from_type(ty).expect("a real number") as u32;
        let codes = [from, to].map(|ty| self.int(types::I32, i64::from(code(ty))));
        let low = self.number_word(parts[0], from);
        let high = match parts {
            [_, high] => *high,
            _ => self.word(0),
        };
        let words = self.call(
            ImportedFunction::CastDecimal,
            &[codes[0], codes[1], low, high],
        );
        match to {
            Type::Decimal128 => words.to_vec(),
            Type::Float64 => vec![self.bits_as(types::F64, words[0])],
            Type::Float32 => {
                let bits = self.builder.ins().ireduce(types::I32, words[0]);
                vec![self.bits_as(types::F32, bits)]
            }
            _ => vec![self.resize(words[0], &Type::Int64, type_parts::single_part(to))],
        }
    }

    /// The first word of a number: see [`NumberKind`].
    fn number_word(&mut self, part: ir::Value, ty: &Type) -> ir::Value {
        match ty {
            Type::Float64 => self.bits_as(types::I64, part),
            Type::Float32 => {
                let bits = self.bits_as(types::I32, part);
                self.builder.ins().uextend(types::I64, bits)
            }
            _ => self.resize(part, ty, types::I64),
        }
    }

    fn bits_as(&mut self, ty: ir::Type, x: ir::Value) -> ir::Value {
        self.builder.ins().bitcast(ty, MemFlagsData::new(), x)
    }

    fn integer_to_decimal(
        &mut self,
        x: ir::Value,
        from: &Type,
        to: &Type,
        call: ir::Block,
    ) -> Vec<ir::Value> {
        let (sign, magnitude) = self.sign_and_magnitude(x, from);
        let excess = self
            .builder
            .ins()
            .ushr_imm_u(magnitude, short_integer_bits(to));
        self.leave_if(excess, call);
        self.short_integer(sign, magnitude, to)
    }

    /// A word with the sign of an integer, and its distance from 0.
    fn sign_and_magnitude(&mut self, x: ir::Value, ty: &Type) -> (ir::Value, ir::Value) {
        let wide = self.resize(x, ty, types::I64);
        if ty.is_unsigned() {
            return (self.word(0), wide);
        }
        (wide, self.builder.ins().iabs(wide))
    }

    /// The first bit of a word alone.
    fn sign_bit(&mut self, word: ir::Value) -> ir::Value {
        let mask = self.word(SIGN_MASK);
        self.builder.ins().band(word, mask)
    }

    /// An integer whose distance from 0 is a short coefficient.
    fn short_integer(
        &mut self,
        sign: ir::Value,
        magnitude: ir::Value,
        to: &Type,
    ) -> Vec<ir::Value> {
        let exponent = self.word(DecimalShape::of(to).exponent_bias);
        let number = ShortDecimal {
            sign,
            exponent,
            coefficient: magnitude,
        };
        self.pack_short(number, to)
    }

    /// The integer part toward 0, cut to the width of the type.
    fn decimal_to_integer(
        &mut self,
        parts: &[ir::Value],
        from: &Type,
        to: &Type,
        call: ir::Block,
    ) -> ir::Value {
        let bias = DecimalShape::of(from).exponent_bias;
        let number = self.short_decimal(parts, from, call);
        let is_scaled_up =
            self.builder
                .ins()
                .icmp_imm_u(IntCC::UnsignedGreaterThan, number.exponent, bias);
        self.leave_if(is_scaled_up, call);
        let by = i64::from(decimal_tables::DIVIDEND_SHIFT);
        // Of a decimal64, what is in front of the coefficient has no room in the word.
        let dividend = match from {
            Type::Decimal64 => self.builder.ins().ishl_imm_u(parts[0], by),
            _ => self.builder.ins().ishl_imm_u(number.coefficient, by),
        };
        let whole = self.divide_by_power(dividend, number.exponent, bias);
        // The negative of a number is its complement less -1, which is the sign's mask.
        let mask = self.builder.ins().sshr_imm_u(number.sign, 63);
        let complement = self.builder.ins().bxor(whole, mask);
        let signed = self.builder.ins().isub(complement, mask);
        self.resize(signed, &Type::Int64, type_parts::single_part(to))
    }

    /// A coefficient, at the top of its word, divided by ten to the places behind the point: the
    /// distance of the exponent from its bias. See [`decimal_tables`].
    fn divide_by_power(
        &mut self,
        dividend: ir::Value,
        exponent: ir::Value,
        bias: i64,
    ) -> ir::Value {
        let first = bias - decimal_tables::PLACES_MAX as i64;
        let exponent = if first > 0 {
            let first = self.word(first);
            self.builder.ins().umax(exponent, first)
        } else {
            exponent
        };
        let bytes = i64::from(decimal_tables::ENTRY_BYTES);
        let table = self.word(decimal_tables::reciprocals_address() - first * bytes);
        let entry = self.element(table, exponent, decimal_tables::ENTRY_BYTES);
        let multiplier = self.load(AccessRegion::Input, types::I64, entry, 0);
        let shift = self.load(AccessRegion::Input, types::I64, entry, 8);
        let product = self.builder.ins().umulhi(dividend, multiplier);
        self.builder.ins().ushr(product, shift)
    }

    /// The float nearest to a number. An operation on a coefficient and a power of ten that a
    /// float64 holds exactly rounds once, as it should.
    fn decimal_to_float(
        &mut self,
        parts: &[ir::Value],
        from: &Type,
        to: &Type,
        call: ir::Block,
    ) -> ir::Value {
        let bias = DecimalShape::of(from).exponent_bias;
        let powers = decimal_tables::EXACT_POWER_MAX as i64;
        let number = self.short_decimal(parts, from, call);
        let exponent = self.plain_zero_exponent(number.exponent, parts, bias);
        let index = self.offset(exponent, powers - bias);
        let is_beyond =
            self.builder
                .ins()
                .icmp_imm_u(IntCC::UnsignedGreaterThan, index, 2 * powers);
        self.leave_if(is_beyond, call);
        let table = self.word(decimal_tables::float_powers_address());
        let entry = self.element(table, index, decimal_tables::ENTRY_BYTES);
        let times = self.load(AccessRegion::Input, types::F64, entry, 0);
        let over = self.load(AccessRegion::Input, types::F64, entry, 8);
        let x = self
            .builder
            .ins()
            .fcvt_from_sint(types::F64, number.coefficient);
        let x = self.builder.ins().fmul(x, times);
        let x = self.builder.ins().fdiv(x, over);
        let bits = self.bits_as(types::I64, x);
        if *to == Type::Float32 {
            // Of a float64 that is half way between two float32s it is not known on which side the
            // number was. No result is below the least normal float32 or beyond the largest.
            let rest = self.word(FLOAT32_REST.0);
            let rest = self.builder.ins().band(bits, rest);
            let is_half = self.icmp_const(IntCC::Equal, rest, FLOAT32_REST.1);
            self.leave_if(is_half, call);
        }
        let sign = self.sign_bit(number.sign);
        let signed = self.builder.ins().bor(bits, sign);
        let x = self.bits_as(types::F64, signed);
        match to {
            Type::Float32 => self.builder.ins().fdemote(types::F32, x),
            _ => x,
        }
    }

    fn decimal_to_decimal(
        &mut self,
        parts: &[ir::Value],
        from: &Type,
        to: &Type,
        call: ir::Block,
    ) -> Vec<ir::Value> {
        let (source, target) = (DecimalShape::of(from), DecimalShape::of(to));
        let number = self.short_decimal(parts, from, call);
        let exponent = self.plain_zero_exponent(number.exponent, parts, source.exponent_bias);
        let moved = self.offset(exponent, target.exponent_bias - source.exponent_bias);
        // The exponents of a wider type reach farther at both ends.
        let (checked, count) = if target.exponent_count > source.exponent_count {
            (exponent, source.exponent_count)
        } else {
            (moved, target.exponent_count)
        };
        let is_exponent = self
            .builder
            .ins()
            .icmp_imm_u(IntCC::UnsignedLessThan, checked, count);
        self.leave_unless(is_exponent, call);
        if *to == Type::Decimal32 {
            let excess = self
                .builder
                .ins()
                .ushr_imm_u(number.coefficient, target.coefficient_bits);
            self.leave_if(excess, call);
        }
        let number = ShortDecimal {
            exponent: moved,
            ..number
        };
        self.pack_short(number, to)
    }

    /// Takes a number apart. Leaves if its coefficient has more than 53 bits; the exponent is for
    /// the caller to look at.
    fn short_decimal(&mut self, parts: &[ir::Value], ty: &Type, call: ir::Block) -> ShortDecimal {
        let shape = DecimalShape::of(ty);
        let top = self.resize(parts[parts.len() - 1], ty, types::I64);
        let mask = self.word((1 << shape.coefficient_bits) - 1);
        let coefficient = self.builder.ins().band(top, mask);
        let coefficient = if *ty == Type::Decimal128 {
            let rest = self
                .builder
                .ins()
                .ushr_imm_u(parts[0], COEFFICIENT_BITS_MAX);
            let excess = self.builder.ins().bor(coefficient, rest);
            self.leave_if(excess, call);
            parts[0]
        } else {
            coefficient
        };
        let front = self.builder.ins().ushr_imm_u(top, shape.coefficient_bits);
        let exponent_mask = self.word((1 << shape.exponent_bits) - 1);
        let exponent = self.builder.ins().band(front, exponent_mask);
        let top_bits = 1 + shape.exponent_bits + shape.coefficient_bits;
        ShortDecimal {
            sign: self.builder.ins().ishl_imm_u(top, 64 - top_bits),
            exponent,
            coefficient,
        }
    }

    /// The exponent of a number; of the zero word, which stands for plain 0, that of 0.
    fn plain_zero_exponent(
        &mut self,
        exponent: ir::Value,
        parts: &[ir::Value],
        bias: i64,
    ) -> ir::Value {
        let all = parts[1..]
            .iter()
            .fold(parts[0], |all, &part| self.builder.ins().bor(all, part));
        let is_zero = self.icmp_const(IntCC::Equal, all, 0);
        let bias = self.word(bias);
        self.builder.ins().select(is_zero, bias, exponent)
    }

    /// Puts a number together that is short in its type.
    fn pack_short(&mut self, number: ShortDecimal, ty: &Type) -> Vec<ir::Value> {
        let shape = DecimalShape::of(ty);
        let exponent = self
            .builder
            .ins()
            .ishl_imm_u(number.exponent, shape.coefficient_bits);
        let unused = 64 - 1 - shape.exponent_bits - shape.coefficient_bits;
        let sign = self.sign_bit(number.sign);
        let sign = self.builder.ins().ushr_imm_u(sign, unused);
        let front = self.builder.ins().bor(exponent, sign);
        if *ty == Type::Decimal128 {
            return vec![number.coefficient, front];
        }
        let word = self.builder.ins().bor(front, number.coefficient);
        vec![self.resize(word, &Type::Uint64, type_parts::single_part(ty))]
    }
}

fn integer_bits(ty: &Type) -> i64 {
    i64::from(type_parts::single_part(ty).bits())
}
