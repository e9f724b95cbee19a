//! Wrong programs: each file of `wrong/` ends with what the compiler says of it.
//!
//! The expected diagnostics are the lines at the end that begin with `//! `; the program is what is
//! before them. `// main: Name` in the first line names the main composite, `// check` there asks
//! for a check without one. `BLESS=1 cargo test -p thalweg-compiler --test wrong` writes them anew.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{input, tests};
use thalweg_compiler as compiler;

/// Said of a program that should be wrong.
const ACCEPTED: &str = "nothing is wrong\n";

#[test]
fn wrong_programs_give_their_diagnostics() {
    let mut failed = Vec::new();
    let programs = programs(&tests().join("wrong"));
    assert!(programs.len() > 200, "the wrong programs are there");
    for path in programs {
        let text = fs::read_to_string(&path).expect("a program can be read");
        let (program, expected) = split(&text);
        let name = path
            .file_name()
            .expect("a file has a name")
            .to_string_lossy();
        let found = diagnostics(&name, program);
        if found == ACCEPTED {
            failed.push(format!("{} is accepted", path.display()));
        }
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, join(program, &found)).expect("a program can be written");
        } else if found != expected {
            failed.push(format!("{}\nit says now:\n{found}", path.display()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn diagnostics(name: &str, program: &str) -> String {
    let first = program.lines().next().unwrap_or("");
    let main = first.strip_prefix("// main: ");
    let input = input(name, program, main);
    let output = if first == "// check" {
        compiler::check(input)
    } else {
        compiler::compile(input)
    };
    if output.diagnostics.is_empty() {
        return ACCEPTED.to_owned();
    }
    let is_refused = output.has_errors() || first == "// check";
    assert_eq!(output.program.is_none(), is_refused, "{name}");
    syntax::render(&output.diagnostics, &output.sources, false)
}

/// All programs of a folder and its folders.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("its entries can be read").path();
        if path.is_dir() {
            found.extend(programs(&path));
        } else if path.extension().is_some_and(|e| e == "spl") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The program and the diagnostics at its end.
fn split(text: &str) -> (&str, String) {
    let end = text.find("\n//! ").map_or(text.len(), |at| at + 1);
    let lines = text[end..].lines();
    let lines = lines.map(|line| line.strip_prefix("//!").unwrap_or(line));
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
    (
        &text[..end],
        lines.map(|line| format!("{line}\n")).collect(),
    )
}

fn join(program: &str, diagnostics: &str) -> String {
    let lines = diagnostics
        .lines()
        .map(|line| format!("//! {line}").trim_end().to_owned() + "\n");
    program.to_owned() + &lines.collect::<String>()
}
