//! Looks up the streams that feed an input port of an invocation, and their common type.

use std::sync::Arc;

use syntax::ast::InPort;
use syntax::{DeclarationKind, Diagnostic};
use tuple::{TupleType, Type};

use super::expander::Expander;
use crate::instance::{COMMA_HELP, InputFeed};
use crate::names::{CompositeScope, Scope, nearest};
use crate::types::add_type_difference;

/// A composite with more streams is not told by their names.
const LISTED_STREAMS_MAX: usize = 6;

impl<'w> Expander<'_, 'w> {
    /// Looks up the streams of an input port; reports unknown ones, and several of unlike types.
    pub(super) fn input_feed(
        &self,
        port: &'w InPort,
        composite_scope: &CompositeScope<'w>,
        scope: &Scope<'w>,
    ) -> InputFeed {
        let mut feed = InputFeed {
            streams: Vec::new(),
            split_from: Vec::new(),
            schema: None,
            span: port.span,
        };
        let mut first: Option<(&str, Arc<TupleType>)> = None;
        let mut is_broken = false;
        for name in &port.streams {
            let Some(stream) = composite_scope.stream(&name.text) else {
                if !self
                    .session
                    .note_poisoned(DeclarationKind::Stream, &name.text)
                {
                    self.report(self.unknown_stream(name, composite_scope));
                }
                is_broken = true;
                continue;
            };
            feed.streams
                .extend(stream.ids.iter().map(|id| (*id, name.span)));
            feed.split_from.extend(&stream.split_from);
            let schema = self.session.stream_schema(&stream, scope);
            let ty = schema.clone().map(Type::Tuple);
            self.session.note_use(name.span, stream.span, ty.as_ref());
            match (&first, schema) {
                (_, None) => is_broken = true,
                (None, Some(schema)) => first = Some((&name.text, schema)),
                (Some((other, wanted)), Some(schema)) if *wanted != schema => {
                    let message = format!(
                        "streams `{other}` and `{}` on one port differ in type",
                        name.text
                    );
                    let finding = Diagnostic::error("unlike-streams", name.span, message);
                    self.report(add_type_difference(finding, wanted, &schema).help(COMMA_HELP));
                    // Ports are missing because of the comma.
                    self.session
                        .diagnostics
                        .mark_reported(port.span, "port-count");
                }
                _ => {}
            }
        }
        feed.schema = first.map(|(_, schema)| schema).filter(|_| !is_broken);
        // Which of the two types the rest of the invocation means is not known.
        if !self.is_of_declared_type(port, &feed, scope) {
            feed.schema = None;
        }
        feed
    }

    /// Checks `stream<T> In` of an invocation.
    fn is_of_declared_type(&self, port: &'w InPort, feed: &InputFeed, scope: &Scope<'w>) -> bool {
        let Some(body) = &port.ty else { return true };
        let declared = self.session.tuple_body(body, scope);
        if let (Some(declared), Some(schema)) = (declared, &feed.schema)
            && declared != *schema
        {
            let message = format!("the port is declared as `{declared}`, but carries `{schema}`");
            let finding = Diagnostic::error("type-mismatch", body.span, message);
            self.report(add_type_difference(finding, &declared, schema));
            return false;
        }
        true
    }

    fn unknown_stream(
        &self,
        name: &syntax::ast::Ident,
        composite_scope: &CompositeScope<'w>,
    ) -> Diagnostic {
        let message = format!("there is no stream `{}` in this composite", name.text);
        let finding = Diagnostic::error("unknown-stream", name.span, message);
        if !self.session.symbols.suggestions.is_open(finding.span) {
            return finding;
        }
        let mut names = composite_scope.stream_names();
        names.sort_unstable();
        names.dedup();
        match nearest(&name.text, names.iter().map(|name| &**name)) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None if names.is_empty() || names.len() > LISTED_STREAMS_MAX => finding,
            None => {
                let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                finding.help(format!("its streams are {}", names.join(", ")))
            }
        }
    }
}
