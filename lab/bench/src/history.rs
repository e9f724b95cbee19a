//! Results by name: the path of a file or folder, or a release in the history.

use std::fs;
use std::path::{Path, PathBuf};

use measure::report::Release;
use measure::results;

use crate::failure::BenchFailure;

/// The folder with a file of results for each release.
pub const HISTORY_FOLDER: &str = "docs/bench";

/// Reads the results of a file, of a folder that `bench --out` has written, or of a release.
///
/// # Errors
/// The file or release does not exist, or the file is no file of results.
pub fn load_release(what: &str, history: &Path) -> Result<Release, BenchFailure> {
    let path = find(what, history)?;
    let outcomes = results::read(&path).map_err(|error| BenchFailure::Failed(error.to_string()))?;
    Ok(Release {
        name: release_name(&path),
        outcomes,
    })
}

fn find(what: &str, history: &Path) -> Result<PathBuf, BenchFailure> {
    let kept = history.join(format!("{what}.json"));
    let candidates = [PathBuf::from(what), kept];
    let found = candidates.into_iter().find(|path| path.exists());
    found.ok_or_else(|| {
        let known = match release_names(history) {
            known if known.is_empty() => "none".to_owned(),
            known => known.join(", "),
        };
        BenchFailure::Failed(format!(
            "`{what}` is neither a file or folder of results nor a release; releases in {}: {known}",
            history.display()
        ))
    })
}

/// The names of the releases in the history, sorted.
fn release_names(history: &Path) -> Vec<String> {
    let entries = fs::read_dir(history).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let kept = files.filter(|file| file.extension().is_some_and(|e| e == "json"));
    let mut names: Vec<String> = kept.map(|file| release_name(&file)).collect();
    names.sort();
    names
}

/// The name that results get on charts: `0.1.0` of `docs/bench/0.1.0.json`, `out` of `out/` and of
/// `out/results.json`.
fn release_name(path: &Path) -> String {
    let is_plain = path.file_name().is_some_and(|name| name == results::FILE);
    let folder = path
        .parent()
        .filter(|folder| is_plain && folder.file_name().is_some());
    let named = folder.unwrap_or(path);
    let part = match named.is_dir() {
        true => named.file_name(),
        false => named.file_stem(),
    };
    part.unwrap_or(named.as_os_str())
        .to_string_lossy()
        .into_owned()
}
