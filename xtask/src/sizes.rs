//! Sizes of the files, functions and docs of a tree of Rust sources, its own or another project's.
//!
//! `cargo xtask sizes FOLDER` counts the `.rs` files below FOLDER that lie in a folder `src`, unit
//! tests among them. Functions are found by their indent, so sources have to be formatted.

use std::fmt::Write as _;
use std::path::Path;

use crate::tidy::{FUNCTION_LINES_MAX, TidySource, function_lengths, rust_sources};

/// A line for each size, with its median and 90th percentile, or with a count.
///
/// # Errors
/// A sentence, if there are no sources to count.
pub fn print(folder: &Path) -> Result<String, String> {
    let sources = rust_sources(folder);
    let is_library = |source: &TidySource| format!("/{}", source.path).contains("/src/");
    let texts: Vec<&str> = sources
        .iter()
        .filter(|source| is_library(source))
        .map(|source| source.text.as_str())
        .collect();
    if texts.is_empty() {
        let folder = folder.display();
        return Err(format!(
            "no `.rs` file lies in a folder `src` below {folder}"
        ));
    }
    let mut files: Vec<usize> = texts.iter().map(|text| text.lines().count()).collect();
    let functions = texts.iter().flat_map(|text| function_lengths(text));
    let mut functions: Vec<usize> = functions.map(|(_, lines)| lines).collect();
    let mut docs: Vec<usize> = texts.iter().flat_map(|text| public_docs(text)).collect();
    let has_module_doc = |text: &&&str| text.starts_with("//!");
    let long = functions
        .iter()
        .filter(|lines| **lines > FUNCTION_LINES_MAX);
    let long = long.count();
    let (comments, code) = comments_and_code(&texts);
    let mut out = String::new();
    let mut line = |name: &str, value: String| writeln!(out, "{name}: {value}").expect("text");
    line("files", texts.len().to_string());
    line("lines of a file", percentiles(&mut files));
    line(
        "longest file",
        files.last().copied().unwrap_or_default().to_string(),
    );
    line(
        "functions of more than one line",
        functions.len().to_string(),
    );
    line("lines of such a function", percentiles(&mut functions));
    line(
        &format!("functions of more than {FUNCTION_LINES_MAX} lines"),
        long.to_string(),
    );
    let with_doc = texts.iter().filter(has_module_doc).count();
    line(
        "files with a module doc in the first line",
        with_doc.to_string(),
    );
    line("documented public items", docs.len().to_string());
    line("words of the doc of a public item", percentiles(&mut docs));
    let share = comments as f64 / code.max(1) as f64;
    line(
        "lines of comment for each line of code",
        format!("{share:.2}"),
    );
    Ok(out)
}

/// Median and 90th percentile; sorts the values.
fn percentiles(values: &mut [usize]) -> String {
    values.sort_unstable();
    let at = |percent: usize| values.get(values.len() * percent / 100).copied();
    let [median, ninetieth] = [50, 90].map(|percent| at(percent).unwrap_or_default());
    format!("median {median}, 90th percentile {ninetieth}")
}

/// Words of each doc above a `pub` item, examples left out.
fn public_docs(text: &str) -> Vec<usize> {
    let (mut docs, mut words, mut is_example) = (Vec::new(), 0, false);
    for line in text.lines().map(str::trim_start) {
        if let Some(doc) = line.strip_prefix("///") {
            let is_fence = doc.trim_start().starts_with("```");
            is_example ^= is_fence;
            if !is_example && !is_fence {
                words += doc.split_whitespace().count();
            }
        } else if !line.starts_with("#[") {
            if words > 0 && line.starts_with("pub ") {
                docs.push(words);
            }
            (words, is_example) = (0, false);
        }
    }
    docs
}

/// Lines that are comments alone, and the other lines that are not blank.
fn comments_and_code(texts: &[&str]) -> (usize, usize) {
    let lines = texts.iter().flat_map(|text| text.lines());
    let lines = lines.map(str::trim_start).filter(|line| !line.is_empty());
    let (comments, code): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("//"));
    (comments.len(), code.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_sources_has_no_sizes() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(print(root).is_ok());
        for folder in ["src", "tests", "there_is_none"] {
            let refused = print(&root.join(folder)).expect_err(folder);
            assert!(refused.ends_with(folder), "{refused}");
        }
    }

    #[test]
    fn docs_of_public_items_are_counted_without_examples() {
        let text = "/// A number of words.\n/// ```\n/// let x = 1;\n/// ```\n#[derive(Debug)]\n\
                    pub struct One;\n/// A private one.\nstruct Two;\n";
        assert_eq!(public_docs(text), [4]);
    }

    #[test]
    fn functions_end_at_their_own_indent() {
        let text = "impl A {\n    fn one(&self) {\n        if x {\n        }\n    }\n}\n";
        assert_eq!(function_lengths(text), [(2, 4)]);
    }

    #[test]
    fn percentiles_are_values_of_the_list() {
        let mut values: Vec<usize> = (1..=10).rev().collect();
        assert_eq!(percentiles(&mut values), "median 6, 90th percentile 10");
    }
}
