//! Typing of expressions, statements and functions.
//!
//! Each program of `programs/` says at the end of a line which diagnostics it gives there:
//! `//~ code`, `//~ code: part of the message`, several separated by `|`. A program without such
//! marks is correct.

mod copies;
mod prototypes;
mod stress;
mod values;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use compiler::{CompileInput, CompileOptions, CompileOutput, EmptyLoader};
use thalweg_compiler as compiler;

#[test]
fn programs_give_the_diagnostics_they_are_marked_with() {
    let folder = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/typing/programs"
    ));
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("its entries can be read").path())
        .collect();
    paths.sort();
    assert!(paths.len() >= 6, "the programs are there");
    let wrong: Vec<String> = paths.iter().filter_map(|path| disagreement(path)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The difference between the findings of a program and the marks in it.
fn disagreement(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).expect("a program can be read");
    let name = path
        .file_name()
        .expect("a file has a name")
        .to_string_lossy();
    let mut input = input(&name, &text);
    input.natives = toolkit::functions();
    let output = compiler::check(input);
    let mut expected = marks(&text);
    let mut unexpected = Vec::new();
    for finding in &output.diagnostics {
        let line = output.sources.position(finding.span).line;
        let marks = expected.entry(line).or_default();
        let fits =
            |(code, part): &(&str, &str)| *code == finding.code && finding.message.contains(*part);
        match marks.iter().position(fits) {
            Some(at) => drop(marks.remove(at)),
            None => unexpected.push(finding.clone()),
        }
    }
    let mut report = String::new();
    for (line, marks) in expected {
        for mark in marks {
            report.push_str(&format!("{name}:{line}: no {mark:?}\n"));
        }
    }
    report.push_str(&syntax::render(&unexpected, &output.sources, false));
    (!report.is_empty()).then_some(report)
}

/// The marks of each line: code and part of the message.
fn marks(text: &str) -> BTreeMap<u32, Vec<(&str, &str)>> {
    let mut all = BTreeMap::new();
    for (at, line) in text.lines().enumerate() {
        if let Some((_, marks)) = line.split_once("//~ ") {
            let marks = marks
                .split(" | ")
                .map(|mark| mark.split_once(": ").unwrap_or((mark, "")));
            let marks = marks
                .map(|(code, part)| (code.trim(), part.trim()))
                .collect();
            all.insert(at as u32 + 1, marks);
        }
    }
    all
}

fn check(name: &str, text: &str) -> CompileOutput {
    compiler::check(input(name, text))
}

/// A program of one file, with library functions that do nothing.
fn input<'a>(name: &str, text: &str) -> CompileInput<'a> {
    CompileInput {
        files: vec![(PathBuf::from(name), text.into())],
        main: None,
        loader: &EmptyLoader,
        toolkits: Vec::new(),
        natives: prototypes::natives(),
        models: models(),
        options: CompileOptions::default(),
    }
}

/// The models of the standard operators.
fn models() -> &'static [&'static graph::OperatorModel] {
    static MODELS: std::sync::OnceLock<Vec<&'static graph::OperatorModel>> =
        std::sync::OnceLock::new();
    MODELS.get_or_init(|| {
        toolkit::operators()
            .iter()
            .map(|entry| entry.model)
            .collect()
    })
}
