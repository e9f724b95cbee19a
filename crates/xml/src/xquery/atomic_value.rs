//! Atomic values: their texts, comparisons, arithmetic and casts.

use std::cmp::Ordering;
use std::fmt;
use std::rc::Rc;

use tuple::Decimal128;
use tuple::decimal::codec::UnpackedDecimal;

use super::failure::{QueryFailure, QueryResult, failure};

/// Greatest length in bytes of a text that a query makes, so that it cannot use up the memory by
/// doubling one.
const TEXT_BYTES_MAX: usize = 1 << 26;

/// An atomic value of a query.
#[derive(Clone, Debug)]
pub enum AtomicValue {
    String(Rc<str>),
    /// Text from a document, which has no type without a schema.
    Untyped(Rc<str>),
    Boolean(bool),
    Integer(i64),
    Decimal(Decimal128),
    Double(f64),
}

/// Type of atomic values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicType {
    Any,
    String,
    Untyped,
    Boolean,
    Integer,
    Decimal,
    Double,
}

/// An operator of arithmetic, as `+`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArithmeticOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    IntegerDivide,
    Remainder,
}

impl AtomicType {
    /// The type of a name in the namespace of XML Schema.
    pub fn from_name(name: &str) -> Option<AtomicType> {
        Some(match name {
            "anyAtomicType" => AtomicType::Any,
            "string" | "anyURI" => AtomicType::String,
            "untypedAtomic" => AtomicType::Untyped,
            "boolean" => AtomicType::Boolean,
            "integer" | "long" | "int" | "short" => AtomicType::Integer,
            "decimal" => AtomicType::Decimal,
            "double" => AtomicType::Double,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            AtomicType::Any => "xs:anyAtomicType",
            AtomicType::String => "xs:string",
            AtomicType::Untyped => "xs:untypedAtomic",
            AtomicType::Boolean => "xs:boolean",
            AtomicType::Integer => "xs:integer",
            AtomicType::Decimal => "xs:decimal",
            AtomicType::Double => "xs:double",
        }
    }

    /// Whether values of another type belong to this type too.
    pub fn includes(self, other: AtomicType) -> bool {
        self == other
            || self == AtomicType::Any
            || (self, other) == (AtomicType::Decimal, AtomicType::Integer)
    }
}

impl AtomicValue {
    pub fn text(text: &str) -> AtomicValue {
        AtomicValue::String(text.into())
    }

    /// Joins texts with another one between each two.
    pub fn join_texts(
        parts: impl IntoIterator<Item = String>,
        between: &str,
    ) -> QueryResult<AtomicValue> {
        let mut all = String::new();
        for (at, part) in parts.into_iter().enumerate() {
            if all.len() + between.len() + part.len() > TEXT_BYTES_MAX {
                let why = format!("a text of more than {TEXT_BYTES_MAX} bytes");
                return Err(failure(why));
            }
            all += if at == 0 { "" } else { between };
            all += &part;
        }
        Ok(AtomicValue::text(&all))
    }

    pub fn ty(&self) -> AtomicType {
        match self {
            AtomicValue::String(_) => AtomicType::String,
            AtomicValue::Untyped(_) => AtomicType::Untyped,
            AtomicValue::Boolean(_) => AtomicType::Boolean,
            AtomicValue::Integer(_) => AtomicType::Integer,
            AtomicValue::Decimal(_) => AtomicType::Decimal,
            AtomicValue::Double(_) => AtomicType::Double,
        }
    }

    pub fn effective_boolean_value(&self) -> bool {
        match self {
            AtomicValue::String(text) | AtomicValue::Untyped(text) => !text.is_empty(),
            AtomicValue::Boolean(value) => *value,
            AtomicValue::Integer(n) => *n != 0,
            AtomicValue::Decimal(n) => !n.is_zero(),
            AtomicValue::Double(n) => *n != 0.0 && !n.is_nan(),
        }
    }

    pub fn is_number(&self) -> bool {
        matches!(
            self.ty(),
            AtomicType::Integer | AtomicType::Decimal | AtomicType::Double
        )
    }

    /// Casts an untyped value to a number, and leaves others as they are.
    pub fn into_arithmetic(self) -> QueryResult<AtomicValue> {
        match self.ty() {
            AtomicType::Untyped => self.cast(AtomicType::Double),
            _ => Ok(self),
        }
    }

    /// The value as a number; NaN if it cannot be cast.
    pub fn to_number(&self) -> f64 {
        match self.cast(AtomicType::Double) {
            Ok(AtomicValue::Double(n)) => n,
            _ => f64::NAN,
        }
    }

    /// Casts the value to another type.
    pub fn cast(&self, to: AtomicType) -> QueryResult<AtomicValue> {
        if to.includes(self.ty()) && to != AtomicType::Decimal {
            return Ok(self.clone());
        }
        let cast = match to {
            AtomicType::Any => Some(self.clone()),
            AtomicType::String => Some(AtomicValue::text(&self.to_string())),
            AtomicType::Untyped => Some(AtomicValue::Untyped(self.to_string().into())),
            AtomicType::Boolean => self.to_boolean().map(AtomicValue::Boolean),
            AtomicType::Integer => self.to_integer().map(AtomicValue::Integer),
            AtomicType::Decimal => self.to_decimal().map(AtomicValue::Decimal),
            AtomicType::Double => self.to_double().map(AtomicValue::Double),
        };
        cast.ok_or_else(|| {
            let name = to.name();
            failure(format!("`{self}` cannot be made to {name}"))
        })
    }

    fn to_boolean(&self) -> Option<bool> {
        match self {
            AtomicValue::String(text) | AtomicValue::Untyped(text) => match text.trim() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            other => Some(other.effective_boolean_value()),
        }
    }

    fn to_integer(&self) -> Option<i64> {
        match self {
            AtomicValue::String(text) | AtomicValue::Untyped(text) => {
                let text = text.trim();
                let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
                let is_whole = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
                text.parse().ok().filter(|_| is_whole)
            }
            AtomicValue::Boolean(value) => Some(i64::from(*value)),
            AtomicValue::Integer(n) => Some(*n),
            AtomicValue::Decimal(n) => integer_part(*n),
            AtomicValue::Double(n) => {
                let n = n.trunc();
                // The bounds are powers of two, which doubles represent exactly.
                (n >= -(2f64.powi(63)) && n < 2f64.powi(63)).then_some(n as i64)
            }
        }
    }

    fn to_decimal(&self) -> Option<Decimal128> {
        match self {
            AtomicValue::String(text) | AtomicValue::Untyped(text) => {
                let text = text.trim();
                let is_plain = text
                    .bytes()
                    .all(|b| b.is_ascii_digit() || b"+-.".contains(&b));
                Decimal128::from_text(text.as_bytes()).filter(|_| is_plain)
            }
            AtomicValue::Boolean(value) => Some(Decimal128::from_i64(i64::from(*value))),
            AtomicValue::Integer(n) => Some(Decimal128::from_i64(*n)),
            AtomicValue::Decimal(n) => Some(*n),
            AtomicValue::Double(n) => n.is_finite().then(|| Decimal128::from_f64(*n)),
        }
    }

    fn to_double(&self) -> Option<f64> {
        match self {
            AtomicValue::String(text) | AtomicValue::Untyped(text) => match text.trim() {
                "INF" => Some(f64::INFINITY),
                "-INF" => Some(f64::NEG_INFINITY),
                "NaN" => Some(f64::NAN),
                text => {
                    let is_number = text
                        .bytes()
                        .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
                    text.parse().ok().filter(|_| is_number)
                }
            },
            AtomicValue::Boolean(value) => Some(f64::from(u8::from(*value))),
            AtomicValue::Integer(n) => Some(*n as f64),
            AtomicValue::Decimal(n) => Some(n.to_f64()),
            AtomicValue::Double(n) => Some(*n),
        }
    }

    /// Compares two values; `None` if one is NaN.
    pub fn compare(&self, other: &AtomicValue) -> QueryResult<Option<Ordering>> {
        Ok(match (self, other) {
            (
                AtomicValue::String(a) | AtomicValue::Untyped(a),
                AtomicValue::String(b) | AtomicValue::Untyped(b),
            ) => Some(a.cmp(b)),
            (AtomicValue::Boolean(a), AtomicValue::Boolean(b)) => Some(a.cmp(b)),
            (AtomicValue::Integer(a), AtomicValue::Integer(b)) => Some(a.cmp(b)),
            (a, b) if !a.is_number() || !b.is_number() => {
                let (a_type, b_type) = (a.ty().name(), b.ty().name());
                let why = format!("`{a}` ({a_type}) and `{b}` ({b_type}) cannot be compared");
                return Err(failure(why));
            }
            (AtomicValue::Double(_), _) | (_, AtomicValue::Double(_)) => {
                self.to_number().partial_cmp(&other.to_number())
            }
            _ => match (self.to_decimal(), other.to_decimal()) {
                (Some(a), Some(b)) => a.compare(b),
                _ => None,
            },
        })
    }
}

/// The whole part of a decimal.
fn integer_part(n: Decimal128) -> Option<i64> {
    let n = if n.is_negative() { n.ceil() } else { n.floor() };
    let found = n.to_i64();
    (Decimal128::from_i64(found).compare(n) == Some(Ordering::Equal)).then_some(found)
}

/// Evaluates an operator of arithmetic.
pub fn calculate(op: ArithmeticOp, a: AtomicValue, b: AtomicValue) -> QueryResult<AtomicValue> {
    let (a, b) = (a.into_arithmetic()?, b.into_arithmetic()?);
    if let Some(other) = [&a, &b].into_iter().find(|value| !value.is_number()) {
        let why = format!("`{other}` ({}) is not a number", other.ty().name());
        return Err(failure(why));
    }
    match (&a, &b) {
        (AtomicValue::Integer(a), AtomicValue::Integer(b)) if op != ArithmeticOp::Divide => {
            calculate_integers(op, *a, *b)
        }
        (AtomicValue::Double(_), _) | (_, AtomicValue::Double(_)) => {
            calculate_doubles(op, a.to_number(), b.to_number())
        }
        _ => match (a.to_decimal(), b.to_decimal()) {
            (Some(a), Some(b)) => calculate_decimals(op, a, b),
            _ => Err(too_large()),
        },
    }
}

fn too_large() -> QueryFailure {
    failure("a number is too large")
}

fn division_by_zero() -> QueryFailure {
    failure("division by 0")
}

fn calculate_integers(op: ArithmeticOp, a: i64, b: i64) -> QueryResult<AtomicValue> {
    let result = match op {
        ArithmeticOp::Add => a.checked_add(b),
        ArithmeticOp::Subtract => a.checked_sub(b),
        ArithmeticOp::Multiply => a.checked_mul(b),
        _ if b == 0 => return Err(division_by_zero()),
        ArithmeticOp::Remainder => Some(a.wrapping_rem(b)),
        ArithmeticOp::Divide | ArithmeticOp::IntegerDivide => a.checked_div(b),
    };
    result.map(AtomicValue::Integer).ok_or_else(too_large)
}

fn calculate_decimals(op: ArithmeticOp, a: Decimal128, b: Decimal128) -> QueryResult<AtomicValue> {
    let needs_divisor = !matches!(
        op,
        ArithmeticOp::Add | ArithmeticOp::Subtract | ArithmeticOp::Multiply
    );
    if needs_divisor && b.is_zero() {
        return Err(division_by_zero());
    }
    let result = match op {
        ArithmeticOp::Add => a + b,
        ArithmeticOp::Subtract => a - b,
        ArithmeticOp::Multiply => a * b,
        ArithmeticOp::Divide => a / b,
        ArithmeticOp::IntegerDivide => {
            let whole = integer_part(a / b).ok_or_else(too_large)?;
            return Ok(AtomicValue::Integer(whole));
        }
        ArithmeticOp::Remainder => {
            let whole = integer_part(a / b).ok_or_else(too_large)?;
            a - b * Decimal128::from_i64(whole)
        }
    };
    match result.is_infinite() || result.is_nan() {
        true => Err(too_large()),
        false => Ok(AtomicValue::Decimal(result)),
    }
}

fn calculate_doubles(op: ArithmeticOp, a: f64, b: f64) -> QueryResult<AtomicValue> {
    Ok(AtomicValue::Double(match op {
        ArithmeticOp::Add => a + b,
        ArithmeticOp::Subtract => a - b,
        ArithmeticOp::Multiply => a * b,
        ArithmeticOp::Divide => a / b,
        ArithmeticOp::Remainder => a % b,
        ArithmeticOp::IntegerDivide if b == 0.0 => return Err(division_by_zero()),
        ArithmeticOp::IntegerDivide => return AtomicValue::Double(a / b).cast(AtomicType::Integer),
    }))
}

impl fmt::Display for AtomicValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AtomicValue::String(text) | AtomicValue::Untyped(text) => f.write_str(text),
            AtomicValue::Boolean(value) => write!(f, "{value}"),
            AtomicValue::Integer(n) => write!(f, "{n}"),
            AtomicValue::Decimal(n) => f.write_str(&decimal_text(*n)),
            AtomicValue::Double(n) => f.write_str(&double_text(*n)),
        }
    }
}

/// A decimal as digits and a point, without zeros at the end.
fn decimal_text(n: Decimal128) -> String {
    let UnpackedDecimal::Finite {
        negative,
        coefficient,
        exponent,
    } = n.unpack()
    else {
        return n.to_string();
    };
    let mut digits = coefficient.to_string();
    if exponent >= 0 {
        digits += &"0".repeat(exponent as usize);
    } else {
        let behind = exponent.unsigned_abs() as usize;
        if digits.len() <= behind {
            digits.insert_str(0, &"0".repeat(behind + 1 - digits.len()));
        }
        digits.insert(digits.len() - behind, '.');
        let kept = digits.trim_end_matches('0').trim_end_matches('.').len();
        digits.truncate(kept);
    }
    let digits = match coefficient {
        0 => "0",
        _ => &digits,
    };
    let sign = if negative && coefficient != 0 {
        "-"
    } else {
        ""
    };
    format!("{sign}{digits}")
}

/// A double as XPath writes it: with an exponent from a million on, and below a millionth.
fn double_text(n: f64) -> String {
    let size = n.abs();
    if n.is_nan() {
        "NaN".to_owned()
    } else if n.is_infinite() {
        format!("{}INF", if n < 0.0 { "-" } else { "" })
    } else if size == 0.0 || (1e-6..1e6).contains(&size) {
        format!("{n}")
    } else {
        let text = format!("{n:E}");
        match text.split_once('E') {
            Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
            _ => text,
        }
    }
}
