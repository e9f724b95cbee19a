//! Names that a unit mentions and does not define itself.
//!
//! No scopes are built here: a name counts as the unit's own if the unit declares it anywhere in a
//! role that fits. That is near enough to decide which files to load.

use std::collections::{BTreeSet, HashSet};

use syntax::ast::{Ident, Item, QName, Unit};

use super::loaded_program::namespace;
use super::name_visitor::{self, NameRole, NameVisitor};

/// A name wanted from outside, with its namespace if it was written.
pub(super) type ExternalName = (Option<String>, String);

/// The names that a unit mentions and does not define itself.
pub(super) fn external_names(unit: &Unit) -> BTreeSet<ExternalName> {
    let mut walk = MentionVisitor::default();
    name_visitor::unit(unit, &mut walk);
    let items = TopLevelNames::from_unit(unit);
    let own = namespace(unit);
    let mut wanted: BTreeSet<ExternalName> = unit
        .uses
        .iter()
        .filter_map(|u| Some((Some(u.namespace.text.to_string()), u.name.as_ref()?)))
        .map(|(namespace, name)| (namespace, name.text.to_string()))
        .collect();
    for (role, name) in &walk.mentions {
        let text = &*name.name.text;
        match &name.namespace {
            Some(namespace) if &*namespace.text == own && items.has(*role, text) => {}
            Some(namespace) => {
                wanted.insert((Some(namespace.text.to_string()), text.to_owned()));
            }
            None if items.has(*role, text) || walk.shadows(*role, text) => {}
            None => {
                wanted.insert((None, text.to_owned()));
            }
        }
    }
    wanted
}

#[derive(Default)]
struct MentionVisitor<'a> {
    mentions: HashSet<(NameRole, &'a QName)>,
    declared: HashSet<&'a str>,
}

impl<'a> NameVisitor<'a> for MentionVisitor<'a> {
    fn mention(&mut self, role: NameRole, name: &'a QName) {
        self.mentions.insert((role, name));
    }

    fn declare(&mut self, name: &'a Ident) {
        self.declared.insert(&name.text);
    }
}

impl MentionVisitor<'_> {
    /// Whether a name declared somewhere in the unit can be what a mention means.
    fn shadows(&self, role: NameRole, name: &str) -> bool {
        let is_formal = name.starts_with('$');
        let can_be_declared = matches!(role, NameRole::Type | NameRole::Value);
        is_formal || (can_be_declared && self.declared.contains(name))
    }
}

/// Top-level names of a unit, by what they are.
#[derive(Default)]
pub(super) struct TopLevelNames<'a> {
    composites: HashSet<&'a str>,
    functions: HashSet<&'a str>,
    types: HashSet<&'a str>,
}

impl<'a> TopLevelNames<'a> {
    pub(super) fn from_unit(unit: &'a Unit) -> TopLevelNames<'a> {
        let mut items = TopLevelNames::default();
        for item in &unit.items {
            match item {
                Item::Composite(c) => items.composites.insert(&c.name.text),
                Item::Function(f) => items.functions.insert(&f.name.text),
                Item::Type(t) => items.types.insert(&t.name.text),
            };
        }
        items
    }

    fn has(&self, role: NameRole, name: &str) -> bool {
        match role {
            NameRole::Operator => self.composites.contains(name),
            NameRole::Callee => self.functions.contains(name),
            // `C.T` of a static type begins with a composite.
            NameRole::Type => self.types.contains(name) || self.composites.contains(name),
            NameRole::Value => self.contains(name),
        }
    }

    /// The names that only one definition can have: all but those of functions.
    pub(super) fn unique_names(&self) -> impl Iterator<Item = &'a str> {
        self.composites.iter().chain(&self.types).copied()
    }

    /// Whether anything of that name is defined here.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.composites.contains(name) || self.functions.contains(name) || self.types.contains(name)
    }
}
