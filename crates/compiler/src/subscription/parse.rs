//! Reads subscriptions from the program: an expression, or an rstring that holds one.

use syntax::ast::{BinaryOp, Expr, ExprKind, PrefixOp, StringKind};
use syntax::{Diagnostic, Span};
use tuple::{RString, Value};

use super::literal::PropertyLiteral;
use super::property_condition::{PropertyRef, Subscription};
use crate::Session;
use crate::expr::{Typer, TypingContext, literal_value};
use crate::names::Scope;

/// Reads a subscription; reports what cannot be part of one.
pub(crate) fn parse_subscription<'w>(
    session: &Session<'w>,
    scope: &Scope<'w>,
    expr: &'w Expr,
) -> Option<Subscription> {
    if is_text(expr) {
        return parse_text(session, scope, expr);
    }
    let refuse = |span: Span, message: &str| refuse(session, span, message.to_owned());
    let constant = |expr: &'w Expr| constant(session, scope, expr);
    let reader = SubscriptionParser {
        literal: &constant,
        refuse: &refuse,
    };
    reader.condition(expr)
}

/// Whether an expression can only be a text: no condition over properties has its form. A parameter
/// of a composite stands for a value.
fn is_text(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Paren(inner) => is_text(inner),
        ExprKind::Name(name) => name.name.text.starts_with('$'),
        ExprKind::Binary(BinaryOp::Add, ..) => true,
        ExprKind::String(..) | ExprKind::StringUnits(..) => true,
        ExprKind::Call(..) | ExprKind::Cast(..) | ExprKind::Conditional(..) => true,
        _ => false,
    }
}

/// A subscription that is the value of an rstring. What is wrong in it is shown at the string, with
/// the line and column in the text.
fn parse_text<'w>(
    session: &Session<'w>,
    scope: &Scope<'w>,
    expr: &'w Expr,
) -> Option<Subscription> {
    let text = match constant(session, scope, expr)? {
        Value::RString(text) => text,
        Value::Boolean(holds) => return Some(Subscription::Always(holds)),
        _ => {
            let message =
                "a subscription is a condition over properties, or an rstring that holds one";
            return refuse(session, expr.span, message.to_owned());
        }
    };
    let text = text.to_string_lossy();
    let report = |span: Span, message: &str| {
        let (line, column) = position(&text, span);
        let message = format!("in this subscription: {line}:{column}: {message}");
        refuse(session, expr.span, message)
    };
    let ast = match syntax::parse_expr(&text) {
        Ok(ast) => ast,
        Err(found) => {
            let first = found.iter().min_by_key(|finding| finding.span.start);
            let span = first.map_or(Span::default(), |finding| finding.span);
            return report(span, first.map_or("it is no expression", |d| &d.message));
        }
    };
    let value = |expr: &Expr| {
        let value = constant_literal(expr);
        value.or_else(|| report(expr.span, "a number or an rstring is needed here").and(None))
    };
    let reader = SubscriptionParser {
        literal: &value,
        refuse: &report,
    };
    reader.condition(&ast)
}

/// Line and column of a place in a text, from 1.
fn position(text: &str, span: Span) -> (usize, usize) {
    let before = text.get(..span.start as usize).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

/// The value of a literal that stands in a text, where there is nothing else.
fn constant_literal(expr: &Expr) -> Option<Value> {
    match &expr.kind {
        ExprKind::Paren(inner) => constant_literal(inner),
        ExprKind::Number(number) => literal_value(number, false),
        ExprKind::Prefix(PrefixOp::Negate, inner) => match &inner.kind {
            ExprKind::Number(number) => literal_value(number, true),
            _ => None,
        },
        ExprKind::String(text, StringKind::Plain | StringKind::RString) => {
            Some(Value::RString(RString(text.as_bytes().to_vec())))
        }
        _ => None,
    }
}

/// The value of an expression that is known when compiling.
fn constant<'w>(session: &Session<'w>, scope: &Scope<'w>, expr: &'w Expr) -> Option<Value> {
    let mut typer = Typer::new(session, scope.clone(), TypingContext::constant());
    let typed = typer.expr(expr, None)?;
    typer.fold(&typed, expr.span)
}

fn refuse(session: &Session<'_>, span: Span, message: String) -> Option<Subscription> {
    let finding = Diagnostic::error("bad-subscription", span, message);
    session.report(finding.help(
        "a subscription is made of `name == 5`, `\"x\" in names`, `names[0] == \"x\"`, \
         `n % 2 == 1`, `&&`, `||` and parentheses",
    ));
    None
}

/// Turns expressions into conditions.
struct SubscriptionParser<'a, 'x> {
    /// The value of what stands where a literal is needed; reports what has none.
    literal: &'a dyn Fn(&'x Expr) -> Option<Value>,
    /// Reports what cannot be part of a subscription.
    refuse: &'a dyn Fn(Span, &str) -> Option<Subscription>,
}

impl<'x> SubscriptionParser<'_, 'x> {
    fn condition(&self, expr: &'x Expr) -> Option<Subscription> {
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

    fn comparison(&self, op: BinaryOp, a: &'x Expr, b: &'x Expr) -> Option<Subscription> {
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
            mirrored(op),
            self.literal(a)?,
        ))
    }

    fn property(&self, expr: &'x Expr) -> Option<PropertyRef> {
        match &expr.kind {
            ExprKind::Paren(inner) => self.property(inner),
            ExprKind::Name(name) if name.namespace.is_none() => Some(PropertyRef {
                name: name.name.text.clone(),
                index: None,
                modulo: None,
            }),
            ExprKind::Index(list, index) => Some(PropertyRef {
                index: Some(self.integer(index)?),
                ..self.property(list)?
            }),
            ExprKind::Binary(BinaryOp::Rem, _, value, by) => Some(PropertyRef {
                modulo: Some(self.integer(by)?),
                ..self.property(value)?
            }),
            ExprKind::Error => None,
            _ => self.refuse(expr.span, "the name of a property is needed here"),
        }
    }

    fn integer(&self, expr: &'x Expr) -> Option<i64> {
        let integer = match self.literal(expr)? {
            PropertyLiteral::Int(n) => i64::try_from(n).ok(),
            _ => None,
        };
        integer.or_else(|| self.refuse(expr.span, "an integer of 64 bits is needed here"))
    }

    /// A literal, or a parameter of the composite that stands for one.
    fn literal(&self, expr: &'x Expr) -> Option<PropertyLiteral> {
        if is_property(expr) {
            return self.refuse(expr.span, "a literal is needed here, not a property");
        }
        let value = (self.literal)(expr)?;
        let message = "a literal is an rstring, an integer or a float";
        PropertyLiteral::from_value(&value).or_else(|| self.refuse(expr.span, message))
    }

    fn refuse<T>(&self, span: Span, message: &str) -> Option<T> {
        (self.refuse)(span, message).and(None)
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge)
}

/// The comparison with its sides exchanged: `<` for `>`.
fn mirrored(op: BinaryOp) -> BinaryOp {
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
