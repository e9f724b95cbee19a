//! Access to parameters and reports for the checks that operators make when compiling.

use std::sync::Arc;

use graph::{Expr, ExprKind, InvocationError, InvocationPart, OperatorNode, ParamValue};
use tuple::Value;

use crate::charset::Charset;

/// Whether a parameter is given.
pub fn has_param(operator: &OperatorNode, name: &str) -> bool {
    operator.param(name).is_some()
}

/// Whether a flag is constant and true.
pub fn is_true(operator: &OperatorNode, name: &str) -> bool {
    constant(operator, name) == Some(&Value::Boolean(true))
}

/// The expressions of a parameter; none if it is not given.
pub fn exprs<'o>(operator: &'o OperatorNode, name: &str) -> &'o [Expr] {
    match operator.param(name).map(|param| &param.value) {
        Some(ParamValue::Exprs(list)) => list,
        _ => &[],
    }
}

/// The custom literals of a parameter; none if it is not given.
pub fn literals<'o>(operator: &'o OperatorNode, name: &str) -> &'o [Arc<str>] {
    match operator.param(name).map(|param| &param.value) {
        Some(ParamValue::Literals(list)) => list,
        _ => &[],
    }
}

/// Verifies that constant numbers of seconds are not below 0.
pub fn verify_seconds(
    operator: &OperatorNode,
    names: &[&'static str],
) -> Result<(), InvocationError> {
    for &name in names {
        let value = constant(operator, name);
        if matches!(value, Some(Value::Float64(number)) if *number < 0.0) {
            let message = format!("`{name}` cannot be below 0");
            return report_misuse(
                InvocationPart::Param(name),
                message,
                "it is a number of seconds",
            );
        }
    }
    Ok(())
}

/// Verifies that constant numbers are above 0.
pub fn verify_above_zero(
    operator: &OperatorNode,
    names: &[&'static str],
) -> Result<(), InvocationError> {
    for &name in names {
        let given = constant(operator, name);
        let wanted = match given.and_then(Value::as_integer) {
            Some(..=0) => "is a number from 1",
            _ if matches!(given, Some(Value::Float64(number)) if *number <= 0.0) => {
                "is a number above 0"
            }
            _ => continue,
        };
        let message = format!("`{name}` {wanted}");
        return report_misuse(InvocationPart::Param(name), message, "");
    }
    Ok(())
}

/// The value of a parameter, if it is known when compiling.
pub fn constant<'o>(operator: &'o OperatorNode, name: &str) -> Option<&'o Value> {
    match exprs(operator, name).first().map(|expr| &expr.kind) {
        Some(ExprKind::Const(value)) => Some(value),
        _ => None,
    }
}

/// Verifies that a constant name of an encoding is known.
pub fn verify_encoding(name: &Expr, part: InvocationPart) -> Result<(), InvocationError> {
    if let ExprKind::Const(Value::RString(name)) = &name.kind
        && let Err(fault) = Charset::from_name(&name.to_string_lossy())
    {
        return report_misuse(part, fault.message(), "");
    }
    Ok(())
}

/// Reports a wrong part of an invocation.
pub fn report_misuse(
    part: InvocationPart,
    message: impl Into<String>,
    help: &str,
) -> Result<(), InvocationError> {
    Err(InvocationError {
        part,
        message: message.into(),
        help: help.to_owned(),
    })
}
