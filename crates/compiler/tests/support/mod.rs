//! Shared by the tests of the compiler: the standard library, and files of the tests' own toolkit.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use compiler::{CompileInput, CompileOptions, Loader, SourceText};
use graph::OperatorModel;
use thalweg_compiler as compiler;

/// Reads `toolkit/...` from the tests' folder, so that no path of this machine gets into messages.
pub struct TestFiles;

impl Loader for TestFiles {
    fn list(&self, folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(tests().join(folder));
        let entries = entries.into_iter().flatten().flatten();
        let paths = entries.map(|entry| folder.join(entry.file_name()));
        paths
            .filter(|path| path.extension().is_some_and(|e| e == "spl"))
            .collect()
    }

    fn read(&self, path: &Path) -> Result<SourceText, String> {
        let text = fs::read_to_string(tests().join(path));
        text.map(SourceText::from)
            .map_err(|error| error.to_string())
    }
}

/// The folder of the tests.
pub fn tests() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))
}

/// The models of the standard operators.
pub fn models() -> &'static [&'static OperatorModel] {
    static MODELS: OnceLock<Vec<&'static OperatorModel>> = OnceLock::new();
    MODELS.get_or_init(|| {
        toolkit::operators()
            .iter()
            .map(|entry| entry.model)
            .collect()
    })
}

/// An input of one file.
pub fn input<'a>(name: &str, text: &str, main: Option<&'a str>) -> CompileInput<'a> {
    CompileInput {
        files: vec![(PathBuf::from(name), text.into())],
        main,
        loader: &TestFiles,
        toolkits: vec![PathBuf::from("toolkit")],
        natives: toolkit::functions(),
        models: models(),
        options: CompileOptions::default(),
    }
}
