//! Numeric literals: their suffixes, ranges and values.

use graph::ExprKind;
use syntax::ast::{self, Number, PrefixOp};
use syntax::{Diagnostic, Span};
use tuple::{Decimal32, Decimal64, Decimal128, Type, Value};

use super::Typer;
use super::literal::without_optional;

impl Typer<'_, '_> {
    /// A numeric literal; `negative` if a minus sign stands before it. The hint counts where
    /// numbers are open.
    pub(super) fn number(
        &self,
        number: &Number,
        negative: bool,
        hint: Option<&Type>,
        span: Span,
    ) -> Option<graph::Expr> {
        let open = hint.filter(|_| self.context.open_numbers);
        let closed = open.and_then(|ty| with_suffix_of(number, without_optional(ty)));
        let fits = |number: &Number| literal(number, negative).is_ok();
        let wide = || with_wider_suffix(number, negative).filter(|_| open.is_some());
        // What does not fit the neighbour's type is compared with it by value.
        let closed = closed.filter(fits).or_else(|| wide().filter(fits));
        let number = closed.as_ref().unwrap_or(number);
        match literal(number, negative) {
            Ok((ty, value)) => Some(self.typed_expr(ExprKind::Const(value), ty, span)),
            Err((code, message)) => {
                let finding = Diagnostic::error(code, span, message);
                self.report(
                    match wider(number, negative).filter(|_| code == OUT_OF_RANGE_CODE) {
                        Some((suffix, ty)) => {
                            let sign = if negative { "-" } else { "" };
                            let digits = &number.digits;
                            finding.help(format!("write `{sign}{digits}{suffix}` to make it {ty}"))
                        }
                        None => finding,
                    },
                )
            }
        }
    }
}

impl Typer<'_, '_> {
    /// Whether an expression is a number that takes the type of what it stands beside.
    pub(super) fn is_open_number(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ast::ExprKind::Number(number) => {
                self.context.open_numbers && !has_explicit_type(number)
            }
            ast::ExprKind::Prefix(PrefixOp::Negate, inner) | ast::ExprKind::Paren(inner) => {
                self.is_open_number(inner)
            }
            _ => false,
        }
    }
}

/// The value of a literal that stands beside nothing; `None` if it is out of range or has a wrong
/// suffix.
pub(crate) fn literal_value(number: &Number, negative: bool) -> Option<Value> {
    literal(number, negative).ok().map(|(_, value)| value)
}

/// Whether a literal has a suffix that gives its type.
fn has_explicit_type(number: &Number) -> bool {
    number.is_hex || number.kind.is_some() || number.width.is_some()
}

/// An open literal with the suffix of a type, if it can be one of that type.
fn with_suffix_of(number: &Number, ty: &Type) -> Option<Number> {
    if has_explicit_type(number) || (number.is_float && ty.is_integral()) {
        return None;
    }
    let suffix = suffix(ty)?;
    Some(Number {
        kind: suffix.chars().find(|letter| "sufd".contains(*letter)),
        width: suffix.chars().find(|letter| "bhwlq".contains(*letter)),
        ..number.clone()
    })
}

/// An open integer that is too large for int32, with the suffix of a type that has room for it.
fn with_wider_suffix(number: &Number, negative: bool) -> Option<Number> {
    if has_explicit_type(number) || literal(number, negative).is_ok() {
        return None;
    }
    let (_, ty) = wider(number, negative)?;
    with_suffix_of(number, &ty)
}

/// The suffix that makes a numeric literal one of a type.
pub(super) fn suffix(ty: &Type) -> Option<&'static str> {
    Some(match ty {
        Type::Int8 => "b",
        Type::Int16 => "h",
        Type::Int32 => "w",
        Type::Int64 => "l",
        Type::Uint8 => "ub",
        Type::Uint16 => "uh",
        Type::Uint32 => "u",
        Type::Uint64 => "ul",
        Type::Float32 => "fw",
        Type::Float64 => "f",
        Type::Decimal32 => "dw",
        Type::Decimal64 => "d",
        Type::Decimal128 => "dq",
        _ => return None,
    })
}

/// Whether an integer can be written as a literal of another type.
pub(super) fn is_in_range(value: &Value, to: &Type) -> bool {
    let Some(value) = value.as_integer() else {
        return false;
    };
    range(to).is_none_or(|(least, most)| (least..=most).contains(&value))
}

/// The least and the largest value of an integral type.
pub(super) fn range(ty: &Type) -> Option<(i128, i128)> {
    Some(match ty {
        Type::Int8 => (i8::MIN.into(), i8::MAX.into()),
        Type::Int16 => (i16::MIN.into(), i16::MAX.into()),
        Type::Int32 => (i32::MIN.into(), i32::MAX.into()),
        Type::Int64 => (i64::MIN.into(), i64::MAX.into()),
        Type::Uint8 => (0, u8::MAX.into()),
        Type::Uint16 => (0, u16::MAX.into()),
        Type::Uint32 => (0, u32::MAX.into()),
        Type::Uint64 => (0, u64::MAX.into()),
        _ => return None,
    })
}

/// The digits of a hexadecimal literal, if it is one.
pub(super) fn hex_digits(source: &str) -> Option<&str> {
    let digits = source.trim_start_matches(['-', ' ']).strip_prefix("0x")?;
    Some(digits.trim_end_matches(['s', 'u']))
}

/// How to write a hexadecimal literal of a type: no suffix says its width, its digits do.
pub(super) fn hex_advice(digits: &str, to: &Type) -> String {
    let (width, sign) = match to {
        Type::Int8 => (2, ""),
        Type::Int16 => (4, ""),
        Type::Int32 => (8, ""),
        Type::Int64 => (16, ""),
        Type::Uint8 => (2, "u"),
        Type::Uint16 => (4, "u"),
        Type::Uint32 => (8, "u"),
        Type::Uint64 => (16, "u"),
        _ => (0, ""),
    };
    match width >= digits.len() {
        true => format!(
            "the number of its digits says how wide a hexadecimal literal is; \
             write `0x{digits:0>width$}{sign}` to make it {to}"
        ),
        false => format!("cast it: `({to})`"),
    }
}

type NumberError = (&'static str, String);

const OUT_OF_RANGE_CODE: &str = "literal-out-of-range";

fn literal(number: &Number, negative: bool) -> Result<(Type, Value), NumberError> {
    if number.is_hex {
        return hex(number, negative);
    }
    let ty = suffix_type(number)?;
    let value = match &ty {
        ty if ty.is_integral() => integral(number, negative, ty)?,
        ty => real(number, negative, ty)?,
    };
    Ok((ty, value))
}

fn suffix_type(number: &Number) -> Result<Type, NumberError> {
    let kind = number
        .kind
        .unwrap_or(if number.is_float { 'f' } else { 's' });
    if number.is_float && matches!(kind, 's' | 'u') {
        let message = format!("a number with a fraction or exponent cannot have suffix `{kind}`");
        return Err(("bad-literal", message));
    }
    Ok(match (kind, number.width) {
        ('s', Some('b')) => Type::Int8,
        ('s', Some('h')) => Type::Int16,
        ('s', None | Some('w')) => Type::Int32,
        ('s', Some('l')) => Type::Int64,
        ('u', Some('b')) => Type::Uint8,
        ('u', Some('h')) => Type::Uint16,
        ('u', None | Some('w')) => Type::Uint32,
        ('u', Some('l')) => Type::Uint64,
        ('f', Some('w')) => Type::Float32,
        ('f', None | Some('l')) => Type::Float64,
        ('d', Some('w')) => Type::Decimal32,
        ('d', None | Some('l')) => Type::Decimal64,
        ('d', Some('q')) => Type::Decimal128,
        (kind, width) => {
            let (family, width) = (
                suffix_family(kind),
                width.map_or(String::new(), String::from),
            );
            let written = match (kind, &*width) {
                ('f', "q") => "; a decimal of 128 bits ends with `dq`",
                ('f', _) => "; there are `fw` of 32 bits and `f` of 64",
                ('d', _) => "; there are `dw` of 32 bits, `d` of 64 and `dq` of 128",
                _ => "; the widest is `l`, 64 bits",
            };
            let message = format!("there is no {family} of width `{width}`{written}");
            return Err(("bad-literal", message));
        }
    })
}

fn suffix_family(kind: char) -> &'static str {
    match kind {
        's' => "int",
        'u' => "uint",
        'f' => "float",
        _ => "decimal",
    }
}

fn out_of_range(number: &Number, negative: bool, ty: &Type) -> NumberError {
    let sign = if negative { "-" } else { "" };
    let prefix = if number.is_hex { "0x" } else { "" };
    let message = format!(
        "{sign}{prefix}{} is out of the range of {ty}",
        number.digits
    );
    (OUT_OF_RANGE_CODE, message)
}

/// A wider type that has room for a decimal literal, with its suffix. What was meant to be
/// unsigned stays so unless it is negative.
fn wider(number: &Number, negative: bool) -> Option<(&'static str, Type)> {
    if number.is_float || matches!(number.kind, Some('f' | 'd')) {
        return wider_real(number, negative);
    }
    let digits = number.digits.parse::<i128>().ok()?;
    let value = if negative { -digits } else { digits };
    let types: &[Type] = match (number.kind, negative) {
        (Some('u'), false) => &[Type::Uint16, Type::Uint32, Type::Uint64],
        (Some('u'), true) => &[Type::Int32, Type::Int64],
        _ => &[Type::Int16, Type::Int32, Type::Int64, Type::Uint64],
    };
    let fits = |ty: &Type| !number.is_hex && integer_value(value, ty).is_some();
    let ty = types.iter().find(|ty| fits(ty))?;
    Some((suffix(ty)?, ty.clone()))
}

/// A wider float or decimal type that has room for a literal of the same kind, with its suffix.
fn wider_real(number: &Number, negative: bool) -> Option<(&'static str, Type)> {
    let types: &[Type] = match number.kind {
        Some('d') => &[Type::Decimal64, Type::Decimal128],
        _ => &[Type::Float64],
    };
    let ty = types.iter().find(|ty| real(number, negative, ty).is_ok())?;
    Some((suffix(ty)?, ty.clone()))
}

fn integral(number: &Number, negative: bool, ty: &Type) -> Result<Value, NumberError> {
    let digits = number.digits.parse::<i128>().ok();
    let value = digits.map(|v| if negative { -v } else { v });
    value
        .and_then(|v| integer_value(v, ty))
        .ok_or_else(|| out_of_range(number, negative, ty))
}

/// An integer as a value of an integral type, if it is in range.
pub(crate) fn integer_value(v: i128, ty: &Type) -> Option<Value> {
    Some(match ty {
        Type::Int8 => Value::Int8(v.try_into().ok()?),
        Type::Int16 => Value::Int16(v.try_into().ok()?),
        Type::Int32 => Value::Int32(v.try_into().ok()?),
        Type::Int64 => Value::Int64(v.try_into().ok()?),
        Type::Uint8 => Value::Uint8(v.try_into().ok()?),
        Type::Uint16 => Value::Uint16(v.try_into().ok()?),
        Type::Uint32 => Value::Uint32(v.try_into().ok()?),
        Type::Uint64 => Value::Uint64(v.try_into().ok()?),
        _ => return None,
    })
}

/// `0xFF`: the bits of a number as wide as its digits; `-` negates it wrapping around.
fn hex(number: &Number, negative: bool) -> Result<(Type, Value), NumberError> {
    let bits = u64::from_str_radix(&number.digits, 16)
        .ok()
        .filter(|_| number.digits.len() <= 16);
    let Some(bits) = bits else {
        let message = format!("0x{} has more than 16 digits", number.digits);
        return Err((OUT_OF_RANGE_CODE, message));
    };
    let bits = if negative { bits.wrapping_neg() } else { bits };
    let unsigned = number.kind == Some('u');
    Ok(match (number.digits.len(), unsigned) {
        (0..=2, false) => (Type::Int8, Value::Int8(bits as i8)),
        (3..=4, false) => (Type::Int16, Value::Int16(bits as i16)),
        (5..=8, false) => (Type::Int32, Value::Int32(bits as i32)),
        (_, false) => (Type::Int64, Value::Int64(bits as i64)),
        (0..=2, true) => (Type::Uint8, Value::Uint8(bits as u8)),
        (3..=4, true) => (Type::Uint16, Value::Uint16(bits as u16)),
        (5..=8, true) => (Type::Uint32, Value::Uint32(bits as u32)),
        (_, true) => (Type::Uint64, Value::Uint64(bits)),
    })
}

fn real(number: &Number, negative: bool, ty: &Type) -> Result<Value, NumberError> {
    let text = format!("{}{}", if negative { "-" } else { "" }, number.digits);
    let value = match ty {
        Type::Float32 => text
            .parse()
            .ok()
            .filter(|v: &f32| v.is_finite())
            .map(Value::Float32),
        Type::Float64 => text
            .parse()
            .ok()
            .filter(|v: &f64| v.is_finite())
            .map(Value::Float64),
        Type::Decimal32 => Decimal32::from_text(text.as_bytes())
            .filter(|v| !v.is_infinite())
            .map(Value::Decimal32),
        Type::Decimal64 => Decimal64::from_text(text.as_bytes())
            .filter(|v| !v.is_infinite())
            .map(Value::Decimal64),
        Type::Decimal128 => Decimal128::from_text(text.as_bytes())
            .filter(|v| !v.is_infinite())
            .map(Value::Decimal128),
        _ => None,
    };
    let value = value.ok_or_else(|| out_of_range(number, negative, ty))?;
    match is_zero(&value) && !is_zero_as_written(number) {
        true => Err(below_range(&text, ty)),
        false => Ok(value),
    }
}

/// Whether all digits before the exponent are zeroes.
fn is_zero_as_written(number: &Number) -> bool {
    let digits = number.digits.split(['e', 'E']).next().unwrap_or_default();
    digits.bytes().all(|byte| matches!(byte, b'0' | b'.'))
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Float32(v) => *v == 0.0,
        Value::Float64(v) => *v == 0.0,
        Value::Decimal32(v) => v.is_zero(),
        Value::Decimal64(v) => v.is_zero(),
        Value::Decimal128(v) => v.is_zero(),
        _ => false,
    }
}

fn below_range(text: &str, ty: &Type) -> NumberError {
    let message = format!("{text} is out of the range of {ty}: it would be 0");
    (OUT_OF_RANGE_CODE, message)
}
