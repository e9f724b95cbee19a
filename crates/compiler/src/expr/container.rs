//! Literals of lists, sets, maps and tuples.

use std::collections::HashMap;
use std::sync::Arc;

use graph::ExprKind;
use syntax::ast::{self, Ident};
use syntax::{Diagnostic, Span};
use tuple::{Attribute, TupleType, Type};

use super::Typer;
use super::convert::{coerce, fits, optional_of};
use super::literal::{unbounded, without_optional};
use super::needs_context;

impl<'w> Typer<'_, 'w> {
    pub(super) fn list(
        &mut self,
        list: &'w [ast::Expr],
        hint: Option<&Type>,
        span: Span,
    ) -> Option<graph::Expr> {
        let hint = hint.map(without_optional);
        if list.is_empty() {
            return match hint {
                Some(ty @ Type::List(..)) => {
                    Some(self.typed_expr(ExprKind::List(Vec::new()), unbounded(ty), span))
                }
                Some(Type::Blob) => self.list(list, Some(&bytes()), span),
                Some(other) => {
                    let message = format!("[] is an empty list, and {other} is needed");
                    self.fail("type-mismatch", span, message)
                }
                None => self.no_type("[]", "list<int32>", span),
            };
        }
        let element = match hint {
            Some(Type::List(e, _)) => Some(&**e),
            _ => None,
        };
        let (list, ty) = self.elements(list.iter().collect(), element, "elements")?;
        Some(self.typed_expr(ExprKind::List(list), Type::List(Arc::new(ty), None), span))
    }

    pub(super) fn set(
        &mut self,
        list: &'w [ast::Expr],
        hint: Option<&Type>,
        span: Span,
    ) -> Option<graph::Expr> {
        let element = match hint.map(without_optional) {
            Some(Type::Set(e, _)) => Some(&**e),
            _ => None,
        };
        let (list, ty) = self.elements(list.iter().collect(), element, "elements")?;
        Some(self.typed_expr(ExprKind::Set(list), Type::Set(Arc::new(ty), None), span))
    }

    pub(super) fn map(
        &mut self,
        entries: &'w [(ast::Expr, ast::Expr)],
        hint: Option<&Type>,
        span: Span,
    ) -> Option<graph::Expr> {
        let hint = match hint.map(without_optional) {
            Some(Type::Map(kv, _)) => Some(kv),
            Some(ty @ Type::Tuple(_)) => return self.colons_of_tuple(ty, span),
            _ => None,
        };
        let keys = entries.iter().map(|(k, _)| k).collect();
        let values = entries.iter().map(|(_, v)| v).collect();
        let keys = self.elements(keys, hint.map(|kv| &kv.0), "keys");
        let values = self.elements(values, hint.map(|kv| &kv.1), "values");
        let ((keys, key), (values, value)) = (keys?, values?);
        let entries = keys.into_iter().zip(values).collect();
        Some(self.typed_expr(
            ExprKind::Map(entries),
            Type::Map(Arc::new((key, value)), None),
            span,
        ))
    }

    /// `{a : 1}` where a tuple is needed.
    fn colons_of_tuple<T>(&self, ty: &Type, span: Span) -> Option<T> {
        let message = format!("this is a map, and {ty} is needed");
        let finding = Diagnostic::error("type-mismatch", span, message);
        self.report(finding.help("attributes are given by `=`: `{name = value}`"))
    }

    pub(super) fn tuple(
        &mut self,
        list: &'w [(Ident, ast::Expr)],
        hint: Option<&Type>,
        span: Span,
    ) -> Option<graph::Expr> {
        let hint = hint.map(without_optional).and_then(Type::as_tuple);
        let mut seen: HashMap<&str, Span> = HashMap::new();
        let mut attributes = Vec::with_capacity(list.len());
        let mut values = Vec::with_capacity(list.len());
        let mut sound = true;
        for (name, expr) in list {
            let found = hint.and_then(|t| Some((t, t.find(&name.text)?)));
            if let Some((schema, (index, _))) = found {
                self.session.note_attribute(name.span, schema, index);
            }
            let expected = found.map(|(_, (_, attribute))| &attribute.ty);
            if let Some(first) = seen.insert(&name.text, name.span) {
                let message = format!("attribute `{}` is given twice", name.text);
                let finding = Diagnostic::error("duplicate-attribute", name.span, message);
                self.session.report(finding.label(first, "first here"));
                sound = false;
            }
            let Some(value) = self.element(expr, expected) else {
                sound = false;
                continue;
            };
            attributes.push(Attribute {
                name: name.text.clone(),
                ty: value.ty.clone(),
            });
            values.push(value);
        }
        let ty = Type::Tuple(Arc::new(TupleType { attributes }));
        sound.then(|| self.typed_expr(ExprKind::Tuple(values), ty, span))
    }

    fn element(&mut self, expr: &'w ast::Expr, hint: Option<&Type>) -> Option<graph::Expr> {
        let typed = self.infer(expr, hint)?;
        self.non_void(typed, expr.span)
    }

    /// Expressions that must be of one type: that of the hint if all convert to it, else their own.
    fn elements(
        &mut self,
        list: Vec<&'w ast::Expr>,
        hint: Option<&Type>,
        what: &str,
    ) -> Option<(Vec<graph::Expr>, Type)> {
        let mut typed: Vec<Option<graph::Expr>> = Vec::with_capacity(list.len());
        for expr in &list {
            let waits = hint.is_none() && needs_context(expr);
            typed.push(if waits {
                None
            } else {
                Some(self.element(expr, hint)?)
            });
        }
        self.type_open_elements(&list, &mut typed)?;
        let typed: Vec<graph::Expr> = typed.into_iter().flatten().collect();
        let ty = match hint {
            Some(ty) if typed.iter().all(|e| fits(e, ty)) => ty.clone(),
            _ => self.common_element_type(&list, &typed, what)?,
        };
        Some((typed.into_iter().map(|e| coerce(e, &ty)).collect(), ty))
    }

    /// Types the elements that have no type of their own by that of their neighbours.
    fn type_open_elements(
        &mut self,
        list: &[&'w ast::Expr],
        typed: &mut [Option<graph::Expr>],
    ) -> Option<()> {
        let known = typed.iter().flatten().next().map(|e| e.ty.clone());
        for (expr, slot) in list.iter().zip(typed.iter_mut()) {
            if slot.is_none() {
                let is_null = is_null(expr);
                let hint = known
                    .as_ref()
                    .map(|ty| if is_null { optional_of(ty) } else { ty.clone() });
                *slot = Some(self.element(expr, hint.as_ref())?);
            }
        }
        Some(())
    }

    /// The type of one of the expressions that all others convert to.
    fn common_element_type(
        &self,
        list: &[&ast::Expr],
        typed: &[graph::Expr],
        what: &str,
    ) -> Option<Type> {
        let all_fit = |ty: &Type| typed.iter().all(|e| fits(e, ty));
        let first = &typed.first()?.ty;
        if let Some(one) = typed.iter().find(|e| all_fit(&e.ty)) {
            return Some(one.ty.clone());
        }
        let optional = optional_of(first);
        if all_fit(&optional) {
            return Some(optional);
        }
        let at = typed.iter().position(|e| e.ty != *first)?;
        let message = format!(
            "{what} must be of one type: the first is {first}, and this is {}",
            typed[at].ty
        );
        let finding = Diagnostic::error("heterogeneous-literal", list[at].span, message);
        self.report(finding.label(list[0].span, format!("this is {first}")))
    }
}

/// Whether it is `null`, in parentheses or not.
pub(super) fn is_null(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Null => true,
        ast::ExprKind::Paren(inner) => is_null(inner),
        _ => false,
    }
}

fn bytes() -> Type {
    Type::List(Arc::new(Type::Uint8), None)
}
