//! Room for values that an operator keeps together in one tuple: those of a parameter, as keys are,
//! and the arguments and results of a port's output functions.

use std::sync::Arc;

use graph::{InvocationPart, OperatorNode, ParamValue, PortIndex};
use syntax::Diagnostic;
use tuple::layout::FIXED_BYTES_MAX;
use tuple::{Layout, TupleType, Type};

use super::verify::place;
use crate::instance::InvocationContext;

/// Reports values that no tuple has room for: bounded strings and collections are stored at full
/// length.
pub(super) fn check_room(invocation: &InvocationContext<'_, '_>, operator: &OperatorNode) {
    for param in &operator.params {
        if let ParamValue::Exprs(values) = &param.value
            && !fit_tuple(values.iter().map(|value| &value.ty))
        {
            let named = invocation.ast.params.iter();
            let at = named
                .map(|p| &p.name)
                .position(|name| name.text == param.name);
            let part = InvocationPart::ParamIndex(at.unwrap_or_default() as u32);
            report(invocation, part, "the values of this parameter");
        }
    }
    for (port, output) in (0..).map(PortIndex).zip(&operator.outputs) {
        let arguments = output.calls.iter().flat_map(|call| &call.args);
        let results = output.calls.iter().map(|call| &call.ty);
        if !fit_tuple(arguments.map(|argument| &argument.ty)) || !fit_tuple(results) {
            let part = InvocationPart::Output(port);
            report(
                invocation,
                part,
                "the values of this stream's output functions",
            );
        }
    }
}

fn fit_tuple<'t>(types: impl Iterator<Item = &'t Type>) -> bool {
    let mut named = types.map(|ty| ("", ty.clone())).peekable();
    let is_empty = named.peek().is_none();
    is_empty || Layout::try_new(&Arc::new(TupleType::new(named))).is_ok()
}

fn report(invocation: &InvocationContext<'_, '_>, part: InvocationPart, what: &str) {
    let message = format!("{what} are too large");
    let finding = Diagnostic::error("type-too-large", place(invocation, part), message);
    let help = format!(
        "bounded strings and collections take the room of their bound in a tuple of these values, \
         and a tuple has room for {FIXED_BYTES_MAX} bytes; cast them to types without bounds"
    );
    invocation.session.report(finding.help(help));
}
