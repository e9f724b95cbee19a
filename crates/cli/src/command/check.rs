//! `thalweg check`: errors and warnings in programs, as text or JSON.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use engine::{CompileRequest, Findings};

use crate::failure::CommandFailure;
use crate::output::{colour, write_stderr, write_stdout};
use crate::program::{ShellWords, mixed_args, name_value, shell_words, toolkit_path};

/// Arguments of `thalweg check`.
#[derive(Debug, ClapArgs)]
pub struct CheckArgs {
    /// The files of the programs
    #[arg(required = true)]
    pub files: Vec<PathBuf>,

    /// The main composite, NAMESPACE::NAME or NAME
    #[arg(short = 'M', long, value_name = "NS::COMPOSITE")]
    pub main: Option<String>,

    /// Toolkit directories, separated by colons
    #[arg(short = 't', long, value_name = "DIRS", env = "THALWEG_TOOLKIT_PATH")]
    pub toolkit_path: Vec<String>,

    /// A compile-time value; can be repeated
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = name_value)]
    pub define: Vec<(String, String)>,

    /// Arguments of the Perl code in `.splmm` files, its @ARGV: words, those with blanks in quotes
    #[arg(long, value_name = "WORDS", value_parser = shell_words, allow_hyphen_values = true)]
    pub mm_args: Vec<ShellWords>,

    /// Print one JSON array of findings instead of text
    #[arg(long)]
    pub json: bool,
}

/// Checks every file and reports the findings; fails if a file has an error or cannot be read.
pub fn run(args: CheckArgs) -> Result<(), CommandFailure> {
    let mut failed = false;
    let mut json = Vec::new();
    let toolkit_path = toolkit_path(&args.toolkit_path);
    for file in &args.files {
        let request = CompileRequest {
            file: file.clone(),
            main: args.main.clone(),
            toolkit_path: toolkit_path.clone(),
            compile_values: args.define.clone(),
            mixed_args: mixed_args(args.mm_args.clone()),
            submission_values: None,
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
