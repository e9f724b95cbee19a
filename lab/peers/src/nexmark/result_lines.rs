//! The lines of results, and the first difference between those of two engines.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::query::PeerQuery;

/// A line that one engine has written more often than another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultDifference {
    /// The line, shortened if it is long.
    pub line: String,
    /// Whether the expected results have the line; else the other ones.
    pub is_missing: bool,
    /// Number of expected lines.
    pub expected_count: usize,
    /// Number of lines of the other engine.
    pub count: usize,
}

/// Letters of a line in a message at most.
const LINE_LETTERS_MAX: usize = 120;

impl fmt::Display for ResultDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ResultDifference {
            line,
            is_missing,
            expected_count,
            count,
        } = self;
        let what = if *is_missing { "lacks" } else { "adds" };
        write!(
            f,
            "results differ: it {what} `{line}` ({count} lines instead of {expected_count})"
        )
    }
}

impl std::error::Error for ResultDifference {}

/// Reads the final results of a query from all files whose names begin with `prefix`, sorted.
///
/// # Errors
/// A file cannot be read.
pub fn final_lines(query: &PeerQuery, prefix: &Path, last_ms: i64) -> io::Result<Vec<Box<[u8]>>> {
    let mut lines: Vec<Box<[u8]>> = Vec::new();
    for file in files_of(prefix)? {
        let text = fs::read(file)?;
        let found = text.split(|byte| *byte == b'\n');
        let found = found.filter(|line| !line.is_empty() && query.is_final(line, last_ms));
        lines.extend(found.map(Box::from));
    }
    lines.sort_unstable();
    Ok(lines)
}

/// Compares sorted lines of results; a line that comes twice counts twice.
///
/// # Errors
/// The first line, in their order, that is in one of them alone.
pub fn compare_results(
    expected: &[Box<[u8]>],
    lines: &[Box<[u8]>],
) -> Result<(), ResultDifference> {
    let same = expected.iter().zip(lines).take_while(|(a, b)| a == b);
    let at = same.count();
    let (line, is_missing) = match (expected.get(at), lines.get(at)) {
        (None, None) => return Ok(()),
        (Some(missing), Some(line)) if missing < line => (missing, true),
        (Some(missing), None) => (missing, true),
        (_, Some(line)) => (line, false),
    };
    let text = String::from_utf8_lossy(line);
    Err(ResultDifference {
        line: text.chars().take(LINE_LETTERS_MAX).collect(),
        is_missing,
        expected_count: expected.len(),
        count: lines.len(),
    })
}

/// The files whose names begin with a path.
///
/// # Errors
/// The folder cannot be read.
pub fn files_of(prefix: &Path) -> io::Result<Vec<PathBuf>> {
    let name = prefix.file_name().unwrap_or_default().to_string_lossy();
    let mut files = Vec::new();
    for entry in fs::read_dir(prefix.parent().unwrap_or(Path::new(".")))? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&*name) {
            files.push(entry.path());
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<Box<[u8]>> {
        texts.iter().map(|text| text.as_bytes().into()).collect()
    }

    #[test]
    fn equal_lines_are_equal() {
        let own = lines(&["a", "b", "b"]);
        assert_eq!(compare_results(&own, &own), Ok(()));
        assert_eq!(compare_results(&[], &[]), Ok(()));
    }

    #[test]
    fn the_first_line_that_differs_is_named() {
        let own = lines(&["a", "b", "b", "d"]);
        for (other, line, is_missing) in [
            (lines(&["a", "b", "d"]), "b", true),
            (lines(&["a", "b", "b", "c", "d"]), "c", false),
            (lines(&["a", "b", "b"]), "d", true),
            (lines(&["a", "b", "b", "d", "d"]), "d", false),
            (lines(&["0", "b", "b", "d"]), "0", false),
        ] {
            let difference = compare_results(&own, &other).unwrap_err();
            assert_eq!(
                (&*difference.line, difference.is_missing),
                (line, is_missing)
            );
            let sentence = difference.to_string();
            assert!(sentence.contains(&format!("`{line}`")), "{sentence}");
        }
    }
}
