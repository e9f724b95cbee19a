//! Binds the formals of a composite to the actuals of its invocation, or to their defaults.

use std::rc::Rc;

use syntax::ast::{Actual, Composite, Expr, ExprKind, Formal, Ident, Mode, Param, QName};
use syntax::{DeclarationKind, Diagnostic};

use super::composite_instance::{CompositeInstance, CompositeInvocation};
use super::expander::Expander;
use crate::expr::{Typer, TypingContext};
use crate::instance::{actual_span, exprs, single};
use crate::load::name_visitor::{self, NameRole, NameVisitor};
use crate::name_index::NameDeclaration;
use crate::names::{CompositeScope, FormalBinding, Scope, ScopeLevel, nearest};

impl<'w> Expander<'_, 'w> {
    /// Binds every formal of an instance, and reports parameters that are unknown, missing, given
    /// twice, or not of the formal's mode.
    pub(super) fn bind(
        &self,
        composite_scope: &mut CompositeScope<'w>,
        instance: &CompositeInstance<'w>,
    ) {
        let composite = instance.composite;
        if let Some(invoked) = &instance.invocation {
            self.unknown_params(composite, invoked.params);
        }
        for formal in &composite.params {
            self.session.note_declaration(|| NameDeclaration {
                within: Some(composite.name.span),
                head: formal.span,
                ..NameDeclaration::new(DeclarationKind::Formal, &formal.name, None)
            });
            let given = instance.invocation.as_ref().and_then(|invoked| {
                let param = invoked.params.iter().find(|p| fits(formal, p))?;
                self.session
                    .note_use(param.name.span, formal.name.span, None);
                let (actual, scope) = (&param.actual, invoked.scope.clone());
                Some(FormalBinding {
                    formal,
                    actual,
                    scope,
                })
            });
            let binding = given.or_else(|| {
                let actual = formal.default.as_ref()?;
                let scope = self.session.static_scope(instance.unit, composite);
                let scope = scope.enter(ScopeLevel::Default);
                Some(FormalBinding {
                    formal,
                    actual,
                    scope,
                })
            });
            let invoked = instance.invocation.as_ref();
            if let (None, Some(invoked)) = (
                &binding,
                invoked.filter(|i| {
                    let is_broken =
                        self.session.is_broken(i.span) | self.session.is_broken(formal.span);
                    !is_broken && !is_misspelt(formal, composite, i.params)
                }),
            ) {
                self.report(missing_param(composite, formal, invoked));
            }
            composite_scope.bind(formal, binding.filter(|b| self.is_of_mode(b)));
        }
    }

    fn unknown_params(&self, composite: &Composite, params: &[Param]) {
        for (at, param) in params.iter().enumerate() {
            let name = &param.name.text;
            if let Some(first) = params[..at].iter().find(|p| p.name.text == *name) {
                let message = format!("parameter `{name}` is given twice");
                let finding = Diagnostic::error("duplicate-param", param.name.span, message);
                self.report(finding.label(first.name.span, "first here"));
            }
            let is_known = composite.params.iter().any(|formal| fits(formal, param));
            if is_known {
                self.dollar_of_param(param);
            } else if !self.session.note_poisoned(DeclarationKind::Formal, name) {
                let message = format!(
                    "composite `{}` has no parameter `{name}`",
                    composite.name.text
                );
                let finding = Diagnostic::error("unknown-param", param.name.span, message);
                let names = || {
                    composite
                        .params
                        .iter()
                        .map(|f| without_dollar(&f.name.text))
                };
                let suggestions = &self.session.symbols.suggestions;
                self.report(suggestions.did_you_mean(finding, name, names));
            }
        }
    }

    /// Names that begin with `$` are those of formals, where a composite declares and uses them.
    fn dollar_of_param(&self, param: &Param) {
        let name = &param.name.text;
        if let Some(plain) = name.strip_prefix('$') {
            let message = format!("an invocation names the parameter `{plain}` without its `$`");
            let finding = Diagnostic::error("param-name", param.name.span, message);
            self.report(finding.help(format!("write `{plain} : ...;`")));
        }
    }

    /// Whether what is passed can be of the formal's mode at all; reports if not.
    fn is_of_mode(&self, binding: &FormalBinding<'w>) -> bool {
        let FormalBinding {
            formal,
            actual,
            scope,
        } = binding;
        let (wanted, is_fit) = match &formal.mode {
            // A default may be the type of a stream, which is not declared yet.
            Mode::Type => return scope.is_default() || self.is_type(actual, scope),
            Mode::Operator => match single(actual) {
                Some(Expr {
                    kind: ExprKind::Name(name),
                    ..
                }) => {
                    return self.find_operator(name, scope).is_some();
                }
                _ => ("the name of an operator", false),
            },
            Mode::Function => (
                "the name of a function",
                single(actual).is_some_and(is_name),
            ),
            Mode::Attribute => (
                "an attribute",
                exprs(actual).is_some_and(|e| e.iter().all(is_path)),
            ),
            Mode::Expression(_) => ("an expression", exprs(actual).is_some()),
        };
        if !is_fit {
            let span = actual_span(actual).unwrap_or(formal.span);
            let message = format!(
                "parameter `{}` needs {wanted}",
                without_dollar(&formal.name.text)
            );
            let finding = Diagnostic::error("wrong-mode", span, message);
            self.report(finding.label(formal.span, "declared here"));
        }
        is_fit
    }

    /// Checks actuals in which no names occur against the types that their formals ask for. Where
    /// names occur the uses decide, for attributes mean something only there.
    pub(super) fn check_actuals(
        &self,
        composite_scope: &Rc<CompositeScope<'w>>,
        scope: &Scope<'w>,
    ) {
        for formal in &composite_scope.ast.params {
            let Some(Some(binding)) = composite_scope.binding(&formal.name.text) else {
                continue;
            };
            if matches!(formal.mode, Mode::Type) && binding.scope.is_default() {
                self.is_type(binding.actual, &binding.actual_scope(composite_scope));
            }
            let Mode::Expression(Some(ty)) = &formal.mode else {
                continue;
            };
            let Some(expr) = single(binding.actual).filter(|expr| !has_names(expr)) else {
                continue;
            };
            let Some(ty) = self.session.resolve_type(ty, scope) else {
                continue;
            };
            let scope = binding.actual_scope(composite_scope);
            let context = TypingContext {
                panes: true,
                ..TypingContext::attribute_free()
            };
            Typer::new(self.session, scope, context).expr(expr, Some(&ty));
        }
    }

    fn is_type(&self, actual: &'w Actual, scope: &Scope<'w>) -> bool {
        match (actual, single(actual)) {
            (Actual::Type(ty), _) => self.session.resolve_type(ty, scope).is_some(),
            (_, Some(expr)) => self.session.expr_as_type(expr, scope).is_some(),
            (Actual::Exprs(list), None) => {
                if let Some(second) = list.get(1) {
                    let message = "one type is needed here";
                    self.report(Diagnostic::error("wrong-mode", second.span, message));
                }
                false
            }
        }
    }
}

/// A formal's name as invocations write it.
pub(super) fn without_dollar(formal: &str) -> &str {
    formal.strip_prefix('$').unwrap_or(formal)
}

fn fits(formal: &Formal, param: &Param) -> bool {
    without_dollar(&formal.name.text) == without_dollar(&param.name.text)
}

/// Whether a formal without an actual is meant by a parameter whose name is misspelled.
fn is_misspelt(formal: &Formal, composite: &Composite, params: &[Param]) -> bool {
    let names = || {
        composite
            .params
            .iter()
            .map(|f| without_dollar(&f.name.text))
    };
    params.iter().any(|param| {
        let written = without_dollar(&param.name.text);
        !names().any(|name| name == written)
            && nearest(written, names()) == Some(without_dollar(&formal.name.text))
    })
}

fn missing_param(
    composite: &Composite,
    formal: &Formal,
    invoked: &CompositeInvocation<'_>,
) -> Diagnostic {
    let (composite, name) = (&composite.name.text, without_dollar(&formal.name.text));
    let message = format!("composite `{composite}` needs the parameter `{name}`");
    Diagnostic::error("missing-param", invoked.head, message).label(formal.span, "declared here")
}

/// Whether an expression names anything but functions.
fn has_names(expr: &Expr) -> bool {
    struct NameDetector(bool);
    impl<'a> NameVisitor<'a> for NameDetector {
        fn mention(&mut self, role: NameRole, _: &'a QName) {
            self.0 |= role != NameRole::Callee;
        }
        fn declare(&mut self, _: &'a Ident) {}
    }
    let mut names = NameDetector(false);
    name_visitor::exprs(std::slice::from_ref(expr), &mut names);
    names.0
}

fn is_name(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Name(_) | ExprKind::Error)
}

/// `attr`, `In.attr`, `In.tuple.attr`, `In[1].attr`.
fn is_path(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Field(base, _) | ExprKind::Index(base, _) | ExprKind::Paren(base) => {
            is_path(base)
        }
        _ => is_name(expr),
    }
}
