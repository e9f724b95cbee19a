//! Types as written, resolved in a scope.

use std::sync::Arc;

use syntax::Diagnostic;
use syntax::ast::{Expr, Ident, TypeDefBody, TypeExpr, TypeKind};
use tuple::{EnumType, Type, Value};

use crate::Session;
use crate::expr::{Typer, TypingContext};
use crate::names::Scope;

impl<'w> Session<'w> {
    /// The type that is written; reports what is wrong with it. `void` is none.
    pub fn resolve_type(&self, ty: &'w TypeExpr, scope: &Scope<'w>) -> Option<Type> {
        // The parser reports a `void` that is not the result of a function.
        self.result_type(ty, scope).filter(|ty| *ty != Type::Void)
    }

    /// The same, but `void` is allowed: the result of a function.
    pub(crate) fn result_type(&self, ty: &'w TypeExpr, scope: &Scope<'w>) -> Option<Type> {
        match &ty.kind {
            TypeKind::Primitive(word) => primitive(word),
            TypeKind::Named(name, member) => self.named_type(name, member.as_ref(), scope),
            TypeKind::Enum(names) => self.enum_type(names),
            TypeKind::BoundedString(bound) => self.bound(bound, scope).map(Type::BoundedRString),
            TypeKind::Xml(schema) => Some(Type::Xml(Some(schema.clone()))),
            TypeKind::Tuple(body) => self.tuple_body(body, scope).map(Type::Tuple),
            TypeKind::List(element, bound) => {
                let element = self.resolve_type(element, scope);
                let bound = self.maybe_bound(bound.as_deref(), scope);
                Some(Type::List(Arc::new(element?), bound?))
            }
            TypeKind::Set(element, bound) => {
                let element = self.resolve_type(element, scope);
                let bound = self.maybe_bound(bound.as_deref(), scope);
                Some(Type::Set(Arc::new(element?), bound?))
            }
            TypeKind::Map(key, value, bound) => {
                let key = self.resolve_type(key, scope);
                let value = self.resolve_type(value, scope);
                let bound = self.maybe_bound(bound.as_deref(), scope);
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
            // The parser has said so.
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

    fn maybe_bound(&self, bound: Option<&'w Expr>, scope: &Scope<'w>) -> Option<Option<u32>> {
        match bound {
            Some(bound) => self.bound(bound, scope).map(Some),
            None => Some(None),
        }
    }

    /// The bound of a bounded type: a positive integer that is known when compiling.
    fn bound(&self, bound: &'w Expr, scope: &Scope<'w>) -> Option<u32> {
        let mut typer = Typer::new(self, scope.clone(), TypingContext::constant());
        let expr = typer.expr(bound, None)?;
        if !expr.ty.is_integral() {
            let message = format!("the bound of a type is a positive integer, not {}", expr.ty);
            return self.fail("bad-bound", bound.span, message);
        }
        let value = typer.fold(&expr, bound.span)?;
        match integer(&value) {
            Some(n) if n >= 1 && n <= i128::from(u32::MAX) => Some(n as u32),
            Some(n) => {
                let message = format!("the bound of a type is a positive integer, not {n}");
                self.fail("bad-bound", bound.span, message)
            }
            None => None,
        }
    }
}

/// The value of an integral constant.
pub(crate) fn integer(value: &Value) -> Option<i128> {
    Some(match value {
        Value::Int8(v) => i128::from(*v),
        Value::Int16(v) => i128::from(*v),
        Value::Int32(v) => i128::from(*v),
        Value::Int64(v) => i128::from(*v),
        Value::Uint8(v) => i128::from(*v),
        Value::Uint16(v) => i128::from(*v),
        Value::Uint32(v) => i128::from(*v),
        Value::Uint64(v) => i128::from(*v),
        _ => return None,
    })
}

/// The type of a keyword.
pub(crate) fn primitive(word: &str) -> Option<Type> {
    Some(match word {
        "boolean" => Type::Boolean,
        "int8" => Type::Int8,
        "int16" => Type::Int16,
        "int32" => Type::Int32,
        "int64" => Type::Int64,
        "uint8" => Type::Uint8,
        "uint16" => Type::Uint16,
        "uint32" => Type::Uint32,
        "uint64" => Type::Uint64,
        "float32" => Type::Float32,
        "float64" => Type::Float64,
        "decimal32" => Type::Decimal32,
        "decimal64" => Type::Decimal64,
        "decimal128" => Type::Decimal128,
        "complex32" => Type::Complex32,
        "complex64" => Type::Complex64,
        "timestamp" => Type::Timestamp,
        "rstring" => Type::RString,
        "ustring" => Type::UString,
        "blob" => Type::Blob,
        "xml" => Type::Xml(None),
        "void" => Type::Void,
        _ => return None,
    })
}
