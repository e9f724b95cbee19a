//! The typer of one place of the program: its scope, its context, and the variables and effects so
//! far.

use std::collections::HashMap;
use std::rc::Rc;

use graph::{LocalId, LocalVar, OutputCall, Stmt};
use syntax::ast::Expr;
use syntax::{Diagnostic, Span};
use tuple::{Type, Value};

use super::{DefiniteAssignment, ExprEffects, TypingContext, Variable, needs_context};
use crate::Session;
use crate::names::{OperatorScope, Scope};

/// Types expressions and statements in a scope. Every method reports what is wrong and answers
/// `None`; a caller that gets a `None` does not report it again.
#[derive(Debug)]
pub struct Typer<'s, 'w> {
    pub(crate) session: &'s Session<'w>,
    /// Where names are looked up now: changes inside blocks and inside the actuals of formals.
    pub(crate) scope: Scope<'w>,
    /// The operator whose ports are read, wherever the expression was written.
    pub(crate) operator: Option<Rc<OperatorScope>>,
    pub(crate) context: TypingContext,
    /// Variables of the body being typed.
    pub(crate) locals: Vec<LocalVar>,
    pub(crate) usages: Vec<VariableUsage>,
    pub(crate) assignment: DefiniteAssignment,
    pub(crate) effects: ExprEffects,
    /// Variables that are being iterated over.
    pub(crate) iterated: Vec<Variable>,
    /// The local that stands for a mutable input tuple, by port.
    pub(crate) copies: Vec<Option<LocalId>>,
    /// Locals that hold subscripts, to be set before the statement that is being typed.
    pub(crate) subscripts: Vec<Stmt>,
    pub(crate) calls: Vec<OutputCall>,
    /// Where names without meaning were met first.
    pub(crate) unknown_names: HashMap<Box<str>, Span>,
    /// Where a formal stands whose actual is being typed.
    pub(crate) formal_use: Option<Span>,
    /// Number of expressions that were typed for that formal, in its actual and the actuals within.
    pub(crate) formal_parts: u32,
    /// How deep in an expression we are that is not itself a call of an output function.
    pub(crate) call_depth: u32,
}

/// Use of a variable in the body, for warnings.
#[derive(Clone, Debug)]
pub(crate) struct VariableUsage {
    pub name: std::sync::Arc<str>,
    pub span: Span,
    pub is_used: bool,
    /// A local declared by the user, not a formal or loop variable.
    pub is_declared: bool,
}

impl<'s, 'w> Typer<'s, 'w> {
    /// A typer for one clause. The operator scope of `scope`, if it has one, is the operator whose
    /// ports the expressions use, also where they come from the actuals of composites.
    pub fn new(
        session: &'s Session<'w>,
        scope: Scope<'w>,
        context: TypingContext,
    ) -> Typer<'s, 'w> {
        let operator = scope.operator_scope().cloned();
        Typer {
            session,
            scope,
            operator,
            context,
            locals: Vec::new(),
            usages: Vec::new(),
            assignment: DefiniteAssignment::default(),
            effects: ExprEffects::default(),
            iterated: Vec::new(),
            copies: Vec::new(),
            subscripts: Vec::new(),
            calls: Vec::new(),
            unknown_names: HashMap::new(),
            formal_use: None,
            formal_parts: 0,
            call_depth: 0,
        }
    }

    /// An expression. With `expected` the result has exactly that type: what converts implicitly is
    /// converted, anything else is an error. Without, it has a value of some type.
    pub fn expr(&mut self, expr: &'w Expr, expected: Option<&Type>) -> Option<graph::Expr> {
        let start = self.effects.mark();
        let typed = self.expr_within(expr, expected);
        self.check_effects(start);
        typed
    }

    /// [`Typer::expr`] as a part of a larger expression, whose side effects are checked as a whole.
    pub(crate) fn expr_within(
        &mut self,
        expr: &'w Expr,
        expected: Option<&Type>,
    ) -> Option<graph::Expr> {
        let typed = self.infer(expr, expected)?;
        match expected {
            Some(ty) => self.coerced(typed, ty, expr.span),
            None => self.non_void(typed, expr.span),
        }
    }

    /// Looks for errors in an expression whose type is not needed, because the code around it is
    /// broken. A literal that would get its type from there is not checked.
    pub(crate) fn check_untyped(&mut self, expr: &'w Expr) {
        let start = self.effects.mark();
        if !needs_context(expr) {
            self.infer(expr, None);
        }
        self.effects.truncate(start);
    }

    /// The initializer of a variable: whatever may be cast converts implicitly.
    pub fn initializer(&mut self, expr: &'w Expr, ty: &Type) -> Option<graph::Expr> {
        let start = self.effects.mark();
        let typed = self.infer(expr, Some(ty));
        self.check_effects(start);
        self.initial_value(typed?, ty, expr)
    }

    /// A condition: a boolean.
    pub fn condition(&mut self, expr: &'w Expr) -> Option<graph::Expr> {
        self.expr(expr, Some(&Type::Boolean))
    }

    /// A value that is known when compiling.
    pub fn constant(&mut self, expr: &'w Expr, expected: Option<&Type>) -> Option<Value> {
        let typed = self.expr(expr, expected)?;
        self.fold(&typed, expr.span)
    }

    /// The value of a typed expression; reports that it is not known when compiling.
    pub fn fold(&self, expr: &graph::Expr, span: Span) -> Option<Value> {
        self.session.fold(expr, span)
    }

    /// [`Typer::expr`] in the scope that [`Typer::flatten`] found.
    pub fn expr_in(
        &mut self,
        scope: &Scope<'w>,
        expr: &'w Expr,
        expected: Option<&Type>,
    ) -> Option<graph::Expr> {
        self.in_scope(scope.clone(), |typer| typer.expr(expr, expected))
    }

    /// Calls of output functions met so far, in order; `ExprKind::OutputCall` counts them.
    pub fn take_calls(&mut self) -> Vec<OutputCall> {
        std::mem::take(&mut self.calls)
    }

    pub(crate) fn in_scope<T>(
        &mut self,
        scope: Scope<'w>,
        work: impl FnOnce(&mut Typer<'s, 'w>) -> T,
    ) -> T {
        let outer = std::mem::replace(&mut self.scope, scope);
        let result = work(self);
        self.scope = outer;
        result
    }

    /// Whether the scope is that of an actual that was written outside of the operator that uses
    /// it.
    pub(crate) fn is_foreign(&self) -> bool {
        self.operator.is_some() && self.scope.operator_scope().is_none()
    }

    pub(crate) fn fail<T>(
        &self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Option<T> {
        self.session.fail(code, span, message)
    }

    pub(crate) fn report<T>(&self, diagnostic: Diagnostic) -> Option<T> {
        self.session.report(self.with_formal_use(diagnostic));
        None
    }

    /// Reports what has one cause once; see [`crate::Diagnostics::add_once`].
    pub(crate) fn report_once<T>(&self, cause: Span, diagnostic: Diagnostic) -> Option<T> {
        self.session
            .diagnostics
            .add_once(cause, self.with_formal_use(diagnostic));
        None
    }

    /// Adds the place where a formal is used: the meaning of names in its actual depends on the
    /// operator there.
    fn with_formal_use(&self, diagnostic: Diagnostic) -> Diagnostic {
        const FORMAL_NAME_CODES: &[&str] = &[
            "ambiguous-attribute",
            "attribute-not-allowed",
            "history-not-allowed",
            "unknown-attribute",
            "unknown-name",
            "wrong-input-port",
        ];
        match self
            .formal_use
            .filter(|_| FORMAL_NAME_CODES.contains(&diagnostic.code))
        {
            Some(place) => diagnostic.label(place, "used here"),
            None => diagnostic,
        }
    }

    /// A typed expression at a place.
    pub(crate) fn typed_expr(&self, kind: graph::ExprKind, ty: Type, span: Span) -> graph::Expr {
        graph::Expr {
            kind,
            ty,
            pos: self.session.pos(span),
        }
    }
}
