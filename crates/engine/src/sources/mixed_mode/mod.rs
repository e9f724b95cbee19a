//! Mixed mode: `.splmm` files of SPL with Perl in it, from which the system's `perl` generates SPL.
//!
//! ```text
//!   Main.splmm --script--> Perl --process--> output with marks --output--> SPL, its lines,
//!     text, <% code %>       prints text,      \x1e c 7 \x1f ...             what went wrong
//!     and <%= value %>       code, values
//! ```
//! The Perl script prints text outside of `<% %>` when control reaches it, and the value of the
//! expression in `<%= %>`. `@ARGV` has the arguments. Each line of the generated text is traced to
//! a line of the file, so errors of the compiler and faults of the running program name lines of
//! the file.
//!
//! The script runs with the user's rights in the current folder, as a build script does. Its
//! standard input is empty. It may run for [`SCRIPT_TIMEOUT`], and print as many bytes as a source
//! file may have.

mod perl_process;
mod script;
mod script_output;

use std::path::Path;
use std::time::Duration;

use compiler::{GeneratedOrigin, GenerationProblem, SourceText};
use perl_process::ScriptResult;

/// Time that the Perl code of one file may run: generating a text takes milliseconds.
pub const SCRIPT_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether a file is mixed mode: its extension is `splmm`.
pub fn is_mixed(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "splmm")
}

/// Generates the SPL text of a mixed-mode file. Errors of the Perl code are in the result.
pub fn generate(path: &Path, template: String, args: &[String]) -> SourceText {
    generate_with("perl", path, template, args, SCRIPT_TIMEOUT)
}

fn generate_with(
    perl: &str,
    path: &Path,
    template: String,
    args: &[String],
    timeout: Duration,
) -> SourceText {
    let name = perl_file_name(path);
    let script = match script::script(&template, &name, timeout) {
        Ok(script) => script,
        Err(problem) => return failed_source(template, problem),
    };
    let ended = match perl_process::run_script(perl, &script, args, timeout) {
        Ok(ended) => ended,
        Err(error) => return failed_source(template, not_run_problem(perl, &error)),
    };
    let output = script_output::parse_output(&String::from_utf8_lossy(&ended.stdout));
    let problems = script_problems(&ended, &name, &output, timeout);
    SourceText {
        text: output.text,
        generated: Some(GeneratedOrigin {
            lines: output.lines,
            template,
            problems,
        }),
    }
}

/// The name of a file in Perl's messages, without characters that would end the name there.
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

/// Problems that a run of the script has reported.
fn script_problems(
    ended: &ScriptResult,
    name: &str,
    output: &script_output::ScriptOutput,
    timeout: Duration,
) -> Vec<GenerationProblem> {
    let messages = script_output::parse_messages(&String::from_utf8_lossy(&ended.stderr), name);
    let last = output.exit_line.unwrap_or(output.last_line);
    if ended.was_killed {
        let message = match ended.is_too_long {
            true => "the Perl code writes more than any program has".to_owned(),
            false => format!("the Perl code has not ended within {timeout:?}"),
        };
        return vec![
            GenerationProblem::error(output.last_line, message)
                .with_help("it got at least to this line"),
        ];
    }
    let has_failed = !ended.has_succeeded;
    let mut problems: Vec<GenerationProblem> = messages
        .into_iter()
        .map(|message| GenerationProblem {
            line: message.line.unwrap_or(last),
            is_error: has_failed,
            message: format!("Perl: {}", message.text),
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
