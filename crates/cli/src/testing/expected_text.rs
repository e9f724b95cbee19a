//! Expected texts, written into test files: `--bless`.

use std::collections::BTreeMap;
use std::fs;

use toml_edit::{DocumentMut, Item, value};

use super::test_file::TestFile;
use crate::failure::CommandFailure;

/// Output of a run, by which an expectation is replaced.
pub struct BlessedTexts {
    /// Standard output, if the test expects one.
    pub output: Option<String>,
    /// Files that the test expects.
    pub files: BTreeMap<String, String>,
}

/// Writes what runs gave into a test file, and leaves everything else in it as it is. `texts` are
/// those of tests by their index.
///
/// # Errors
/// The file cannot be read or written.
pub fn bless(
    file: &TestFile,
    texts: &BTreeMap<usize, &BlessedTexts>,
) -> Result<(), CommandFailure> {
    let failed = |error: &dyn std::fmt::Display| {
        CommandFailure::Program(format!("cannot bless `{}`: {error}", file.path.display()))
    };
    let text = fs::read_to_string(&file.path).map_err(|error| failed(&error))?;
    let mut document: DocumentMut = text.parse().map_err(|error| failed(&error))?;
    let tests = document["test"].as_array_of_tables_mut();
    let tests = tests.ok_or_else(|| failed(&"its tests are not written as `[[test]]`"))?;
    for (&index, texts) in texts {
        let Some(test) = tests.get_mut(index) else {
            continue;
        };
        if let Some(output) = &texts.output {
            replace(&mut test["expect"], output);
        }
        for (name, content) in &texts.files {
            replace(&mut test["expect-files"][name.as_str()], content);
        }
    }
    fs::write(&file.path, document.to_string()).map_err(|error| failed(&error))
}

/// Replaces a text and keeps the comments around it.
fn replace(item: &mut Item, text: &str) {
    let decor = item.as_value().map(|old| old.decor().clone());
    *item = value(text);
    if let (Some(decor), Some(new)) = (decor, item.as_value_mut()) {
        *new.decor_mut() = decor;
    }
}
