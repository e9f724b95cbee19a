//! What a model checks itself, put into the words and places of the source.

use graph::{Misuse, Operator, Part};
use syntax::{Diagnostic, Span};

use super::Work;
use crate::expand::actual_span;

/// Asks the model about an invocation that is otherwise correct.
pub(super) fn run(work: &Work<'_, '_>, operator: &Operator) {
    let Some(verify) = work.model.verify else {
        return;
    };
    if let Err(Misuse {
        part,
        message,
        help,
    }) = verify(operator)
    {
        let finding = Diagnostic::error("operator-rule", place(work, part), message);
        let finding = if help.is_empty() {
            finding
        } else {
            finding.help(help)
        };
        work.session.report(finding);
    }
}

fn place(work: &Work<'_, '_>, part: Part) -> Span {
    let ast = work.ast;
    let output = |port: u32| ast.outputs.get(port as usize).map(|p| p.name.span);
    let found = match part {
        Part::Head => None,
        Part::Input(port) => ast.inputs.get(port as usize).map(|p| p.span),
        Part::Output(port) => output(port),
        Part::Attribute(port, attribute) => assignment(work, port, attribute).or(output(port)),
        Part::Param(name) => {
            let param = ast.params.iter().find(|p| *p.name.text == *name);
            param.map(|p| actual_span(&p.actual).unwrap_or(p.span))
        }
        Part::ParamAt(at) => ast.params.get(at as usize).map(|p| p.name.span),
        Part::Window(port) => {
            let is_it = |name: &str| work.frame.inputs_named(name) == [port as usize];
            ast.windows
                .iter()
                .find(|w| is_it(&w.port.text))
                .map(|w| w.span)
        }
    };
    found.unwrap_or(ast.head)
}

fn assignment(work: &Work<'_, '_>, port: u32, attribute: u32) -> Option<Span> {
    let schema = work.frame.outputs.get(port as usize)?.schema.as_ref()?;
    let wanted = &schema.attributes.get(attribute as usize)?.name;
    let is_it = |name: &str| work.frame.output(name) == Some(port as usize);
    let clause = work
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
