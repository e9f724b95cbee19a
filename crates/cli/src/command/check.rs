//! `thalweg check`: what is wrong with programs, as text or JSON.

use engine::{CompileRequest, Findings};

use super::{CommandFailure, colour, mixed_args, toolkit_path, write_stderr, write_stdout};
use crate::args::CheckArgs;

/// Checks every file; fails if one has an error or cannot be read.
pub fn check(args: CheckArgs) -> Result<(), CommandFailure> {
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
