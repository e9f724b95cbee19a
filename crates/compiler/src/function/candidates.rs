//! Candidates of a call: the functions that its name may mean.

use std::rc::Rc;

use graph::Unsupported;
use syntax::ast::{self, Actual, ExprKind, Mode, QName};
use syntax::{Diagnostic, Span};

use super::intrinsic;
use crate::expr::Typer;
use crate::names::{Definition, Scope, did_you_mean, foreign_function};
use crate::tables::{FunctionOwner, Signature};

/// The functions of one name, as a place sees them.
pub(super) struct FunctionCandidates {
    pub list: Vec<(usize, Rc<Signature>)>,
    /// Some overload is broken, so that a call that fits none is not reported.
    pub is_broken: bool,
    /// Why they cannot be called, if all of them are known by name only.
    pub unsupported: Option<Unsupported>,
}

impl<'w> Typer<'_, 'w> {
    /// The function name of a call and the scope to look for it; formals are followed.
    pub(super) fn callee(&self, callee: &'w ast::Expr) -> Option<(&'w QName, Scope<'w>)> {
        let mut expr = callee;
        let mut scope = self.scope.clone();
        loop {
            match &expr.kind {
                ExprKind::Paren(inner) => expr = inner,
                ExprKind::Name(name) if name.name.text.starts_with('$') => {
                    let is_function = |mode: &Mode| matches!(mode, Mode::Function);
                    let found =
                        self.session
                            .formal(&name.name, &scope, "a function", is_function)?;
                    let Actual::Exprs(list) = found.0 else {
                        return self.not_a_function(callee.span);
                    };
                    let [one] = &list[..] else {
                        return self.not_a_function(callee.span);
                    };
                    (expr, scope) = (one, found.1);
                }
                ExprKind::Name(name) => return Some((name, scope)),
                ExprKind::Error => return None,
                ExprKind::Field(_, method) => {
                    let message = "only a function can be called, and values have no methods";
                    let finding = Diagnostic::error("not-a-function", expr.span, message);
                    let name = &method.text;
                    let help = match foreign_function(name) {
                        Some(advice) => advice.to_owned(),
                        None => format!("write `{name}(value, ...)`, if there is such a function"),
                    };
                    return self.report(finding.help(help));
                }
                _ => return self.not_a_function(expr.span),
            }
        }
    }

    fn not_a_function<T>(&self, span: Span) -> Option<T> {
        self.fail("not-a-function", span, "only a function can be called")
    }

    /// Whether a name stands for what only the compiler knows: no user function hides it.
    pub(crate) fn is_intrinsic(&self, name: &QName) -> bool {
        if name
            .namespace
            .as_ref()
            .is_some_and(|n| &*n.text != intrinsic::NAMESPACE)
        {
            return false;
        }
        let found = self.session.symbols.overloads(self.scope.unit_id(), name);
        !found
            .iter()
            .any(|(_, found)| matches!(found, Definition::Function(..)))
    }

    /// All functions of a name; reports that there are none.
    pub(super) fn candidates(
        &mut self,
        name: &'w QName,
        scope: &Scope<'w>,
    ) -> Option<FunctionCandidates> {
        let text = &*name.name.text;
        let outputs = self.context.output_functions.clone();
        if let Some(outputs) = &outputs
            && name.namespace.is_none()
            && let Some(list) = outputs.find(text)
        {
            let list = list.iter().map(|s| (0, s.clone())).collect();
            return Some(FunctionCandidates {
                list,
                is_broken: false,
                unsupported: None,
            });
        }
        let unit = scope.unit_id();
        let mut candidates = FunctionCandidates {
            list: Vec::new(),
            is_broken: false,
            unsupported: None,
        };
        for (distance, found) in self.session.symbols.overloads(unit, name) {
            match self.signature_of(found) {
                Some(signature) => candidates.list.push((distance, signature)),
                None => candidates.is_broken = true,
            }
        }
        self.add_intrinsics(name, &mut candidates);
        self.drop_unsupported(&mut candidates);
        if candidates.list.is_empty() && !candidates.is_broken {
            if name.namespace.is_none() && self.use_value(text) {
                let message = format!("`{text}` is no function and cannot be called");
                return self.fail("not-a-function", name.span, message);
            }
            let names: Vec<&str> = outputs.iter().flat_map(|o| o.names()).collect();
            let finding = self.session.symbols.no_function(unit, name);
            let finding = finding.map(|finding| did_you_mean(finding, text, names));
            self.session.diagnostics.add_or_note(finding);
            return None;
        }
        Some(candidates)
    }

    /// Functions that are known by name only hide none that can be called.
    fn drop_unsupported(&self, candidates: &mut FunctionCandidates) {
        let refusal = |signature: &Signature| match signature.owner {
            FunctionOwner::Native(id) => self.session.symbols.native(id).unsupported,
            _ => None,
        };
        let of_all = candidates.list.iter().map(|(_, s)| refusal(s));
        let all: Option<Vec<_>> = of_all.collect();
        candidates.unsupported = all.and_then(|all| all.first().copied());
        if candidates.unsupported.is_none() {
            candidates.list.retain(|(_, s)| refusal(s).is_none());
        }
    }

    fn signature_of(&self, found: Definition<'w>) -> Option<Rc<Signature>> {
        match found {
            Definition::Function(unit, ast) => {
                self.session.user_function(unit, ast).signature.clone()
            }
            Definition::Native(id) => self.session.native_signature(id),
            _ => None,
        }
    }

    /// Adds the functions that the compiler evaluates itself and the library does not have.
    fn add_intrinsics(&self, name: &QName, candidates: &mut FunctionCandidates) {
        let elsewhere = name
            .namespace
            .as_ref()
            .is_some_and(|n| &*n.text != intrinsic::NAMESPACE);
        let native = candidates
            .list
            .iter()
            .any(|(_, s)| matches!(s.owner, FunctionOwner::Native(_)));
        if !elsewhere && !native {
            let own = self.session.intrinsic_signatures(&name.name.text);
            candidates
                .list
                .extend(own.into_iter().map(|s| (usize::MAX, s)));
        }
    }
}
