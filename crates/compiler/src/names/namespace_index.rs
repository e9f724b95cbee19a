//! The index of a [`super::SymbolTable`]: definitions by namespace and name, and the namespaces
//! that each unit sees.

use std::collections::HashMap;
use std::sync::Arc;

use eval::NativeFn;
use graph::{NativeId, OperatorModel};
use syntax::ast::{Composite, Function, Ident, Item, TypeDef};
use syntax::{Diagnostic, Span};

use super::enumerator::{self, Enumerator};
use super::suggest::Suggestions;
use super::unit::{IMPLICIT_USES, LoadedUnit, UnitId};

/// Number of a namespace in the index of a symbol table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NamespaceId(pub u32);

/// Definitions of one namespace, by name.
#[derive(Debug, Default)]
pub(super) struct NamespaceDefinitions {
    pub name: Arc<str>,
    pub composites: HashMap<Arc<str>, (UnitId, Arc<Composite>)>,
    pub functions: HashMap<Arc<str>, Vec<(UnitId, Arc<Function>)>>,
    pub types: HashMap<Arc<str>, (UnitId, Arc<TypeDef>)>,
    pub enumerators: HashMap<Arc<str>, Enumerator>,
    pub natives: HashMap<&'static str, Vec<NativeId>>,
    pub operators: HashMap<&'static str, &'static OperatorModel>,
}

/// The namespaces that a unit sees.
#[derive(Debug, Default)]
pub(super) struct VisibleNamespaces {
    pub own: NamespaceId,
    pub named: HashMap<Arc<str>, NamespaceId>,
    pub wildcard: Vec<NamespaceId>,
}

/// Index of all namespaces, under construction until `build` returns it.
#[derive(Debug, Default)]
pub(super) struct NamespaceIndex {
    pub namespaces: Vec<NamespaceDefinitions>,
    by_name: HashMap<Arc<str>, NamespaceId>,
    pub visible: Vec<VisibleNamespaces>,
    suggestions: Suggestions,
    diagnostics: Vec<Diagnostic>,
}

impl NamespaceIndex {
    pub fn build(
        units: &[LoadedUnit],
        natives: &'static [NativeFn],
        models: &'static [&'static OperatorModel],
    ) -> (NamespaceIndex, Vec<Diagnostic>) {
        let mut index = NamespaceIndex::default();
        index.intern("");
        for (at, native) in natives.iter().enumerate() {
            index.add_native(NativeId(at as u32), native);
        }
        for model in models {
            index
                .namespace_mut(model.namespace)
                .operators
                .insert(model.name, model);
        }
        for (at, unit) in units.iter().enumerate() {
            index.add_unit(UnitId(at as u32), unit);
        }
        for unit in units {
            let uses = index.visible_from(unit);
            index.visible.push(uses);
        }
        let found = std::mem::take(&mut index.diagnostics);
        (index, found)
    }

    pub fn namespace(&self, id: NamespaceId) -> &NamespaceDefinitions {
        &self.namespaces[id.0 as usize]
    }

    pub fn find(&self, name: &str) -> Option<NamespaceId> {
        self.by_name.get(name).copied()
    }

    /// Adds what could have been meant by a namespace that is not there: one with a name like it,
    /// but not the file's own, and where those of toolkits are looked for.
    pub fn suggest_namespace(
        &self,
        finding: Diagnostic,
        name: &str,
        own: NamespaceId,
    ) -> Diagnostic {
        let others = self.by_name.iter().filter(|(_, id)| **id != own);
        let others = || others.map(|(name, _)| &**name);
        let finding = self.suggestions.did_you_mean(finding, name, others);
        match name.split('.').next() {
            Some("spl") => finding,
            _ => finding.help(
                "if it is the namespace of a toolkit, name the toolkit's directory with `-t`",
            ),
        }
    }

    fn intern(&mut self, name: &str) -> NamespaceId {
        if let Some(id) = self.find(name) {
            return id;
        }
        let (id, name) = (
            NamespaceId(self.namespaces.len() as u32),
            Arc::<str>::from(name),
        );
        self.namespaces.push(NamespaceDefinitions {
            name: name.clone(),
            ..NamespaceDefinitions::default()
        });
        self.by_name.insert(name, id);
        id
    }

    fn namespace_mut(&mut self, name: &str) -> &mut NamespaceDefinitions {
        let id = self.intern(name);
        &mut self.namespaces[id.0 as usize]
    }

    fn add_native(&mut self, id: NativeId, native: &'static NativeFn) {
        if let Some(name) = name_in_prototype(native.prototype) {
            self.namespace_mut(native.namespace)
                .natives
                .entry(name)
                .or_default()
                .push(id);
        }
    }

    fn add_unit(&mut self, id: UnitId, unit: &LoadedUnit) {
        let namespace = self.intern(unit.namespace());
        for item in &unit.unit.items {
            match item {
                Item::Composite(c) => self.add_composite(namespace, id, c),
                Item::Function(f) => self.add_function(namespace, id, f),
                Item::Type(t) => self.add_type(namespace, id, t),
            }
        }
    }

    fn add_composite(&mut self, namespace: NamespaceId, unit: UnitId, composite: &Arc<Composite>) {
        let name = &composite.name;
        if self.is_free(namespace, &name.text, name.span, true) {
            let entry = (unit, composite.clone());
            self.namespace_by_id_mut(namespace)
                .composites
                .insert(name.text.clone(), entry);
        }
    }

    fn add_function(&mut self, namespace: NamespaceId, unit: UnitId, function: &Arc<Function>) {
        let name = &function.name;
        if self.is_free(namespace, &name.text, name.span, false) {
            let overloads = self
                .namespace_by_id_mut(namespace)
                .functions
                .entry(name.text.clone())
                .or_default();
            overloads.push((unit, function.clone()));
        }
    }

    fn add_type(&mut self, namespace: NamespaceId, unit: UnitId, def: &Arc<TypeDef>) {
        let name = &def.name;
        if self.is_free(namespace, &name.text, name.span, true) {
            self.namespace_by_id_mut(namespace)
                .types
                .insert(name.text.clone(), (unit, def.clone()));
        }
        let mut list = Vec::new();
        enumerator::in_definition(&def.body, &mut |name, e| list.push((name.clone(), e)));
        for (name, enumerator) in list {
            self.add_enumerator(namespace, &name.text, enumerator);
        }
    }

    fn add_enumerator(&mut self, namespace: NamespaceId, name: &Arc<str>, new: Enumerator) {
        match self.namespace(namespace).enumerators.get(name) {
            None => {
                self.namespace_by_id_mut(namespace)
                    .enumerators
                    .insert(name.clone(), new);
            }
            Some(old) if old.ty == new.ty => {}
            Some(old) => {
                let old = old.span;
                self.diagnostics
                    .push(duplicate_enumerator(name, new.span, old));
            }
        }
    }

    fn namespace_by_id_mut(&mut self, id: NamespaceId) -> &mut NamespaceDefinitions {
        &mut self.namespaces[id.0 as usize]
    }

    /// Whether a name may be defined; reports a duplicate. Functions overload each other.
    fn is_free(&mut self, id: NamespaceId, name: &str, span: Span, alone: bool) -> bool {
        let namespace = self.namespace(id);
        let first = namespace
            .composites
            .get(name)
            .map(|(_, c)| c.name.span)
            .or_else(|| namespace.types.get(name).map(|(_, t)| t.name.span))
            .or_else(|| {
                let functions = namespace.functions.get(name).filter(|_| alone);
                functions.and_then(|f| f.first()).map(|(_, f)| f.name.span)
            });
        if let Some(first) = first {
            self.diagnostics.push(duplicate(name, span, first));
        }
        first.is_none()
    }

    fn visible_from(&mut self, unit: &LoadedUnit) -> VisibleNamespaces {
        let own = self.intern(unit.namespace());
        let mut uses = VisibleNamespaces {
            own,
            ..VisibleNamespaces::default()
        };
        let mut first_named: HashMap<Arc<str>, Span> = HashMap::new();
        for directive in &unit.unit.uses {
            // A name is taken whether its namespace is found or not.
            if let Some(name) = &directive.name
                && let Some(&first) = first_named.get(&name.text)
            {
                self.diagnostics
                    .push(duplicate_use(&name.text, name.span, first));
                continue;
            }
            if let Some(name) = &directive.name {
                first_named.insert(name.text.clone(), name.span);
            }
            let Some(namespace) = self.find(&directive.namespace.text) else {
                let name = &directive.namespace;
                let message = format!("there is no namespace `{}`", name.text);
                let finding = Diagnostic::warning("unknown-namespace", name.span, message);
                let finding = self.suggest_namespace(finding, &name.text, own);
                self.diagnostics.push(finding);
                continue;
            };
            let Some(name) = &directive.name else {
                uses.wildcard.push(namespace);
                continue;
            };
            self.check_named_use(unit, namespace, name);
            uses.named.insert(name.text.clone(), namespace);
        }
        uses.wildcard
            .extend(IMPLICIT_USES.iter().filter_map(|name| self.find(name)));
        let mut seen = std::collections::HashSet::new();
        uses.wildcard.retain(|id| *id != own && seen.insert(*id));
        uses
    }

    /// Reports a `use` of a name that its namespace does not define: an error in the user's
    /// program, a warning in a toolkit, which may be made for another release and is right as long
    /// as the name is not needed.
    fn check_named_use(&mut self, unit: &LoadedUnit, id: NamespaceId, name: &Ident) {
        let namespace = self.namespace(id);
        if !namespace.defines(&name.text) {
            let message = format!("namespace `{}` defines no `{}`", namespace.name, name.text);
            let finding = match unit.is_checked {
                true => Diagnostic::error("unknown-use", name.span, message),
                false => Diagnostic::warning("unknown-use", name.span, message),
            };
            let names = || namespace.names();
            let finding = self.suggestions.did_you_mean(finding, &name.text, names);
            self.diagnostics.push(finding);
        }
    }
}

impl NamespaceDefinitions {
    pub fn defines(&self, name: &str) -> bool {
        self.composites.contains_key(name)
            || self.functions.contains_key(name)
            || self.types.contains_key(name)
            || self.natives.contains_key(name)
            || self.operators.contains_key(name)
            || self.enumerators.contains_key(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        let of_units = self
            .composites
            .keys()
            .chain(self.functions.keys())
            .chain(self.types.keys());
        let of_library = self.natives.keys().chain(self.operators.keys()).copied();
        of_units.map(|name| &**name).chain(of_library)
    }
}

/// The function's name in a prototype: the word before the first parenthesis.
pub(crate) fn name_in_prototype(prototype: &str) -> Option<&str> {
    let head = prototype[..prototype.find('(')?].trim_end();
    let start = head
        .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .map_or(0, |at| at + 1);
    Some(&head[start..])
}

fn duplicate(name: &str, span: Span, first: Span) -> Diagnostic {
    let message = format!("`{name}` is defined twice in this namespace");
    Diagnostic::error("duplicate-definition", span, message).label(first, "first defined here")
}

pub(crate) fn duplicate_enumerator(name: &str, span: Span, first: Span) -> Diagnostic {
    let message = format!("enumerator `{name}` is declared twice in this scope");
    Diagnostic::error("duplicate-enumerator", span, message)
        .label(first, "first declared here")
        .help("enumerators belong to the scope that holds the enum type; rename one of them")
}

fn duplicate_use(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("duplicate-use", span, format!("`{name}` is used twice"))
        .label(first, "first used here")
}
