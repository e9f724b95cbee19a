//! Atomic values: their texts, comparisons, arithmetic and casts.

use std::cmp::Ordering;
use std::fmt;
use std::rc::Rc;

use tuple::Decimal128;
use tuple::decimal::codec::Unpacked;

use super::{Failure, Outcome};

/// Texts that a query makes have so many bytes at most: it cannot use up the memory by doubling one.
const TEXT_BYTES_MAX: usize = 1 << 26;

/// A value.
#[derive(Clone, Debug)]
pub enum Atomic {
    String(Rc<str>),
    /// What a document holds: text whose type nobody has said.
    Untyped(Rc<str>),
    Boolean(bool),
    Integer(i64),
    Decimal(Decimal128),
    Double(f64),
}

/// The type of a value, or of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Any,
    String,
    Untyped,
    Boolean,
    Integer,
    Decimal,
    Double,
}

/// `+` and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    DivideWhole,
    Remainder,
}

impl Type {
    /// The type of a name without its prefix.
    pub fn named(name: &str) -> Option<Type> {
        Some(match name {
            "anyAtomicType" => Type::Any,
            "string" | "anyURI" => Type::String,
            "untypedAtomic" => Type::Untyped,
            "boolean" => Type::Boolean,
            "integer" | "long" | "int" | "short" => Type::Integer,
            "decimal" => Type::Decimal,
            "double" => Type::Double,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Type::Any => "xs:anyAtomicType",
            Type::String => "xs:string",
            Type::Untyped => "xs:untypedAtomic",
            Type::Boolean => "xs:boolean",
            Type::Integer => "xs:integer",
            Type::Decimal => "xs:decimal",
            Type::Double => "xs:double",
        }
    }

    /// Whether values of another type are of this one too.
    pub fn holds(self, other: Type) -> bool {
        self == other || self == Type::Any || (self, other) == (Type::Decimal, Type::Integer)
    }
}

impl Atomic {
    pub fn text(text: &str) -> Atomic {
        Atomic::String(text.into())
    }

    /// Texts, one behind the other.
    pub fn joined(parts: impl IntoIterator<Item = String>, between: &str) -> Outcome<Atomic> {
        let mut all = String::new();
        for (at, part) in parts.into_iter().enumerate() {
            if all.len() + between.len() + part.len() > TEXT_BYTES_MAX {
                let why = format!("a text of more than {TEXT_BYTES_MAX} bytes");
                return Err(Failure::Value(why));
            }
            all += if at == 0 { "" } else { between };
            all += &part;
        }
        Ok(Atomic::text(&all))
    }

    pub fn ty(&self) -> Type {
        match self {
            Atomic::String(_) => Type::String,
            Atomic::Untyped(_) => Type::Untyped,
            Atomic::Boolean(_) => Type::Boolean,
            Atomic::Integer(_) => Type::Integer,
            Atomic::Decimal(_) => Type::Decimal,
            Atomic::Double(_) => Type::Double,
        }
    }

    pub fn truth(&self) -> bool {
        match self {
            Atomic::String(text) | Atomic::Untyped(text) => !text.is_empty(),
            Atomic::Boolean(value) => *value,
            Atomic::Integer(n) => *n != 0,
            Atomic::Decimal(n) => !n.is_zero(),
            Atomic::Double(n) => *n != 0.0 && !n.is_nan(),
        }
    }

    pub fn is_number(&self) -> bool {
        matches!(self.ty(), Type::Integer | Type::Decimal | Type::Double)
    }

    /// Untyped values as numbers; the others as they are.
    pub fn for_arithmetic(self) -> Outcome<Atomic> {
        match self.ty() {
            Type::Untyped => self.cast(Type::Double),
            _ => Ok(self),
        }
    }

    /// As a number; NaN if it is none.
    pub fn number(&self) -> f64 {
        match self.cast(Type::Double) {
            Ok(Atomic::Double(n)) => n,
            _ => f64::NAN,
        }
    }

    /// As another type.
    pub fn cast(&self, to: Type) -> Outcome<Atomic> {
        if to.holds(self.ty()) && to != Type::Decimal {
            return Ok(self.clone());
        }
        let cast = match to {
            Type::Any => Some(self.clone()),
            Type::String => Some(Atomic::text(&self.to_string())),
            Type::Untyped => Some(Atomic::Untyped(self.to_string().into())),
            Type::Boolean => self.to_boolean().map(Atomic::Boolean),
            Type::Integer => self.to_integer().map(Atomic::Integer),
            Type::Decimal => self.to_decimal().map(Atomic::Decimal),
            Type::Double => self.to_double().map(Atomic::Double),
        };
        cast.ok_or_else(|| {
            let name = to.name();
            Failure::Value(format!("`{self}` cannot be made to {name}"))
        })
    }

    fn to_boolean(&self) -> Option<bool> {
        match self {
            Atomic::String(text) | Atomic::Untyped(text) => match text.trim() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            other => Some(other.truth()),
        }
    }

    fn to_integer(&self) -> Option<i64> {
        match self {
            Atomic::String(text) | Atomic::Untyped(text) => {
                let text = text.trim();
                let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
                let is_whole = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
                text.parse().ok().filter(|_| is_whole)
            }
            Atomic::Boolean(value) => Some(i64::from(*value)),
            Atomic::Integer(n) => Some(*n),
            Atomic::Decimal(n) => whole(*n),
            Atomic::Double(n) => {
                let n = n.trunc();
                // The bounds are powers of two: doubles have them exactly.
                (n >= -(2f64.powi(63)) && n < 2f64.powi(63)).then_some(n as i64)
            }
        }
    }

    fn to_decimal(&self) -> Option<Decimal128> {
        match self {
            Atomic::String(text) | Atomic::Untyped(text) => {
                let text = text.trim();
                let is_plain = text
                    .bytes()
                    .all(|b| b.is_ascii_digit() || b"+-.".contains(&b));
                Decimal128::from_text(text.as_bytes()).filter(|_| is_plain)
            }
            Atomic::Boolean(value) => Some(Decimal128::from_i64(i64::from(*value))),
            Atomic::Integer(n) => Some(Decimal128::from_i64(*n)),
            Atomic::Decimal(n) => Some(*n),
            Atomic::Double(n) => n.is_finite().then(|| Decimal128::from_f64(*n)),
        }
    }

    fn to_double(&self) -> Option<f64> {
        match self {
            Atomic::String(text) | Atomic::Untyped(text) => match text.trim() {
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
            Atomic::Boolean(value) => Some(f64::from(u8::from(*value))),
            Atomic::Integer(n) => Some(*n as f64),
            Atomic::Decimal(n) => Some(n.to_f64()),
            Atomic::Double(n) => Some(*n),
        }
    }

    /// The order of two values that can be compared; `None` if one is not a number.
    pub fn order(&self, other: &Atomic) -> Outcome<Option<Ordering>> {
        Ok(match (self, other) {
            (Atomic::String(a) | Atomic::Untyped(a), Atomic::String(b) | Atomic::Untyped(b)) => {
                Some(a.cmp(b))
            }
            (Atomic::Boolean(a), Atomic::Boolean(b)) => Some(a.cmp(b)),
            (Atomic::Integer(a), Atomic::Integer(b)) => Some(a.cmp(b)),
            (a, b) if !a.is_number() || !b.is_number() => {
                let (a_type, b_type) = (a.ty().name(), b.ty().name());
                let why = format!("`{a}` ({a_type}) and `{b}` ({b_type}) cannot be compared");
                return Err(Failure::Value(why));
            }
            (Atomic::Double(_), _) | (_, Atomic::Double(_)) => {
                self.number().partial_cmp(&other.number())
            }
            _ => match (self.to_decimal(), other.to_decimal()) {
                (Some(a), Some(b)) => a.compare(b),
                _ => None,
            },
        })
    }
}

/// The whole part of a decimal.
fn whole(n: Decimal128) -> Option<i64> {
    let n = if n.is_negative() { n.ceil() } else { n.floor() };
    let found = n.to_i64();
    (Decimal128::from_i64(found).compare(n) == Some(Ordering::Equal)).then_some(found)
}

/// `a + b` and its like; both are numbers or a fault.
pub fn calculate(op: Arithmetic, a: Atomic, b: Atomic) -> Outcome<Atomic> {
    let (a, b) = (a.for_arithmetic()?, b.for_arithmetic()?);
    if let Some(other) = [&a, &b].into_iter().find(|value| !value.is_number()) {
        let why = format!("`{other}` ({}) is not a number", other.ty().name());
        return Err(Failure::Value(why));
    }
    match (&a, &b) {
        (Atomic::Integer(a), Atomic::Integer(b)) if op != Arithmetic::Divide => {
            integers(op, *a, *b)
        }
        (Atomic::Double(_), _) | (_, Atomic::Double(_)) => doubles(op, a.number(), b.number()),
        _ => match (a.to_decimal(), b.to_decimal()) {
            (Some(a), Some(b)) => decimals(op, a, b),
            _ => Err(too_large()),
        },
    }
}

fn too_large() -> Failure {
    Failure::Value("a number is too large".to_owned())
}

fn by_zero() -> Failure {
    Failure::Value("division by 0".to_owned())
}

fn integers(op: Arithmetic, a: i64, b: i64) -> Outcome<Atomic> {
    let result = match op {
        Arithmetic::Add => a.checked_add(b),
        Arithmetic::Subtract => a.checked_sub(b),
        Arithmetic::Multiply => a.checked_mul(b),
        _ if b == 0 => return Err(by_zero()),
        Arithmetic::Remainder => Some(a.wrapping_rem(b)),
        Arithmetic::Divide | Arithmetic::DivideWhole => a.checked_div(b),
    };
    result.map(Atomic::Integer).ok_or_else(too_large)
}

fn decimals(op: Arithmetic, a: Decimal128, b: Decimal128) -> Outcome<Atomic> {
    let needs_divisor = !matches!(
        op,
        Arithmetic::Add | Arithmetic::Subtract | Arithmetic::Multiply
    );
    if needs_divisor && b.is_zero() {
        return Err(by_zero());
    }
    let result = match op {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a * b,
        Arithmetic::Divide => a / b,
        Arithmetic::DivideWhole => {
            let whole = whole(a / b).ok_or_else(too_large)?;
            return Ok(Atomic::Integer(whole));
        }
        Arithmetic::Remainder => {
            let whole = whole(a / b).ok_or_else(too_large)?;
            a - b * Decimal128::from_i64(whole)
        }
    };
    match result.is_infinite() || result.is_nan() {
        true => Err(too_large()),
        false => Ok(Atomic::Decimal(result)),
    }
}

fn doubles(op: Arithmetic, a: f64, b: f64) -> Outcome<Atomic> {
    Ok(Atomic::Double(match op {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a * b,
        Arithmetic::Divide => a / b,
        Arithmetic::Remainder => a % b,
        Arithmetic::DivideWhole if b == 0.0 => return Err(by_zero()),
        Arithmetic::DivideWhole => return Atomic::Double(a / b).cast(Type::Integer),
    }))
}

impl fmt::Display for Atomic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Atomic::String(text) | Atomic::Untyped(text) => f.write_str(text),
            Atomic::Boolean(value) => write!(f, "{value}"),
            Atomic::Integer(n) => write!(f, "{n}"),
            Atomic::Decimal(n) => f.write_str(&decimal_text(*n)),
            Atomic::Double(n) => f.write_str(&double_text(*n)),
        }
    }
}

/// Digits and a point, without zeros at the end.
fn decimal_text(n: Decimal128) -> String {
    let Unpacked::Finite {
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

/// As XPath writes doubles: with an exponent from a million on, and below a millionth.
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
