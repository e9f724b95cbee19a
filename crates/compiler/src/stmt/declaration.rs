//! Typing of declarations: local variables, state variables, local types.

use std::rc::Rc;
use std::sync::Arc;

use graph::{LocalId, LocalVar, StateVar, Stmt};
use syntax::ast::{Ident, LocalDecl, TypeDef, TypeExpr, TypeKind};
use syntax::{DeclarationKind, Diagnostic, Span};
use tuple::Type;

use crate::expr::{Typer, VariableUsage};
use crate::name_index::NameDeclaration;
use crate::names::{
    BlockScope, Enumerator, LazyResult, LocalEntry, LocalKind, LocalType, ScopeLevel, StateEntry,
    duplicate_enumerator, enumerators_in_definition, enumerators_in_type,
};

impl<'w> Typer<'_, 'w> {
    /// `mutable T a = 1, b;`
    pub(super) fn declare(&mut self, decl: &'w LocalDecl, out: &mut Vec<Stmt>) {
        if self.is_missing_operator(decl) {
            return;
        }
        self.declare_enumerators(&decl.ty);
        let ty = self.session.resolve_type(&decl.ty, &self.scope);
        for (name, init) in &decl.vars {
            let value = match (init, &ty) {
                (Some(init), Some(ty)) => self.initializer(init, ty),
                (Some(init), None) => {
                    self.check_untyped(init);
                    None
                }
                (None, _) => None,
            };
            if init.is_none() && !decl.is_mutable && ty.is_some() {
                self.no_initializer(name);
            }
            let kind = if decl.is_mutable {
                LocalKind::Mutable
            } else {
                LocalKind::Immutable
            };
            let id = self.declare_local(name, ty.clone(), kind);
            if init.is_some() || !decl.is_mutable {
                self.assignment.assign(id);
            }
            out.push(Stmt::Let(id, value));
        }
    }

    /// Reports `a b;` where `a` is a variable. As a declaration it would be wrong in any case.
    fn is_missing_operator(&self, decl: &LocalDecl) -> bool {
        let (TypeKind::Named(first, None), [(second, None)]) = (&decl.ty.kind, &decl.vars[..])
        else {
            return false;
        };
        let first = &first.name.text;
        if decl.is_mutable || !self.is_variable(first) {
            return false;
        }
        let message = format!("expected an operator or `;` behind the variable `{first}`");
        let finding = Diagnostic::error("expected-token", second.span, message);
        self.session.report(finding);
        true
    }

    fn no_initializer(&self, name: &Ident) {
        let text = &name.text;
        let message = format!("variable `{text}` is not mutable and has no initial value");
        let finding = Diagnostic::error("missing-initializer", name.span, message);
        let help = format!("give it a value, or declare `{text}` as `mutable`");
        self.session.report(finding.help(help));
        // A variable that is not mutable was reported.
        let diagnostics = &self.session.diagnostics;
        diagnostics.mark_reported(name.span, "immutable-assignment");
    }

    /// A named variable of the innermost block.
    pub(crate) fn declare_local(
        &mut self,
        name: &Ident,
        ty: Option<Type>,
        kind: LocalKind,
    ) -> LocalId {
        let declared = matches!(kind, LocalKind::Mutable | LocalKind::Immutable);
        let stored = ty.clone().unwrap_or(Type::Boolean);
        let id = self.add_local(name.text.clone(), stored, name.span, declared);
        if let Some(block) = self.block() {
            let entry = LocalEntry {
                id,
                ty,
                span: name.span,
                kind,
            };
            self.note_variable(name, entry.ty.as_ref());
            let before = block.vars.borrow_mut().insert(name.text.clone(), entry);
            if let Some(first) = before {
                self.usages[first.id.0 as usize].is_used = true;
                self.declared_twice(name, first.span);
            }
        }
        id
    }

    fn note_variable(&self, name: &Ident, ty: Option<&Type>) {
        self.session.note_declaration(|| {
            NameDeclaration::new(DeclarationKind::Variable, name, ty.cloned())
        });
    }

    fn declared_twice(&self, name: &Ident, first: Span) {
        let message = format!("`{}` is declared twice in this block", name.text);
        let finding = Diagnostic::error("duplicate-variable", name.span, message);
        self.session
            .report(finding.label(first, "first declared here"));
    }

    /// A variable of the body, not visible by name.
    pub(crate) fn add_local(
        &mut self,
        name: Arc<str>,
        ty: Type,
        span: Span,
        is_declared: bool,
    ) -> LocalId {
        self.locals.push(LocalVar {
            name: name.clone(),
            ty,
            by_reference: false,
        });
        self.usages.push(VariableUsage {
            name,
            span,
            is_used: false,
            is_declared,
        });
        LocalId(self.locals.len() as u32 - 1)
    }

    /// `type T = ...;` within a block.
    pub(super) fn declare_type(&mut self, def: &'w Arc<TypeDef>) {
        let Some(block) = self.block() else { return };
        enumerators_in_definition(&def.body, &mut |name, e| self.declare_enumerator(name, e));
        let local = Rc::new(LocalType {
            def,
            resolved: LazyResult::default(),
        });
        let first = block
            .types
            .borrow()
            .get(&def.name.text)
            .map(|t| t.def.name.span);
        if let Some(first) = first {
            self.declared_twice(&def.name, first);
            return;
        }
        block
            .types
            .borrow_mut()
            .insert(def.name.text.clone(), local);
        self.session.local_definition(def, &self.scope);
    }

    /// The enumerators of an enum type that is written here belong to the block.
    pub(crate) fn declare_enumerators(&self, ty: &'w TypeExpr) {
        enumerators_in_type(ty, &mut |name, e| self.declare_enumerator(name, e));
    }

    fn declare_enumerator(&self, name: &Ident, new: Enumerator) {
        let Some(block) = self.block() else { return };
        let mut all = block.enumerators.borrow_mut();
        match all.get(&name.text) {
            None => {
                all.insert(name.text.clone(), new);
            }
            Some(old) if old.ty == new.ty => {}
            Some(old) => {
                self.session
                    .report(duplicate_enumerator(&name.text, new.span, old.span));
            }
        }
    }

    fn block(&self) -> Option<Rc<BlockScope<'w>>> {
        match self.scope.levels().next() {
            Some(ScopeLevel::Block(block)) => Some(block.clone()),
            _ => None,
        }
    }

    /// The declarations of a `state:` entry: adds them to the operator scope, in order; an
    /// initializer sees the earlier ones.
    pub fn state(&mut self, decls: &'w [LocalDecl]) -> Vec<StateVar> {
        let mut list = Vec::new();
        for decl in decls {
            self.declare_state_enumerators(&decl.ty);
            let ty = self.session.resolve_type(&decl.ty, &self.scope);
            for (name, init) in &decl.vars {
                list.push(self.state_variable_decl(decl, name, init.as_ref(), ty.as_ref()));
            }
        }
        list
    }

    /// The enumerators of an enum type that is written here belong to the operator.
    fn declare_state_enumerators(&self, ty: &'w TypeExpr) {
        let Some(site) = &self.operator else { return };
        enumerators_in_type(ty, &mut |name, new| {
            let span = new.span;
            if let Err(old) = site.add_enumerator(&name.text, new) {
                let finding = duplicate_enumerator(&name.text, span, old);
                self.session.report(finding);
            }
        });
    }

    fn state_variable_decl(
        &mut self,
        decl: &LocalDecl,
        name: &Ident,
        init: Option<&'w syntax::ast::Expr>,
        ty: Option<&Type>,
    ) -> StateVar {
        let init = match (init, ty) {
            (Some(init), Some(ty)) => self.initializer(init, ty),
            (Some(init), None) => {
                self.check_untyped(init);
                None
            }
            (None, _) => {
                if !decl.is_mutable && ty.is_some() {
                    self.no_initializer(name);
                }
                None
            }
        };
        self.note_variable(name, ty);
        if let Some(site) = &self.operator {
            if let Some((_, first)) = site.state(&name.text) {
                let message = format!("state variable `{}` is declared twice", name.text);
                let finding = Diagnostic::error("duplicate-variable", name.span, message);
                self.session
                    .report(finding.label(first.span, "first declared here"));
            }
            site.add_state(StateEntry {
                name: name.text.clone(),
                ty: ty.cloned(),
                mutable: decl.is_mutable,
                span: name.span,
            });
        }
        let ty = ty.cloned().unwrap_or(Type::Boolean);
        StateVar {
            name: name.text.clone(),
            ty,
            init,
        }
    }
}
