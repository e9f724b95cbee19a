//! Enumerators: names that an enum type puts into the scope that holds it.

use std::sync::Arc;

use syntax::Span;
use syntax::ast::{Ident, TupleBody, TupleBodyKind, TypeDefBody, TypeExpr, TypeKind};
use tuple::{EnumType, Type};

/// Meaning of an enumerator's name: a value of an enum type.
#[derive(Clone, Debug)]
pub struct Enumerator {
    /// Enum type that declares the name.
    pub ty: Arc<EnumType>,
    /// Which of its names.
    pub ordinal: u32,
    /// Where it is declared.
    pub span: Span,
}

impl Enumerator {
    /// The type as a [`Type`].
    pub fn full_type(&self) -> Type {
        Type::Enum(self.ty.clone())
    }
}

/// Calls `found` with every enumerator that a type declares, however deep.
pub(crate) fn in_type<'a>(ty: &'a TypeExpr, found: &mut dyn FnMut(&'a Ident, Enumerator)) {
    match &ty.kind {
        TypeKind::Enum(names) => in_enum(names, found),
        TypeKind::Tuple(body) => in_tuple(body, found),
        TypeKind::List(element, _) | TypeKind::Set(element, _) | TypeKind::Optional(element) => {
            in_type(element, found);
        }
        TypeKind::Map(key, value, _) => {
            in_type(key, found);
            in_type(value, found);
        }
        TypeKind::Primitive(_)
        | TypeKind::Named(..)
        | TypeKind::BoundedString(_)
        | TypeKind::Xml(_)
        | TypeKind::Error => {}
    }
}

/// Calls `found` with each enumerator that a tuple body declares.
pub(crate) fn in_tuple<'a>(body: &'a TupleBody, found: &mut dyn FnMut(&'a Ident, Enumerator)) {
    match &body.kind {
        TupleBodyKind::Attributes(list) => list.iter().for_each(|(ty, _)| in_type(ty, found)),
        TupleBodyKind::Concat(list) => list.iter().for_each(|ty| in_type(ty, found)),
    }
}

/// Calls `found` with each enumerator that the right side of a type definition declares.
pub(crate) fn in_definition<'a>(
    body: &'a TypeDefBody,
    found: &mut dyn FnMut(&'a Ident, Enumerator),
) {
    match body {
        TypeDefBody::Type(ty) => in_type(ty, found),
        TypeDefBody::Tuple(body) => in_tuple(body, found),
    }
}

/// The type of an enum as written.
pub(crate) fn enum_type(names: &[Ident]) -> Arc<EnumType> {
    let mut distinct: Vec<Arc<str>> = Vec::with_capacity(names.len());
    for name in names {
        if !distinct.contains(&name.text) {
            distinct.push(name.text.clone());
        }
    }
    Arc::new(EnumType { names: distinct })
}

fn in_enum<'a>(names: &'a [Ident], found: &mut dyn FnMut(&'a Ident, Enumerator)) {
    let ty = enum_type(names);
    for name in names {
        if let Some(ordinal) = ty.find(&name.text) {
            found(
                name,
                Enumerator {
                    ty: ty.clone(),
                    ordinal,
                    span: name.span,
                },
            );
        }
    }
}
