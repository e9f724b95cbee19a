//! Filters of imports that are an rstring: the text of a condition over the tuples.
//!
//! ```text
//!   filter : "price > 5 && kind == \"trade\"";
//! ```
//! The text is read by the rules of conditions that are text until the program runs
//! ([`crate::condition`]), but when compiling, so that its errors are reported then.

use graph::Expr;
use syntax::{Diagnostic, Span};
use tuple::Value;

use crate::condition;
use crate::instance::InvocationContext;
use crate::tables::ConditionSymbols;

/// The condition that a constant rstring holds; [`InvocationContext::filter_text`] is its text
/// then.
pub(super) fn filter_condition(
    invocation: &InvocationContext<'_, '_>,
    text: &Expr,
    span: Span,
) -> Option<Expr> {
    let session = invocation.session;
    let help = "a filter is a condition, or a constant rstring that holds one";
    let Value::RString(text) = session.fold_with_help(text, span, Some(help))? else {
        return None;
    };
    // A port without a type was reported.
    let over = invocation.operator_scope.outputs.first()?.schema.clone()?;
    let text = text.to_string_lossy();
    let mut symbols = session.condition_symbols.borrow_mut();
    let symbols = symbols.get_or_insert_with(|| ConditionSymbols::new(session.symbols.natives()));
    match condition::compile_with(symbols, &text, &over) {
        Ok(mut condition) => {
            let _ = invocation.filter_text.set(text.into_owned());
            // Places in the text are no places in a file.
            let pos = session.pos(span);
            condition.for_each(&mut |part| part.pos = pos);
            Some(condition)
        }
        Err(bad) => {
            let message = format!("in this filter: {}", bad.message);
            let finding = Diagnostic::error("bad-filter", span, message);
            session.report(finding.help(
                "a filter is a condition over the attributes of the stream, \
                 as `price > 5 && kind == \"trade\"`",
            ));
            None
        }
    }
}
