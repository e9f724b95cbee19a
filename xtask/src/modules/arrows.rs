//! The arrows between files: every path in the code, followed to the file that defines what it
//! names.

use std::collections::{BTreeMap, BTreeSet};

use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Expr, Item, ItemUse, Macro, Token};

use super::tree::{ModuleTree, Name, collect, is_reexport};

/// Bound on re-exports of re-exports.
const HOPS_MAX: usize = 16;

/// From one file to another, by index into [`ModuleTree::files`].
pub type Arrow = (usize, usize);

enum Target {
    Module(usize),
    Item(usize, String),
}

/// The paths by which each file names something of another crate, re-exports among them.
pub fn paths_to_crates(tree: &ModuleTree) -> BTreeSet<(usize, Vec<String>)> {
    let mut found = BTreeSet::new();
    for (at, module) in tree.modules.iter().enumerate() {
        let mut paths = Paths {
            with_reexports: true,
            found: Vec::new(),
        };
        module.items.iter().for_each(|item| paths.visit_item(item));
        let outside = paths.found.into_iter().filter(|path| {
            let first = &path[0];
            let is_import = |name: &Name| matches!(name, Name::Imported(path) if path[0] == *first);
            let local = &tree.modules[at];
            path.len() > 1
                && tree.crates.contains_key(first)
                && !local.children.contains_key(first)
                && local.names.get(first).is_none_or(is_import)
        });
        found.extend(outside.map(|path| (module.file, path)));
    }
    found
}

/// Every arrow of the workspace, with the names that the first file has of the second.
pub fn arrows(tree: &ModuleTree) -> BTreeMap<Arrow, BTreeSet<String>> {
    let mut arrows: BTreeMap<Arrow, BTreeSet<String>> = BTreeMap::new();
    for (at, module) in tree.modules.iter().enumerate() {
        let mut paths = Paths::default();
        for item in &module.items {
            paths.visit_item(item);
        }
        for path in paths.found {
            if let Some(Target::Item(file, name)) = tree.follow(at, &path, 0)
                && file != module.file
            {
                arrows.entry((module.file, file)).or_default().insert(name);
            }
        }
    }
    arrows
}

impl ModuleTree {
    fn follow(&self, from: usize, path: &[String], hops: usize) -> Option<Target> {
        let (first, mut rest) = path.split_first()?;
        let mut here = match first.as_str() {
            "crate" => Target::Module(self.root(from)),
            "self" => Target::Module(from),
            "super" => Target::Module(self.modules[from].parent?),
            name => match self.name(from, name, hops) {
                Some(target) => target,
                None => Target::Module(*self.crates.get(name)?),
            },
        };
        while let (Target::Module(module), Some((next, others))) = (&here, rest.split_first()) {
            here = match next.as_str() {
                "super" => Target::Module(self.modules[*module].parent?),
                next if others.is_empty() => self.item_or_module(*module, next, hops)?,
                next => self.name(*module, next, hops)?,
            };
            rest = others;
        }
        Some(here)
    }

    /// Looks up the last name of a path: an item rather than a module of the same name.
    fn item_or_module(&self, module: usize, name: &str, hops: usize) -> Option<Target> {
        match self.modules[module].names.get(name) {
            Some(Name::Defined) => Some(Target::Item(self.modules[module].file, name.to_owned())),
            Some(Name::Imported(path)) if hops < HOPS_MAX => {
                let found = self.follow(module, path, hops + 1);
                found.or_else(|| self.name(module, name, hops))
            }
            _ => self.name(module, name, hops),
        }
    }

    /// Looks up a name in a module: a module within, an item, an import, or a name by a glob.
    fn name(&self, module: usize, name: &str, hops: usize) -> Option<Target> {
        if hops > HOPS_MAX {
            return None;
        }
        let held = &self.modules[module];
        if let Some(child) = held.children.get(name) {
            return Some(Target::Module(*child));
        }
        match held.names.get(name) {
            Some(Name::Defined) => return Some(Target::Item(held.file, name.to_owned())),
            // `use ring::...` in a module that has a name `ring` of its own means the crate.
            Some(Name::Imported(path)) if path.len() > 1 || path[0] != name => {
                return self.follow(module, path, hops + 1);
            }
            _ => {}
        }
        held.globs
            .iter()
            .find_map(|glob| match self.follow(module, glob, hops + 1)? {
                Target::Module(glob) if glob != module => self.name(glob, name, hops + 1),
                _ => None,
            })
    }

    fn root(&self, mut module: usize) -> usize {
        while let Some(parent) = self.modules[module].parent {
            module = parent;
        }
        module
    }
}

/// Collects the paths of a module's items.
#[derive(Default)]
struct Paths {
    /// Whether names that are only handed on count.
    with_reexports: bool,
    found: Vec<Vec<String>>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast Item) {
        // Modules within are modules of their own.
        if !matches!(item, Item::Mod(_)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, import: &'ast ItemUse) {
        if self.with_reexports || !is_reexport(&import.vis) {
            let found = &mut self.found;
            collect(&import.tree, &mut Vec::new(), &mut |path, _| {
                found.push(path.to_vec());
            });
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|part| part.ident.to_string());
        self.found.push(names.collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast Macro) {
        let arguments = called.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        for argument in arguments.iter().flatten() {
            self.visit_expr(argument);
        }
        visit::visit_macro(self, called);
    }
}
