//! Texts in the literals of an initializer: a text that is written in the program either says a
//! value of the type that it is to become, or is a mistake that shows before the program runs.

use graph::ExprKind;
use syntax::Span;
use syntax::ast::{self, Ident};
use tuple::{TupleType, Type};

use super::Typer;
use super::convert::{cast_node, is_text};

/// A text that says no value of the type that it is to become.
pub(super) struct WrongText {
    pub span: Span,
    pub found: Type,
    pub expected: Type,
}

impl Typer<'_, '_> {
    /// The first text within a literal, or the literal itself, that says no value of its type.
    pub(super) fn wrong_text(
        &self,
        (expr, source): (&graph::Expr, &ast::Expr),
        to: &Type,
    ) -> Option<WrongText> {
        if let ast::ExprKind::Paren(inner) = &source.kind {
            return self.wrong_text((expr, inner), to);
        }
        if is_text(expr) {
            return self.wrong_whole_text(expr, source.span, to);
        }
        match (&expr.kind, to) {
            (_, Type::Optional(content)) if !expr.ty.is_optional() => {
                self.wrong_text((expr, source), content)
            }
            (ExprKind::List(parts), Type::List(element, _))
            | (ExprKind::Set(parts), Type::Set(element, _)) => {
                let mut parts = parts.iter().enumerate();
                parts
                    .find_map(|(at, part)| self.wrong_text((part, element_at(source, at)), element))
            }
            (ExprKind::Map(entries), Type::Map(types, _)) => {
                let mut entries = entries.iter().enumerate();
                entries.find_map(|(at, (key, value))| {
                    let (key_source, value_source) = entry_at(source, at);
                    let wrong = self.wrong_text((key, key_source), &types.0);
                    wrong.or_else(|| self.wrong_text((value, value_source), &types.1))
                })
            }
            (ExprKind::Tuple(parts), Type::Tuple(to)) => {
                self.wrong_text_of_tuple(expr, parts, source, to)
            }
            (ExprKind::Conditional(_, yes, no), to) => {
                let (yes_source, no_source) = branches(source);
                let wrong = self.wrong_text((yes, yes_source), to);
                wrong.or_else(|| self.wrong_text((no, no_source), to))
            }
            _ => None,
        }
    }

    fn wrong_whole_text(&self, text: &graph::Expr, span: Span, to: &Type) -> Option<WrongText> {
        let is_right = to.is_string()
            || self
                .session
                .try_fold(&cast_node(text.clone(), to))
                .is_some();
        (!is_right).then(|| WrongText {
            span,
            found: text.ty.clone(),
            expected: to.clone(),
        })
    }

    fn wrong_text_of_tuple(
        &self,
        tuple: &graph::Expr,
        parts: &[graph::Expr],
        source: &ast::Expr,
        to: &TupleType,
    ) -> Option<WrongText> {
        let from = tuple.ty.as_tuple()?;
        let mut parts = from.attributes.iter().zip(parts);
        parts.find_map(|(attribute, part)| {
            let (_, wanted) = to.find(&attribute.name)?;
            self.wrong_text((part, attribute_named(source, &attribute.name)), &wanted.ty)
        })
    }
}

/// The text of an element of a literal. What is no such literal in the program, since a name or a
/// parameter stands for it, is its own text.
fn element_at(source: &ast::Expr, at: usize) -> &ast::Expr {
    match &source.kind {
        ast::ExprKind::List(parts) | ast::ExprKind::Set(parts) => parts.get(at).unwrap_or(source),
        _ => source,
    }
}

fn entry_at(source: &ast::Expr, at: usize) -> (&ast::Expr, &ast::Expr) {
    match &source.kind {
        ast::ExprKind::Map(entries) => match entries.get(at) {
            Some((key, value)) => (key, value),
            None => (source, source),
        },
        _ => (source, source),
    }
}

fn attribute_named<'e>(source: &'e ast::Expr, name: &str) -> &'e ast::Expr {
    let is_named = |(ident, _): &&(Ident, ast::Expr)| &*ident.text == name;
    match &source.kind {
        ast::ExprKind::Tuple(parts) => {
            (parts.iter().find(is_named)).map_or(source, |(_, part)| part)
        }
        _ => source,
    }
}

fn branches(source: &ast::Expr) -> (&ast::Expr, &ast::Expr) {
    match &source.kind {
        ast::ExprKind::Conditional(_, yes, no) => (yes, no),
        _ => (source, source),
    }
}
