//! `thalweg check`: errors and warnings in programs, as text or JSON.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use engine::{CompileRequest, Findings};

use crate::failure::CommandFailure;
use crate::output::{colour, write_stderr, write_stdout};
use crate::program::CompilationArgs;

/// Arguments of `thalweg check`.
#[derive(Debug, ClapArgs)]
pub struct CheckArgs {
    /// The files of the programs
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
    for file in &args.files {
        let request = CompileRequest {
            file: file.clone(),
            ..request.clone()
        };
        let (findings, text) = match engine::check(&request) {
            Ok(findings) => {
                let text = findings.to_text(colour());
                (findings, text)
            }
            Err(error) => {
                let text = format!("thalweg: {error}\n");
                (Findings::unreadable(file, &error), text)
            }
        };
        failed |= findings.has_errors();
        if args.json {
            json.extend(findings.to_json());
        } else {
            write_stderr(&text);
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
