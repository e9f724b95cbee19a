//! The files of a report, written into a folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::release::Release;
use super::{csv, page};
use crate::{Outcome, results};

/// The files of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportFiles {
    /// One array of outcomes.
    pub json: PathBuf,
    /// A row an outcome.
    pub csv: PathBuf,
    /// The page.
    pub page: PathBuf,
}

/// Writes `results.json`, `results.csv_text` and `index.html` of one run into a folder, which is
/// made if there is none.
///
/// # Errors
/// The folder cannot be made, or a file not be written; the error names it.
pub fn write(dir: &Path, outcomes: &[Outcome]) -> io::Result<ReportFiles> {
    let release = Release {
        name: String::new(),
        outcomes: outcomes.to_vec(),
    };
    write_releases(dir, &[release])
}

/// The same of several releases, the newest last: the page is about that one, and compares it with
/// those before; `results.json` holds the newest, `results.csv_text` all.
///
/// # Errors
/// The folder cannot be made, or a file not be written; the error names it.
pub fn write_releases(dir: &Path, releases: &[Release]) -> io::Result<ReportFiles> {
    fs::create_dir_all(dir).map_err(|error| error_with_path(dir, error))?;
    let newest = releases.last().map_or(&[][..], |release| &release.outcomes);
    let all = releases.iter().map(|r| (r.name.as_str(), &r.outcomes[..]));
    let put = |name: &str, text: String| {
        let path = dir.join(name);
        fs::write(&path, text).map_err(|error| error_with_path(&path, error))?;
        Ok::<PathBuf, io::Error>(path)
    };
    Ok(ReportFiles {
        json: put(results::FILE, results::to_json_text(newest))?,
        csv: put("results.csv", csv::csv_text(all))?,
        page: put("index.html", page::page(releases))?,
    })
}

fn error_with_path(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("cannot write {}: {error}", path.display()),
    )
}
