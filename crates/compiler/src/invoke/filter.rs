//! Filters of imports that are an rstring: the text of a condition over the tuples.
//!
//! ```text
//!   filter : "price > 5 && kind == \"trade\"";
//! ```
//! The text is read by the rules of conditions that are text until the program runs
//! ([`crate::condition()`]), but here, so that what is wrong with it is said when compiling.

use graph::Expr;
use syntax::{Diagnostic, Span};
use tuple::Value;

use super::Work;
use crate::condition::Conditions;

/// The condition that a constant rstring holds; [`Work::filter_text`] is its text then.
pub(super) fn condition(work: &Work<'_, '_>, text: &Expr, span: Span) -> Option<Expr> {
    let session = work.session;
    let help = "a filter is a condition, or a constant rstring that holds one";
    let Value::RString(text) = session.fold_or_say(text, span, Some(help))? else {
        return None;
    };
    // A port without a type was reported.
    let over = work.frame.outputs.first()?.schema.clone()?;
    let text = text.to_string_lossy();
    let mut conditions = session.conditions.borrow_mut();
    let conditions = conditions.get_or_insert_with(|| Conditions::new(session.world.natives()));
    match conditions.condition(&text, &over) {
        Ok(mut condition) => {
            let _ = work.filter_text.set(text.into_owned());
            // Places in the text are no places in a file.
            let pos = session.pos(span);
            condition.each(&mut |part| part.pos = pos);
            Some(condition)
        }
        Err(bad) => {
            let message = format!("in this filter: {}", bad.sentence);
            let finding = Diagnostic::error("bad-filter", span, message);
            session.report(finding.help(
                "a filter is a condition over the attributes of the stream, \
                 as `price > 5 && kind == \"trade\"`",
            ));
            None
        }
    }
}
