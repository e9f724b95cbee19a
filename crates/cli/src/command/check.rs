//! `thalweg check`: errors and warnings in programs, as text or JSON.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use engine::{CompileRequest, Findings, ReportedFindings};

use crate::failure::CommandFailure;
use crate::file_search::programs_of;
use crate::output::{write_findings, write_stderr, write_stdout};
use crate::program::CompilationArgs;

/// Arguments of `thalweg check`.
#[derive(Debug, ClapArgs)]
pub struct CheckArgs {
    /// The files of the programs; for a folder, all programs below it; `-` for standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,

    /// The main composite, NAMESPACE::NAME or NAME
    #[arg(short = 'M', long, value_name = "NS::COMPOSITE")]
    pub main: Option<String>,

    /// Values that the program is compiled with.
    #[command(flatten)]
    pub compilation: CompilationArgs,

    /// Print one JSON array of findings instead of text
    #[arg(long)]
    pub json: bool,
}

/// Checks every file and reports the findings; fails if a file has an error or cannot be read.
pub fn run(args: CheckArgs) -> Result<(), CommandFailure> {
    let mut failed = false;
    let mut json = Vec::new();
    let request = args.compilation.into_request(PathBuf::new(), args.main);
    let files = programs_of(&args.files)?;
    // What several programs use is reported once.
    let mut seen = ReportedFindings::default();
    for file in &files {
        let request = CompileRequest {
            file: file.clone(),
            ..request.clone()
        };
        let (mut findings, failure) = match engine::check(&request) {
            Ok(findings) => (findings, None),
            Err(error) => (Findings::unreadable(file, &error), Some(error)),
        };
        failed |= findings.has_errors();
        findings.leave_out_reported(&mut seen);
        match failure {
            _ if args.json => json.extend(findings.to_json()),
            Some(error) => write_stderr(&format!("thalweg: {error}\n")),
            None => write_findings(&findings),
        }
    }
    if args.json {
        let array = serde_json::Value::Array(json);
        write_stdout(&format!("{array:#}\n"))?;
    }
    if failed {
        Err(CommandFailure::Reported)
    } else {
        Ok(())
    }
}
