//! A condition over the properties of an exported stream, and its evaluation.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use syntax::ast::BinaryOp;
use tuple::{Type, Value};

use super::literal::PropertyLiteral;

/// A condition over properties.
#[derive(Clone, Debug)]
pub(crate) enum Subscription {
    And(Box<[Subscription; 2]>),
    Or(Box<[Subscription; 2]>),
    /// A property compared with a literal.
    Compare(PropertyRef, BinaryOp, PropertyLiteral),
    /// A literal among the elements of a property.
    In(PropertyLiteral, PropertyRef),
    /// A constant `true` or `false`.
    Always(bool),
}

/// `name`, `name[2]`, `name % 4`
#[derive(Clone, Debug)]
pub(crate) struct PropertyRef {
    pub(super) name: Arc<str>,
    pub(super) index: Option<i64>,
    pub(super) modulo: Option<i64>,
}

impl Subscription {
    /// Whether properties meet the condition.
    pub fn holds(&self, properties: &[(Arc<str>, Type, Value)]) -> bool {
        match self {
            Subscription::And(both) => both.iter().all(|one| one.holds(properties)),
            Subscription::Or(both) => both.iter().any(|one| one.holds(properties)),
            Subscription::Always(holds) => *holds,
            Subscription::Compare(property, op, literal) => {
                let value = property.value_in(properties);
                let order = value.and_then(|value| value.compare(literal));
                order.is_some_and(|order| is_satisfied(*op, order))
            }
            Subscription::In(literal, property) => {
                let found = properties.iter().find(|(name, ..)| *name == property.name);
                let is_it =
                    |element: &PropertyLiteral| literal.compare(element) == Some(Ordering::Equal);
                found.is_some_and(|(_, _, value)| elements(value).iter().any(is_it))
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

impl fmt::Display for PropertyRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if let Some(index) = self.index {
            write!(f, "[{index}]")?;
        }
        self.modulo
            .map_or(Ok(()), |modulo| write!(f, " % {modulo}"))
    }
}

fn is_satisfied(op: BinaryOp, order: Ordering) -> bool {
    match op {
        BinaryOp::Lt => order.is_lt(),
        BinaryOp::Le => order.is_le(),
        BinaryOp::Gt => order.is_gt(),
        BinaryOp::Ge => order.is_ge(),
        BinaryOp::Ne => order.is_ne(),
        _ => order.is_eq(),
    }
}

impl PropertyRef {
    fn value_in(&self, properties: &[(Arc<str>, Type, Value)]) -> Option<PropertyLiteral> {
        let (_, _, value) = properties.iter().find(|(name, ..)| *name == self.name)?;
        let value = match self.index {
            Some(index) => elements(value).get(usize::try_from(index).ok()?)?.clone(),
            None => PropertyLiteral::from_value(value)?,
        };
        match (self.modulo, value) {
            (None, value) => Some(value),
            (Some(modulo), PropertyLiteral::Int(n)) => {
                n.checked_rem(modulo.into()).map(PropertyLiteral::Int)
            }
            _ => None,
        }
    }
}

/// The elements of a list.
fn elements(value: &Value) -> Vec<PropertyLiteral> {
    match value {
        Value::List(list) => (0..list.len())
            .filter_map(|at| PropertyLiteral::from_value(&list.get(at)?))
            .collect(),
        _ => Vec::new(),
    }
}
