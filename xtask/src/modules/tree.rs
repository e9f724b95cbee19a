//! The module tree of the workspace: every module with the names that are known in it.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use syn::punctuated::Punctuated;
use syn::{Item, Token, UseTree, Visibility};

/// All modules of all crates. A module is known by its index.
#[derive(Default)]
pub struct ModuleTree {
    /// Paths of the files, relative to the root of the workspace.
    pub files: Vec<String>,
    /// The modules; the root module of a crate is in `crates`.
    pub modules: Vec<Module>,
    /// Name of a crate as code writes it, and its root module.
    pub crates: BTreeMap<String, usize>,
}

/// A module: a file, or a block within one.
pub struct Module {
    /// The file that it stands in: an index into [`ModuleTree::files`].
    pub file: usize,
    /// The module around it.
    pub parent: Option<usize>,
    /// The modules within, by their names.
    pub children: HashMap<String, usize>,
    /// The names that it defines and those that it imports.
    pub names: HashMap<String, Name>,
    /// The modules of which it has all names.
    pub globs: Vec<Vec<String>>,
    /// The items of the module, but for the modules within.
    pub items: Vec<Item>,
}

/// The meaning of a name in a module.
pub enum Name {
    /// An item that the module defines.
    Defined,
    /// The item at this path.
    Imported(Vec<String>),
}

/// Reads the sources of every package below `folders`, each named by what code calls it.
pub fn read(root: &Path, packages: &[(String, PathBuf)]) -> ModuleTree {
    let mut tree = ModuleTree::default();
    for (name, folder) in packages {
        for start in ["src/lib.rs", "src/main.rs"] {
            let file = folder.join(start);
            if root.join(&file).exists() {
                let module = tree.read_file(root, &file, None);
                tree.crates.entry(name.clone()).or_insert(module);
            }
        }
    }
    tree
}

impl ModuleTree {
    fn read_file(&mut self, root: &Path, path: &Path, parent: Option<usize>) -> usize {
        let text = fs::read_to_string(root.join(path)).unwrap_or_default();
        let items = syn::parse_file(&text).map_or(Vec::new(), |file| file.items);
        self.files.push(path.to_string_lossy().into_owned());
        let file = self.files.len() - 1;
        self.add(root, file, parent, items)
    }

    fn add(&mut self, root: &Path, file: usize, parent: Option<usize>, items: Vec<Item>) -> usize {
        self.modules.push(Module {
            file,
            parent,
            children: HashMap::new(),
            names: HashMap::new(),
            globs: Vec::new(),
            items: Vec::new(),
        });
        let module = self.modules.len() - 1;
        let mut kept = Vec::new();
        for item in items {
            if is_test(&item) {
                continue;
            }
            match item {
                Item::Mod(inner) => {
                    let name = inner.ident.to_string();
                    let child = match inner.content {
                        Some((_, items)) => self.add(root, file, Some(module), items),
                        None => match self.file_of(root, file, &name) {
                            Some(path) => self.read_file(root, &path, Some(module)),
                            None => continue,
                        },
                    };
                    self.modules[module].children.insert(name, child);
                }
                other => {
                    self.define(module, &other);
                    kept.push(other);
                }
            }
        }
        self.modules[module].items = kept;
        module
    }

    /// The file of `mod name;` in `file`.
    fn file_of(&self, root: &Path, file: usize, name: &str) -> Option<PathBuf> {
        let path = Path::new(&self.files[file]);
        let stem = path.file_stem()?.to_str()?;
        let folder = match stem {
            "mod" | "lib" | "main" => path.parent()?.to_path_buf(),
            _ => path.with_extension(""),
        };
        let beside = folder.join(format!("{name}.rs"));
        let within = folder.join(name).join("mod.rs");
        [beside, within]
            .into_iter()
            .find(|path| root.join(path).exists())
    }

    fn define(&mut self, module: usize, item: &Item) {
        let module = &mut self.modules[module];
        if let Item::Use(import) = item {
            collect(
                &import.tree,
                &mut Vec::new(),
                &mut |path, name| match name {
                    Some(name) => {
                        let path = Name::Imported(path.to_vec());
                        module.names.insert(name, path);
                    }
                    None => module.globs.push(path.to_vec()),
                },
            );
        } else if let Some(name) = name_of(item) {
            module.names.insert(name, Name::Defined);
        }
    }
}

/// Calls `found` with each path of an import and the name that it gets, `None` for all names.
pub fn collect(
    tree: &UseTree,
    path: &mut Vec<String>,
    found: &mut impl FnMut(&[String], Option<String>),
) {
    match tree {
        UseTree::Path(inner) => {
            path.push(inner.ident.to_string());
            collect(&inner.tree, path, found);
            path.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            let last = path.last().cloned();
            found(path, last);
        }
        UseTree::Name(name) => {
            path.push(name.ident.to_string());
            found(path, Some(name.ident.to_string()));
            path.pop();
        }
        UseTree::Rename(rename) => {
            path.push(rename.ident.to_string());
            found(path, Some(rename.rename.to_string()));
            path.pop();
        }
        UseTree::Glob(_) => found(path, None),
        UseTree::Group(group) => {
            for tree in &group.items {
                collect(tree, path, found);
            }
        }
    }
}

/// Whether an import hands names on to other modules.
pub fn is_reexport(visibility: &Visibility) -> bool {
    !matches!(visibility, Visibility::Inherited)
}

fn name_of(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// Whether a condition of `cfg` is `test`, or `all(test, ...)`.
fn needs_test(condition: &syn::Meta) -> bool {
    match condition {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) if list.path.is_ident("all") => {
            let parts = Punctuated::<syn::Meta, Token![,]>::parse_terminated;
            list.parse_args_with(parts)
                .is_ok_and(|parts| parts.iter().any(needs_test))
        }
        _ => false,
    }
}

fn is_test(item: &Item) -> bool {
    let attributes = match item {
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        _ => return false,
    };
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Meta>()
                .is_ok_and(|condition| needs_test(&condition))
    })
}
