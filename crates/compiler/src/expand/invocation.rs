//! Expands one invocation in a composite instance: a composite is instantiated, a primitive
//! operator is built.

use std::rc::Rc;
use std::sync::Arc;

use graph::Unsupported;
use syntax::ast::{Composite, ExprKind, Ident, Invocation, Logic, Mode, QName};
use syntax::{DeclarationKind, Diagnostic, Span};
use tuple::Type;

use super::composite_instance::{CompositeInstance, CompositeInvocation};
use super::expander::Expander;
use super::inherited_clauses;
use crate::annotation::AnnotatedPorts;
use crate::instance::{
    COMMA_HELP, InheritedClauses, InputFeed, OutputStream, count_phrase, first_merging_port, single,
};
use crate::invoke::{self, InvocationRequest};
use crate::name_index::{NameDeclaration, NameMeaning};
use crate::names::{CompositeScope, Definition, Scope, StreamId, StreamSchema};

/// The name of an operator instance: its alias, else its first stream.
pub(super) fn instance_name(invocation: &Invocation) -> Option<&Ident> {
    let first = invocation.outputs.first().map(|port| &port.name);
    invocation.alias.as_ref().or(first)
}

/// Where an invocation stands.
pub(super) struct InvocationPlace<'a, 'w> {
    /// The composite around it.
    pub scope: &'a Scope<'w>,
    /// Config and annotations of the composites around it.
    pub inherited: &'a Rc<InheritedClauses>,
    /// Instance path of the invoked operator.
    pub path: Arc<str>,
}

impl<'w> Expander<'_, 'w> {
    /// Expands an invocation; `outputs` are the numbers of its output streams.
    pub(super) fn expand_invocation(
        &mut self,
        ast: &'w Invocation,
        outputs: &[StreamId],
        composite_scope: &Rc<CompositeScope<'w>>,
        scope: &Scope<'w>,
        inherited: &Rc<InheritedClauses>,
    ) {
        let inputs: Vec<InputFeed> = ast
            .inputs
            .iter()
            .map(|p| self.input_feed(p, composite_scope, scope))
            .collect();
        let output_streams = self.output_streams(ast, outputs, composite_scope, scope);
        if let Some(broken) = output_streams.iter().find(|output| output.schema.is_none()) {
            self.first_untyped.get_or_insert(broken.span);
        }
        let found = self.find_operator(&ast.operator, scope);
        let name = instance_name(ast).map_or("", |name| &*name.text);
        let place = InvocationPlace {
            scope,
            inherited,
            path: instance_path(&composite_scope.instance, name),
        };
        match self.parallel_region(ast, found, &inputs, &output_streams, &place) {
            Some(region) => {
                self.expand_channels(ast, found, (inputs, output_streams), &place, &region)
            }
            None => self.expand_channel(ast, found, (inputs, output_streams), &place),
        }
    }

    /// Expands an invocation, or one channel of it.
    pub(super) fn expand_channel(
        &mut self,
        ast: &'w Invocation,
        found: Option<Definition<'w>>,
        (inputs, output_streams): (Vec<InputFeed>, Vec<OutputStream>),
        place: &InvocationPlace<'_, 'w>,
    ) {
        if self.is_full() {
            return;
        }
        let InvocationPlace {
            scope, inherited, ..
        } = *place;
        let path = place.path.clone();
        match found {
            Some(Definition::Composite(unit, composite)) => {
                let ports = AnnotatedPorts::from_invocation(ast, &inputs, &output_streams);
                let inherited =
                    inherited_clauses::with_invocation(self.session, scope, ast, &ports, inherited);
                if !self.fits_composite(ast, composite) {
                    return;
                }
                let invoked = CompositeInvocation {
                    scope: scope.clone(),
                    params: &ast.params,
                    span: ast.span,
                    head: ast.head,
                    operator: ast.operator.span,
                };
                self.instantiate(CompositeInstance {
                    unit,
                    composite,
                    path,
                    invocation: Some(invoked),
                    inputs,
                    outputs: output_streams,
                    inherited,
                });
            }
            Some(Definition::Operator(model)) => {
                if let Some(Unsupported {
                    reason: why,
                    alternative: instead,
                }) = model.unsupported
                {
                    let message = format!("{} is not supported: {why}", model.name);
                    let place = ast.operator.span;
                    let finding = Diagnostic::error("unsupported-operator", place, message);
                    return self.report(finding.help(instead));
                }
                let request = InvocationRequest {
                    ast,
                    model,
                    path,
                    inputs,
                    outputs: output_streams,
                    scope,
                    inherited,
                    channel: &self.channel,
                };
                let (operator, site) = invoke::build_operator(self.session, request);
                self.push(operator, site);
            }
            _ => {}
        }
    }

    /// The composite or model of an operator's name; reports why there is none.
    pub(super) fn find_operator(&self, name: &QName, scope: &Scope<'w>) -> Option<Definition<'w>> {
        if !name.name.text.starts_with('$') {
            let diagnostics = &self.session.diagnostics;
            let symbols = self.session.symbols;
            let found = symbols.operator(scope.unit_id(), name, diagnostics)?;
            let meaning = match found {
                Definition::Composite(_, composite) => NameMeaning::Declared(composite.name.span),
                Definition::Operator(model) => NameMeaning::Operator {
                    namespace: model.namespace,
                    name: model.name,
                },
                _ => return Some(found),
            };
            self.session.note_meaning(name.name.span, meaning, None);
            return Some(found);
        }
        let is_operator = |mode: &Mode| matches!(mode, Mode::Operator);
        let (actual, scope) = self
            .session
            .formal(&name.name, scope, "an operator", is_operator)?;
        match &single(actual)?.kind {
            ExprKind::Name(name) => self.find_operator(name, &scope),
            _ => None,
        }
    }

    /// The output streams of an invocation, with their types.
    fn output_streams(
        &self,
        ast: &'w Invocation,
        numbers: &[StreamId],
        composite_scope: &CompositeScope<'w>,
        scope: &Scope<'w>,
    ) -> Vec<OutputStream> {
        let ports = ast.outputs.iter().zip(numbers);
        ports
            .map(|(port, &stream)| {
                // The name may belong to another stream if this one is a duplicate.
                let declared = composite_scope.stream(&port.name.text).filter(
                    |s| matches!(s.schema, StreamSchema::Declared(body) if std::ptr::eq(body, &port.ty)),
                );
                let schema = declared.and_then(|s| self.session.stream_schema(&s, scope));
                self.session.note_declaration(|| {
                    let ty = schema.clone().map(Type::Tuple);
                    NameDeclaration::new(DeclarationKind::Stream, &port.name, ty)
                });
                OutputStream {
                    stream,
                    schema,
                    span: port.span,
                }
            })
            .collect()
    }

    /// Whether a composite can be expanded with the ports and clauses of an invocation; reports
    /// what does not fit.
    fn fits_composite(&self, ast: &Invocation, composite: &Composite) -> bool {
        let name = &composite.name.text;
        for (word, span) in foreign_clauses(ast) {
            let message = format!("`{name}` is a composite operator: it takes no {word} clause");
            self.report(Diagnostic::error("composite-clause", span, message));
        }
        let count = |what: &str, wanted: usize, found: usize| {
            if wanted == found {
                return true;
            }
            if self.session.is_broken(ast.span) || self.session.symbols.poison.is_in_head(composite)
            {
                return false;
            }
            let message = format!(
                "composite `{name}` has {}, but {found} {} given",
                count_phrase(wanted, what),
                if found == 1 { "is" } else { "are" },
            );
            let finding = Diagnostic::error("port-count", ast.head, message);
            let finding = finding.label(composite.name.span, "defined here");
            let merging =
                first_merging_port(ast).filter(|_| what == "input port" && found < wanted);
            match merging {
                Some(port) => {
                    let diagnostics = &self.session.diagnostics;
                    diagnostics.add_once(port, finding.help(COMMA_HELP));
                }
                None => self.report(finding),
            }
            false
        };
        let outputs = count("output port", composite.outputs.len(), ast.outputs.len());
        count("input port", composite.inputs.len(), ast.inputs.len()) && outputs
    }
}

/// The clauses that only primitive operators take.
fn foreign_clauses(ast: &Invocation) -> Vec<(&'static str, Span)> {
    let logic = ast.logic.first().map(|clause| match clause {
        Logic::State(decls) => decls.first().map_or(ast.head, |d| d.span),
        Logic::OnTuple(port, _) | Logic::OnPunct(port, _) => port.span,
        Logic::OnProcess(span, _) => *span,
    });
    let window = ast.windows.first().map(|w| w.port.span);
    let output = ast.output.first().map(|o| o.port.span);
    let found = [("logic", logic), ("window", window), ("output", output)];
    found
        .into_iter()
        .filter_map(|(word, span)| Some((word, span?)))
        .collect()
}

/// The path of an instance: `Outer.Inner`.
fn instance_path(outer: &str, name: &str) -> Arc<str> {
    if outer.is_empty() {
        name.into()
    } else {
        format!("{outer}.{name}").into()
    }
}
