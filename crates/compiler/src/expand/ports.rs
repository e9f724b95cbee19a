//! Input ports of an invocation: the streams that feed each, and their common type.

use std::sync::Arc;

use syntax::ast::InPort;
use syntax::{Diagnostic, Span};
use tuple::TupleType;

use super::Expander;
use super::declare::help_difference;
use crate::invoke::COMMAS;
use crate::names::{CompositeFrame, Scope, StreamId};

/// What feeds an input port.
#[derive(Clone, Debug)]
pub(crate) struct Fed {
    /// The streams, each with the place where it was named.
    pub streams: Vec<(StreamId, Span)>,
    /// The streams that they are shares of, in a channel of a parallel region.
    pub shares: Vec<StreamId>,
    /// Their tuple type; `None` if it is broken, which was reported.
    pub schema: Option<Arc<TupleType>>,
    /// The port in the invocation.
    pub span: Span,
}

impl Fed {
    /// The numbers of its streams.
    pub fn ids(&self) -> Vec<StreamId> {
        self.streams.iter().map(|(id, _)| *id).collect()
    }

    /// Those, and those that they are shares of: what names written elsewhere may mean.
    pub fn meanings(&self) -> Vec<StreamId> {
        let ids = self.streams.iter().map(|(id, _)| *id);
        ids.chain(self.shares.iter().copied()).collect()
    }
}

impl<'w> Expander<'_, 'w> {
    /// Looks up the streams of an input port; reports unknown ones, and several of unlike types.
    pub(super) fn feed(
        &self,
        port: &'w InPort,
        frame: &CompositeFrame<'w>,
        scope: &Scope<'w>,
    ) -> Fed {
        let mut fed = Fed {
            streams: Vec::new(),
            shares: Vec::new(),
            schema: None,
            span: port.span,
        };
        let mut first: Option<(&str, Arc<TupleType>)> = None;
        let mut is_broken = false;
        for name in &port.streams {
            let Some(stream) = frame.stream(&name.text) else {
                self.report(self.unknown_stream(name, frame));
                is_broken = true;
                continue;
            };
            fed.streams
                .extend(stream.ids.iter().map(|id| (*id, name.span)));
            fed.shares.extend(&stream.shares);
            let schema = self.session.stream_schema(&stream, scope);
            match (&first, schema) {
                (_, None) => is_broken = true,
                (None, Some(schema)) => first = Some((&name.text, schema)),
                (Some((other, wanted)), Some(schema)) if *wanted != schema => {
                    let message = format!(
                        "streams `{other}` and `{}` on one port differ in type",
                        name.text
                    );
                    let finding = Diagnostic::error("unlike-streams", name.span, message);
                    self.report(help_difference(finding, wanted, &schema).help(COMMAS));
                    // Ports are missing because of the comma.
                    self.session.diagnostics.settle(port.span, "port-count");
                }
                _ => {}
            }
        }
        fed.schema = first.map(|(_, schema)| schema).filter(|_| !is_broken);
        // Which of the two types the rest of the invocation means is not known.
        if !self.is_of_declared_type(port, &fed, scope) {
            fed.schema = None;
        }
        fed
    }

    /// Checks `stream<T> In` of an invocation.
    fn is_of_declared_type(&self, port: &'w InPort, fed: &Fed, scope: &Scope<'w>) -> bool {
        let Some(body) = &port.ty else { return true };
        let declared = self.session.tuple_body(body, scope);
        if let (Some(declared), Some(schema)) = (declared, &fed.schema)
            && declared != *schema
        {
            let message = format!("the port is declared as `{declared}`, but carries `{schema}`");
            let finding = Diagnostic::error("type-mismatch", body.span, message);
            self.report(help_difference(finding, &declared, schema));
            return false;
        }
        true
    }

    fn unknown_stream(&self, name: &syntax::ast::Ident, frame: &CompositeFrame<'w>) -> Diagnostic {
        let message = format!("there is no stream `{}` in this composite", name.text);
        let finding = Diagnostic::error("unknown-stream", name.span, message);
        let mut names = Vec::new();
        let suggestions = &self.session.world.suggestions;
        suggestions.did_you_mean(finding, &name.text, || {
            names = frame.stream_names();
            names.iter().map(|n| &**n)
        })
    }
}
