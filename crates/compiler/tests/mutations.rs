//! The compiler answers whatever the text is: programs with pieces cut out, doubled or exchanged.
//!
//! Every golden program is cut at its tokens and changed in many places; nothing may panic, and a
//! program comes out only if there is no error. Of a program with broken syntax nothing is said
//! that only follows from that.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{input, tests};
use syntax::{Diagnostic, FileId, Severity, SyntaxKind};
use thalweg_compiler as compiler;

/// Every how many tokens a program is changed; another start for each sort of change.
const STRIDE: usize = 19;
/// Every how many tokens a right program is broken.
const SYNTAX_STRIDE: usize = 7;

#[test]
fn changed_programs_are_answered() {
    for path in golden() {
        let text = fs::read_to_string(&path).expect("a program can be read");
        let program = text.split("\n//! ").next().unwrap_or("");
        let pieces = pieces(program);
        for (sort, change) in [cut, double, exchange, cut_rest].into_iter().enumerate() {
            for at in (sort..pieces.len()).step_by(STRIDE) {
                answer(&path, &change(&pieces, at));
            }
        }
    }
}

/// A right program that lacks a token, or has one twice: its syntax error is the first that is
/// shown, hardly anything is said to follow from it, and what is wrong elsewhere is said.
#[test]
fn syntax_errors_come_first() {
    let (mut broken, mut misled, mut noisy) = (0, Vec::new(), Vec::new());
    let mut silent = Vec::new();
    for path in programs(tests().join("right")) {
        let program = fs::read_to_string(&path).expect("a program can be read");
        let pieces = pieces(&program);
        for (sort, change) in [cut, double].into_iter().enumerate() {
            for at in (sort..pieces.len()).step_by(SYNTAX_STRIDE) {
                let text = change(&pieces, at);
                let syntax = syntax::parse(FileId(0), &text).diagnostics;
                if syntax.iter().all(|found| !is_error(found)) {
                    continue;
                }
                let errors = compiler::compile(input("Main.spl", &text, None)).diagnostics;
                let mut errors = errors.iter().filter(|found| is_error(found));
                let first = errors.next().expect("a broken program has an error");
                let case = format!("{} with token {at} changed: {first:?}", path.display());
                broken += 1;
                if !says_what_is_wrong_elsewhere(&text) {
                    silent.push(case.clone());
                }
                match syntax.contains(first) {
                    false => misled.push(case),
                    true if errors.any(|found| !syntax.contains(found)) => noisy.push(case),
                    true => {}
                }
            }
        }
    }
    assert!(broken > 500, "{broken} programs are broken");
    // A brace that closes a body too early shows further up first; so it is in few programs.
    assert!(misled.len() * 50 <= broken, "{}", misled.join("\n"));
    assert!(noisy.len() * 100 <= 3 * broken, "{}", noisy.join("\n"));
    assert!(silent.len() * 100 <= 3 * broken, "{}", silent.join("\n"));
}

/// Whether an unknown name in another composite is reported beside the syntax errors of a program.
/// That composite is put first, where a missing brace does not make it part of another one.
fn says_what_is_wrong_elsewhere(program: &str) -> bool {
    let other = "composite UnlikeAll() { graph () as Out = Custom() {\n\
                 logic onProcess : println(nowhereDeclared); } }\n";
    let (head, rest) = program.split_at(definitions_start(program));
    let text = [head, other, rest].concat();
    let found = compiler::compile(input("Main.spl", &text, None)).diagnostics;
    let start = head.len() + other.find("nowhere").expect("the name is in it");
    let is_it = |found: &Diagnostic| found.span.start as usize == start;
    found.iter().any(|found| is_error(found) && is_it(found))
}

/// Where the first definition of a program may stand: behind its namespace and uses.
fn definitions_start(program: &str) -> usize {
    let is_head = |line: &&str| {
        let begins = ["namespace ", "use ", "//", "/*", " *"];
        line.trim().is_empty() || begins.iter().any(|word| line.starts_with(word))
    };
    let head = program.split_inclusive('\n').take_while(is_head);
    head.map(str::len).sum()
}

fn is_error(found: &Diagnostic) -> bool {
    found.severity == Severity::Error
}

fn answer(path: &Path, text: &str) {
    let name = path
        .file_name()
        .expect("a file has a name")
        .to_string_lossy();
    for ask in [compiler::compile, compiler::check] {
        let output = ask(input(&name, text, None));
        assert!(output.program.is_none() || !output.has_errors(), "{text}");
    }
}

/// The text of each token that means something, blanks before it included.
fn pieces(text: &str) -> Vec<String> {
    let (tokens, _) = syntax::tokens(FileId(0), text);
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for token in tokens {
        piece.push_str(&text[token.start as usize..token.end as usize]);
        if !SyntaxKind::is_trivia(token.kind) {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    pieces
}

fn cut(pieces: &[String], at: usize) -> String {
    [&pieces[..at], &pieces[at + 1..]].concat().concat()
}

fn double(pieces: &[String], at: usize) -> String {
    [&pieces[..=at], &pieces[at..]].concat().concat()
}

fn exchange(pieces: &[String], at: usize) -> String {
    let mut pieces = pieces.to_vec();
    let other = (at + STRIDE) % pieces.len();
    pieces.swap(at, other);
    pieces.concat()
}

fn cut_rest(pieces: &[String], at: usize) -> String {
    pieces[..at].concat()
}

fn golden() -> Vec<PathBuf> {
    let folders = ["wrong", "right"].map(|folder| programs(tests().join(folder)));
    folders.concat()
}

fn programs(folder: PathBuf) -> Vec<PathBuf> {
    let mut open = vec![folder];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("its entries can be read").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "spl") {
                found.push(path);
            }
        }
    }
    found
}
