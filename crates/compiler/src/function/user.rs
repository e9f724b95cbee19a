//! User functions: their signatures, their typed bodies, and checks on both.

use std::collections::HashMap;
use std::rc::Rc;

use graph::{Body, Function, Stmt};
use syntax::ast::{self, Ident, QName};
use syntax::{Diagnostic, Span};
use tuple::Type;

use crate::Session;
use crate::expr::{AllowedReturn, StatefulCalls, Typer, TypingContext};
use crate::names::{BlockScope, Definition, LocalKind, Scope, ScopeLevel, UnitId};
use crate::stmt::always_returns;
use crate::tables::{
    FunctionOwner, Signature, SignatureFormal, TypePattern, UserFunction, UserFunctionId,
};

impl<'w> Session<'w> {
    pub(super) fn user_signature(
        &self,
        id: UserFunctionId,
        unit: UnitId,
        ast: &'w ast::Function,
    ) -> Option<Signature> {
        let scope = Scope::unit(unit);
        let result = self.result_type(&ast.result, &scope);
        let formals = ast.params.iter().map(|param| {
            let ty = TypePattern::Exact(self.resolve_type(&param.ty, &scope)?);
            Some(SignatureFormal {
                name: param.name.text.clone(),
                ty,
                mutable: param.is_mutable,
            })
        });
        let formals: Vec<Option<SignatureFormal>> = formals.collect();
        Some(Signature {
            name: ast.name.text.clone(),
            type_names: Vec::new(),
            constraints: Vec::new(),
            formals: formals.into_iter().collect::<Option<Vec<_>>>()?,
            result: TypePattern::Exact(result?),
            stateful: ast.is_stateful,
            owner: FunctionOwner::User(id),
            span: Some(ast.name.span),
        })
    }

    /// The function with its body typed. What is wrong was reported; then the body is incomplete.
    pub(super) fn type_function(&self, function: &UserFunction<'w>) -> Function {
        let (ast, unit) = (function.ast, function.unit);
        let errors = self.diagnostics.error_count();
        // Without a signature because of a parameter the result may be known all the same.
        let result = match &function.signature {
            Some(signature) => signature.result.instantiate(&[]),
            None => self.result_type(&ast.result, &Scope::unit(unit)),
        };
        let returns = match &result {
            Some(Type::Void) => AllowedReturn::WithoutValue,
            ty => AllowedReturn::Value(ty.clone()),
        };
        let stateful = if ast.is_stateful {
            StatefulCalls::Allowed
        } else {
            StatefulCalls::NotDeclared
        };
        let context = TypingContext {
            returns,
            stateful,
            panes: true,
            ..TypingContext::default()
        };
        let block = ScopeLevel::Block(Rc::new(BlockScope::default()));
        let mut typer = Typer::new(self, Scope::unit(unit).enter(block), context);
        typer.formals(ast);
        let mut stmts: Vec<Stmt> = Vec::new();
        typer.statements(&ast.body.stmts, &mut stmts);
        typer.warn_unused();
        if self.diagnostics.error_count() == errors && !self.is_broken(ast.span) {
            self.check_stateful(unit, ast, typer.effects.stateful_calls());
        }
        let body: Body = typer.finish(stmts);
        self.check_returns(ast, result.as_ref());
        Function {
            name: self.symbols.qualified(unit, &ast.name.text),
            formals: ast.params.len() as u32,
            result: result.unwrap_or(Type::Void),
            is_stateful: ast.is_stateful,
            body,
            pos: self.pos(ast.name.span),
        }
    }

    /// Warns of a function of the user's program that is `stateful` for nothing. What is wrong in
    /// its body could have been a call.
    fn check_stateful(&self, unit: UnitId, ast: &ast::Function, calls: &[(Span, String)]) {
        if !ast.is_stateful || !calls.is_empty() || !self.symbols.unit(unit).is_checked {
            return;
        }
        let name = &ast.name.text;
        let message = format!("`{name}` is declared `stateful`, but calls no stateful function");
        let finding = Diagnostic::warning("needless-stateful", ast.name.span, message);
        self.report(finding.help("leave `stateful` out"));
    }

    fn check_returns(&self, ast: &ast::Function, result: Option<&Type>) {
        let Some(result) = result.filter(|ty| **ty != Type::Void) else {
            return;
        };
        if always_returns(&ast.body) || self.is_broken(ast.span) {
            return;
        }
        let name = &ast.name.text;
        let message = format!("function `{name}` does not return a value on all paths");
        let finding = Diagnostic::error("missing-return", ast.name.span, message);
        let end = Span {
            start: ast.body.span.end.saturating_sub(1),
            ..ast.body.span
        };
        let help = format!(
            "end it with a `return` of {result}; an `if` at the end needs an `else`, and both \
             must return"
        );
        self.report(finding.label(end, "the end can be reached here").help(help));
    }

    /// Reports an overload that takes the same types as an earlier one.
    pub(super) fn check_overloads(&self, unit: UnitId, ast: &'w ast::Function) {
        let name = QName {
            namespace: None,
            name: Ident {
                text: ast.name.text.clone(),
                span: ast.name.span,
            },
            span: ast.name.span,
        };
        let mut seen: HashMap<Vec<Type>, Span> = HashMap::new();
        let overloads = self.symbols.overloads(unit, &name);
        for (distance, found) in overloads {
            let Definition::Function(owner, other) = found else {
                continue;
            };
            if distance > 0 {
                continue;
            }
            let function = self.user_function(owner, other);
            let Some(signature) = &function.signature else {
                continue;
            };
            let types = signature
                .formals
                .iter()
                .filter_map(|f| f.ty.instantiate(&[]))
                .collect();
            if let Some(first) = seen.insert(types, other.name.span) {
                let text = &other.name.text;
                let message =
                    format!("function `{text}` is defined twice with the same parameters");
                let finding = Diagnostic::error("duplicate-definition", other.name.span, message);
                self.report(finding.label(first, "first defined here"));
            }
        }
    }
}

impl<'w> Typer<'_, 'w> {
    /// The formals of a function as the first locals of its body. Enumerators that the types of
    /// formals and result declare are seen there too.
    fn formals(&mut self, ast: &'w ast::Function) {
        for param in &ast.params {
            self.declare_enumerators(&param.ty);
            let ty = self.session.resolve_type(&param.ty, &self.scope);
            let kind = if param.is_mutable {
                LocalKind::MutableFormal
            } else {
                LocalKind::Formal
            };
            let id = self.declare_local(&param.name, ty, kind);
            self.assignment.assign(id);
            self.locals[id.0 as usize].by_reference = param.is_mutable;
        }
        self.declare_enumerators(&ast.result);
    }
}
