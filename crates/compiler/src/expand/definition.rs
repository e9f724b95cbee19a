//! Checks a composite's definition, once and apart from its invocations.

use std::collections::{HashMap, HashSet};

use syntax::ast::{Composite, Ident, QName};
use syntax::{Diagnostic, Span};

use crate::load::name_visitor::{self, NameRole, NameVisitor};
use crate::types::{formal_in_default, static_type_of_stream, stream_names};
use crate::{Diagnostics, Session};

/// Checks ports, formals, static types and instance names.
pub(super) fn check_definition(composite: &Composite, session: &Session<'_>) {
    let diagnostics = &session.diagnostics;
    unique_ports(composite, diagnostics);
    formals(composite, diagnostics);
    instances(composite, diagnostics);
    static_types(composite, diagnostics);
}

fn unique_ports(composite: &Composite, diagnostics: &Diagnostics) {
    let ports = composite.outputs.iter().chain(&composite.inputs);
    for_each_repeat(ports.map(|p| &p.name), |name, first| {
        let message = format!("port `{}` is declared twice", name.text);
        diagnostics.add(duplicate("duplicate-port", name.span, message, first));
    });
}

fn formals(composite: &Composite, diagnostics: &Diagnostics) {
    let names = composite.params.iter().map(|p| &p.name);
    for_each_repeat(names.clone(), |name, first| {
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
    for default in composite.params.iter().filter_map(|p| p.default.as_ref()) {
        name_visitor::actual(default, &mut DefaultVisitor { diagnostics });
    }
}

/// Visitor of a default, used or not, that reports the formals in it.
struct DefaultVisitor<'d> {
    diagnostics: &'d Diagnostics,
}

impl<'a> NameVisitor<'a> for DefaultVisitor<'_> {
    fn mention(&mut self, _: NameRole, name: &'a QName) {
        if name.name.text.starts_with('$') {
            self.diagnostics.add(formal_in_default(&name.name));
        }
    }

    fn declare(&mut self, _: &'a Ident) {}
}

fn instances(composite: &Composite, diagnostics: &Diagnostics) {
    let names = composite
        .graph
        .iter()
        .filter_map(super::invocation::instance_name);
    let ports = composite.graph.iter().flat_map(|i| &i.outputs);
    let streams: HashSet<Span> = ports.map(|port| port.name.span).collect();
    for_each_repeat(names, |name, first| {
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

/// A static type is the same whatever is passed: it cannot depend on a formal or a stream, nor be
/// made of a type that may.
fn static_types(composite: &Composite, diagnostics: &Diagnostics) {
    let named = type_references(composite);
    let formals = formals_within(&named);
    let defs = composite.types.iter().enumerate();
    for (at, def) in defs.filter(|(_, def)| def.is_static) {
        let own = &def.name.text;
        if let Some(formal) = formals[at] {
            let message = format!("static type `{own}` cannot depend on `{}`", formal.text);
            let finding = Diagnostic::error("static-type-formal", def.name.span, message);
            diagnostics.add(finding.label(formal.span, "it is used here"));
            continue;
        }
        if let Some(stream) = named[at].stream {
            diagnostics.add(static_type_of_stream(stream));
            continue;
        }
        let mut types = named[at].types.iter();
        let plain = types.find(|(_, part)| !composite.types[*part].is_static);
        if let Some((name, part)) = plain {
            let (other, part) = (&name.text, &composite.types[*part]);
            let message = format!("static type `{own}` is made of `{other}`, which is not static");
            let finding = Diagnostic::error("static-type-part", name.span, message)
                .label(part.name.span, "defined here")
                .help(format!("define it as `static {other} = ...`"));
            diagnostics.add(finding);
        }
    }
}

/// Names that a type definition of a composite mentions.
#[derive(Default)]
struct TypeReferences<'a> {
    /// First formal that is mentioned.
    formal: Option<&'a Ident>,
    /// First port or stream of the composite that is mentioned.
    stream: Option<&'a Ident>,
    /// The types of the composite, each by its index there.
    types: Vec<(&'a Ident, usize)>,
}

/// Names that each type definition of a composite mentions, in the order of the definitions.
fn type_references(composite: &Composite) -> Vec<TypeReferences<'_>> {
    let mut by_name = HashMap::new();
    for (at, def) in composite.types.iter().enumerate() {
        by_name.entry(&*def.name.text).or_insert(at);
    }
    let streams = stream_names(composite).collect();
    let named = composite.types.iter().map(|def| {
        let mut walk = TypeReferenceVisitor {
            composite: &composite.name.text,
            by_name: &by_name,
            streams: &streams,
            named: TypeReferences::default(),
        };
        name_visitor::type_def(def, &mut walk);
        walk.named
    });
    named.collect()
}

/// The formal that each type depends on, by what it names or by the types that it is made of: each
/// is looked at once, from those that name a formal to those that are made of them.
fn formals_within<'a>(named: &[TypeReferences<'a>]) -> Vec<Option<&'a Ident>> {
    let mut within = vec![Vec::new(); named.len()];
    for (at, def) in named.iter().enumerate() {
        for (_, part) in &def.types {
            within[*part].push(at);
        }
    }
    let mut formals: Vec<_> = named.iter().map(|def| def.formal).collect();
    let mut open: Vec<usize> = (0..named.len())
        .filter(|&at| formals[at].is_some())
        .collect();
    while let Some(part) = open.pop() {
        for &at in &within[part] {
            if formals[at].is_none() {
                formals[at] = formals[part];
                open.push(at);
            }
        }
    }
    formals
}

/// Visitor that collects the names in one definition.
struct TypeReferenceVisitor<'a, 'n> {
    composite: &'a str,
    /// Types of the composite by name, as indices of its definitions.
    by_name: &'n HashMap<&'a str, usize>,
    /// Names of ports and streams of the composite.
    streams: &'n HashSet<&'a str>,
    named: TypeReferences<'a>,
}

impl<'a> TypeReferenceVisitor<'a, '_> {
    fn type_name(&mut self, name: &'a Ident) {
        if let Some(&at) = self.by_name.get(&*name.text) {
            self.named.types.push((name, at));
        }
    }

    /// A type hides a stream of its name.
    fn stream_name(&mut self, name: &'a Ident) {
        if self.streams.contains(&*name.text) && !self.by_name.contains_key(&*name.text) {
            self.named.stream.get_or_insert(name);
        }
    }
}

impl<'a> NameVisitor<'a> for TypeReferenceVisitor<'a, '_> {
    fn mention(&mut self, role: NameRole, name: &'a QName) {
        if name.name.text.starts_with('$') {
            self.named.formal.get_or_insert(&name.name);
        } else if name.namespace.is_none() && role == NameRole::Type {
            self.type_name(&name.name);
            self.stream_name(&name.name);
        }
    }

    fn member(&mut self, composite: &'a QName, member: &'a Ident) {
        if composite.namespace.is_none() && *composite.name.text == *self.composite {
            self.type_name(member);
        }
    }

    fn declare(&mut self, _: &'a Ident) {}
}

fn duplicate(code: &'static str, span: Span, message: String, first: Span) -> Diagnostic {
    Diagnostic::error(code, span, message).label(first, "first here")
}

/// Calls `twice` with every name that came before, and its first place.
fn for_each_repeat<'a>(
    names: impl Iterator<Item = &'a Ident>,
    mut twice: impl FnMut(&Ident, Span),
) {
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
