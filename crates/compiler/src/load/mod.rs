//! Which files belong to a program: the main files, and those files of toolkits that they need.
//!
//! The compiler itself reads nothing: a [`Loader`] lists and reads files. A file is loaded only when
//! a needed file mentions something that it defines and that nothing nearer defines; so a broken
//! neighbour in the same folder does not stop a program that does not use it. A file that defines a
//! composite or type of the main files again is not loaded for anything: it is another program, and a
//! folder of many programs with a `composite Main` each is no clash of names.
//!
//! # Where a namespace lies
//! Namespace `a.b` lies in `root/a.b/` or `root/a/b/` of a toolkit root; a file without namespace in
//! the root itself. The root of a main file is found from its own path and namespace; where the path
//! as it was given does not show the folders of the namespace, from its canonical one. Paths are
//! compared canonical: a folder that is reached by two of them is one.

mod closure;
mod mentions;
mod roots;
pub(crate) mod visit;

use std::path::{Path, PathBuf};

use syntax::{Diagnostic, SourceMap, ast};

use crate::names::LoadedUnit;
use crate::prelude;

pub(crate) use closure::load;

/// Lists and reads the files of toolkits.
pub trait Loader {
    /// The `.spl` files of a folder (`""` is the current one), in any order, each path beginning
    /// with the folder as it was given; none if there is no such folder.
    fn list(&self, folder: &Path) -> Vec<PathBuf>;
    /// The text of a file; bytes that are not UTF-8 are replaced by U+FFFD.
    ///
    /// # Errors
    /// A sentence that says why the file cannot be read.
    fn read(&self, path: &Path) -> Result<String, String>;
    /// The absolute path of a file or folder (`""` is the current one), without symbolic links, `.`
    /// and `..`: equal for two paths that lead to one file. What is not there, and what is in memory
    /// only, stays as it is.
    fn canonical(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }
}

/// A loader that has no files: for programs of one file.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn list(&self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    fn read(&self, path: &Path) -> Result<String, String> {
        Err(format!("{} is not there", path.display()))
    }
}

/// What loading gives.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// All files that were read.
    pub sources: SourceMap,
    /// The files that belong to the program, the main files first.
    pub units: Vec<LoadedUnit>,
    /// What is wrong with their syntax.
    pub diagnostics: Vec<Diagnostic>,
}

impl Program {
    /// Adds the types that every program has.
    pub fn add_prelude(&mut self) {
        let path = Path::new(prelude::PATH);
        let file = self.sources.add(path, prelude::SOURCE);
        let parsed = syntax::parse(file, prelude::SOURCE);
        debug_assert!(!parsed.has_errors(), "the prelude is correct");
        self.units.push(LoadedUnit {
            file,
            unit: parsed.unit,
            path: "".into(),
            toolkit_dir: "".into(),
            is_checked: false,
        });
    }
}

/// The namespace of a unit as text, empty for the default one.
fn namespace(unit: &ast::Unit) -> &str {
    unit.namespace.as_ref().map_or("", |n| &*n.text)
}
