//! Constant folding: evaluates typed expressions with the reference interpreter.

use graph::ExprKind;
use syntax::{Diagnostic, Span};
use tuple::Value;

use crate::Session;

impl Session<'_> {
    /// The value of a typed expression; reports that it is not known when compiling.
    pub fn fold(&self, expr: &graph::Expr, span: Span) -> Option<Value> {
        self.fold_with_help(expr, span, None)
    }

    /// [`Session::fold`], with what would help if the value is not known when compiling.
    pub(crate) fn fold_with_help(
        &self,
        expr: &graph::Expr,
        span: Span,
        help: Option<&str>,
    ) -> Option<Value> {
        if let ExprKind::Const(value) = &expr.kind {
            return Some(value.clone());
        }
        match self.evaluate(expr) {
            Ok(value) => Some(value),
            Err(_) if self.is_pending(expr) => None,
            Err(fault) => {
                let is_unknown = fault.kind() == eval::FaultKind::Limit;
                let message = match is_unknown {
                    true => "this is not known when compiling".to_owned(),
                    false => format!("this constant has no value: {fault}"),
                };
                let finding = Diagnostic::error("not-constant", span, message);
                self.report(match help.filter(|_| is_unknown) {
                    Some(help) => finding.help(help),
                    None => finding,
                });
                None
            }
        }
    }

    /// The value, if it is known when compiling.
    pub fn try_fold(&self, expr: &graph::Expr) -> Option<Value> {
        match &expr.kind {
            ExprKind::Const(value) => Some(value.clone()),
            _ => self.evaluate(expr).ok(),
        }
    }

    fn evaluate(&self, expr: &graph::Expr) -> Result<Value, eval::Fault> {
        self.type_functions();
        let natives = self.symbols.natives();
        self.with_functions(|functions| eval::interp::fold(expr, natives, functions))
    }
}
