//! Expands a composite instance: binds its formals, declares its streams, and expands each of its
//! invocations.

use std::rc::Rc;
use std::sync::Arc;

use syntax::ast::{Composite, TupleBody};
use syntax::{DeclarationKind, Diagnostic};
use tuple::{TupleType, Type};

use super::composite_instance::CompositeInstance;
use super::expander::Expander;
use super::{declare, definition, inherited_clauses};
use crate::config;
use crate::instance::{InputFeed, OutputStream};
use crate::name_index::NameDeclaration;
use crate::names::{CompositeScope, CompositeStream, Scope, StreamSchema, UnitId};
use crate::types::add_type_difference;

impl<'w> Expander<'_, 'w> {
    /// Expands a main composite.
    pub fn expand_main(&mut self, unit: UnitId, composite: &'w Composite) {
        self.instantiate(CompositeInstance::main(unit, composite));
    }

    /// Expands a composite that nothing invokes, to report what is wrong with it: formals without
    /// default stand for nothing, input ports have the types that they declare.
    pub fn check_uninvoked(&mut self, unit: UnitId, composite: &'w Composite) {
        let scope = self.session.static_scope(unit, composite);
        let mut inputs = Vec::with_capacity(composite.inputs.len());
        for port in &composite.inputs {
            let span = port.name.span;
            let schema = port
                .ty
                .as_ref()
                .and_then(|body| self.session.tuple_body(body, &scope));
            let streams = vec![(self.new_stream(), span)];
            inputs.push(InputFeed {
                streams,
                split_from: Vec::new(),
                schema,
                span,
            });
        }
        let outputs = composite.outputs.iter().map(|port| OutputStream {
            stream: self.new_stream(),
            schema: None,
            span: port.name.span,
        });
        let outputs = outputs.collect();
        self.instantiate(CompositeInstance {
            inputs,
            outputs,
            ..CompositeInstance::main(unit, composite)
        });
    }

    /// Expands an instance. The caller has matched the number of its ports.
    pub fn instantiate(&mut self, instance: CompositeInstance<'w>) {
        let composite = instance.composite;
        let invoked = instance.invocation.as_ref().map(|i| i.operator);
        if !self.may_enter(instance.unit, composite, invoked) {
            return;
        }
        let is_first = self.expanded.insert(std::ptr::from_ref(composite));
        if is_first {
            definition::check_definition(composite, self.session);
        }
        self.enclosing.push(composite);
        self.session
            .diagnostics
            .instances
            .enter(&composite.name, invoked);
        let composite_scope = self.composite_scope(&instance);
        let scope = Scope::composite(composite_scope.clone());
        // Types and defaults may be named after any stream.
        let graph = declare::declare_streams(self, &composite_scope, &scope, &instance);
        self.check_actuals(&composite_scope, &scope);
        for def in composite.types.iter().filter(|_| is_first) {
            self.session
                .composite_type(&composite_scope, &def.name, &scope);
        }
        let is_main = instance.invocation.is_none();
        let own = inherited_clauses::with_composite(
            self.session,
            &scope,
            composite,
            &instance.inherited,
            is_main,
        );
        if is_main {
            self.main_config = config::program_config(&own);
        }
        if is_first {
            self.session.resolve_types(&scope);
        }
        for (invocation, outputs) in composite.graph.iter().zip(&graph) {
            self.expand_invocation(invocation, outputs, &composite_scope, &scope, &own);
        }
        self.session.diagnostics.instances.leave();
        self.enclosing.pop();
    }

    /// The names of an instance, with its formals bound and its input ports as streams.
    fn composite_scope(&self, instance: &CompositeInstance<'w>) -> Rc<CompositeScope<'w>> {
        let diagnostics = &self.session.diagnostics;
        let CompositeInstance {
            unit,
            composite,
            path,
            ..
        } = instance;
        let mut composite_scope = CompositeScope::new(*unit, composite, path.clone(), diagnostics);
        self.bind(&mut composite_scope, instance);
        let composite_scope = Rc::new(composite_scope);
        let scope = Scope::composite(composite_scope.clone());
        for (port, feed) in composite.inputs.iter().zip(&instance.inputs) {
            let schema = match &port.ty {
                Some(body) => self.declared_schema(body, feed, &scope, composite),
                None => feed.schema.clone(),
            };
            if composite_scope.stream(&port.name.text).is_some() {
                continue;
            }
            self.session.note_declaration(|| NameDeclaration {
                within: Some(composite.name.span),
                ..NameDeclaration::new(
                    DeclarationKind::Stream,
                    &port.name,
                    schema.clone().map(Type::Tuple),
                )
            });
            let schema = schema.map_or(StreamSchema::Broken, StreamSchema::Known);
            let mut stream = CompositeStream::new(feed.ids(), schema, port.name.span);
            stream.split_from.clone_from(&feed.split_from);
            composite_scope.add_stream(&port.name.text, stream, diagnostics);
        }
        composite_scope
    }

    /// The type of an input port that declares it; reports that what feeds the port has another
    /// one. If nothing is known of what feeds the port, its type is what it declares.
    fn declared_schema(
        &self,
        body: &'w TupleBody,
        feed: &InputFeed,
        scope: &Scope<'w>,
        composite: &Composite,
    ) -> Option<Arc<TupleType>> {
        let declared = self.session.tuple_body(body, scope);
        let (Some(declared), Some(found)) = (&declared, &feed.schema) else {
            return declared.or_else(|| feed.schema.clone());
        };
        if declared != found {
            let name = &composite.name.text;
            let message = format!("`{name}` takes `{declared}` here, but is given `{found}`");
            let finding = Diagnostic::error("type-mismatch", feed.span, message)
                .label(body.span, "the port declares this type");
            self.report(add_type_difference(finding, declared, found));
            return None;
        }
        feed.schema.clone()
    }
}
