//! Finding a definition by the name that a unit writes.
//!
//! A name without namespace is looked for in the unit's own namespace, then among its named uses,
//! then in all the namespaces it uses as a whole. Definitions found at the nearest of these levels
//! hide those further out; two at one level are ambiguous (functions overload instead, across all
//! levels). What is not public is seen only inside its namespace.

use std::sync::Arc;

use graph::{NativeId, OperatorModel};
use syntax::Diagnostic;
use syntax::ast::{Composite, Function, QName, TypeDef};

use super::elsewhere::foreign_function;
use super::enumerator::Enumerator;
use super::index::Namespace;
use super::suggest::{BUILT_IN, foreign_type};
use super::unit::UnitId;
use super::world::{NamespaceId, World};
use crate::Diagnostics;

/// What sort of definition is looked for, in the user's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A composite or primitive operator.
    Operator,
    /// A type.
    Type,
    /// A function.
    Function,
}

/// A definition.
#[derive(Clone, Copy, Debug)]
pub enum Found<'w> {
    /// A composite operator.
    Composite(UnitId, &'w Arc<Composite>),
    /// A primitive operator.
    Operator(&'static OperatorModel),
    /// A type.
    Type(UnitId, &'w Arc<TypeDef>),
    /// An overload of a user function.
    Function(UnitId, &'w Arc<Function>),
    /// An overload of a library function.
    Native(NativeId),
}

/// The definitions of one namespace.
struct Level<'w> {
    visible: Vec<(NamespaceId, Found<'w>)>,
    hidden: Vec<(NamespaceId, Found<'w>)>,
}

impl World {
    /// The composite or primitive operator of a name; reports why there is none.
    pub fn operator(
        &self,
        unit: UnitId,
        name: &QName,
        diagnostics: &Diagnostics,
    ) -> Option<Found<'_>> {
        self.definition(unit, name, Kind::Operator, diagnostics)
    }

    /// The one definition of a name; reports why there is none.
    pub fn definition(
        &self,
        unit: UnitId,
        name: &QName,
        kind: Kind,
        diagnostics: &Diagnostics,
    ) -> Option<Found<'_>> {
        match self.search(unit, name, kind) {
            Ok(found) => Some(found),
            Err(diagnostic) => {
                diagnostics.add(*diagnostic);
                None
            }
        }
    }

    /// The one definition of a name, or what is wrong.
    pub(crate) fn search(
        &self,
        unit: UnitId,
        name: &QName,
        kind: Kind,
    ) -> Result<Found<'_>, Box<Diagnostic>> {
        let mut hidden = Vec::new();
        for level in self.levels(unit, name)? {
            let found = self.collect(unit, &level, &name.name.text, kind);
            hidden.extend(found.hidden);
            match found.visible[..] {
                [] => {}
                [(_, one)] => return Ok(one),
                [(a, _), (b, _), ..] => return Err(Box::new(self.ambiguous(name, kind, a, b))),
            }
        }
        Err(Box::new(match hidden.first() {
            Some(&(namespace, found)) => self.not_public(name, namespace, found),
            None => self.unknown(unit, name, kind),
        }))
    }

    /// Every visible overload of a function name, nearest level first, with its distance.
    pub(crate) fn overloads(&self, unit: UnitId, name: &QName) -> Vec<(usize, Found<'_>)> {
        let levels = self.levels(unit, name).unwrap_or_default();
        let mut list = Vec::new();
        for (distance, level) in levels.iter().enumerate() {
            let found = self.collect(unit, level, &name.name.text, Kind::Function);
            list.extend(found.visible.into_iter().map(|(_, f)| (distance, f)));
        }
        list
    }

    /// Why there is no visible function of a name.
    pub(crate) fn no_function(&self, unit: UnitId, name: &QName) -> Diagnostic {
        match self.search(unit, name, Kind::Function) {
            Err(diagnostic) => *diagnostic,
            Ok(_) => self.unknown(unit, name, Kind::Function),
        }
    }

    /// The enumerator of an unqualified name in the namespaces that a unit sees.
    pub(crate) fn enumerator(&self, unit: UnitId, name: &str) -> Option<&Enumerator> {
        let uses = &self.index.uses[unit.0 as usize];
        let named = uses.named.get(name).copied();
        std::iter::once(uses.own)
            .chain(named)
            .chain(uses.wild.iter().copied())
            .find_map(|id| self.index.namespace(id).enumerators.get(name))
    }

    /// The enumerator `ns::name`.
    pub(crate) fn enumerator_in(&self, namespace: &str, name: &str) -> Option<&Enumerator> {
        let id = self.index.find(namespace)?;
        self.index.namespace(id).enumerators.get(name)
    }

    /// The qualified name of something that a unit defines.
    pub fn qualified(&self, unit: UnitId, name: &str) -> Arc<str> {
        match self.unit(unit).namespace() {
            "" => name.into(),
            namespace => format!("{namespace}::{name}").into(),
        }
    }

    /// Names of a kind that a unit sees, for suggestions.
    pub(crate) fn names(&self, unit: UnitId, kind: Kind) -> impl Iterator<Item = &str> {
        let uses = &self.index.uses[unit.0 as usize];
        let named = uses.named.keys().map(|name| &**name);
        std::iter::once(uses.own)
            .chain(uses.wild.iter().copied())
            .flat_map(move |id| names_of(self.index.namespace(id), kind))
            .chain(named)
    }

    fn levels(&self, unit: UnitId, name: &QName) -> Result<Vec<Vec<NamespaceId>>, Box<Diagnostic>> {
        let uses = &self.index.uses[unit.0 as usize];
        if let Some(namespace) = &name.namespace {
            return match self.index.find(&namespace.text) {
                Some(id) => Ok(vec![vec![id]]),
                None => Err(Box::new(self.unknown_namespace(
                    name,
                    &namespace.text,
                    uses.own,
                ))),
            };
        }
        let named = uses.named.get(&name.name.text).copied();
        Ok(vec![
            vec![uses.own],
            named.into_iter().collect(),
            uses.wild.clone(),
        ])
    }

    fn collect(&self, unit: UnitId, level: &[NamespaceId], name: &str, kind: Kind) -> Level<'_> {
        let own = self.index.uses[unit.0 as usize].own;
        let mut result = Level {
            visible: Vec::new(),
            hidden: Vec::new(),
        };
        for &id in level {
            for found in in_namespace(self.index.namespace(id), name, kind) {
                let list = if id == own || found.is_public() {
                    &mut result.visible
                } else {
                    &mut result.hidden
                };
                list.push((id, found));
            }
        }
        result
    }

    fn ambiguous(&self, name: &QName, kind: Kind, a: NamespaceId, b: NamespaceId) -> Diagnostic {
        let (a, b) = (&self.index.namespace(a).name, &self.index.namespace(b).name);
        let word = kind.word();
        let text = &name.name.text;
        let message = format!("{word} `{text}` is ambiguous: namespaces `{a}` and `{b}` define it");
        Diagnostic::error("ambiguous-name", name.span, message)
            .help(format!("write `{a}::{text}` or `{b}::{text}`"))
    }

    fn not_public(&self, name: &QName, namespace: NamespaceId, found: Found<'_>) -> Diagnostic {
        let namespace = &self.index.namespace(namespace).name;
        let text = &name.name.text;
        let message = format!("`{text}` is not public in namespace `{namespace}`");
        let diagnostic = Diagnostic::error("not-public", name.span, message);
        match found {
            Found::Composite(_, c) => diagnostic.label(c.name.span, "defined here"),
            Found::Function(_, f) => diagnostic.label(f.name.span, "defined here"),
            _ => diagnostic,
        }
    }

    fn unknown(&self, unit: UnitId, name: &QName, kind: Kind) -> Diagnostic {
        let text = &name.name.text;
        let (code, word) = (kind.code(), kind.word());
        let Some(namespace) = &name.namespace else {
            let diagnostic =
                Diagnostic::error(code, name.span, format!("there is no {word} `{text}`"));
            let elsewhere = self.elsewhere(name, kind);
            let diagnostic = match kind {
                Kind::Type => match foreign_type(text) {
                    Some(own) => diagnostic.help(format!("did you mean `{own}`?")),
                    None => self.suggestions.did_you_mean(diagnostic, text, || {
                        let defined = self.names(unit, kind);
                        defined.chain(BUILT_IN.iter().copied())
                    }),
                },
                Kind::Function if foreign_function(text).is_some() => {
                    diagnostic.help(foreign_function(text).unwrap_or_default())
                }
                Kind::Function => {
                    let diagnostic = self.output_function_meant(diagnostic, text);
                    self.meant(diagnostic, text, unit, kind)
                }
                Kind::Operator => self.meant(diagnostic, text, unit, kind),
            };
            return match elsewhere {
                Some(ns) => {
                    diagnostic.help(format!("add `use {ns}::{text};` to see that of `{ns}`"))
                }
                None => diagnostic,
            };
        };
        let message = format!("namespace `{}` has no {word} `{text}`", namespace.text);
        let diagnostic = Diagnostic::error(code, name.span, message);
        match self.index.find(&namespace.text) {
            Some(id) => self.suggestions.did_you_mean(diagnostic, text, || {
                names_of(self.index.namespace(id), kind)
            }),
            None => diagnostic,
        }
    }

    /// A composite of the library.
    pub(crate) fn library_composite(&self, name: &str) -> Option<(UnitId, &Arc<Composite>)> {
        let namespace = self.index.namespace(self.index.find("spl")?);
        let (unit, composite) = namespace.composites.get(name)?;
        Some((*unit, composite))
    }

    /// Adds that it is a function for the output clauses of some operators, if it is.
    fn output_function_meant(&self, diagnostic: Diagnostic, name: &str) -> Diagnostic {
        let models = self
            .index
            .namespaces
            .iter()
            .flat_map(|n| n.operators.values());
        let mut of: Vec<_> = models
            .filter(|model| model.has_output_function(name))
            .map(|model| model.name)
            .collect();
        of.sort_unstable();
        match of.is_empty() {
            true => diagnostic,
            false => diagnostic.help(format!(
                "`{name}` is an output function: it is called in the output clause of {}",
                of.join(", ")
            )),
        }
    }

    /// A namespace that is not used but has a public definition of the name.
    fn elsewhere(&self, name: &QName, kind: Kind) -> Option<&str> {
        let has = |n: &&Namespace| {
            in_namespace(n, &name.name.text, kind)
                .iter()
                .any(|found| found.is_public())
        };
        let mut all: Vec<_> = self
            .index
            .namespaces
            .iter()
            .filter(|n| !n.name.is_empty())
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all.into_iter().find(has).map(|n| &*n.name)
    }

    fn unknown_namespace(&self, name: &QName, namespace: &str, own: NamespaceId) -> Diagnostic {
        let span = name.namespace.as_ref().map_or(name.span, |n| n.span);
        let message = format!("there is no namespace `{namespace}`");
        let finding = Diagnostic::error("unknown-namespace", span, message);
        self.index.namespace_meant(finding, namespace, own)
    }

    fn meant(&self, finding: Diagnostic, name: &str, unit: UnitId, kind: Kind) -> Diagnostic {
        let suggestions = &self.suggestions;
        suggestions.did_you_mean(finding, name, || self.names(unit, kind))
    }
}

impl Kind {
    /// The user's word for it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Operator => "operator",
            Kind::Type => "type",
            Kind::Function => "function",
        }
    }

    fn code(self) -> &'static str {
        match self {
            Kind::Operator => "unknown-operator",
            Kind::Type => "unknown-type",
            Kind::Function => "unknown-function",
        }
    }
}

impl Found<'_> {
    fn is_public(&self) -> bool {
        match self {
            Found::Composite(_, c) => c.is_public,
            Found::Function(_, f) => f.is_public,
            Found::Operator(_) | Found::Type(..) | Found::Native(_) => true,
        }
    }
}

fn in_namespace<'w>(namespace: &'w Namespace, name: &str, kind: Kind) -> Vec<Found<'w>> {
    let mut list = Vec::new();
    match kind {
        Kind::Operator => {
            let composite = namespace.composites.get(name);
            list.extend(composite.map(|(unit, c)| Found::Composite(*unit, c)));
            if list.is_empty() {
                list.extend(
                    namespace
                        .operators
                        .get(name)
                        .map(|model| Found::Operator(model)),
                );
            }
        }
        Kind::Type => {
            list.extend(
                namespace
                    .types
                    .get(name)
                    .map(|(unit, t)| Found::Type(*unit, t)),
            );
        }
        Kind::Function => {
            let functions = namespace.functions.get(name).into_iter().flatten();
            list.extend(functions.map(|(unit, f)| Found::Function(*unit, f)));
            let natives = namespace.natives.get(name).into_iter().flatten();
            list.extend(natives.map(|id| Found::Native(*id)));
        }
    }
    list
}

fn names_of(namespace: &Namespace, kind: Kind) -> Vec<&str> {
    match kind {
        Kind::Operator => {
            let composites = namespace.composites.keys().map(|name| &**name);
            composites
                .chain(namespace.operators.keys().copied())
                .collect()
        }
        Kind::Type => namespace.types.keys().map(|name| &**name).collect(),
        Kind::Function => {
            let functions = namespace.functions.keys().map(|name| &**name);
            functions.chain(namespace.natives.keys().copied()).collect()
        }
    }
}
