//! The files of a report, written into a folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::release::Release;
use super::{csv, page};
use crate::{Outcome, results};

/// The paths of the files of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportFiles {
    /// JSON file with one array of outcomes.
    pub json: PathBuf,
    /// CSV file with a row per outcome.
    pub csv: PathBuf,
    /// HTML page with the charts.
    pub page: PathBuf,
}

/// Writes `results.json`, `results.csv` and `index.html` of one run into `dir`, which is created if
/// needed.
///
/// # Errors
/// The folder cannot be created or a file cannot be written; the error names it.
pub fn write(dir: &Path, outcomes: &[Outcome]) -> io::Result<ReportFiles> {
    let release = Release {
        name: String::new(),
        outcomes: outcomes.to_vec(),
    };
    write_releases(dir, &[release])
}

/// Writes the report of several releases, the newest last. The page is about the newest and
/// compares it with the others; `results.json` holds the newest, `results.csv` all of them.
///
/// # Errors
/// The folder cannot be created or a file cannot be written; the error names it.
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
