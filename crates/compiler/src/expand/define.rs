//! What is wrong with a composite's definition whoever invokes it.

use std::collections::{HashMap, HashSet};

use syntax::ast::{Composite, Ident, QName, TypeDef};
use syntax::{Diagnostic, Span};

use crate::load::visit::{self, Role, Visitor};
use crate::{Diagnostics, Session};

/// Checks ports, formals, static types and instance names.
pub(super) fn check(composite: &Composite, session: &Session<'_>) {
    let diagnostics = &session.diagnostics;
    unique_ports(composite, diagnostics);
    formals(composite, diagnostics);
    instances(composite, diagnostics);
    static_types(composite, diagnostics);
}

fn unique_ports(composite: &Composite, diagnostics: &Diagnostics) {
    let ports = composite.outputs.iter().chain(&composite.inputs);
    each_once(ports.map(|p| &p.name), |name, first| {
        let message = format!("port `{}` is declared twice", name.text);
        diagnostics.add(duplicate("duplicate-port", name.span, message, first));
    });
}

fn formals(composite: &Composite, diagnostics: &Diagnostics) {
    let names = composite.params.iter().map(|p| &p.name);
    each_once(names.clone(), |name, first| {
        let message = format!("parameter `{}` is declared twice", name.text);
        diagnostics.add(duplicate("duplicate-param", name.span, message, first));
    });
    for name in names.filter(|name| !name.text.starts_with('$')) {
        let message = format!(
            "the name of a composite's parameter begins with `$`: `${}`",
            name.text
        );
        diagnostics.add(Diagnostic::error("formal-name", name.span, message));
    }
}

fn instances(composite: &Composite, diagnostics: &Diagnostics) {
    let names = composite
        .graph
        .iter()
        .filter_map(super::invocation::instance_name);
    let ports = composite.graph.iter().flat_map(|i| &i.outputs);
    let streams: HashSet<Span> = ports.map(|port| port.name.span).collect();
    each_once(names, |name, first| {
        // Two streams of one name are reported as such.
        if streams.contains(&name.span) && streams.contains(&first) {
            return;
        }
        let message = format!(
            "operator `{}` is defined twice in this composite",
            name.text
        );
        diagnostics.add(
            duplicate("duplicate-operator", name.span, message, first)
                .help("an operator is called by its alias (`as Name`), else by its first stream"),
        );
    });
}

/// A static type is the same whatever is passed: it cannot depend on a formal, nor be made of a type
/// that may.
fn static_types(composite: &Composite, diagnostics: &Diagnostics) {
    for def in composite.types.iter().filter(|def| def.is_static) {
        let mut walk = Formals {
            composite,
            seen: Vec::new(),
            depth: 0,
            found: None,
            plain: None,
        };
        walk.definition(def);
        if let (None, Some((name, part))) = (walk.found, walk.plain) {
            let (own, other) = (&def.name.text, &name.text);
            let message = format!("static type `{own}` is made of `{other}`, which is not static");
            let finding = Diagnostic::error("static-type-part", name.span, message)
                .label(part.name.span, "defined here")
                .help(format!("define it as `static {other} = ...`"));
            diagnostics.add(finding);
        }
        if let Some(formal) = walk.found {
            let name = &def.name.text;
            let message = format!("static type `{name}` cannot depend on `{}`", formal.text);
            let finding = Diagnostic::error("static-type-formal", def.name.span, message);
            diagnostics.add(finding.label(formal.span, "it is used here"));
        }
    }
}

/// Looks for a formal in a type definition and the types of the composite that it names.
struct Formals<'a> {
    composite: &'a Composite,
    seen: Vec<&'a str>,
    /// How many definitions are open, each named in the one before.
    depth: u32,
    found: Option<&'a Ident>,
    /// A type of the composite that is not static, where the first definition names it.
    plain: Option<(&'a Ident, &'a TypeDef)>,
}

impl<'a> Formals<'a> {
    fn definition(&mut self, def: &'a TypeDef) {
        if !self.seen.contains(&&*def.name.text) {
            self.seen.push(&def.name.text);
            self.depth += 1;
            visit::type_def(def, self);
            self.depth -= 1;
        }
    }

    fn type_name(&mut self, name: &'a Ident) {
        let types = &self.composite.types;
        if let Some(def) = types.iter().find(|def| def.name.text == name.text) {
            if self.depth == 1 && !def.is_static {
                self.plain.get_or_insert((name, def));
            }
            self.definition(def);
        }
    }
}

impl<'a> Visitor<'a> for Formals<'a> {
    fn mention(&mut self, role: Role, name: &'a QName) {
        if name.name.text.starts_with('$') {
            self.found.get_or_insert(&name.name);
        } else if name.namespace.is_none() && role == Role::Type {
            self.type_name(&name.name);
        }
    }

    fn member(&mut self, composite: &'a QName, member: &'a Ident) {
        if composite.namespace.is_none() && composite.name.text == self.composite.name.text {
            self.type_name(member);
        }
    }

    fn declare(&mut self, _: &'a Ident) {}
}

fn duplicate(code: &'static str, span: Span, message: String, first: Span) -> Diagnostic {
    Diagnostic::error(code, span, message).label(first, "first here")
}

/// Calls `twice` with every name that came before, and its first place.
fn each_once<'a>(names: impl Iterator<Item = &'a Ident>, mut twice: impl FnMut(&Ident, Span)) {
    let mut seen: HashMap<&str, Span> = HashMap::new();
    for name in names {
        match seen.get(&*name.text) {
            Some(&first) => twice(name, first),
            None => {
                seen.insert(&name.text, name.span);
            }
        }
    }
}
