//! Lookup of a definition by the name that a unit writes.
//!
//! A name without namespace is looked for in the unit's own namespace, then among its named uses,
//! then in all the namespaces it uses as a whole. Definitions found at the nearest of these levels
//! hide those further out; two at one level are ambiguous (functions overload instead, across all
//! levels). What is not public is seen only inside its namespace.

use std::sync::Arc;

use graph::{NativeId, OperatorModel};
use syntax::ast::{Composite, Function, QName, TypeDef};
use syntax::{DeclarationKind, Diagnostic};

use super::enumerator::Enumerator;
use super::foreign_names::foreign_function;
use super::foreign_operators::foreign_operator;
use super::namespace_index::{NamespaceDefinitions, NamespaceId};
use super::suggest::{BUILT_IN_TYPES, foreign_type, is_function_word};
use super::symbol_table::SymbolTable;
use super::unit::UnitId;
use crate::Diagnostics;

/// Functions that the language itself has: their arguments are no ordinary expressions.
pub(crate) const LANGUAGE_FUNCTIONS: [&str; 5] = [
    "assignFrom",
    "currentPunct",
    "inputPort",
    "outputPort",
    "submit",
];

/// Sort of definition that a lookup wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionKind {
    /// A composite or primitive operator.
    Operator,
    /// A type that a definition names.
    Type,
    /// A user function or a library function.
    Function,
}

/// Definition that a name means.
#[derive(Clone, Copy, Debug)]
pub enum Definition<'w> {
    /// Composite operator, with the unit that defines it.
    Composite(UnitId, &'w Arc<Composite>),
    /// Primitive operator, by its model.
    Operator(&'static OperatorModel),
    /// Type definition, with the unit that it stands in.
    Type(UnitId, &'w Arc<TypeDef>),
    /// An overload of a user function.
    Function(UnitId, &'w Arc<Function>),
    /// An overload of a library function.
    Native(NativeId),
}

/// The definitions of one namespace.
struct LevelDefinitions<'w> {
    visible: Vec<(NamespaceId, Definition<'w>)>,
    hidden: Vec<(NamespaceId, Definition<'w>)>,
}

/// Result of a lookup of one definition.
enum NearestDefinition<'w> {
    /// The only one at its level.
    One(Definition<'w>),
    /// Two or more at one level, with the namespaces of two.
    Several(NamespaceId, NamespaceId),
    /// None that is visible, but one that is not public.
    Hidden(NamespaceId, Definition<'w>),
    /// No definition of the name.
    Absent,
    /// None, since its namespace does not exist.
    NoNamespace,
}

impl SymbolTable {
    /// The composite or primitive operator of a name; reports why there is none, unless the name is
    /// poisoned.
    pub fn operator(
        &self,
        unit: UnitId,
        name: &QName,
        diagnostics: &Diagnostics,
    ) -> Option<Definition<'_>> {
        self.definition(unit, name, DefinitionKind::Operator, diagnostics)
    }

    /// The one definition of a name; reports why there is none. A poisoned name is only counted as
    /// an error: its cause was reported.
    pub fn definition(
        &self,
        unit: UnitId,
        name: &QName,
        kind: DefinitionKind,
        diagnostics: &Diagnostics,
    ) -> Option<Definition<'_>> {
        match self.search(unit, name, kind) {
            Ok(found) => Some(found),
            Err(finding) => {
                diagnostics.add_or_note(finding.map(|finding| *finding));
                None
            }
        }
    }

    /// The one definition of a name, or what is wrong: `None` if the name is poisoned. Nothing is
    /// counted or reported, so that a lookup can be a question.
    pub(crate) fn search(
        &self,
        unit: UnitId,
        name: &QName,
        kind: DefinitionKind,
    ) -> Result<Definition<'_>, Option<Box<Diagnostic>>> {
        Err(match self.nearest(unit, name, kind) {
            NearestDefinition::One(found) => return Ok(found),
            NearestDefinition::Several(a, b) => Some(self.ambiguous(name, kind, a, b)),
            NearestDefinition::Hidden(namespace, found) => {
                Some(self.not_public(name, namespace, found))
            }
            NearestDefinition::Absent => self.unknown(unit, name, kind),
            NearestDefinition::NoNamespace => {
                let finding = self.unknown_namespace(unit, name);
                Some(self.explain_misplaced(finding, &name.name.text))
            }
        }
        .map(Box::new))
    }

    /// The composite or primitive operator of a name, without saying why there is none.
    pub(crate) fn find_operator(&self, unit: UnitId, name: &QName) -> Option<Definition<'_>> {
        match self.nearest(unit, name, DefinitionKind::Operator) {
            NearestDefinition::One(found) => Some(found),
            _ => None,
        }
    }

    /// The definitions of a name at the nearest level that has some.
    fn nearest(&self, unit: UnitId, name: &QName, kind: DefinitionKind) -> NearestDefinition<'_> {
        let Some(levels) = self.levels(unit, name) else {
            return NearestDefinition::NoNamespace;
        };
        let mut hidden = Vec::new();
        for level in levels {
            let found = self.collect(unit, &level, &name.name.text, kind);
            hidden.extend(found.hidden);
            match found.visible[..] {
                [] => {}
                [(_, one)] => return NearestDefinition::One(one),
                [(a, _), (b, _), ..] => return NearestDefinition::Several(a, b),
            }
        }
        match hidden.first() {
            Some(&(namespace, found)) => NearestDefinition::Hidden(namespace, found),
            None => NearestDefinition::Absent,
        }
    }

    /// Every visible overload of a function name, nearest level first, with its distance.
    pub(crate) fn overloads(&self, unit: UnitId, name: &QName) -> Vec<(usize, Definition<'_>)> {
        let levels = self.levels(unit, name).unwrap_or_default();
        let mut list = Vec::new();
        for (distance, level) in levels.iter().enumerate() {
            let found = self.collect(unit, level, &name.name.text, DefinitionKind::Function);
            list.extend(found.visible.into_iter().map(|(_, f)| (distance, f)));
        }
        list
    }

    /// Why there is no visible function of a name; `None` if the name is poisoned.
    pub(crate) fn no_function(&self, unit: UnitId, name: &QName) -> Option<Diagnostic> {
        match self.search(unit, name, DefinitionKind::Function) {
            Err(finding) => finding.map(|finding| *finding),
            Ok(_) => self.unknown(unit, name, DefinitionKind::Function),
        }
    }

    /// The enumerator of an unqualified name in the namespaces that a unit sees.
    pub(crate) fn enumerator(&self, unit: UnitId, name: &str) -> Option<&Enumerator> {
        let uses = &self.index.visible[unit.0 as usize];
        let named = uses.named.get(name).copied();
        std::iter::once(uses.own)
            .chain(named)
            .chain(uses.wildcard.iter().copied())
            .find_map(|id| self.index.namespace(id).enumerators.get(name))
    }

    /// Finds the enumerator `ns::name` by namespace and name.
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
    pub(crate) fn names(&self, unit: UnitId, kind: DefinitionKind) -> impl Iterator<Item = &str> {
        let uses = &self.index.visible[unit.0 as usize];
        let named = uses.named.keys().map(|name| &**name);
        std::iter::once(uses.own)
            .chain(uses.wildcard.iter().copied())
            .flat_map(move |id| names_of(self.index.namespace(id), kind))
            .chain(named)
    }

    /// Namespaces in which a name is looked for, nearest level first; `None` if it is written with
    /// a namespace that there is not.
    fn levels(&self, unit: UnitId, name: &QName) -> Option<Vec<Vec<NamespaceId>>> {
        let uses = &self.index.visible[unit.0 as usize];
        if let Some(namespace) = &name.namespace {
            return Some(vec![vec![self.index.find(&namespace.text)?]]);
        }
        let named = uses.named.get(&name.name.text).copied();
        Some(vec![
            vec![uses.own],
            named.into_iter().collect(),
            uses.wildcard.clone(),
        ])
    }

    fn collect(
        &self,
        unit: UnitId,
        level: &[NamespaceId],
        name: &str,
        kind: DefinitionKind,
    ) -> LevelDefinitions<'_> {
        let own = self.index.visible[unit.0 as usize].own;
        let mut result = LevelDefinitions {
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

    fn ambiguous(
        &self,
        name: &QName,
        kind: DefinitionKind,
        a: NamespaceId,
        b: NamespaceId,
    ) -> Diagnostic {
        let (a, b) = (&self.index.namespace(a).name, &self.index.namespace(b).name);
        let word = kind.word();
        let text = &name.name.text;
        let message = format!("{word} `{text}` is ambiguous: namespaces `{a}` and `{b}` define it");
        Diagnostic::error("ambiguous-name", name.span, message)
            .help(format!("write `{a}::{text}` or `{b}::{text}`"))
    }

    fn not_public(
        &self,
        name: &QName,
        namespace: NamespaceId,
        found: Definition<'_>,
    ) -> Diagnostic {
        let namespace = &self.index.namespace(namespace).name;
        let text = &name.name.text;
        let message = format!("`{text}` is not public in namespace `{namespace}`");
        let diagnostic = Diagnostic::error("not-public", name.span, message);
        match found {
            Definition::Composite(_, c) => diagnostic.label(c.name.span, "defined here"),
            Definition::Function(_, f) => diagnostic.label(f.name.span, "defined here"),
            _ => diagnostic,
        }
    }

    fn unknown(&self, unit: UnitId, name: &QName, kind: DefinitionKind) -> Option<Diagnostic> {
        let is_poisoned = self.poison.has_name(kind.declared_by(), &name.name.text);
        (!is_poisoned).then(|| {
            let finding = self.no_definition(unit, name, kind);
            self.explain_misplaced(finding, &name.name.text)
        })
    }

    fn no_definition(&self, unit: UnitId, name: &QName, kind: DefinitionKind) -> Diagnostic {
        let text = &name.name.text;
        let (code, word) = (kind.code(), kind.word());
        let Some(namespace) = &name.namespace else {
            let diagnostic =
                Diagnostic::error(code, name.span, format!("there is no {word} `{text}`"));
            let elsewhere = self.unused_namespace(name, kind);
            let diagnostic = match kind {
                DefinitionKind::Type if is_function_word(text) => diagnostic.help(
                    "a function begins with the type of its result: `int32 f(int32 x) { return x; }`",
                ),
                DefinitionKind::Type => match foreign_type(text) {
                    Some(own) => diagnostic.help(format!("did you mean `{own}`?")),
                    None => self.suggestions.did_you_mean(diagnostic, text, || {
                        let defined = self.names(unit, kind);
                        defined.chain(BUILT_IN_TYPES.iter().copied())
                    }),
                },
                DefinitionKind::Function if foreign_function(text).is_some() => {
                    diagnostic.help(foreign_function(text).unwrap_or_default())
                }
                DefinitionKind::Function if foreign_type(text).is_some() => {
                    let own = foreign_type(text).unwrap_or_default();
                    diagnostic.help(format!("a cast is written `({own}) value`"))
                }
                DefinitionKind::Function => {
                    let diagnostic = self.suggest_output_function(diagnostic, text);
                    self.suggest_name(diagnostic, text, unit, kind)
                }
                DefinitionKind::Operator => match foreign_operator(text) {
                    Some(help) => diagnostic.help(help),
                    None => self.suggest_name(diagnostic, text, unit, kind),
                },
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
            None if kind == DefinitionKind::Operator => {
                (foreign_operator(text).into_iter()).fold(diagnostic, Diagnostic::help)
            }
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
    fn suggest_output_function(&self, diagnostic: Diagnostic, name: &str) -> Diagnostic {
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
    fn unused_namespace(&self, name: &QName, kind: DefinitionKind) -> Option<&str> {
        let has = |n: &&NamespaceDefinitions| {
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

    fn unknown_namespace(&self, unit: UnitId, name: &QName) -> Diagnostic {
        let own = self.index.visible[unit.0 as usize].own;
        let written = name.namespace.as_ref();
        let (namespace, span) = written.map_or(("", name.span), |n| (&*n.text, n.span));
        let message = format!("there is no namespace `{namespace}`");
        let finding = Diagnostic::error("unknown-namespace", span, message);
        if let Some(own) = foreign_type(&name.name.text).filter(|_| namespace == "std") {
            return finding.help(format!("did you mean `{own}`?"));
        }
        match foreign_operator(&name.name.text).filter(|_| namespace.starts_with("com.ibm.")) {
            Some(help) => finding.help(help),
            None => self.index.suggest_namespace(finding, namespace, own),
        }
    }

    fn suggest_name(
        &self,
        finding: Diagnostic,
        name: &str,
        unit: UnitId,
        kind: DefinitionKind,
    ) -> Diagnostic {
        let suggestions = &self.suggestions;
        let own = match kind {
            DefinitionKind::Function => &LANGUAGE_FUNCTIONS[..],
            _ => &[],
        };
        suggestions.did_you_mean(finding, name, || {
            self.names(unit, kind).chain(own.iter().copied())
        })
    }
}

impl DefinitionKind {
    /// The user's word for it.
    pub fn word(self) -> &'static str {
        match self {
            DefinitionKind::Operator => "operator",
            DefinitionKind::Type => "type",
            DefinitionKind::Function => "function",
        }
    }

    /// The declaration that defines such a name in a program.
    fn declared_by(self) -> DeclarationKind {
        match self {
            DefinitionKind::Operator => DeclarationKind::Composite,
            DefinitionKind::Type => DeclarationKind::Type,
            DefinitionKind::Function => DeclarationKind::Function,
        }
    }

    fn code(self) -> &'static str {
        match self {
            DefinitionKind::Operator => "unknown-operator",
            DefinitionKind::Type => "unknown-type",
            DefinitionKind::Function => "unknown-function",
        }
    }
}

impl Definition<'_> {
    fn is_public(&self) -> bool {
        match self {
            Definition::Composite(_, c) => c.is_public,
            Definition::Function(_, f) => f.is_public,
            Definition::Operator(_) | Definition::Type(..) | Definition::Native(_) => true,
        }
    }
}

fn in_namespace<'w>(
    namespace: &'w NamespaceDefinitions,
    name: &str,
    kind: DefinitionKind,
) -> Vec<Definition<'w>> {
    let mut list = Vec::new();
    match kind {
        DefinitionKind::Operator => {
            let composite = namespace.composites.get(name);
            list.extend(composite.map(|(unit, c)| Definition::Composite(*unit, c)));
            if list.is_empty() {
                list.extend(
                    namespace
                        .operators
                        .get(name)
                        .map(|model| Definition::Operator(model)),
                );
            }
        }
        DefinitionKind::Type => {
            list.extend(
                namespace
                    .types
                    .get(name)
                    .map(|(unit, t)| Definition::Type(*unit, t)),
            );
        }
        DefinitionKind::Function => {
            let functions = namespace.functions.get(name).into_iter().flatten();
            list.extend(functions.map(|(unit, f)| Definition::Function(*unit, f)));
            let natives = namespace.natives.get(name).into_iter().flatten();
            list.extend(natives.map(|id| Definition::Native(*id)));
        }
    }
    list
}

fn names_of(namespace: &NamespaceDefinitions, kind: DefinitionKind) -> Vec<&str> {
    match kind {
        DefinitionKind::Operator => {
            let composites = namespace.composites.keys().map(|name| &**name);
            composites
                .chain(namespace.operators.keys().copied())
                .collect()
        }
        DefinitionKind::Type => namespace.types.keys().map(|name| &**name).collect(),
        DefinitionKind::Function => {
            let functions = namespace.functions.keys().map(|name| &**name);
            functions.chain(namespace.natives.keys().copied()).collect()
        }
    }
}
