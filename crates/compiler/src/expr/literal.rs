//! Strings, `null` and the empty literals.

use std::sync::Arc;

use graph::ExprKind;
use syntax::Span;
use syntax::ast::{self, StringKind};
use tuple::{RString, Type, UString, Value};

use super::Typer;

/// The type that is wrapped, or the type itself: the hint for what a literal holds.
pub(super) fn without_optional(ty: &Type) -> &Type {
    match ty {
        Type::Optional(inner) => inner,
        ty => ty,
    }
}

impl Typer<'_, '_> {
    pub(super) fn string(&self, kind: &ast::ExprKind, span: Span) -> Option<graph::Expr> {
        let (units, kind): (TextUnits<'_>, StringKind) = match kind {
            ast::ExprKind::String(text, kind) => (TextUnits::Text(text), *kind),
            ast::ExprKind::StringUnits(units, kind) => (TextUnits::Utf16(units), *kind),
            _ => return None,
        };
        let (value, ty) = match kind {
            StringKind::Plain | StringKind::RString => {
                (Value::RString(units.bytes()), Type::RString)
            }
            StringKind::UString => (Value::UString(units.utf16()), Type::UString),
            StringKind::Xml => (self.xml(units.bytes(), span)?, Type::Xml(None)),
        };
        Some(self.typed_expr(ExprKind::Const(value), ty, span))
    }

    /// A literal is held to what a string has to be to become xml at run time.
    fn xml(&self, text: RString, span: Span) -> Option<Value> {
        match eval::ops::check_xml(&text.0) {
            Err(why) if !text.0.is_empty() => {
                let message = format!("this is not well-formed XML: {why}");
                self.fail("bad-literal", span, message)
            }
            _ => Some(Value::Xml(text)),
        }
    }

    pub(super) fn null(&self, hint: Option<&Type>, span: Span) -> Option<graph::Expr> {
        match hint {
            Some(ty @ Type::Optional(_)) => {
                Some(self.typed_expr(ExprKind::Const(Value::Optional(None)), ty.clone(), span))
            }
            Some(ty) => {
                let message = format!("null cannot be {ty}: that is not an optional type");
                self.fail("null-without-optional", span, message)
            }
            None => {
                let message = "null needs a place of an optional type";
                self.fail("null-without-optional", span, message)
            }
        }
    }

    /// `{}`: an empty set or map, or the tuple of defaults.
    pub(super) fn empty_literal(&self, hint: Option<&Type>, span: Span) -> Option<graph::Expr> {
        let kind = match hint.map(without_optional) {
            Some(Type::Set(..)) => ExprKind::Set(Vec::new()),
            Some(Type::Map(..)) => ExprKind::Map(Vec::new()),
            Some(ty @ Type::Tuple(_)) => ExprKind::Const(Value::default_of(ty)),
            Some(other) => {
                let message = format!("{{}} is an empty set, map or tuple, and {other} is needed");
                return self.fail("type-mismatch", span, message);
            }
            None => return self.no_type("{}", "set<int32>", span),
        };
        let ty = unbounded(hint.map(without_optional)?);
        Some(self.typed_expr(kind, ty, span))
    }

    /// Reports an empty literal that nothing gives a type.
    pub(super) fn no_type<T>(&self, what: &str, example: &str, span: Span) -> Option<T> {
        let message = format!("nothing here says of which type {what} is");
        let finding = syntax::Diagnostic::error("empty-without-type", span, message);
        self.report(finding.help(format!("cast it: `({example}){what}`")))
    }
}

/// A collection type without its bound: what a literal has before it is fitted.
pub(super) fn unbounded(ty: &Type) -> Type {
    match ty {
        Type::List(e, _) => Type::List(e.clone(), None),
        Type::Set(e, _) => Type::Set(e.clone(), None),
        Type::Map(kv, _) => Type::Map(Arc::clone(kv), None),
        ty => ty.clone(),
    }
}

enum TextUnits<'a> {
    Text(&'a str),
    Utf16(&'a [u16]),
}

impl TextUnits<'_> {
    fn bytes(&self) -> RString {
        match self {
            TextUnits::Text(text) => RString(text.as_bytes().to_vec()),
            TextUnits::Utf16(units) => RString(String::from_utf16_lossy(units).into_bytes()),
        }
    }

    fn utf16(&self) -> UString {
        match self {
            TextUnits::Text(text) => UString(text.encode_utf16().collect()),
            TextUnits::Utf16(units) => UString(units.to_vec()),
        }
    }
}
