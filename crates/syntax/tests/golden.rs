//! Golden programs: what each comes to, compared with the file beside it.
//!
//! `errors/` holds broken programs and their diagnostics, `trees/` good ones and their trees,
//! `format/` programs and their canonical layout. `BLESS=1 cargo test -p thalweg-syntax --test
//! golden` writes the expected files anew.

mod shape;

use std::fs;
use std::path::{Path, PathBuf};

use shape::shape;
use syntax::{FileId, SourceMap};
use thalweg_syntax as syntax;

#[test]
fn broken_programs_give_their_diagnostics() {
    check("errors", "diagnostics", |path, text| {
        let said = syntax::with_deep_stack(|| diagnostics(path, text));
        said.expect("there is a thread")
    });
}

fn diagnostics(path: &Path, text: &str) -> String {
    let mut sources = SourceMap::default();
    let name = path.file_name().expect("a file has a name");
    let file = sources.add(Path::new(name), text);
    let parsed = syntax::parse(file, text);
    assert_eq!(
        parsed.tree.text().to_string(),
        text,
        "the tree of {path:?} keeps the text"
    );
    assert!(!parsed.diagnostics.is_empty(), "{path:?} has nothing wrong");
    syntax::render(&parsed.diagnostics, &sources, false)
}

#[test]
fn good_programs_give_their_trees() {
    check("trees", "tree", |path, text| {
        let parsed = syntax::parse(FileId(0), text);
        assert_eq!(parsed.diagnostics, [], "{path:?} is right");
        assert_eq!(
            parsed.tree.text().to_string(),
            text,
            "the tree of {path:?} keeps the text"
        );
        syntax::dump_tree(&parsed.tree)
    });
}

#[test]
fn programs_have_one_layout() {
    check("format", "formatted", |path, text| {
        let once = syntax::format(text).unwrap_or_else(|d| panic!("{path:?}: {d:?}"));
        let twice = syntax::format(&once).unwrap_or_else(|d| panic!("{path:?}: {d:?}\n{once}"));
        assert_eq!(once, twice, "{path:?} formatted twice");
        let units = [text, &once].map(|text| shape(&syntax::parse(FileId(0), text).unit));
        assert_eq!(units[0], units[1], "{path:?} says the same when formatted");
        once
    });
}

/// Compares what each program of a folder comes to with the file of the extension beside it.
fn check(folder: &str, extension: &str, outcome: impl Fn(&Path, &str) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(folder);
    let mut programs: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("its entries can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "spl"))
        .collect();
    programs.sort();
    assert!(!programs.is_empty(), "{folder:?} has programs");
    let bless = std::env::var_os("BLESS").is_some();
    let mut failed = Vec::new();
    for path in programs {
        let text = fs::read_to_string(&path).expect("a program can be read");
        let found = outcome(&path, &text);
        let beside = path.with_extension(extension);
        if bless {
            fs::write(&beside, found).expect("the expected file can be written");
        } else if fs::read_to_string(&beside).unwrap_or_default() != found {
            failed.push(format!("{} differs; it is now:\n{found}", beside.display()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
