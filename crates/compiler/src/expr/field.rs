//! Typing of `e.attr`: an attribute of a tuple, or an enumerator of a composite.

use graph::ExprKind;
use syntax::ast::{self, Ident, QName};
use syntax::{DeclarationKind, Diagnostic, Span};
use tuple::{TupleType, Type};

use super::Typer;
use super::name_resolution::NameResolution;
use crate::names::{Definition, DefinitionKind, nearest};

/// Number of attributes up to which a report of an unknown one lists them all.
const ATTRIBUTES_NAMED_MAX: usize = 12;

impl<'w> Typer<'_, 'w> {
    pub(super) fn field(
        &mut self,
        base: &'w ast::Expr,
        name: &'w Ident,
        span: Span,
    ) -> Option<graph::Expr> {
        if let ast::ExprKind::Name(qname) = &base.kind
            && !qname.name.text.starts_with('$')
        {
            if let Some(port) = self.port_with_attribute(qname, &name.text) {
                self.note_input(port, &qname.name);
                return self.port_attribute(port, 0, Some(&qname.name.text), name, span);
            }
            if !self.is_value(qname) {
                return self.member(qname, name, span);
            }
        }
        let start = self.effects.mark();
        let typed = self.infer(base, None)?;
        match typed.kind {
            ExprKind::Input { port, history } => {
                self.effects.truncate(start);
                self.port_attribute(port.index(), history, None, name, span)
            }
            _ => {
                let (index, ty) = self.attribute_of(&typed.ty, name, base.span)?;
                self.effects.deepen(start, index);
                Some(self.typed_expr(ExprKind::Field(Box::new(typed), index), ty, span))
            }
        }
    }

    /// The input port of a name, when an attribute of that port is asked for. An attribute or state
    /// variable of the port's own name stays behind, unless it is no tuple with such an attribute.
    pub(super) fn port_with_attribute(&self, name: &QName, attribute: &str) -> Option<usize> {
        if name.namespace.is_some() {
            return None;
        }
        let text = &name.name.text;
        match self.resolve_name(text)? {
            NameResolution::Port(port) => Some(port),
            NameResolution::Attribute(_) => {
                let site = self.operator.as_ref()?;
                let ports = match self.is_foreign() {
                    true => {
                        let stream = self.scope.composite_scope()?.stream(text)?;
                        site.inputs_of(&stream.ids)
                    }
                    false => site.inputs_named(text),
                };
                let &[port] = &ports[..] else { return None };
                site.inputs[port]
                    .schema
                    .as_ref()?
                    .find(attribute)
                    .map(|_| port)
            }
            _ => None,
        }
    }

    fn is_value(&self, name: &QName) -> bool {
        name.namespace.is_none() && self.resolve_name(&name.name.text).is_some()
    }

    /// An attribute of an input port; `written` is what the port was called, if it was by name.
    fn port_attribute(
        &mut self,
        port: usize,
        history: u32,
        written: Option<&str>,
        name: &Ident,
        span: Span,
    ) -> Option<graph::Expr> {
        let schema = self.operator.as_ref()?.inputs[port].schema.clone()?;
        match schema.find(&name.text) {
            Some((index, _)) => {
                self.session.note_attribute(name.span, &schema, index);
                self.attribute_at(port, history, index, span)
            }
            None if self.is_lost_attribute(name) => None,
            None => {
                let stream = match written {
                    Some(written) => written.into(),
                    None => self.operator.as_ref()?.inputs[port].name.clone(),
                };
                let message = format!("stream `{stream}` has no attribute `{}`", name.text);
                self.report(self.unknown_attribute(message, &schema, name))
            }
        }
    }

    /// Whether the declaration of an attribute may be in a broken part of the program.
    fn is_lost_attribute(&self, name: &Ident) -> bool {
        let kind = DeclarationKind::Attribute;
        self.session.note_poisoned(kind, &name.text)
    }

    /// The index and type of an attribute of a value.
    pub(super) fn attribute_of(&self, ty: &Type, name: &Ident, base: Span) -> Option<(u32, Type)> {
        match ty {
            Type::Tuple(schema) => match schema.find(&name.text) {
                Some((index, attribute)) => {
                    self.session.note_attribute(name.span, schema, index);
                    Some((index as u32, attribute.ty.clone()))
                }
                None if self.is_lost_attribute(name) => None,
                None => {
                    let message = format!("this tuple has no attribute `{}`", name.text);
                    self.report(self.unknown_attribute(message, schema, name))
                }
            },
            Type::Optional(inner) if inner.is_tuple() => {
                let message = format!("an optional has no attribute `{}`", name.text);
                let finding = Diagnostic::error("not-a-tuple", base, message);
                self.report(finding.help("unwrap it first, with `!` or `?:`"))
            }
            other => {
                let message = format!("only tuples have attributes, and this is {other}");
                self.fail("not-a-tuple", base, message)
            }
        }
    }

    /// `C.e`: an enumerator of a composite's static types.
    fn member(&mut self, composite: &QName, name: &Ident, span: Span) -> Option<graph::Expr> {
        let unit = self.scope.unit_id();
        match self
            .session
            .symbols
            .search(unit, composite, DefinitionKind::Operator)
        {
            Ok(Definition::Composite(owner, ast)) => {
                let own = self
                    .scope
                    .composite_scope()
                    .filter(|f| std::ptr::eq(f.ast, &**ast));
                let scope = self.session.static_scope(owner, ast);
                let composite_scope = match own {
                    Some(composite_scope) => composite_scope.clone(),
                    None => scope.composite_scope()?.clone(),
                };
                self.session
                    .note_use(composite.name.span, ast.name.span, None);
                match composite_scope.enumerator(&name.text) {
                    Some(enumerator) => {
                        self.note_enumerator(&enumerator, name);
                        Some(self.enumerator(&enumerator, span))
                    }
                    None => {
                        let c = &composite.name.text;
                        let message = format!("composite `{c}` has no enumerator `{}`", name.text);
                        let finding = Diagnostic::error("unknown-enumerator", name.span, message);
                        let names = composite_scope.enumerator_names();
                        let suggestions = &self.session.symbols.suggestions;
                        let names = || names.iter().map(|n| &**n);
                        self.report(suggestions.did_you_mean(finding, &name.text, names))
                    }
                }
            }
            Ok(_) => self.unknown_name(&composite.name.text, composite.span),
            Err(finding) if composite.namespace.is_some() => {
                let finding = finding.map(|finding| *finding);
                self.session.diagnostics.add_or_note(finding);
                None
            }
            Err(_) => self.member_of_type(composite, name, span),
        }
    }

    /// `Color.red`, where `Color` is an enum type: a frequent slip.
    fn member_of_type<T>(&mut self, ty: &QName, name: &Ident, span: Span) -> Option<T> {
        if self.resolve_name(&name.text).is_some()
            && self
                .session
                .symbols
                .search(self.scope.unit_id(), ty, DefinitionKind::Type)
                .is_ok()
                | self
                    .scope
                    .composite_scope()
                    .is_some_and(|f| f.ty(&ty.name.text).is_some())
        {
            let (ty, name) = (&ty.name.text, &name.text);
            let message = format!("`{ty}` is a type; its enumerators stand alone");
            let finding = Diagnostic::error("not-a-value", span, message);
            return self.report(finding.help(format!("write `{name}`")));
        }
        self.unknown_name(&ty.name.text, ty.span)
    }

    /// The report of an attribute that does not exist, with the nearest name or with all names.
    fn unknown_attribute(&self, message: String, schema: &TupleType, name: &Ident) -> Diagnostic {
        let finding = Diagnostic::error("unknown-attribute", name.span, message);
        if !self.session.symbols.suggestions.is_open(finding.span) {
            return finding;
        }
        let names = schema.attributes.iter().map(|a| &*a.name);
        match nearest(&name.text, names.clone()) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None if (1..=ATTRIBUTES_NAMED_MAX).contains(&names.len()) => {
                let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
                finding.help(match &names[..] {
                    [only] => format!("its only one is {only}"),
                    _ => format!("its attributes are {}", names.join(", ")),
                })
            }
            None => finding,
        }
    }
}
