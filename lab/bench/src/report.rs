//! `thalweg bench report`: a page of figures from files of results.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use measure::Outcome;
use measure::report::{ReportFiles, markdown, write as write_outcomes, write_releases};

use crate::failure::BenchFailure;
use crate::history::{HISTORY_FOLDER, load_release};
use crate::output::{write_stderr, write_stdout};

/// Arguments of `thalweg bench report`
#[derive(Debug, ClapArgs)]
pub struct ReportArgs {
    /// Files of results, folders that hold them, or names of releases; of several, the last is what
    /// the page is about, and those before are what it is compared with
    #[arg(required = true, value_name = "RESULTS")]
    pub results: Vec<String>,

    /// The folder that gets index.html, results.csv and results.json
    #[arg(short, long, value_name = "DIR", required_unless_present = "markdown")]
    pub out: Option<PathBuf>,

    /// Print the tables of the last of them as Markdown
    #[arg(long)]
    pub markdown: bool,

    /// Where the results of releases are kept
    #[arg(long, value_name = "DIR", default_value = HISTORY_FOLDER)]
    pub history: PathBuf,
}

/// Creates the folder of a report.
///
/// # Errors
/// The folder cannot be created.
pub fn prepare(out: &Path) -> Result<(), BenchFailure> {
    std::fs::create_dir_all(out)
        .map_err(|error| BenchFailure::Failed(format!("cannot make {}: {error}", out.display())))
}

/// Writes the report of one run, and its path to standard error.
///
/// # Errors
/// A file cannot be written.
pub fn write(out: &Path, outcomes: &[Outcome]) -> Result<(), BenchFailure> {
    let ReportFiles { page, .. } = write_outcomes(out, outcomes).map_err(failure)?;
    write_stderr(&format!("wrote {}\n", page.display()));
    Ok(())
}

/// Writes the report and prints the path of its page, or prints the tables as Markdown.
///
/// # Errors
/// Results cannot be read, or a file cannot be written.
pub fn report(args: &ReportArgs) -> Result<(), BenchFailure> {
    let releases = args
        .results
        .iter()
        .map(|what| load_release(what, &args.history));
    let releases: Vec<_> = releases.collect::<Result<_, _>>()?;
    if let Some(out) = &args.out {
        let written = write_releases(out, &releases).map_err(failure)?;
        write_stdout(&format!("{}\n", written.page.display()))?;
    }
    match releases.last().filter(|_| args.markdown) {
        Some(newest) => write_stdout(&markdown(newest)),
        None => Ok(()),
    }
}

fn failure(error: std::io::Error) -> BenchFailure {
    BenchFailure::Failed(error.to_string())
}
