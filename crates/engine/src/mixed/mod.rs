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
//! standard input is empty, and it has [`PATIENCE`] and as many bytes of output as a program may have.

mod output;
mod process;
mod script;

use std::path::Path;
use std::time::Duration;

use compiler::{Generated, Problem, Source};

use process::Ended;

/// The time that the code of one file has, in seconds: generating a text takes milliseconds.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Whether a file is one of mixed mode.
pub fn is_mixed(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "splmm")
}

/// Runs the Perl of a file.
pub fn generate(path: &Path, template: String, args: &[String]) -> Source {
    generate_with("perl", path, template, args, PATIENCE)
}

fn generate_with(
    perl: &str,
    path: &Path,
    template: String,
    args: &[String],
    patience: Duration,
) -> Source {
    let name = name(path);
    let script = match script::script(&template, &name, patience) {
        Ok(script) => script,
        Err(problem) => return failed(template, problem),
    };
    let ended = match process::run(perl, &script, args, patience) {
        Ok(ended) => ended,
        Err(error) => return failed(template, not_run(perl, &error)),
    };
    let read = output::read(&String::from_utf8_lossy(&ended.stdout));
    let problems = problems(&ended, &name, &read, patience);
    Source {
        text: read.text,
        generated: Some(Generated {
            lines: read.lines,
            template,
            problems,
        }),
    }
}

/// The name of a file in messages of Perl: it has no character that ends it there.
fn name(path: &Path) -> String {
    let safe = |c: char| match c {
        '"' => '_',
        c if c.is_control() => '_',
        c => c,
    };
    path.to_string_lossy().chars().map(safe).collect()
}

fn failed(template: String, problem: Problem) -> Source {
    Source {
        text: String::new(),
        generated: Some(Generated {
            lines: vec![1],
            template,
            problems: vec![problem],
        }),
    }
}

fn not_run(perl: &str, error: &std::io::Error) -> Problem {
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
    Problem::error(1, message).help(help)
}

/// What there is to say of a run.
fn problems(ended: &Ended, name: &str, read: &output::Read, patience: Duration) -> Vec<Problem> {
    let said = output::messages(&String::from_utf8_lossy(&ended.stderr), name);
    let last = read.ended_at.unwrap_or(read.last);
    if ended.was_stopped {
        let message = match ended.is_too_long {
            true => "the Perl code writes more than any program has".to_owned(),
            false => format!("the Perl code has not ended within {patience:?}"),
        };
        return vec![Problem::error(read.last, message).help("it got at least to this line")];
    }
    let has_failed = !ended.has_succeeded;
    let mut problems: Vec<Problem> = said
        .into_iter()
        .map(|said| Problem {
            line: said.line.unwrap_or(last),
            is_error: has_failed,
            message: format!("Perl: {}", said.text),
            help: None,
        })
        .collect();
    if has_failed && problems.is_empty() {
        let message = format!("the Perl code ended with {}", ended.status);
        problems.push(Problem::error(last, message).help("it says nothing of the reason"));
    }
    problems
}

#[cfg(test)]
mod tests;
