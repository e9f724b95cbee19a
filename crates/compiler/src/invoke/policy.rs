//! Eviction and trigger policies of windows, and how partitions are evicted.

use graph::{ExprKind, PartitionEviction, Policy, PolicyKind, PortIndex};
use syntax::ast::Expr;
use syntax::{Diagnostic, Span};
use tuple::{Type, Value};

use super::interval;
use crate::expr::{ReadableInputs, Typer, TypingContext};
use crate::instance::InvocationContext;

/// The kind of a policy.
pub(super) fn kind_of(policy: &Policy) -> PolicyKind {
    match policy {
        Policy::Count(_) => PolicyKind::Count,
        Policy::Time(_) => PolicyKind::Time,
        Policy::Delta(..) => PolicyKind::Delta,
        Policy::Punct => PolicyKind::Punct,
        Policy::Interval(_) => PolicyKind::Interval,
        Policy::Session(_) => PolicyKind::Session,
    }
}

/// Reads the policies of the window of one port.
pub(super) struct WindowPolicyReader<'a, 'b, 'w> {
    pub invocation: &'a InvocationContext<'b, 'w>,
    pub port: usize,
}

impl<'w> WindowPolicyReader<'_, '_, 'w> {
    /// `count(n)`, `time(s)`, `delta(attribute, n)`, `punct()`.
    pub fn policy(&self, word: &str, args: &'w [Expr], span: Span) -> Option<Policy> {
        match (word, args) {
            ("punct", []) => Some(Policy::Punct),
            ("punct", [first, ..]) => self.fail(first.span, "`punct()` takes no value"),
            ("count", [n]) => self.count(word, n).map(Policy::Count),
            ("time", [seconds]) => self.seconds(word, seconds, true).map(Policy::Time),
            ("delta", [attribute, amount]) => self.delta(attribute, amount),
            ("delta", _) => self.fail(span, "`delta` takes an attribute and an amount"),
            _ => self.fail(span, format!("`{word}` takes one value")),
        }
    }

    /// Reads a policy that evicts partitions: `partitionAge(s)`, `partitionCount(n)` or
    /// `tupleCount(n)`.
    pub fn partition_eviction(
        &self,
        word: &str,
        args: &'w [Expr],
        span: Span,
    ) -> Option<PartitionEviction> {
        let [value] = args else {
            return self.fail(span, format!("`{word}` takes one value"));
        };
        match word {
            "partitionAge" => self.seconds(word, value, false).map(PartitionEviction::Age),
            "partitionCount" => self.count(word, value).map(PartitionEviction::Count),
            _ => self.count(word, value).map(PartitionEviction::Tuples),
        }
    }

    fn count(&self, word: &str, expr: &'w Expr) -> Option<u32> {
        match self.constant(expr)? {
            (Value::Uint32(n), _) => Some(n),
            (Value::Int32(n), _) if n >= 0 => Some(n as u32),
            (Value::Int32(n), _) => {
                self.fail(expr.span, format!("`{word}` cannot be negative: {n}"))
            }
            (_, ty) => self.fail(
                expr.span,
                format!("`{word}` takes an int32 or uint32, not {ty}"),
            ),
        }
    }

    /// Seconds; also as an integer if `integers`.
    pub fn seconds(&self, word: &str, expr: &'w Expr, integers: bool) -> Option<f64> {
        let (seconds, ty) = match self.constant(expr)? {
            (Value::Float64(s), ty) => (s, ty),
            (Value::Int32(s), ty) if integers => (f64::from(s), ty),
            (Value::Uint32(s), ty) if integers => (f64::from(s), ty),
            (_, ty) => (f64::NAN, ty),
        };
        let is_fit = ty == Type::Float64 || integers && matches!(ty, Type::Int32 | Type::Uint32);
        if !is_fit {
            let wanted = if integers {
                "an int32, uint32 or float64"
            } else {
                "a float64"
            };
            let message = format!("`{word}` takes {wanted} (seconds), not {ty}");
            let finding = Diagnostic::error("window-policy", expr.span, message);
            let finding = match ty.is_integral() {
                true => finding.help("a float64 has a point, as `60.0`"),
                false => finding,
            };
            self.invocation.session.report(finding);
            return None;
        }
        if !seconds.is_finite() || seconds < 0.0 {
            let least = match interval::is_above_zero(word) {
                true => "more than zero",
                false => "zero or more",
            };
            let message = format!("`{word}` takes a time of {least} seconds");
            return self.fail(expr.span, message);
        }
        Some(seconds)
    }

    fn delta(&self, attribute: &'w Expr, amount: &'w Expr) -> Option<Policy> {
        let context = TypingContext {
            inputs: ReadableInputs::Port(PortIndex(self.port as u32)),
            ..TypingContext::expression()
        };
        let context = TypingContext {
            history: false,
            state: false,
            ..context
        };
        let mut typer = Typer::new(
            self.invocation.session,
            self.invocation.scope.clone(),
            context,
        );
        let typed = typer.expr(attribute, None)?;
        if self.invocation.session.is_pending(&typed) {
            return None;
        }
        let ExprKind::Attribute { index, .. } = typed.kind else {
            return self.fail(
                attribute.span,
                "`delta` needs an attribute of the input stream",
            );
        };
        let wanted = match &typed.ty {
            Type::Timestamp => Type::Float64,
            ty if ty.is_numeric() && !ty.is_complex() => ty.clone(),
            ty => {
                let message = format!("`delta` needs a number or a timestamp, not {ty}");
                return self.fail(attribute.span, message);
            }
        };
        let mut typer = Typer::new(
            self.invocation.session,
            self.invocation.scope.clone(),
            TypingContext::constant(),
        );
        let found = typer.expr(amount, None)?;
        if found.ty != wanted {
            let message = format!(
                "the amount of a delta over {} is of type {wanted}, not {}",
                typed.ty, found.ty
            );
            return self.fail(amount.span, message);
        }
        let value = typer.fold(&found, amount.span)?;
        if is_below_zero(&value) {
            let message = "the amount of a `delta` cannot be negative";
            let finding = Diagnostic::error("window-policy", amount.span, message);
            let help = "a `delta` is how far the attribute may rise above that of an earlier tuple";
            self.invocation.session.report(finding.help(help));
            return None;
        }
        Some(Policy::Delta(index, value))
    }

    fn constant(&self, expr: &'w Expr) -> Option<(Value, Type)> {
        let scope = self.invocation.scope.clone();
        let mut typer = Typer::new(self.invocation.session, scope, TypingContext::constant());
        let typed = typer.expr(expr, None)?;
        Some((typer.fold(&typed, expr.span)?, typed.ty))
    }

    fn fail<T>(&self, span: Span, message: impl Into<String>) -> Option<T> {
        self.invocation.session.fail("window-policy", span, message)
    }
}

/// Whether a number is below zero, or none, so that no difference can exceed it as it should.
fn is_below_zero(amount: &Value) -> bool {
    match amount {
        Value::Int8(n) => *n < 0,
        Value::Int16(n) => *n < 0,
        Value::Int32(n) => *n < 0,
        Value::Int64(n) => *n < 0,
        Value::Float32(n) => n.is_nan() || *n < 0.0,
        Value::Float64(n) => n.is_nan() || *n < 0.0,
        Value::Decimal32(n) => n.is_nan() || n.is_negative() && !n.is_zero(),
        Value::Decimal64(n) => n.is_nan() || n.is_negative() && !n.is_zero(),
        Value::Decimal128(n) => n.is_nan() || n.is_negative() && !n.is_zero(),
        _ => false,
    }
}
