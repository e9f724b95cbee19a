//! Typing of single statements, by their form.

use std::rc::Rc;

use graph::{Arg, Callee, ExprKind, NativeId, Stmt};
use syntax::ast::{self, Block, Ident, StmtKind, TypeExpr};
use syntax::{Diagnostic, Span};
use tuple::Type;

use crate::expr::{AllowedReturn, Typer, Variable, needs_context};
use crate::names::{BlockScope, LocalKind, ScopeLevel};

impl<'w> Typer<'_, 'w> {
    pub(super) fn statement(&mut self, stmt: &'w ast::Stmt, out: &mut Vec<Stmt>) {
        match &stmt.kind {
            StmtKind::Local(decl) => self.declare(decl, out),
            StmtKind::Type(def) => self.declare_type(def),
            StmtKind::Block(block) => self.inner_block(block, out),
            StmtKind::Expr(expr) => self.expression(expr, out),
            StmtKind::If(c, a, b) => self.if_statement(c, a, b.as_deref(), out),
            StmtKind::While(c, body) => self.while_loop(c, body, out),
            StmtKind::For(ty, name, e, body) => self.for_loop(ty, name, e, body, out),
            StmtKind::Break => self.jump("break", Stmt::Break, stmt.span, out),
            StmtKind::Continue => self.jump("continue", Stmt::Continue, stmt.span, out),
            StmtKind::Return(value) => self.return_value(value.as_ref(), stmt.span, out),
            StmtKind::Error => {}
        }
    }

    fn inner_block(&mut self, block: &'w Block, out: &mut Vec<Stmt>) {
        self.in_block(|typer| typer.statements(&block.stmts, out));
    }

    /// Statements in order; warns of the first that cannot be reached.
    pub(crate) fn statements(&mut self, stmts: &'w [ast::Stmt], out: &mut Vec<Stmt>) {
        let mut warned = self.assignment.is_unreachable;
        for stmt in stmts {
            if self.assignment.is_unreachable && !warned {
                let message = "this statement is never reached";
                self.session
                    .report(Diagnostic::warning("unreachable", stmt.span, message));
                warned = true;
            }
            self.statement(stmt, out);
        }
    }

    /// Runs `work` in a new innermost block.
    pub(crate) fn in_block<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let block = ScopeLevel::Block(Rc::new(BlockScope::default()));
        let scope = self.scope.enter(block);
        self.in_scope(scope, work)
    }

    fn expression(&mut self, expr: &'w ast::Expr, out: &mut Vec<Stmt>) {
        if let Some(call) = self.statement_call(expr) {
            out.extend(call);
            return;
        }
        let start = self.effects.mark();
        let typed = self.infer(expr, None);
        self.check_effects(start);
        out.append(&mut self.subscripts);
        match typed {
            Some(typed) => {
                self.warn_useless(&typed, expr.span);
                out.push(Stmt::Expr(typed));
            }
            None => self.session.note_untyped(expr.span),
        }
    }

    fn warn_useless(&self, typed: &graph::Expr, span: Span) {
        let finding = match &typed.kind {
            ExprKind::Call(Callee::Native(function), args) => {
                match self.pure_function(*function, args, &typed.ty) {
                    Some(name) => self.useless_call(name, span),
                    None => return,
                }
            }
            ExprKind::Call(..)
            | ExprKind::Assign(..)
            | ExprKind::AssignOp(..)
            | ExprKind::Increment { .. } => return,
            _ => Diagnostic::warning("no-effect", span, "this expression has no effect"),
        };
        self.session.report(finding);
    }

    /// The name of a function of the library whose call does nothing but give a value.
    fn pure_function(&self, function: NativeId, args: &[Arg], ty: &Type) -> Option<&'static str> {
        let function = self.session.symbols.native(function);
        let is_of_values = ["spl.math", "spl.string", "spl.collection"];
        let is_pure = is_of_values.contains(&function.namespace)
            && !function.prototype.contains("stateful ")
            && *ty != Type::Void
            && args.iter().all(|arg| matches!(arg, Arg::Value(_)));
        let before = function.prototype.split('(').next()?;
        before.split([' ', '>']).next_back().filter(|_| is_pure)
    }

    fn useless_call(&self, name: &str, span: Span) -> Diagnostic {
        let message = format!("the value of `{name}` is not used, and it does nothing else");
        let finding = Diagnostic::warning("no-effect", span, message);
        let changing = format!("{name}M");
        let natives = self.session.symbols.natives().iter();
        let begin = format!(" {changing}(");
        match natives
            .clone()
            .any(|native| native.prototype.contains(&begin))
        {
            true => finding.help(format!("`{changing}` changes its first argument")),
            false => finding,
        }
    }

    fn if_statement(
        &mut self,
        condition: &'w ast::Expr,
        a: &'w ast::Stmt,
        b: Option<&'w ast::Stmt>,
        out: &mut Vec<Stmt>,
    ) {
        let condition = self.condition(condition);
        let before = self.assignment.clone();
        let (mut first, mut second) = (Vec::new(), Vec::new());
        self.nested_statement(a, &mut first);
        let after = std::mem::replace(&mut self.assignment, before);
        if let Some(b) = b {
            self.nested_statement(b, &mut second);
        }
        let other = std::mem::take(&mut self.assignment);
        self.assignment = after.join(other);
        if let Some(condition) = condition {
            out.push(Stmt::If(condition, first, second));
        }
    }

    /// A statement in a block of its own, if it can declare something: thousands of `else if` are
    /// no blocks within each other.
    fn nested_statement(&mut self, stmt: &'w ast::Stmt, out: &mut Vec<Stmt>) {
        match stmt.kind {
            StmtKind::If(..) => self.statement(stmt, out),
            _ => self.in_block(|typer| typer.statement(stmt, out)),
        }
    }

    fn while_loop(&mut self, condition: &'w ast::Expr, body: &'w ast::Stmt, out: &mut Vec<Stmt>) {
        let condition = self.condition(condition);
        let stmts = self.loop_body(|typer, stmts| typer.statement(body, stmts));
        if let Some(condition) = condition {
            out.push(Stmt::While(condition, stmts));
        }
    }

    /// A body that may run any number of times: what it assigns does not count afterwards.
    fn loop_body(&mut self, work: impl FnOnce(&mut Self, &mut Vec<Stmt>)) -> Vec<Stmt> {
        let before = self.assignment.clone();
        self.assignment.loops += 1;
        let mut stmts = Vec::new();
        self.in_block(|typer| work(typer, &mut stmts));
        self.assignment = before;
        stmts
    }

    fn for_loop(
        &mut self,
        ty: &'w TypeExpr,
        name: &'w Ident,
        collection: &'w ast::Expr,
        body: &'w ast::Stmt,
        out: &mut Vec<Stmt>,
    ) {
        let ty = self.session.resolve_type(ty, &self.scope);
        let hint = ty.clone().map(|ty| Type::List(ty.into(), None));
        let start = self.effects.mark();
        let typed = self.infer(collection, hint.as_ref());
        self.check_effects(start);
        let root = typed.as_ref().and_then(root_of);
        let typed = typed.and_then(|typed| self.iterable(typed, ty.as_ref(), collection.span));
        let frozen = self.iterated.len();
        self.iterated.extend(root);
        let mut id = None;
        let stmts = self.loop_body(|typer, stmts| {
            let local = typer.declare_local(name, ty, LocalKind::Loop);
            typer.assignment.assign(local);
            id = Some(local);
            typer.statement(body, stmts);
        });
        self.iterated.truncate(frozen);
        if let (Some(typed), Some(id)) = (typed, id) {
            out.push(Stmt::For(id, typed, stmts));
        }
    }

    /// The collection of a `for`, if the loop variable has the type of its elements.
    fn iterable(&self, typed: graph::Expr, ty: Option<&Type>, span: Span) -> Option<graph::Expr> {
        let element = match &typed.ty {
            Type::List(e, _) | Type::Set(e, _) => (**e).clone(),
            Type::Map(kv, _) => kv.0.clone(),
            Type::RString | Type::BoundedRString(_) => Type::RString,
            Type::UString => Type::UString,
            Type::Blob => Type::Uint8,
            other => {
                let message = format!("`for` walks over a list, set, map or string, not {other}");
                let finding = Diagnostic::error("not-iterable", span, message);
                return self.report(match other.is_integral() {
                    true => finding.help("`range(n)` is the list of the numbers from 0 to n - 1"),
                    false => finding,
                });
            }
        };
        let ty = ty?;
        if *ty != element {
            let message = format!("the loop variable is {ty}, and the elements are {element}");
            let finding = Diagnostic::error("type-mismatch", span, message);
            let is_value = matches!(&typed.ty, Type::Map(kv, _) if kv.1 == *ty);
            return self.report(match is_value {
                true => finding.help("a loop over a map takes its keys; `m[key]` is the value"),
                false => finding,
            });
        }
        Some(typed)
    }

    fn jump(&mut self, word: &str, stmt: Stmt, span: Span, out: &mut Vec<Stmt>) {
        if self.assignment.loops == 0 {
            let message = format!("`{word}` stands in no loop");
            self.session
                .report(Diagnostic::error("outside-loop", span, message));
        }
        self.assignment.is_unreachable = true;
        out.push(stmt);
    }

    fn return_value(&mut self, value: Option<&'w ast::Expr>, span: Span, out: &mut Vec<Stmt>) {
        let returns = self.context.returns.clone();
        match (value, returns) {
            (_, AllowedReturn::Nowhere) => {
                let message = "there is nothing to return from here";
                self.session
                    .report(Diagnostic::error("outside-function", span, message));
            }
            (None, AllowedReturn::WithoutValue) => out.push(Stmt::Return(None)),
            (None, AllowedReturn::Value(None)) => {}
            (None, AllowedReturn::Value(Some(ty))) => {
                let message = format!("`return` needs a value: the function's result is {ty}");
                self.session
                    .report(Diagnostic::error("missing-return-value", span, message));
            }
            (Some(value), AllowedReturn::WithoutValue) => {
                let start = self.effects.mark();
                let is_sound = needs_context(value) || self.infer(value, None).is_some();
                self.effects.truncate(start);
                if is_sound {
                    let message = "nothing can be returned here: there is no result";
                    let finding = Diagnostic::error("unexpected-return-value", value.span, message);
                    self.session.report(finding);
                }
            }
            (Some(value), AllowedReturn::Value(None)) => self.check_untyped(value),
            (Some(value), AllowedReturn::Value(Some(ty))) => {
                let typed = self.expr(value, Some(&ty));
                out.extend(typed.map(|typed| Stmt::Return(Some(typed))));
            }
        }
        self.assignment.is_unreachable = true;
    }
}

/// The variable behind a collection that is walked over.
fn root_of(expr: &graph::Expr) -> Option<Variable> {
    match &expr.kind {
        ExprKind::Local(id) => Some(Variable::Local(*id)),
        ExprKind::State(id) => Some(Variable::State(*id)),
        ExprKind::Input { port, history: 0 }
        | ExprKind::Attribute {
            port, history: 0, ..
        } => Some(Variable::Input(*port)),
        ExprKind::Field(base, _) | ExprKind::Index(base, _) => root_of(base),
        _ => None,
    }
}
