//! Resolves the inside of `tuple<...>` and `stream<...>`: attributes, or tuple types to
//! concatenate.

use std::collections::HashMap;
use std::sync::Arc;

use syntax::ast::{Actual, Ident, TupleBody, TupleBodyKind, TypeExpr, TypeKind};
use syntax::{DeclarationKind, Diagnostic, Span};
use tuple::{Attribute, TupleType, Type};

use super::kind_of;
use crate::Session;
use crate::name_index::NameDeclaration;
use crate::names::{CompositeStream, Scope, StreamSchema};

impl<'w> Session<'w> {
    /// The tuple type of a body; reports what is wrong with it.
    pub fn tuple_body(&self, body: &'w TupleBody, scope: &Scope<'w>) -> Option<Arc<TupleType>> {
        match &body.kind {
            TupleBodyKind::Attributes(list) => self.attributes(list, scope),
            TupleBodyKind::Concat(list) => self.concatenation(list, scope),
        }
    }

    /// The tuple type of a stream that belongs to the composite of `scope`.
    pub fn stream_schema(
        &self,
        stream: &CompositeStream<'w>,
        scope: &Scope<'w>,
    ) -> Option<Arc<TupleType>> {
        match &stream.schema {
            StreamSchema::Known(ty) => Some(ty.clone()),
            StreamSchema::Broken => None,
            StreamSchema::Declared(body) => {
                let outer = scope.outside_operator();
                stream
                    .resolved
                    .get(|| {
                        let schema =
                            self.with_depth(stream.span, || self.tuple_body(body, &outer))?;
                        self.has_layout(&schema, stream.span).then_some(schema)
                    })
                    .unwrap_or_else(|_| {
                        let message = "the type of this stream is defined in terms of itself";
                        self.fail("circular-type", stream.span, message)
                    })
            }
        }
    }

    fn attributes(
        &self,
        list: &'w [(TypeExpr, Ident)],
        scope: &Scope<'w>,
    ) -> Option<Arc<TupleType>> {
        let mut seen: HashMap<&str, Span> = HashMap::with_capacity(list.len());
        let mut attributes = Vec::with_capacity(list.len());
        let mut sound = true;
        for (ty, name) in list {
            let ty = self.resolve_type(ty, scope);
            self.note_declaration(|| {
                NameDeclaration::new(DeclarationKind::Attribute, name, ty.clone())
            });
            if let Some(&first) = seen.get(&*name.text) {
                self.report(duplicate(&name.text, name.span, first));
                sound = false;
                continue;
            }
            seen.insert(&name.text, name.span);
            match ty {
                Some(ty) => attributes.push(Attribute {
                    name: name.text.clone(),
                    ty,
                }),
                None => sound = false,
            }
        }
        let schema = sound.then(|| Arc::new(TupleType { attributes }))?;
        if let Some(names) = self.name_recorder() {
            names.add_origins(
                &schema,
                list.iter().map(|(_, name)| Some(name.span)).collect(),
            );
        }
        Some(schema)
    }

    fn concatenation(&self, list: &'w [TypeExpr], scope: &Scope<'w>) -> Option<Arc<TupleType>> {
        if let [one] = list {
            return self.tuple_part(one, scope);
        }
        let mut attributes: Vec<Attribute> = Vec::new();
        let mut origins = Vec::new();
        let mut from: HashMap<Arc<str>, (usize, Span)> = HashMap::new();
        let mut sound = true;
        for part in list {
            let Some(ty) = self.tuple_part(part, scope) else {
                sound = false;
                continue;
            };
            for (index, attribute) in ty.attributes.iter().enumerate() {
                match from.get(&attribute.name) {
                    None => {
                        from.insert(attribute.name.clone(), (attributes.len(), part.span));
                        attributes.push(attribute.clone());
                        let names = self.name_recorder();
                        origins.push(names.and_then(|names| names.origin(&ty, index)));
                    }
                    Some(&(at, first)) if attributes[at].ty != attribute.ty => {
                        let other = &attributes[at].ty;
                        self.report(conflict(attribute, other, part.span, first));
                        sound = false;
                    }
                    Some(_) => {}
                }
            }
        }
        let schema = sound.then(|| Arc::new(TupleType { attributes }))?;
        if let Some(names) = self.name_recorder() {
            names.add_origins(&schema, origins);
        }
        Some(schema)
    }

    fn tuple_part(&self, part: &'w TypeExpr, scope: &Scope<'w>) -> Option<Arc<TupleType>> {
        match self.resolve_type(part, scope)? {
            Type::Tuple(ty) => Some(ty),
            other => {
                let message = format!(
                    "a tuple type is needed here, and this is {}: {other}",
                    kind_of(&other)
                );
                let finding = Diagnostic::error("not-a-tuple-type", part.span, message);
                self.report(match formal_actual_span(part, scope) {
                    Some(actual) => finding.label(actual, "given here"),
                    None => finding,
                });
                None
            }
        }
    }
}

/// Place of the actual that an invocation passes for a type, if the type is a formal.
fn formal_actual_span(part: &TypeExpr, scope: &Scope<'_>) -> Option<Span> {
    let TypeKind::Named(name, None) = &part.kind else {
        return None;
    };
    let composite_scope = scope.composite_scope()?;
    match composite_scope.binding(&name.name.text)??.actual {
        Actual::Type(ty) => Some(ty.span),
        Actual::Exprs(list) => list.first().map(|expr| expr.span),
    }
}

fn duplicate(name: &str, span: Span, first: Span) -> Diagnostic {
    let message = format!("attribute `{name}` occurs twice");
    Diagnostic::error("duplicate-attribute", span, message).label(first, "first here")
}

fn conflict(attribute: &Attribute, other: &Type, span: Span, first: Span) -> Diagnostic {
    let (name, ty) = (&attribute.name, &attribute.ty);
    let message = format!("attribute `{name}` is {ty} here, and {other} in an earlier part");
    Diagnostic::error("duplicate-attribute", span, message)
        .label(first, format!("`{name}` is {other} here"))
        .help("attributes of the same name are merged only if their types are equal")
}
