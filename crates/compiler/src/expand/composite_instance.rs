//! One composite instance: what it is given from outside, and its expansion.

use std::rc::Rc;
use std::sync::Arc;

use syntax::ast::{Composite, Param, TupleBody};
use syntax::{Diagnostic, Span};
use tuple::TupleType;

use super::declare::add_type_difference;
use super::inherited_clauses::{self, InheritedClauses};
use super::input_feed::InputFeed;
use super::{Expander, declare, definition};
use crate::names::{CompositeFrame, CompositeStream, Scope, StreamId, StreamSchema, UnitId};

/// A composite that is to be expanded.
pub(crate) struct CompositeInstance<'w> {
    /// The unit that defines it.
    pub unit: UnitId,
    /// The definition.
    pub composite: &'w Composite,
    /// Its path, "" for the main composite.
    pub path: Arc<str>,
    /// Who invokes it; `None` for the main composite and for a check.
    pub invocation: Option<CompositeInvocation<'w>>,
    /// What feeds its input ports, one for each.
    pub inputs: Vec<InputFeed>,
    /// The streams that it gives, one for each output port.
    pub outputs: Vec<OutputStream>,
    /// Config and annotations from outside.
    pub inherited: Rc<InheritedClauses>,
}

/// The invocation of a composite.
pub(crate) struct CompositeInvocation<'w> {
    /// The scope around it.
    pub scope: Scope<'w>,
    /// Its param clause.
    pub params: &'w [Param],
    /// Its head.
    pub head: Span,
    /// The word that names the composite.
    pub operator: Span,
}

/// A stream that a composite is to give.
#[derive(Clone, Debug)]
pub(crate) struct OutputStream {
    /// Its number outside.
    pub stream: StreamId,
    /// Its type as declared outside; `None` if that is broken or nobody asks.
    pub schema: Option<Arc<TupleType>>,
    /// Where it is declared outside.
    pub span: Span,
}

impl<'w> CompositeInstance<'w> {
    /// A main composite.
    pub fn main(unit: UnitId, composite: &'w Composite) -> CompositeInstance<'w> {
        CompositeInstance {
            unit,
            composite,
            path: "".into(),
            invocation: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            inherited: Rc::default(),
        }
    }
}

impl<'w> Expander<'_, 'w> {
    /// Expands an instance. The caller has matched the number of its ports.
    pub fn instantiate(&mut self, instance: CompositeInstance<'w>) {
        let composite = instance.composite;
        let invoked = instance
            .invocation
            .as_ref()
            .map_or(composite.name.span, |i| i.operator);
        if !self.may_enter(composite, invoked) {
            return;
        }
        let is_first = self.expanded.insert(std::ptr::from_ref(composite));
        if is_first {
            definition::check_definition(composite, self.session);
        }
        self.enclosing.push(composite);
        let frame = self.frame(&instance);
        let scope = Scope::composite(frame.clone());
        // Types and defaults may be named after any stream.
        let graph = declare::declare_streams(self, &frame, &scope, &instance);
        self.check_actuals(&frame, &scope);
        for def in composite.types.iter().filter(|_| is_first) {
            self.session.composite_type(&frame, &def.name, &scope);
        }
        let is_main = instance.invocation.is_none();
        let own = inherited_clauses::with_composite(
            self.session,
            &scope,
            composite,
            &instance.inherited,
            is_main,
        );
        if is_first {
            self.session.resolve_types(&scope);
        }
        for (invocation, outputs) in composite.graph.iter().zip(&graph) {
            self.expand_invocation(invocation, outputs, &frame, &scope, &own);
        }
        self.enclosing.pop();
    }

    /// The names of an instance, with its formals bound and its input ports as streams.
    fn frame(&self, instance: &CompositeInstance<'w>) -> Rc<CompositeFrame<'w>> {
        let diagnostics = &self.session.diagnostics;
        let CompositeInstance {
            unit,
            composite,
            path,
            ..
        } = instance;
        let mut frame = CompositeFrame::new(*unit, composite, path.clone(), diagnostics);
        self.bind(&mut frame, instance);
        let frame = Rc::new(frame);
        let scope = Scope::composite(frame.clone());
        for (port, fed) in composite.inputs.iter().zip(&instance.inputs) {
            let is_declared = match &port.ty {
                Some(body) => self.is_declared(body, fed, &scope, composite),
                None => true,
            };
            if frame.stream(&port.name.text).is_some() {
                continue;
            }
            let schema = fed.schema.clone().filter(|_| is_declared);
            let schema = schema.map_or(StreamSchema::Broken, StreamSchema::Known);
            let mut stream = CompositeStream::new(fed.ids(), schema, port.name.span);
            stream.split_from.clone_from(&fed.split_from);
            frame.add_stream(&port.name.text, stream, diagnostics);
        }
        frame
    }

    /// Checks what feeds an input port against the type that the port declares.
    fn is_declared(
        &self,
        body: &'w TupleBody,
        feed: &InputFeed,
        scope: &Scope<'w>,
        composite: &Composite,
    ) -> bool {
        let declared = self.session.tuple_body(body, scope);
        if let (Some(declared), Some(found)) = (declared, &feed.schema)
            && declared != *found
        {
            let name = &composite.name.text;
            let message = format!("`{name}` takes `{declared}` here, but is given `{found}`");
            let finding = Diagnostic::error("type-mismatch", feed.span, message)
                .label(body.span, "the port declares this type");
            self.report(add_type_difference(finding, &declared, found));
            return false;
        }
        true
    }
}
