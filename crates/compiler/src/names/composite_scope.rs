//! Scope of a composite instance: its formals with their actuals, its streams, and its types.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use syntax::ast::{Actual, Composite, Formal, TupleBody, TypeDef};
use syntax::{Diagnostic, Span};
use tuple::TupleType;

use super::enumerator::{self, Enumerator};
use super::lazy_result::LazyResult;
use super::namespace_index::duplicate_enumerator;
use super::scope::{Scope, ScopeLevel};
use super::stream_id::StreamId;
use super::unit::UnitId;
use crate::Diagnostics;

/// A stream as one composite instance sees it.
#[derive(Debug)]
pub struct CompositeStream<'w> {
    /// Which streams it is: several if it is an input port that is fed by several.
    pub ids: Vec<StreamId>,
    /// The streams that it is a share of, in a channel of a parallel region: their names mean it
    /// too.
    pub split_from: Vec<StreamId>,
    /// Tuple type of the stream; use [`crate::Session::stream_schema`] to resolve it.
    pub schema: StreamSchema<'w>,
    /// Where it is declared.
    pub span: Span,
    pub(crate) resolved: LazyResult<Arc<TupleType>>,
}

/// How a stream's tuple type is known.
#[derive(Clone, Debug)]
pub enum StreamSchema<'w> {
    /// The type is resolved.
    Known(Arc<TupleType>),
    /// As written, to be resolved in the scope of the composite; it may name other streams.
    Declared(&'w TupleBody),
    /// Something is wrong with it, and that was reported.
    Broken,
}

impl<'w> CompositeStream<'w> {
    /// A stream of the composite whose scope it is added to.
    pub fn new(ids: Vec<StreamId>, schema: StreamSchema<'w>, span: Span) -> CompositeStream<'w> {
        CompositeStream {
            ids,
            split_from: Vec::new(),
            schema,
            span,
            resolved: LazyResult::default(),
        }
    }
}

/// Actual that a composite's formal stands for in one instance.
#[derive(Clone, Debug)]
pub struct FormalBinding<'w> {
    /// Formal in the definition of the composite.
    pub formal: &'w Formal,
    /// Actual of the invocation, or the default.
    pub actual: &'w Actual,
    /// Scope in which the actual was written, and in which its names are resolved.
    pub scope: Scope<'w>,
}

impl<'w> FormalBinding<'w> {
    /// The scope of the actual. That of a default sees the streams and types of the instance, whose
    /// scope this is, but none of its formals.
    pub(crate) fn actual_scope(&self, composite_scope: &Rc<CompositeScope<'w>>) -> Scope<'w> {
        match self.scope.is_default() {
            true => Scope::composite(composite_scope.clone()).enter(ScopeLevel::Default),
            false => self.scope.clone(),
        }
    }
}

/// The names of one composite instance.
#[derive(Debug)]
pub struct CompositeScope<'w> {
    /// The unit that defines it.
    pub unit: UnitId,
    /// Definition of the composite, in the syntax tree.
    pub ast: &'w Composite,
    /// Instance path without the main composite: "" for the main composite itself.
    pub instance: Arc<str>,
    bindings: HashMap<&'w str, Option<FormalBinding<'w>>>,
    streams: RefCell<HashMap<Arc<str>, Rc<CompositeStream<'w>>>>,
    types: HashMap<&'w str, CompositeType<'w>>,
    enumerators: RefCell<HashMap<Arc<str>, Enumerator>>,
}

/// A type of the composite, resolved when first asked for.
#[derive(Debug)]
pub(crate) struct CompositeType<'w> {
    pub def: &'w Arc<TypeDef>,
    pub resolved: LazyResult<tuple::Type>,
}

impl<'w> CompositeScope<'w> {
    /// The scope of an instance, with its types. Reports types that are defined twice.
    pub fn new(
        unit: UnitId,
        ast: &'w Composite,
        instance: impl Into<Arc<str>>,
        diagnostics: &Diagnostics,
    ) -> CompositeScope<'w> {
        let mut scope = CompositeScope {
            unit,
            ast,
            instance: instance.into(),
            bindings: HashMap::new(),
            streams: RefCell::default(),
            types: HashMap::new(),
            enumerators: RefCell::default(),
        };
        for def in &ast.types {
            scope.add_type(def, diagnostics);
        }
        scope
    }

    /// Binds a formal. `None`: nothing usable was passed, which was reported; uses stay silent.
    pub fn bind(&mut self, formal: &'w Formal, binding: Option<FormalBinding<'w>>) {
        self.bindings.insert(&formal.name.text, binding);
    }

    /// The binding of a formal (its name has the `$`). `None`: there is no such formal.
    /// `Some(None)`: nothing usable was passed for it, which was reported.
    pub fn binding(&self, name: &str) -> Option<Option<&FormalBinding<'w>>> {
        match self.bindings.get(name) {
            Some(binding) => Some(binding.as_ref()),
            None => self
                .ast
                .params
                .iter()
                .any(|p| &*p.name.text == name)
                .then_some(None),
        }
    }

    /// Adds a stream; reports a name that is taken.
    pub fn add_stream(
        &self,
        name: &Arc<str>,
        stream: CompositeStream<'w>,
        diagnostics: &Diagnostics,
    ) {
        if let StreamSchema::Declared(body) = &stream.schema {
            enumerator::in_tuple(body, &mut |name, e| {
                self.add_enumerator(&name.text, e, diagnostics);
            });
        }
        let span = stream.span;
        if let Some(first) = self.streams.borrow().get(name) {
            let message = format!("stream `{name}` is defined twice in this composite");
            let finding = Diagnostic::error("duplicate-stream", span, message);
            diagnostics.add(finding.label(first.span, "first defined here"));
            return;
        }
        if let Some(ty) = self.types.get(&**name) {
            let message = format!("`{name}` is a stream and a type of this composite");
            let finding = Diagnostic::error("duplicate-definition", span, message)
                .label(ty.def.name.span, "the type is defined here")
                .help("give one of them another name");
            diagnostics.add(finding);
        }
        self.streams
            .borrow_mut()
            .insert(name.clone(), Rc::new(stream));
    }

    /// A stream by the name that this composite gives it.
    pub fn stream(&self, name: &str) -> Option<Rc<CompositeStream<'w>>> {
        self.streams.borrow().get(name).cloned()
    }

    /// Names of all streams, for suggestions.
    pub fn stream_names(&self) -> Vec<Arc<str>> {
        self.streams.borrow().keys().cloned().collect()
    }

    pub(crate) fn ty(&self, name: &str) -> Option<&CompositeType<'w>> {
        self.types.get(name)
    }

    pub(crate) fn type_names(&self) -> impl Iterator<Item = &'w str> {
        self.types.keys().copied()
    }

    pub(crate) fn enumerator(&self, name: &str) -> Option<Enumerator> {
        self.enumerators.borrow().get(name).cloned()
    }

    pub(crate) fn enumerator_names(&self) -> Vec<Arc<str>> {
        self.enumerators.borrow().keys().cloned().collect()
    }

    fn add_type(&mut self, def: &'w Arc<TypeDef>, diagnostics: &Diagnostics) {
        let name: &'w str = &def.name.text;
        if let Some(first) = self.types.get(name) {
            let message = format!("type `{name}` is defined twice in this composite");
            let finding = Diagnostic::error("duplicate-definition", def.name.span, message);
            diagnostics.add(finding.label(first.def.name.span, "first defined here"));
        } else {
            self.types.insert(
                name,
                CompositeType {
                    def,
                    resolved: LazyResult::default(),
                },
            );
        }
        enumerator::in_definition(&def.body, &mut |name, e| {
            self.add_enumerator(&name.text, e, diagnostics);
        });
    }

    fn add_enumerator(&self, name: &Arc<str>, new: Enumerator, diagnostics: &Diagnostics) {
        let mut all = self.enumerators.borrow_mut();
        match all.get(name) {
            None => {
                all.insert(name.clone(), new);
            }
            Some(old) if old.ty == new.ty => {}
            Some(old) => diagnostics.add(duplicate_enumerator(name, new.span, old.span)),
        }
    }
}
