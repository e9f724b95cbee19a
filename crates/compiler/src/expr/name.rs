//! A name as an expression: a variable, an attribute, a whole tuple, an enumerator.

use graph::ExprKind;
use syntax::ast::{Ident, QName};
use syntax::{DeclarationKind, Diagnostic, Span};
use tuple::{Type, Value};

use super::name_resolution::NameResolution;
use super::{Typer, Variable};
use crate::name_index::NameDeclaration;
use crate::names::{Enumerator, LocalEntry, StateEntry};

impl<'w> Typer<'_, 'w> {
    pub(super) fn name(
        &mut self,
        name: &'w QName,
        hint: Option<&Type>,
        span: Span,
    ) -> Option<graph::Expr> {
        let text = &name.name.text;
        if let Some(namespace) = &name.namespace {
            return match self.session.symbols.enumerator_in(&namespace.text, text) {
                Some(enumerator) => {
                    self.note_enumerator(enumerator, &name.name);
                    Some(self.enumerator(enumerator, span))
                }
                None => self.not_a_value(name),
            };
        }
        if text.starts_with('$') {
            return self.formal_value(&name.name, hint, span);
        }
        let found = self.resolve_name(text);
        if let Some(found) = &found {
            self.note_value(found, &name.name);
        }
        match found {
            Some(NameResolution::Local(entry)) => self.local(&entry, text, span),
            Some(NameResolution::State(id, entry)) => self.state_variable(id, &entry, span),
            Some(NameResolution::Attribute(found)) => self.attribute_value(&found, text, span),
            Some(NameResolution::Port(port)) => self.whole_tuple(port, 0, span),
            Some(NameResolution::Ports(found)) => self.ambiguous_port(&found, text, span),
            Some(NameResolution::Enumerator(enumerator)) => {
                Some(self.enumerator(&enumerator, span))
            }
            None => self.unknown_name(text, span),
        }
    }

    /// Notes the meaning of the name of a value.
    pub(super) fn note_value(&self, found: &NameResolution, name: &Ident) {
        let session = self.session;
        let Some(site) = session.name_recorder().map(|_| self.operator.as_ref()) else {
            return;
        };
        match (found, site) {
            (NameResolution::Local(entry), _) => {
                session.note_use(name.span, entry.span, entry.ty.as_ref());
            }
            (NameResolution::State(_, entry), _) => {
                session.note_use(name.span, entry.span, entry.ty.as_ref());
            }
            (NameResolution::Attribute(found), Some(site)) => {
                if let &[(port, index)] = &found[..]
                    && let Some(schema) = &site.inputs[port].schema
                {
                    session.note_attribute(name.span, schema, index);
                }
            }
            (NameResolution::Port(port), Some(_)) => self.note_input(*port, name),
            (NameResolution::Enumerator(enumerator), _) => {
                self.note_enumerator(enumerator, name);
            }
            _ => {}
        }
    }

    /// Notes that a name means an input port of the operator.
    pub(super) fn note_input(&self, port: usize, name: &Ident) {
        if let Some(port) = self
            .operator
            .as_ref()
            .and_then(|site| site.inputs.get(port))
        {
            let alias = port.alias.as_ref().filter(|_| !self.is_foreign());
            let schema = port.schema.as_ref();
            self.session.note_port(name, alias, schema, &self.scope);
        }
    }

    pub(super) fn note_enumerator(&self, enumerator: &Enumerator, name: &Ident) {
        let ty = enumerator.full_type();
        self.session.note_use(name.span, enumerator.span, Some(&ty));
        self.session.note_declaration(|| {
            let declared = Ident {
                span: enumerator.span,
                ..name.clone()
            };
            NameDeclaration::new(DeclarationKind::Variable, &declared, Some(ty.clone()))
        });
    }

    fn local(&mut self, entry: &LocalEntry, name: &str, span: Span) -> Option<graph::Expr> {
        let id = entry.id;
        if self.context.constant {
            // The variable belongs to the body around, not to this expression.
            return self.not_constant(name, span);
        }
        self.usages[id.0 as usize].is_used = true;
        let ty = entry.ty.clone()?;
        if !self.assignment.is_assigned(id) {
            self.assignment.assign(id);
            let message = format!("`{name}` is used before it has a value");
            let finding = Diagnostic::error("use-before-assignment", span, message);
            return self.report(finding.label(entry.span, "declared here without a value"));
        }
        self.effects.read(Variable::Local(id), Vec::new(), span);
        Some(self.typed_expr(ExprKind::Local(id), ty, span))
    }

    fn state_variable(
        &mut self,
        id: graph::StateId,
        entry: &StateEntry,
        span: Span,
    ) -> Option<graph::Expr> {
        if !self.may_use_state(entry, span) {
            return None;
        }
        let ty = entry.ty.clone()?;
        self.effects.read(Variable::State(id), Vec::new(), span);
        Some(self.typed_expr(ExprKind::State(id), ty, span))
    }

    /// Whether state variables may be used here; warns of one that hides an attribute.
    pub(super) fn may_use_state(&self, entry: &StateEntry, span: Span) -> bool {
        if !self.context.state {
            let message = format!("state variable `{}` cannot be used here", entry.name);
            let finding = Diagnostic::error("state-not-allowed", span, message);
            self.session
                .report(finding.label(entry.span, "declared here"));
            return false;
        }
        let site = self.operator.as_ref();
        let hidden = site.and_then(|site| Some((site, site.attribute(&entry.name).first()?.0)));
        if let Some((site, port)) = hidden {
            let name = &entry.name;
            let message = format!("state variable `{name}` hides an attribute of that name");
            let finding = Diagnostic::warning("hidden-attribute", entry.span, message);
            let help = format!(
                "write `{}.{name}` for the attribute",
                site.inputs[port].name
            );
            self.session.report(finding.help(help));
        }
        true
    }

    pub(super) fn enumerator(&self, enumerator: &Enumerator, span: Span) -> graph::Expr {
        let kind = ExprKind::Const(Value::Enum(enumerator.ordinal));
        self.typed_expr(kind, enumerator.full_type(), span)
    }

    pub(super) fn not_constant<T>(&self, name: &str, span: Span) -> Option<T> {
        let message = format!("`{name}` is not known when compiling");
        let finding = Diagnostic::error("not-constant", span, message);
        self.report(finding.help("a compile-time constant is needed here"))
    }

    fn not_a_value<T>(&self, name: &QName) -> Option<T> {
        let namespace = name.namespace.as_ref().map_or("", |n| &n.text);
        let text = &name.name.text;
        let message = format!("namespace `{namespace}` has no value `{text}`");
        self.fail("unknown-name", name.span, message)
    }
}
