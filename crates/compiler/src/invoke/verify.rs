//! Runs the checks of an operator's model, and reports their results at places of the source.

use graph::{InvocationError, InvocationPart, OperatorNode, PortIndex};
use syntax::{Diagnostic, Span};

use crate::instance::InvocationContext;
use crate::instance::actual_span;

/// Asks the model about an invocation that is otherwise correct.
pub(super) fn check_with_model(invocation: &InvocationContext<'_, '_>, operator: &OperatorNode) {
    let verify = invocation.model.verify;
    let Some(verify) = verify.filter(|_| !invocation.is_incomplete()) else {
        return;
    };
    if let Err(InvocationError {
        part,
        message,
        help,
    }) = verify(operator)
    {
        let finding = Diagnostic::error("operator-rule", place(invocation, part), message);
        let finding = if help.is_empty() {
            finding
        } else {
            finding.help(help)
        };
        invocation.session.report(finding);
    }
}

/// The place of a part of an invocation; that of its head if the part is not there.
pub(super) fn place(invocation: &InvocationContext<'_, '_>, part: InvocationPart) -> Span {
    let ast = invocation.ast;
    let output = |port: PortIndex| ast.outputs.get(port.index()).map(|p| p.name.span);
    let found = match part {
        InvocationPart::Head => None,
        InvocationPart::Input(port) => ast.inputs.get(port.index()).map(|p| p.span),
        InvocationPart::Output(port) => output(port),
        InvocationPart::Attribute(port, attribute) => {
            assignment(invocation, port, attribute).or(output(port))
        }
        InvocationPart::Param(name) => {
            let param = ast.params.iter().find(|p| *p.name.text == *name);
            param.map(|p| actual_span(&p.actual).unwrap_or(p.span))
        }
        InvocationPart::ParamIndex(at) => ast.params.get(at as usize).map(|p| p.name.span),
        InvocationPart::Window(port) => {
            let is_it = |name: &str| invocation.operator_scope.inputs_named(name) == [port.index()];
            ast.windows
                .iter()
                .find(|w| is_it(&w.port.text))
                .map(|w| w.span)
        }
    };
    found.unwrap_or(ast.head)
}

fn assignment(
    invocation: &InvocationContext<'_, '_>,
    port: PortIndex,
    attribute: u32,
) -> Option<Span> {
    let schema = invocation
        .operator_scope
        .outputs
        .get(port.index())?
        .schema
        .as_ref()?;
    let wanted = &schema.attributes.get(attribute as usize)?.name;
    let is_it = |name: &str| invocation.operator_scope.output(name) == Some(port.index());
    let clause = invocation
        .ast
        .output
        .iter()
        .find(|clause| is_it(&clause.port.text))?;
    clause
        .body
        .iter()
        .find(|(name, _)| name.text == *wanted)
        .map(|(_, value)| value.span)
}
