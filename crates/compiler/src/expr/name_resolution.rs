//! Meaning of a plain name in an expression.
//!
//! Innermost first: locals, then state variables and attributes of the operator's input ports, then
//! its ports themselves, then enumerators of the composite and of the namespaces that are seen. In
//! the actual of a composite's formal, stream names stand for the ports that carry the same stream.

use std::sync::Arc;

use graph::StateId;
use syntax::ast::{Composite, Item, QName, TypeDefBody, TypeKind};
use syntax::{DeclarationKind, Diagnostic, Span};

use super::Typer;
use super::context::ReadableInputs;
use crate::names::{
    BlockScope, CompositeScope, DefinitionKind, Enumerator, LocalEntry, ScopeLevel, StateEntry,
    foreign_function,
};

/// A name that has a value.
#[derive(Clone, Debug)]
pub(super) enum NameResolution {
    Local(LocalEntry),
    State(StateId, StateEntry),
    /// Input ports that have the attribute, with its index.
    Attribute(Vec<(usize, usize)>),
    Port(usize),
    /// A stream that several input ports carry.
    Ports(Vec<usize>),
    Enumerator(Enumerator),
}

impl<'w> Typer<'_, 'w> {
    /// The meaning of a name, if it is that of a value.
    pub(super) fn resolve_name(&self, name: &str) -> Option<NameResolution> {
        let foreign = self.is_foreign();
        if foreign && let Some(found) = self.resolve_attribute(name) {
            return Some(found);
        }
        for level in self.scope.levels() {
            let found = match level {
                ScopeLevel::Block(block) => resolve_in_block(block, name),
                ScopeLevel::Operator(_) => self.resolve_in_operator(name),
                ScopeLevel::Composite(composite_scope) => {
                    self.resolve_in_composite(composite_scope, name, foreign)
                }
                ScopeLevel::Unit(unit) => self
                    .session
                    .symbols
                    .enumerator(*unit, name)
                    .cloned()
                    .map(NameResolution::Enumerator),
                ScopeLevel::Default => None,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Whether a name is that of a local or state variable.
    pub(crate) fn is_variable(&self, name: &str) -> bool {
        matches!(
            self.resolve_name(name),
            Some(NameResolution::Local(_) | NameResolution::State(..))
        )
    }

    /// Whether a name has a value; a variable counts as used from then on.
    pub(crate) fn use_value(&mut self, name: &str) -> bool {
        let meaning = self.resolve_name(name);
        if let Some(NameResolution::Local(entry)) = &meaning
            && !self.context.constant
        {
            self.usages[entry.id.0 as usize].is_used = true;
        }
        meaning.is_some()
    }

    /// The output port that an expression names.
    pub(crate) fn output_named(&self, expr: &syntax::ast::Expr) -> Option<usize> {
        let syntax::ast::ExprKind::Name(name) = &expr.kind else {
            return None;
        };
        let text = &name.name.text;
        if name.namespace.is_some() || self.is_variable(text) {
            return None;
        }
        let site = self.operator.as_ref()?;
        if !self.is_foreign() {
            return site.output(text);
        }
        let stream = self.scope.composite_scope()?.stream(text)?;
        site.output_of(&stream.ids)
    }

    fn resolve_in_operator(&self, name: &str) -> Option<NameResolution> {
        let site = self.operator.as_ref()?;
        let state = site
            .state(name)
            .map(|(id, entry)| NameResolution::State(id, entry));
        let attribute = self.resolve_attribute(name);
        let variable = match self.session.options.attributes_hide_state {
            true => attribute.or(state),
            false => state.or(attribute),
        };
        variable
            .or_else(|| self.resolve_ports(site.inputs_named(name)))
            .or_else(|| site.enumerator(name).map(NameResolution::Enumerator))
    }

    fn resolve_in_composite(
        &self,
        composite_scope: &CompositeScope<'w>,
        name: &str,
        foreign: bool,
    ) -> Option<NameResolution> {
        if foreign
            && let Some(stream) = composite_scope.stream(name)
            && let Some(site) = &self.operator
            && let Some(port) = self.resolve_ports(site.inputs_of(&stream.ids))
        {
            return Some(port);
        }
        composite_scope
            .enumerator(name)
            .map(NameResolution::Enumerator)
    }

    /// The meaning of a name that these input ports have. As with attributes, the port whose tuple
    /// is being processed comes first.
    fn resolve_ports(&self, found: Vec<usize>) -> Option<NameResolution> {
        match (&found[..], self.context.inputs) {
            ([], _) => None,
            (&[port], _) => Some(NameResolution::Port(port)),
            (_, ReadableInputs::Port(only)) if found.contains(&only.index()) => {
                Some(NameResolution::Port(only.index()))
            }
            _ => Some(NameResolution::Ports(found)),
        }
    }

    fn resolve_attribute(&self, name: &str) -> Option<NameResolution> {
        let mut found = self.operator.as_ref()?.attribute(name);
        if let ReadableInputs::Port(only) = self.context.inputs
            && found.iter().any(|(port, _)| *port == only.index())
        {
            found.retain(|(port, _)| *port == only.index());
        }
        (!found.is_empty()).then_some(NameResolution::Attribute(found))
    }

    /// Reports a name without meaning, unless something broken may have had it.
    pub(super) fn unknown_name<T>(&mut self, name: &str, span: Span) -> Option<T> {
        if self.operator.as_ref().is_some_and(|site| site.is_broken()) {
            return None;
        }
        if self.session.note_poisoned(DeclarationKind::Variable, name) {
            return None;
        }
        if let Some(finding) = self.misplaced_name(name, span) {
            return self.report(finding);
        }
        let first = *self.unknown_names.entry(name.into()).or_insert(span);
        let finding = self.unresolved_name(name, span);
        self.report_once(first, finding)
    }

    fn unresolved_name(&self, name: &str, span: Span) -> Diagnostic {
        let message = match self
            .operator
            .as_ref()
            .is_some_and(|site| !site.inputs.is_empty())
        {
            true => format!("there is no variable, attribute or stream `{name}` here"),
            false => format!("there is no variable `{name}` here"),
        };
        let finding = Diagnostic::error("unknown-name", span, message);
        if let Some(word) = foreign_literal(name) {
            return finding.help(format!("write `{word}`"));
        }
        if let Some(meant) = self.library_enumerator(name) {
            return finding.help(format!("write {meant}"));
        }
        let formal = format!("${name}");
        if (self.scope.composite_scope()).is_some_and(|scope| scope.binding(&formal).is_some()) {
            return finding.help(format!("write `{formal}` for the composite's parameter"));
        }
        if let Some(help) = foreign_function(name).filter(|_| name == "cout") {
            return finding.help(help);
        }
        if let Some(composite) = self.composite_of_enumerator(name, span) {
            return finding.help(format!("write `{composite}.{name}`"));
        }
        let mut names = Vec::new();
        let suggestions = &self.session.symbols.suggestions;
        suggestions.did_you_mean(finding, name, || {
            names = self.visible_names();
            names.iter().map(|n| &**n)
        })
    }

    /// A composite that can be named here and has an enumerator of that name in a static type.
    fn composite_of_enumerator(&self, name: &str, span: Span) -> Option<Arc<str>> {
        let symbols = self.session.symbols;
        if !symbols.suggestions.is_open(span) {
            return None;
        }
        let is_visible = |composite: &Composite| {
            let name = QName {
                namespace: None,
                name: composite.name.clone(),
                span,
            };
            let unit = self.scope.unit_id();
            symbols
                .search(unit, &name, DefinitionKind::Operator)
                .is_ok()
        };
        let items = symbols.units().flat_map(|(_, unit)| &unit.unit.items);
        let mut all = items.filter_map(|item| match item {
            Item::Composite(composite) => Some(composite),
            _ => None,
        });
        all.find(|composite| has_enumerator(composite, name) && is_visible(composite))
            .map(|composite| composite.name.text.clone())
    }

    /// The enumerators of the library that are called so, with their composites.
    fn library_enumerator(&self, name: &str) -> Option<String> {
        let has = |composite: &&str| {
            let found = self.session.symbols.library_composite(composite);
            found.is_some_and(|(unit, ast)| {
                let scope = self.session.static_scope(unit, ast);
                let composite_scope = scope.composite_scope();
                composite_scope
                    .is_some_and(|composite_scope| composite_scope.enumerator(name).is_some())
            })
        };
        let all = ["Trace", "Log", "Sys"].into_iter().filter(has);
        let all: Vec<String> = all
            .map(|composite| format!("`{composite}.{name}`"))
            .collect();
        (!all.is_empty()).then(|| all.join(" or "))
    }

    /// A name that means something, but no value.
    fn misplaced_name(&self, name: &str, span: Span) -> Option<Diagnostic> {
        let error = |code, message| Some(Diagnostic::error(code, span, message));
        if let Some(stream) = self
            .scope
            .composite_scope()
            .and_then(|composite_scope| composite_scope.stream(name))
        {
            let message = format!("stream `{name}` is no input of this operator");
            let finding = Diagnostic::error("unknown-name", span, message);
            return Some(finding.label(stream.span, "the stream"));
        }
        let ident = syntax::ast::Ident {
            text: name.into(),
            span,
        };
        let name_ = syntax::ast::QName {
            namespace: None,
            name: ident,
            span,
        };
        let unit = self.scope.unit_id();
        let symbols = self.session.symbols;
        if !symbols.overloads(unit, &name_).is_empty() {
            return error(
                "not-a-value",
                format!("`{name}` is a function; call it: `{name}(...)`"),
            );
        }
        if self.is_type_name(&name_) {
            return error("not-a-value", format!("`{name}` is a type, not a value"));
        }
        if symbols
            .search(unit, &name_, DefinitionKind::Operator)
            .is_ok()
        {
            return error(
                "not-a-value",
                format!("`{name}` is an operator, not a value"),
            );
        }
        None
    }

    /// All names that an expression here can use, for suggestions.
    fn visible_names(&self) -> Vec<std::sync::Arc<str>> {
        let mut names = Vec::new();
        for level in self.scope.levels() {
            match level {
                ScopeLevel::Block(block) => names.extend(block.vars.borrow().keys().cloned()),
                ScopeLevel::Composite(composite_scope) => {
                    names.extend(composite_scope.enumerator_names())
                }
                _ => {}
            }
        }
        if let Some(site) = &self.operator {
            names.extend(site.state_names());
            for port in &site.inputs {
                names.extend(port.names.iter().cloned());
                let attributes = port.schema.iter().flat_map(|s| &s.attributes);
                names.extend(attributes.map(|a| a.name.clone()));
            }
        }
        names
    }
}

fn resolve_in_block(block: &BlockScope<'_>, name: &str) -> Option<NameResolution> {
    if let Some(entry) = block.vars.borrow().get(name) {
        return Some(NameResolution::Local(entry.clone()));
    }
    block
        .enumerators
        .borrow()
        .get(name)
        .cloned()
        .map(NameResolution::Enumerator)
}

/// The literal that other languages write so.
fn foreign_literal(name: &str) -> Option<&'static str> {
    Some(match name {
        "NULL" | "Null" | "nil" | "None" | "nullptr" => "null",
        "True" | "TRUE" => "true",
        "False" | "FALSE" => "false",
        "sys" | "SYS" => "Sys",
        _ => return None,
    })
}

/// Whether a static type of a composite has an enumerator of that name.
fn has_enumerator(composite: &Composite, name: &str) -> bool {
    let statics = composite.types.iter().filter(|def| def.is_static);
    let mut enums = statics.filter_map(|def| match &def.body {
        TypeDefBody::Type(ty) => match &ty.kind {
            TypeKind::Enum(enumerators) => Some(enumerators),
            _ => None,
        },
        _ => None,
    });
    enums.any(|list| list.iter().any(|enumerator| &*enumerator.text == name))
}
