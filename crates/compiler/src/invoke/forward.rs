//! Output attributes without an assignment: forwarded from the first input port that has an
//! attribute of the same name and type, if the operator forwards; else an error, if it must assign
//! all.

use graph::{AssignmentMode, Expr, ExprKind, PortIndex};
use syntax::Diagnostic;
use tuple::Attribute;

use crate::instance::InvocationContext;

/// Fills in what is forwarded to output port `port`, and reports what is left. `written` are the
/// attributes that have an assignment, good or bad.
pub(super) fn forward(
    invocation: &InvocationContext<'_, '_>,
    port: usize,
    assigned: &mut [Option<Expr>],
    written: &[bool],
) {
    let model = invocation.outputs[port];
    let schema = invocation.operator_scope.outputs[port]
        .schema
        .clone()
        .unwrap_or_default();
    let same = model
        .same_schema_as
        .is_some_and(|input| !has_type_of(invocation, port, input.index()));
    let mut missing = Vec::new();
    for (at, attribute) in schema.attributes.iter().enumerate() {
        if written[at] {
            continue;
        }
        if model.auto_assignment {
            assigned[at] = forwarded_value(invocation, attribute, port);
        }
        if assigned[at].is_none() && model.complete_assignment {
            missing.push(attribute);
        }
    }
    let has_port = |name: &str| invocation.operator_scope.output(name).is_some();
    let mut clauses = invocation.ast.output.iter();
    let is_misnamed = clauses.any(|clause| !has_port(&clause.port.text));
    // A parameter with the name of a port is an assignment without the word `output`.
    let mut params = invocation.ast.params.iter();
    let lacks_word = params.any(|param| has_port(&param.name.text));
    if !missing.is_empty()
        && !is_misnamed
        && !lacks_word
        && invocation.are_ports_matched
        && !invocation.operator_scope.is_broken()
        && !same
        && !invocation.is_incomplete()
    {
        report(invocation, port, &missing);
    }
}

fn forwarded_value(
    invocation: &InvocationContext<'_, '_>,
    wanted: &Attribute,
    port: usize,
) -> Option<Expr> {
    let inputs = (0..).map(PortIndex).zip(&invocation.operator_scope.inputs);
    inputs
        .filter_map(|(from, input)| Some((from, input.schema.as_ref()?.find(&wanted.name)?)))
        .find(|(_, (_, found))| found.ty == wanted.ty)
        .map(|(from, (index, _))| Expr {
            kind: ExprKind::Attribute {
                port: from,
                history: 0,
                index: index as u32,
            },
            ty: wanted.ty.clone(),
            pos: invocation
                .session
                .pos(invocation.ast.outputs[port].name.span),
        })
}

fn report(invocation: &InvocationContext<'_, '_>, port: usize, missing: &[&Attribute]) {
    let place = &invocation.ast.outputs[port].name;
    let names: Vec<_> = missing.iter().map(|a| format!("`{}`", a.name)).collect();
    let message = match &names[..] {
        [one] => format!("nothing is assigned to the output attribute {one}"),
        _ => format!(
            "nothing is assigned to the output attributes {}",
            names.join(", ")
        ),
    };
    let mut finding = Diagnostic::error("unassigned-attribute", place.span, message);
    for attribute in missing {
        let unlike = invocation.operator_scope.inputs.iter().find_map(|input| {
            let (_, found) = input.schema.as_ref()?.find(&attribute.name)?;
            Some((&input.name, found))
        });
        if let Some((input, found)) = unlike {
            let Attribute { name, ty } = attribute;
            let found = &found.ty;
            finding = finding.help(format!(
                "`{name}` of `{input}` is of type {found}, not {ty}"
            ));
        }
    }
    if finding.help.is_empty() && invocation.outputs[port].assign != AssignmentMode::None {
        let (output, first) = (&place.text, &missing[0].name);
        finding = finding.help(format!(
            "no input has it; assign it: `output {output} : {first} = ...;`"
        ));
    }
    invocation.session.report(finding);
}

/// Checks that an output port has the type of an input port; what is unknown passes.
fn has_type_of(invocation: &InvocationContext<'_, '_>, port: usize, input: usize) -> bool {
    let input = invocation.operator_scope.inputs.get(input);
    let (Some(input), Some(found)) = (input, &invocation.operator_scope.outputs[port].schema)
    else {
        return true;
    };
    let Some(wanted) = &input.schema else {
        return true;
    };
    if wanted == found {
        return true;
    }
    let (place, name) = (&invocation.ast.outputs[port].name, invocation.model.name);
    let message = format!(
        "{name} hands its input on: stream `{}` must have the type of `{}`",
        place.text, input.name
    );
    let finding = Diagnostic::error("type-mismatch", place.span, message);
    let finding = finding.label(input.span, format!("of type {wanted}"));
    invocation
        .session
        .report(crate::types::add_type_difference(finding, wanted, found));
    false
}
