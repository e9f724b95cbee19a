//! Finds the files that a program needs: from the main files on, by the names that each mentions.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use syntax::{Diagnostic, FileId, SourceMap, ast};

use super::external_names::{self, TopLevelNames};
use super::loaded_program::{LoadedProgram, namespace};
use super::source_text::{SourceText, as_warning};
use super::{Loader, roots};
use crate::names::{IMPLICIT_USES, LoadedUnit, MisplacedDefinition};

/// Loads the main files (path and text) and all that they need from the toolkits at `toolkits`;
/// `generates` the files of mixed mode among them.
pub(crate) fn load(
    main: &[(PathBuf, SourceText)],
    toolkits: &[PathBuf],
    loader: &dyn Loader,
    generates: bool,
) -> LoadedProgram {
    let mut closure = DependencyClosure {
        loader,
        toolkits,
        generates,
        program: LoadedProgram::default(),
        roots: Vec::new(),
        folders: HashMap::new(),
        loaded_files: main
            .iter()
            .map(|(path, _)| loader.canonical(path))
            .collect(),
        main_definitions: HashSet::new(),
    };
    for (path, text) in main {
        let parsed = parse(&mut closure.program.sources, path, text);
        closure.program.is_not_generated |= text.has_failed();
        let own_namespace = namespace(&parsed.unit);
        for name in TopLevelNames::from_unit(&parsed.unit).unique_names() {
            closure
                .main_definitions
                .insert((own_namespace.to_owned(), name.to_owned()));
        }
        closure.add_file(path, parsed, None);
    }
    let mut next = 0;
    while let Some(loaded) = closure.program.units.get(next) {
        let (unit, root) = (loaded.unit.clone(), closure.roots[next].clone());
        let is_misplaced = roots::root_of(Path::new(&*loaded.path), namespace(&unit)).is_none();
        closure.load_external_names(&unit, &root);
        if is_misplaced {
            closure.note_neighbours(&unit, &root);
        }
        next += 1;
    }
    closure.add_used_namespaces();
    closure.program
}

struct DependencyClosure<'a> {
    loader: &'a dyn Loader,
    toolkits: &'a [PathBuf],
    /// Files of mixed mode are generated.
    generates: bool,
    program: LoadedProgram,
    /// For each unit of the program the root of its toolkit, as paths to its neighbours begin.
    roots: Vec<PathBuf>,
    /// The files of each folder that was looked into.
    folders: HashMap<PathBuf, Vec<NamespaceFile>>,
    /// Canonical paths of the files that belong to the program.
    loaded_files: HashSet<PathBuf>,
    /// Composites and types of the main files, each behind its namespace. A neighbour that defines
    /// one of them too is another program, whatever else it defines.
    main_definitions: HashSet<(String, String)>,
}

/// A file in a folder of some namespace.
struct NamespaceFile {
    path: PathBuf,
    canonical: PathBuf,
    source: SourceText,
    parsed: Option<ParsedFile>,
}

struct ParsedFile {
    file: FileId,
    unit: ast::Unit,
    diagnostics: Vec<Diagnostic>,
    /// Findings on the code that generated the text.
    generation: Vec<Diagnostic>,
}

fn parse(sources: &mut SourceMap, path: &Path, source: &SourceText) -> ParsedFile {
    let file = source.add_to(sources, path);
    let parsed = syntax::parse(file, &source.text);
    ParsedFile {
        file,
        unit: parsed.unit,
        diagnostics: parsed.diagnostics,
        generation: source.diagnostics(sources, path),
    }
}

impl DependencyClosure<'_> {
    /// Makes a file part of the program; `root` is that of a found file.
    fn add_file(&mut self, path: &Path, parsed: ParsedFile, root: Option<&Path>) {
        let is_checked = root.is_none();
        let own_namespace = namespace(&parsed.unit);
        let folder = path.parent().unwrap_or(Path::new(""));
        // Of a file that is a symbolic link the name counts that it has here.
        let canonical = self.loader.canonical(folder);
        let canonical = canonical.join(path.file_name().unwrap_or_default());
        let root = root.map(Path::to_owned);
        let root = root.or_else(|| roots::root_of(path, own_namespace));
        let root = root.or_else(|| roots::root_of(&canonical, own_namespace));
        let root = root.unwrap_or_else(|| folder.to_owned());
        let toolkit_dir = self.loader.canonical(&root);
        self.roots.push(root);
        self.program.diagnostics.extend(parsed.diagnostics);
        self.program.generation.extend(parsed.generation);
        self.program.units.push(LoadedUnit {
            file: parsed.file,
            unit: parsed.unit,
            path: canonical.to_string_lossy().into(),
            toolkit_dir: toolkit_dir.to_string_lossy().into(),
            is_checked,
        });
    }

    /// Takes every file that defines something which a unit wants.
    fn load_external_names(&mut self, unit: &ast::Unit, root: &Path) {
        let mut seen = HashSet::new();
        let places = std::iter::once(root).chain(self.toolkits.iter().map(PathBuf::as_path));
        let places = places.filter(|place| seen.insert(self.loader.canonical(place)));
        let places: Vec<&Path> = places.collect();
        for (written, name) in external_names::external_names(unit) {
            for namespace in candidate_namespaces(unit, written.as_deref(), &name) {
                for place in &places {
                    for folder in roots::folders(place, namespace) {
                        self.search(place, &folder, namespace, &name);
                    }
                }
            }
        }
    }

    fn search(&mut self, root: &Path, folder: &Path, namespace: &str, name: &str) {
        self.read_folder(folder);
        let mut found = Vec::new();
        for neighbour in self.folders.get_mut(folder).into_iter().flatten() {
            if self.loaded_files.contains(&neighbour.canonical)
                || !may_define(&neighbour.source.text, name)
            {
                continue;
            }
            let sources = &mut self.program.sources;
            let parsed = neighbour
                .parsed
                .get_or_insert_with(|| parse(sources, &neighbour.path, &neighbour.source));
            let fits = super::loaded_program::namespace(&parsed.unit) == namespace;
            let items = TopLevelNames::from_unit(&parsed.unit);
            let is_own = |item: &str| {
                self.main_definitions
                    .contains(&(namespace.to_owned(), item.to_owned()))
            };
            if !fits && items.contains(name) {
                self.program.misplaced.push(MisplacedDefinition {
                    name: name.into(),
                    path: neighbour.path.clone(),
                    namespace: super::loaded_program::namespace(&parsed.unit).to_owned(),
                    expected: Some(namespace.to_owned()),
                });
            }
            if fits && items.contains(name) && !items.unique_names().any(is_own) {
                self.loaded_files.insert(neighbour.canonical.clone());
                found.extend(neighbour.parsed.take().map(|p| (neighbour.path.clone(), p)));
            }
        }
        for (path, parsed) in found {
            self.add_file(&path, parsed, Some(root));
        }
    }

    /// Notes what a unit in a folder that is not of its namespace names of its own namespace, and
    /// files beside it define.
    fn note_neighbours(&mut self, unit: &ast::Unit, folder: &Path) {
        self.read_folder(folder);
        let own = namespace(unit);
        for (written, name) in external_names::external_names(unit) {
            if written.as_deref().is_some_and(|written| written != own) {
                continue;
            }
            for neighbour in self.folders.get_mut(folder).into_iter().flatten() {
                if self.loaded_files.contains(&neighbour.canonical)
                    || !may_define(&neighbour.source.text, &name)
                {
                    continue;
                }
                let sources = &mut self.program.sources;
                let parsed = neighbour
                    .parsed
                    .get_or_insert_with(|| parse(sources, &neighbour.path, &neighbour.source));
                let items = TopLevelNames::from_unit(&parsed.unit);
                if namespace(&parsed.unit) == own && items.contains(&name) {
                    self.program.misplaced.push(MisplacedDefinition {
                        name: name.as_str().into(),
                        path: neighbour.path.clone(),
                        namespace: own.to_owned(),
                        expected: None,
                    });
                }
            }
        }
    }

    /// Makes namespaces known that the main files use as a whole and that are there, but of which
    /// nothing is needed.
    fn add_used_namespaces(&mut self) {
        let units = self.program.units.iter().zip(&self.roots);
        let uses = units.flat_map(|(loaded, root)| {
            let uses = loaded.unit.uses.iter();
            uses.map(move |directive| (root.clone(), directive.namespace.clone()))
        });
        let loaded: HashSet<_> = self
            .program
            .units
            .iter()
            .map(|u| u.namespace().to_owned())
            .collect();
        for (root, used) in uses.collect::<Vec<_>>() {
            let roots = self.toolkits.iter().chain([&root]);
            let folders = roots.flat_map(|root| roots::folders(root, &used.text));
            let is_there = folders.flat_map(|f| self.loader.list(&f)).next().is_some();
            if is_there && !loaded.contains(&*used.text) {
                let unit = ast::Unit {
                    namespace: Some(used.clone()),
                    ..ast::Unit::default()
                };
                self.program.units.push(LoadedUnit {
                    file: used.span.file,
                    unit,
                    path: "".into(),
                    toolkit_dir: "".into(),
                    is_checked: false,
                });
            }
        }
    }

    /// Lists and reads a folder, once. A file that cannot be read is as good as absent: what it
    /// defines will be reported as unknown.
    fn read_folder(&mut self, folder: &Path) {
        if self.folders.contains_key(folder) {
            return;
        }
        let mut paths = self.loader.list(folder);
        paths.sort();
        let mut neighbours = Vec::new();
        for path in &paths {
            let canonical = self.loader.canonical(path);
            if is_mixed(path) && !self.is_to_be_generated(path, &canonical, &paths) {
                continue;
            }
            let Ok(source) = self.loader.read(path) else {
                continue;
            };
            if source.has_failed() {
                let found = source.diagnostics(&mut self.program.sources, path);
                self.program
                    .failed
                    .extend(found.into_iter().map(as_warning));
                continue;
            }
            neighbours.push(NamespaceFile {
                canonical,
                path: path.clone(),
                source,
                parsed: None,
            });
        }
        self.folders.insert(folder.to_owned(), neighbours);
    }

    /// Whether a file of mixed mode is generated now. A `.spl` file of its name beside it is what
    /// was generated from it, and is taken instead.
    fn is_to_be_generated(&mut self, path: &Path, canonical: &Path, beside: &[PathBuf]) -> bool {
        if self.loaded_files.contains(canonical) || beside.contains(&path.with_extension("spl")) {
            return false;
        }
        self.program.has_more |= !self.generates;
        self.generates
    }
}

fn is_mixed(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "splmm")
}

/// The namespaces in which a name of a unit may lie.
fn candidate_namespaces<'u>(
    unit: &'u ast::Unit,
    written: Option<&'u str>,
    name: &str,
) -> BTreeSet<&'u str> {
    if let Some(written) = written {
        return BTreeSet::from([written]);
    }
    let fits = |u: &&ast::Use| u.name.as_ref().is_none_or(|n| &*n.text == name);
    let used = unit.uses.iter().filter(fits).map(|u| &*u.namespace.text);
    IMPLICIT_USES
        .into_iter()
        .chain([namespace(unit)])
        .chain(used)
        .collect()
}

/// Whether a text may define a name: the name stands as a word behind another word or a type's `>`
/// or `]` (`composite X`, `type X`, `list<int32> x(`). Spares parsing most files of a folder.
fn may_define(text: &str, name: &str) -> bool {
    let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric();
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].trim_end();
        let ends = !text[at + name.len()..].starts_with(is_word);
        let gap = before.len() < at;
        let last = before.chars().next_back();
        let closes = last.is_some_and(|c| matches!(c, '>' | ']' | '/'));
        ends && (closes || (gap && last.is_some_and(is_word)))
    })
}

#[cfg(test)]
mod tests {
    use super::may_define;

    #[test]
    fn a_definition_is_a_word_behind_a_word_or_a_type() {
        assert!(may_define("public composite  Foo { }", "Foo"));
        assert!(may_define("list<int32>f(int32 x) {}", "f"));
        assert!(may_define("type T = int32 a;", "T"));
        assert!(may_define("int32 /* its name */f() {}", "f"));
        assert!(!may_define("x = f(1);", "f"));
        assert!(!may_define("composite Food {}", "Foo"));
    }
}
