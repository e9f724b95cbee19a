//! Subscriptions: which streams an import wants, as a condition over their properties.
//!
//! ```text
//!   subscription : kind == "trade" && (level >= 3 || "IBM" in symbols) && n % 4 == 1;
//! ```
//! Names mean properties of the exported stream, not attributes; a property that is missing, or is
//! of another type, meets no condition.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use syntax::ast::{BinaryOp, Expr, ExprKind};
use syntax::{Diagnostic, Span};
use tuple::{RString, Type, Value};

use crate::Session;
use crate::expr::{Context, Typer};
use crate::names::Scope;

/// A condition over properties.
#[derive(Clone, Debug)]
pub(crate) enum Subscription {
    And(Box<[Subscription; 2]>),
    Or(Box<[Subscription; 2]>),
    /// A property compared with a literal.
    Compare(Property, BinaryOp, Literal),
    /// A literal among the elements of a property.
    In(Literal, Property),
    /// `true` or `false`.
    Always(bool),
}

/// `name`, `name[2]`, `name % 4`
#[derive(Clone, Debug)]
pub(crate) struct Property {
    name: Arc<str>,
    index: Option<i64>,
    modulo: Option<i64>,
}

/// The values that properties have.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(crate) enum Literal {
    Int(i64),
    Float(f64),
    Text(Vec<u8>),
}

impl Literal {
    /// Of a value of whatever width.
    fn of(value: &Value) -> Option<Literal> {
        Some(match value {
            Value::Int8(n) => Literal::Int((*n).into()),
            Value::Int16(n) => Literal::Int((*n).into()),
            Value::Int32(n) => Literal::Int((*n).into()),
            Value::Int64(n) => Literal::Int(*n),
            Value::Uint8(n) => Literal::Int((*n).into()),
            Value::Uint16(n) => Literal::Int((*n).into()),
            Value::Uint32(n) => Literal::Int((*n).into()),
            Value::Float32(x) => Literal::Float((*x).into()),
            Value::Float64(x) => Literal::Float(*x),
            Value::RString(text) => Literal::Text(text.as_bytes().to_vec()),
            _ => return None,
        })
    }
}

impl Subscription {
    /// Whether properties meet the condition.
    pub fn holds(&self, properties: &[(Arc<str>, Type, Value)]) -> bool {
        match self {
            Subscription::And(both) => both.iter().all(|one| one.holds(properties)),
            Subscription::Or(both) => both.iter().any(|one| one.holds(properties)),
            Subscription::Always(holds) => *holds,
            Subscription::Compare(property, op, literal) => {
                let value = property.of(properties);
                let order = value.and_then(|value| {
                    value.partial_cmp(literal).filter(|_| {
                        std::mem::discriminant(&value) == std::mem::discriminant(literal)
                    })
                });
                order.is_some_and(|order| compares(*op, order))
            }
            Subscription::In(literal, property) => {
                let found = properties.iter().find(|(name, ..)| *name == property.name);
                found.is_some_and(|(_, _, value)| elements(value).contains(literal))
            }
        }
    }
}

/// As SPL writes it, with the values of what it was made of.
impl fmt::Display for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subscription::And(both) => {
                let [a, b] = &**both;
                write!(f, "{} && {}", within_and(a), within_and(b))
            }
            Subscription::Or(both) => {
                let [a, b] = &**both;
                write!(f, "{a} || {b}")
            }
            Subscription::Always(holds) => write!(f, "{holds}"),
            Subscription::Compare(property, op, literal) => {
                write!(f, "{property} {} {literal}", sign(*op))
            }
            Subscription::In(literal, property) => write!(f, "{literal} in {property}"),
        }
    }
}

/// `||` binds weaker than the `&&` around it.
fn within_and(part: &Subscription) -> String {
    match part {
        Subscription::Or(_) => format!("({part})"),
        part => part.to_string(),
    }
}

fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Ne => "!=",
        _ => "==",
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if let Some(index) = self.index {
            write!(f, "[{index}]")?;
        }
        self.modulo
            .map_or(Ok(()), |modulo| write!(f, " % {modulo}"))
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, ty) = match self {
            Literal::Int(n) => (Value::Int64(*n), Type::Int64),
            Literal::Float(x) => (Value::Float64(*x), Type::Float64),
            Literal::Text(text) => (Value::RString(RString(text.clone())), Type::RString),
        };
        let mut text = Vec::new();
        tuple::text::print(&value, &ty, &mut text);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

fn compares(op: BinaryOp, order: Ordering) -> bool {
    match op {
        BinaryOp::Lt => order.is_lt(),
        BinaryOp::Le => order.is_le(),
        BinaryOp::Gt => order.is_gt(),
        BinaryOp::Ge => order.is_ge(),
        BinaryOp::Ne => order.is_ne(),
        _ => order.is_eq(),
    }
}

impl Property {
    fn of(&self, properties: &[(Arc<str>, Type, Value)]) -> Option<Literal> {
        let (_, _, value) = properties.iter().find(|(name, ..)| *name == self.name)?;
        let value = match self.index {
            Some(index) => elements(value).get(usize::try_from(index).ok()?)?.clone(),
            None => Literal::of(value)?,
        };
        match (self.modulo, value) {
            (None, value) => Some(value),
            (Some(modulo), Literal::Int(n)) => n.checked_rem(modulo).map(Literal::Int),
            _ => None,
        }
    }
}

/// The elements of a list.
fn elements(value: &Value) -> Vec<Literal> {
    match value {
        Value::List(list) => (0..list.len())
            .filter_map(|at| Literal::of(&list.get(at)?))
            .collect(),
        _ => Vec::new(),
    }
}

/// Reads a subscription; reports what cannot be part of one.
pub(crate) fn read<'w>(
    session: &Session<'w>,
    scope: &Scope<'w>,
    expr: &'w Expr,
) -> Option<Subscription> {
    Reader { session, scope }.condition(expr)
}

struct Reader<'a, 'w> {
    session: &'a Session<'w>,
    scope: &'a Scope<'w>,
}

impl<'w> Reader<'_, 'w> {
    fn condition(&self, expr: &'w Expr) -> Option<Subscription> {
        match &expr.kind {
            ExprKind::Paren(inner) => self.condition(inner),
            ExprKind::Boolean(holds) => Some(Subscription::Always(*holds)),
            ExprKind::Binary(BinaryOp::And, _, a, b) => {
                let both = Box::new([self.condition(a)?, self.condition(b)?]);
                Some(Subscription::And(both))
            }
            ExprKind::Binary(BinaryOp::Or, _, a, b) => {
                let both = Box::new([self.condition(a)?, self.condition(b)?]);
                Some(Subscription::Or(both))
            }
            ExprKind::Binary(BinaryOp::In, _, a, b) => {
                let (literal, property) = (self.literal(a)?, self.property(b)?);
                Some(Subscription::In(literal, property))
            }
            ExprKind::Binary(op, _, a, b) if is_comparison(*op) => self.comparison(*op, a, b),
            ExprKind::Error => None,
            _ => self.refuse(expr.span, "this is no condition over properties"),
        }
    }

    fn comparison(&self, op: BinaryOp, a: &'w Expr, b: &'w Expr) -> Option<Subscription> {
        if is_property(a) {
            let property = self.property(a)?;
            return Some(Subscription::Compare(property, op, self.literal(b)?));
        }
        if !is_property(b) {
            return self.refuse(a.span, "a comparison has a property on one side");
        }
        let property = self.property(b)?;
        Some(Subscription::Compare(
            property,
            turned(op),
            self.literal(a)?,
        ))
    }

    fn property(&self, expr: &'w Expr) -> Option<Property> {
        match &expr.kind {
            ExprKind::Paren(inner) => self.property(inner),
            ExprKind::Name(name) if name.namespace.is_none() => Some(Property {
                name: name.name.text.clone(),
                index: None,
                modulo: None,
            }),
            ExprKind::Index(list, index) => Some(Property {
                index: Some(self.integer(index)?),
                ..self.property(list)?
            }),
            ExprKind::Binary(BinaryOp::Rem, _, value, by) => Some(Property {
                modulo: Some(self.integer(by)?),
                ..self.property(value)?
            }),
            ExprKind::Error => None,
            _ => self.refuse(expr.span, "the name of a property is needed here"),
        }
    }

    fn integer(&self, expr: &'w Expr) -> Option<i64> {
        match self.literal(expr)? {
            Literal::Int(n) => Some(n),
            _ => self.refuse(expr.span, "an integer is needed here"),
        }
    }

    /// A literal, or a parameter of the composite that stands for one.
    fn literal(&self, expr: &'w Expr) -> Option<Literal> {
        if is_property(expr) {
            return self.refuse(expr.span, "a literal is needed here, not a property");
        }
        let mut typer = Typer::new(self.session, self.scope.clone(), Context::constant());
        let typed = typer.expr(expr, None)?;
        let value = typer.fold(&typed, expr.span)?;
        let message = "a literal is an rstring, an integer or a float";
        Literal::of(&value).or_else(|| self.refuse(expr.span, message))
    }

    fn refuse<T>(&self, span: Span, message: &str) -> Option<T> {
        let finding = Diagnostic::error("bad-subscription", span, message);
        self.session.report(finding.help(
            "a subscription is made of `name == 5`, `\"x\" in names`, `names[0] == \"x\"`, \
             `n % 2 == 1`, `&&`, `||` and parentheses",
        ));
        None
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge)
}

/// The same comparison seen from the other side.
fn turned(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        op => op,
    }
}

/// Whether an expression begins with the name of a property. Parameters of composites stand for
/// literals.
fn is_property(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Paren(inner) => is_property(inner),
        ExprKind::Name(name) => !name.name.text.starts_with('$'),
        ExprKind::Index(list, _) => is_property(list),
        ExprKind::Binary(BinaryOp::Rem, _, value, _) => is_property(value),
        _ => false,
    }
}
