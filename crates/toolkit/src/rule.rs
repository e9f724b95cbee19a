//! What the checks of several operators share: parameters as the compiler hands them on, and reports.

use std::sync::Arc;

use graph::{Expr, ExprKind, Misuse, Operator, ParamValue, Part};
use tuple::Value;

use crate::charset::Charset;

/// Whether a parameter is given.
pub fn given(operator: &Operator, name: &str) -> bool {
    operator.param(name).is_some()
}

/// Whether a flag is known to be set.
pub fn holds(operator: &Operator, name: &str) -> bool {
    let flag = exprs(operator, name).first().map(|expr| &expr.kind);
    matches!(flag, Some(ExprKind::Const(Value::Boolean(true))))
}

/// The expressions of a parameter; none if it is not given.
pub fn exprs<'o>(operator: &'o Operator, name: &str) -> &'o [Expr] {
    match operator.param(name).map(|param| &param.value) {
        Some(ParamValue::Exprs(list)) => list,
        _ => &[],
    }
}

/// The words of a parameter; none if it is not given.
pub fn words<'o>(operator: &'o Operator, name: &str) -> &'o [Arc<str>] {
    match operator.param(name).map(|param| &param.value) {
        Some(ParamValue::Literals(list)) => list,
        _ => &[],
    }
}

/// Seconds that are known when compiling are not below 0.
pub fn seconds(operator: &Operator, names: &[&'static str]) -> Result<(), Misuse> {
    for &name in names {
        let value = exprs(operator, name).first().map(|expr| &expr.kind);
        if matches!(value, Some(ExprKind::Const(Value::Float64(number))) if *number < 0.0) {
            let message = format!("`{name}` cannot be below 0");
            return wrong(Part::Param(name), message, "it is a number of seconds");
        }
    }
    Ok(())
}

/// The name of an encoding, if it is known when compiling, means one.
pub fn encoding(name: &Expr, part: Part) -> Result<(), Misuse> {
    if let ExprKind::Const(Value::RString(name)) = &name.kind
        && let Err(fault) = Charset::named(&name.to_string_lossy())
    {
        return wrong(part, fault.message(), "");
    }
    Ok(())
}

/// A report.
pub fn wrong(part: Part, message: impl Into<String>, help: &str) -> Result<(), Misuse> {
    Err(Misuse {
        part,
        message: message.into(),
        help: help.to_owned(),
    })
}
