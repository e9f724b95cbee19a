//! Mixed mode: SPL with Perl in it, `.splmm` files, which the system's `perl` turns into SPL.
//!
//! ```text
//!   Main.splmm --script--> Perl --process--> output with marks --output--> SPL, its lines,
//!     text, <% code %>       prints text,      \x1e c 7 \x1f ...             what went wrong
//!     and <%= value %>       code, values
//! ```
//! Text outside of `<% %>` is printed wherever the code around it leads; `<%= %>` prints the value
//! of an expression; `@ARGV` has the arguments. Each line of the result is traced to a line of the
//! file, so errors of the compiler and faults of the running program name lines of the file.
//!
//! The code runs with the rights of the user, in the current folder, as a build script does. Its
//! standard input is empty, and it has [`SCRIPT_TIMEOUT`] and as many bytes of output as a program
//! may have.

mod perl_process;
mod script;
mod script_output;

use std::path::Path;
use std::time::Duration;

use compiler::{GeneratedOrigin, GenerationProblem, SourceText};

use perl_process::ScriptResult;

/// The time that the code of one file has, in seconds: generating a text takes milliseconds.
pub const SCRIPT_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether a file is one of mixed mode.
pub fn is_mixed(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "splmm")
}

/// Runs the Perl of a file.
pub fn generate(path: &Path, template: String, args: &[String]) -> SourceText {
    generate_with("perl", path, template, args, SCRIPT_TIMEOUT)
}

fn generate_with(
    perl: &str,
    path: &Path,
    template: String,
    args: &[String],
    patience: Duration,
) -> SourceText {
    let name = perl_file_name(path);
    let script = match script::script(&template, &name, patience) {
        Ok(script) => script,
        Err(problem) => return failed_source(template, problem),
    };
    let ended = match perl_process::run_script(perl, &script, args, patience) {
        Ok(ended) => ended,
        Err(error) => return failed_source(template, not_run_problem(perl, &error)),
    };
    let read = script_output::parse_output(&String::from_utf8_lossy(&ended.stdout));
    let problems = script_problems(&ended, &name, &read, patience);
    SourceText {
        text: read.text,
        generated: Some(GeneratedOrigin {
            lines: read.lines,
            template,
            problems,
        }),
    }
}

/// The name of a file in messages of Perl: it has no character that ends it there.
fn perl_file_name(path: &Path) -> String {
    let safe = |c: char| match c {
        '"' => '_',
        c if c.is_control() => '_',
        c => c,
    };
    path.to_string_lossy().chars().map(safe).collect()
}

fn failed_source(template: String, problem: GenerationProblem) -> SourceText {
    SourceText {
        text: String::new(),
        generated: Some(GeneratedOrigin {
            lines: vec![1],
            template,
            problems: vec![problem],
        }),
    }
}

fn not_run_problem(perl: &str, error: &std::io::Error) -> GenerationProblem {
    let (message, help) = match error.kind() {
        std::io::ErrorKind::NotFound => (
            format!("this file is SPL with Perl in it, and there is no `{perl}` to run"),
            "install Perl, or generate the `.spl` file where there is one",
        ),
        _ => (
            format!("this file is SPL with Perl in it, and `{perl}` cannot be run: {error}"),
            "Perl makes the SPL text of a mixed-mode file",
        ),
    };
    GenerationProblem::error(1, message).with_help(help)
}

/// What there is to say of a run.
fn script_problems(
    ended: &ScriptResult,
    name: &str,
    read: &script_output::ScriptOutput,
    patience: Duration,
) -> Vec<GenerationProblem> {
    let said = script_output::parse_messages(&String::from_utf8_lossy(&ended.stderr), name);
    let last = read.exit_line.unwrap_or(read.last_line);
    if ended.was_killed {
        let message = match ended.is_too_long {
            true => "the Perl code writes more than any program has".to_owned(),
            false => format!("the Perl code has not ended within {patience:?}"),
        };
        return vec![
            GenerationProblem::error(read.last_line, message)
                .with_help("it got at least to this line"),
        ];
    }
    let has_failed = !ended.has_succeeded;
    let mut problems: Vec<GenerationProblem> = said
        .into_iter()
        .map(|said| GenerationProblem {
            line: said.line.unwrap_or(last),
            is_error: has_failed,
            message: format!("Perl: {}", said.text),
            help: None,
        })
        .collect();
    if has_failed && problems.is_empty() {
        let message = format!("the Perl code ended with {}", ended.status);
        problems.push(
            GenerationProblem::error(last, message).with_help("it says nothing of the reason"),
        );
    }
    problems
}

#[cfg(test)]
mod tests;
