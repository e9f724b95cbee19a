//! Declares the streams of a composite instance before any of its operators is expanded: a stream
//! may be used before it is defined, and a type may be named after a later stream.

use std::collections::HashMap;

use syntax::{DeclarationKind, Diagnostic};

use super::composite_instance::CompositeInstance;
use super::expander::Expander;
use crate::instance::OutputStream;
use crate::name_index::NameDeclaration;
use crate::names::{CompositeScope, CompositeStream, Scope, StreamId, StreamSchema};
use crate::types::add_type_difference;

/// Declares all streams; answers with the numbers of each invocation's output streams.
pub(super) fn declare_streams<'w>(
    expander: &mut Expander<'_, 'w>,
    composite_scope: &CompositeScope<'w>,
    scope: &Scope<'w>,
    instance: &CompositeInstance<'w>,
) -> Vec<Vec<StreamId>> {
    let ports = instance.composite.outputs.iter().map(|p| &*p.name.text);
    let output_streams: HashMap<&str, &OutputStream> = ports.zip(&instance.outputs).collect();
    let session = expander.session;
    let mut numbers = Vec::with_capacity(instance.composite.graph.len());
    for invocation in &instance.composite.graph {
        let mut own = Vec::with_capacity(invocation.outputs.len());
        for port in &invocation.outputs {
            let id = match output_streams.get(&*port.name.text) {
                Some(output) => output.stream,
                None => expander.new_stream(),
            };
            let stream =
                CompositeStream::new(vec![id], StreamSchema::Declared(&port.ty), port.name.span);
            composite_scope.add_stream(&port.name.text, stream, &session.diagnostics);
            session.note_declaration(|| NameDeclaration {
                within: Some(instance.composite.name.span),
                head: port.span,
                ..NameDeclaration::new(DeclarationKind::Stream, &port.name, None)
            });
            own.push(id);
        }
        numbers.push(own);
    }
    check_outputs(expander, composite_scope, scope, instance);
    numbers
}

/// Checks that every output port is fed by a stream of the graph, of the declared types.
fn check_outputs<'w>(
    expander: &Expander<'_, 'w>,
    composite_scope: &CompositeScope<'w>,
    scope: &Scope<'w>,
    instance: &CompositeInstance<'w>,
) {
    let session = expander.session;
    let produced = |name: &str| {
        let ports = instance.composite.graph.iter().flat_map(|i| &i.outputs);
        ports.clone().any(|port| &*port.name.text == name)
    };
    for (at, port) in instance.composite.outputs.iter().enumerate() {
        let name = &port.name.text;
        let is_lost = || {
            session.is_broken(instance.composite.span)
                || session.note_poisoned(DeclarationKind::Stream, name)
        };
        if !produced(name) && is_lost() {
            continue;
        }
        if !produced(name) {
            let message = format!("no operator in the graph gives the output stream `{name}`");
            session.report(Diagnostic::error("missing-stream", port.name.span, message));
            continue;
        }
        let Some(stream) = composite_scope.stream(name) else {
            continue;
        };
        let mut found = session.stream_schema(&stream, scope);
        session.note_use(port.name.span, stream.span, None);
        if let (Some(body), Some(given)) = (&port.ty, &found)
            && let Some(declared) = session.tuple_body(body, scope)
            && declared != *given
        {
            let message = format!("stream `{name}` is not of the type that its port declares");
            let finding = Diagnostic::error("type-mismatch", stream.span, message).label(
                body.span,
                format!("the port is declared as `stream<{declared}>`"),
            );
            session.report(add_type_difference(finding, &declared, given));
            // Which of the two is meant, and so what those who invoke it get, is not known.
            found = None;
        }
        let output_streams = instance.outputs.get(at);
        if let (Some(output), Some(found)) = (output_streams, found)
            && let Some(wanted) = &output.schema
            && *wanted != found
        {
            let composite = &instance.composite.name.text;
            let message =
                format!("this stream is declared as `{wanted}`, but `{composite}` gives `{found}`");
            let finding = Diagnostic::error("type-mismatch", output.span, message)
                .label(port.name.span, "from this port");
            session.report(add_type_difference(finding, &found, wanted));
        }
    }
}
