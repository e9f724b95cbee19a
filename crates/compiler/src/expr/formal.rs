//! Typing of `$e`: the actual of a composite's formal, typed where the formal is used.

use graph::PortIndex;
use syntax::ast::{self, Actual, Ident, Mode};
use syntax::{Diagnostic, Span};
use tuple::Type;

use super::Typer;
use crate::Session;
use crate::names::Scope;

/// Number of expressions that one use of a formal may stand for. Actuals that name a formal twice
/// double with each composite that passes them on.
const FORMAL_PARTS_MAX: u32 = 1 << 16;

impl<'w> Typer<'_, 'w> {
    /// The value of a formal of mode `expression` or `attribute`.
    pub(super) fn formal_value(
        &mut self,
        name: &Ident,
        hint: Option<&Type>,
        span: Span,
    ) -> Option<graph::Expr> {
        let Some((one, scope, declared)) = self.formal_expr(name, span) else {
            return self.pending(self.declared_type(name)?, span);
        };
        let hint = declared.as_ref().or(hint);
        let outer = self.formal_use;
        if outer.is_none() {
            self.formal_use = Some(span);
            self.formal_parts = 0;
        }
        let typed = self.in_scope(scope, |typer| typer.infer(one, hint));
        self.formal_use = outer;
        let typed = typed?;
        let mut typed = match &declared {
            Some(ty) => self.coerced(typed, ty, one.span)?,
            None => typed,
        };
        typed.pos = self.session.pos(span);
        Some(typed)
    }

    /// The one expression that was passed for a formal, its scope, and the declared type.
    pub(super) fn formal_expr(
        &mut self,
        name: &Ident,
        span: Span,
    ) -> Option<(&'w ast::Expr, Scope<'w>, Option<Type>)> {
        let is_value = |mode: &Mode| matches!(mode, Mode::Expression(_) | Mode::Attribute);
        let (actual, scope) = self
            .session
            .formal(name, &self.scope, "a value", is_value)?;
        let declared = self.declared_type(name);
        match actual {
            Actual::Exprs(list) => match &list[..] {
                [one] => Some((one, scope, declared)),
                _ => {
                    let message =
                        format!("`{}` stands for {} expressions here", name.text, list.len());
                    self.fail("bad-actual", span, message)
                }
            },
            Actual::Type(ty) => {
                let message = format!("`{}` needs a value, and this is a type", name.text);
                let finding = Diagnostic::error("bad-actual", ty.span, message);
                self.report(finding.label(span, "used here"))
            }
        }
    }

    /// Whether one more expression may be typed for the formal that is being replaced; reports once
    /// in a compilation that it may not.
    pub(super) fn has_room_in_formal(&mut self) -> bool {
        let has_room = match self.formal_use {
            Some(place) => count_part(self.session, &mut self.formal_parts, place),
            None => true,
        };
        has_room && !self.session.is_formal_full.get()
    }

    /// The type `T` of a formal that is declared `expression<T>`.
    fn declared_type(&self, name: &Ident) -> Option<Type> {
        let composite_scope = self.scope.composite_scope()?;
        let formal = composite_scope
            .ast
            .params
            .iter()
            .find(|p| p.name.text == name.text)?;
        match &formal.mode {
            Mode::Expression(Some(ty)) => self
                .session
                .resolve_type(ty, &self.scope.outside_operator()),
            _ => None,
        }
    }

    /// Expressions as they are, but for each formal (`$e`) the expressions that were passed for it,
    /// with the scope they were written in; type them with [`Typer::expr_in`].
    pub fn flatten(&self, exprs: &'w [ast::Expr]) -> Vec<(&'w ast::Expr, Scope<'w>)> {
        let mut list = Vec::with_capacity(exprs.len());
        let mut parts = 0;
        for expr in exprs {
            self.flatten_one(expr, &self.scope, &mut parts, &mut list);
        }
        list
    }

    fn flatten_one(
        &self,
        expr: &'w ast::Expr,
        scope: &Scope<'w>,
        parts: &mut u32,
        list: &mut Vec<(&'w ast::Expr, Scope<'w>)>,
    ) {
        if !count_part(self.session, parts, expr.span) {
            return;
        }
        if let ast::ExprKind::Name(name) = &expr.kind
            && name.namespace.is_none()
            && name.name.text.starts_with('$')
            && !scope.is_default()
            && let Some(composite_scope) = scope.composite_scope()
            && let Some(Some(binding)) = composite_scope.binding(&name.name.text)
            && let Actual::Exprs(actuals) = binding.actual
        {
            let is_typed = matches!(binding.formal.mode, Mode::Expression(Some(_)));
            if actuals.len() != 1 || !is_typed {
                let actual_scope = binding.actual_scope(composite_scope);
                for actual in actuals {
                    self.flatten_one(actual, &actual_scope, parts, list);
                }
                return;
            }
        }
        list.push((expr, scope.clone()));
    }

    /// An attribute of an input port, written `attr` or `Port.attr` (or a formal that stands for
    /// one): port, index in its schema, and the expression.
    pub fn attribute(&mut self, expr: &'w ast::Expr) -> Option<(PortIndex, u32, graph::Expr)> {
        let typed = self.infer(expr, None)?;
        self.effects.truncate(Default::default());
        match typed.kind {
            graph::ExprKind::Attribute {
                port,
                history: 0,
                index,
            } => Some((port, index, typed)),
            _ if self.session.is_pending(&typed) => None,
            _ => {
                let message = "an attribute of an input stream is needed here";
                self.fail("not-an-attribute", expr.span, message)
            }
        }
    }
}

/// Counts one more expression that a formal stands for. Answers whether it may have so many;
/// reports once in a compilation that it may not.
fn count_part(session: &Session<'_>, parts: &mut u32, place: Span) -> bool {
    *parts += 1;
    let fits = *parts <= FORMAL_PARTS_MAX;
    if !fits && !session.is_formal_full.replace(true) {
        session.report(formal_too_large(place));
    }
    fits
}

/// The error of a formal that stands for more than [`FORMAL_PARTS_MAX`] expressions.
fn formal_too_large(place: Span) -> Diagnostic {
    let message = format!(
        "this parameter stands for more than {FORMAL_PARTS_MAX} expressions when the parameters \
         within it are replaced"
    );
    Diagnostic::error("formal-too-large", place, message)
        .help("compute the value in an attribute, and pass that on")
}
