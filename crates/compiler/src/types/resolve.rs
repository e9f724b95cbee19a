//! Resolves types as written, in a scope.

use std::sync::Arc;

use syntax::Diagnostic;
use syntax::ast::{Ident, TypeDefBody, TypeExpr, TypeKind};
use tuple::{EnumType, Type};

use super::primitive;
use crate::Session;
use crate::names::Scope;

impl<'w> Session<'w> {
    /// The type that is written; reports what is wrong with it. `void` is none.
    pub fn resolve_type(&self, ty: &'w TypeExpr, scope: &Scope<'w>) -> Option<Type> {
        // The parser reports a `void` that is not the result of a function.
        self.result_type(ty, scope).filter(|ty| *ty != Type::Void)
    }

    /// The result type of a function, which may be `void`; reports what is wrong with it.
    pub(crate) fn result_type(&self, ty: &'w TypeExpr, scope: &Scope<'w>) -> Option<Type> {
        match &ty.kind {
            TypeKind::Primitive(word) => primitive(word),
            TypeKind::Named(name, member) => self.named_type(name, member.as_ref(), scope),
            TypeKind::Enum(names) => self.enum_type(names),
            TypeKind::BoundedString(bound) => {
                self.type_bound(bound, scope).map(Type::BoundedRString)
            }
            TypeKind::Xml(schema) => Some(Type::Xml(Some(schema.clone()))),
            TypeKind::Tuple(body) => self.tuple_body(body, scope).map(Type::Tuple),
            TypeKind::List(element, bound) => {
                let element = self.resolve_type(element, scope);
                let bound = self.optional_bound(bound.as_deref(), scope);
                Some(Type::List(Arc::new(element?), bound?))
            }
            TypeKind::Set(element, bound) => {
                let element = self.resolve_type(element, scope);
                let bound = self.optional_bound(bound.as_deref(), scope);
                Some(Type::Set(Arc::new(element?), bound?))
            }
            TypeKind::Map(key, value, bound) => {
                let key = self.resolve_type(key, scope);
                let value = self.resolve_type(value, scope);
                let bound = self.optional_bound(bound.as_deref(), scope);
                Some(Type::Map(Arc::new((key?, value?)), bound?))
            }
            TypeKind::Optional(inner) => self.optional(inner, scope),
            TypeKind::Error => None,
        }
    }

    /// The right side of a type definition.
    pub(crate) fn definition_body(&self, body: &'w TypeDefBody, scope: &Scope<'w>) -> Option<Type> {
        match body {
            TypeDefBody::Type(ty) => self.resolve_type(ty, scope),
            TypeDefBody::Tuple(body) => self.tuple_body(body, scope).map(Type::Tuple),
        }
    }

    fn optional(&self, inner: &'w TypeExpr, scope: &Scope<'w>) -> Option<Type> {
        let ty = self.resolve_type(inner, scope)?;
        if matches!(inner.kind, TypeKind::Optional(_)) {
            // The parser has reported it.
            return None;
        }
        if ty.is_optional() {
            let message = "an optional of an optional is not a type";
            return self.fail("nested-optional", inner.span, message);
        }
        Some(Type::Optional(Arc::new(ty)))
    }

    fn enum_type(&self, names: &[Ident]) -> Option<Type> {
        let mut list: Vec<Arc<str>> = Vec::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            if let Some(first) = names[..at].iter().find(|n| n.text == name.text) {
                let message = format!("enumerator `{}` occurs twice", name.text);
                let finding = Diagnostic::error("duplicate-enumerator", name.span, message);
                self.report(finding.label(first.span, "first here"));
                return None;
            }
            list.push(name.text.clone());
        }
        Some(Type::Enum(Arc::new(EnumType { names: list })))
    }
}
