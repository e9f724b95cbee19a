//! Subscripts, slices, and tuple history.

use graph::ExprKind;
use syntax::ast;
use syntax::{Diagnostic, Span};
use tuple::Type;

use super::Typer;
use super::name_resolution::NameResolution;
use crate::types::kind_of;

impl<'w> Typer<'_, 'w> {
    /// `e[i]`: an element, or an earlier tuple of an input port.
    pub(super) fn index(
        &mut self,
        base: &'w ast::Expr,
        index: &'w ast::Expr,
        span: Span,
    ) -> Option<graph::Expr> {
        if let Some(port) = self.port_named(base) {
            return self.history(port, index, span);
        }
        let typed = self.infer(base, None);
        let Some(typed) = typed else {
            self.infer(index, None);
            return None;
        };
        let (key, ty) = self.element_type(&typed.ty, base.span)?;
        let index = self.subscript(index, key.as_ref())?;
        Some(self.typed_expr(ExprKind::Index(Box::new(typed), Box::new(index)), ty, span))
    }

    /// The key type (`None`: any integer) and element type of what is subscripted.
    pub(super) fn element_type(&self, ty: &Type, span: Span) -> Option<(Option<Type>, Type)> {
        Some(match ty {
            Type::List(e, _) => (None, (**e).clone()),
            Type::Map(kv, _) => (Some(kv.0.clone()), kv.1.clone()),
            Type::RString | Type::BoundedRString(_) => (None, Type::RString),
            Type::UString => (None, Type::UString),
            Type::Blob => (None, Type::Uint8),
            other => {
                let message = format!("{} ({other}) cannot be subscripted", kind_of(other));
                let finding = Diagnostic::error("not-subscriptable", span, message);
                let finding = match other {
                    Type::Set(..) => finding.help("use `in` to ask whether a set has an element"),
                    Type::Optional(_) => finding.help("unwrap it first, with `!` or `?:`"),
                    _ => finding,
                };
                return self.report(finding);
            }
        })
    }

    /// A subscript: of the key type, or any integer.
    pub(super) fn subscript(
        &mut self,
        index: &'w ast::Expr,
        key: Option<&Type>,
    ) -> Option<graph::Expr> {
        let typed = self.expr_within(index, key)?;
        if key.is_none() && !typed.ty.is_integral() {
            let message = format!("a subscript is an integer, and this is {}", typed.ty);
            return self.fail("type-mismatch", index.span, message);
        }
        Some(typed)
    }

    pub(super) fn slice(
        &mut self,
        base: &'w ast::Expr,
        low: Option<&'w ast::Expr>,
        up: Option<&'w ast::Expr>,
        span: Span,
    ) -> Option<graph::Expr> {
        let typed = self.infer(base, None);
        let low = low.map(|e| self.subscript(e, None));
        let up = up.map(|e| self.subscript(e, None));
        let typed = typed?;
        let ty = match &typed.ty {
            Type::List(..) | Type::UString | Type::Blob => typed.ty.clone(),
            Type::RString | Type::BoundedRString(_) => Type::RString,
            other => {
                let message = format!("only lists, strings and blobs have slices, not {other}");
                return self.fail("not-sliceable", base.span, message);
            }
        };
        let bound = |end: Option<Option<graph::Expr>>| match end {
            Some(end) => end.map(|e| Some(Box::new(e))),
            None => Some(None),
        };
        let kind = ExprKind::Slice(Box::new(typed), bound(low)?, bound(up)?);
        Some(self.typed_expr(kind, ty, span))
    }

    /// The input port that an expression names as a whole.
    pub(crate) fn port_named(&self, expr: &ast::Expr) -> Option<usize> {
        match self.ports_named(expr)[..] {
            [port] => Some(port),
            _ => None,
        }
    }

    /// The input ports that an expression names as a whole: several if they carry one stream.
    pub(crate) fn ports_named(&self, expr: &ast::Expr) -> Vec<usize> {
        let ast::ExprKind::Name(name) = &expr.kind else {
            return Vec::new();
        };
        let meaning = match &name.namespace {
            None => self.resolve_name(&name.name.text),
            Some(_) => None,
        };
        match meaning {
            Some(NameResolution::Port(port)) => vec![port],
            Some(NameResolution::Ports(ports)) => ports,
            _ => Vec::new(),
        }
    }

    /// Types `In[n]`, the tuple that came `n` tuples ago.
    fn history(&mut self, port: usize, index: &'w ast::Expr, span: Span) -> Option<graph::Expr> {
        if !self.context.history {
            let message = "earlier tuples of a stream cannot be used here";
            let finding = Diagnostic::error("history-not-allowed", span, message);
            let help = "tuple history can be read in output and param clauses";
            return self.report(finding.help(help));
        }
        let typed = self.subscript(index, None)?;
        let value = self.fold(&typed, index.span)?;
        match value.as_integer().map(u32::try_from) {
            Some(Ok(n)) if n <= MAX_HISTORY => {
                self.operator.as_ref()?.note_history(port, n);
                self.whole_tuple(port, n, span)
            }
            _ => {
                let message =
                    format!("how many tuples to look back is a number from 0 to {MAX_HISTORY}");
                self.fail("bad-history", index.span, message)
            }
        }
    }
}

/// Number of tuples that expressions may look back; the run time keeps as many of a port.
const MAX_HISTORY: u32 = 1_000_000;
