//! Examples of `docs/functions`: each expression has the value that stands behind it, compiled and
//! interpreted.
//!
//! A block of kind `spl` has lines of three kinds: an expression with its value behind `//`, a
//! statement that ends with `;`, and one with `// not run` behind it, which is compiled only. The
//! blocks of a page are one program.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::scratch::{Scratch, root};

/// Functions of the pane that fires. Where none does only functions of the program may call them.
const PANE_FUNCTIONS: [&str; 4] = ["intervalStart", "intervalEnd", "paneTiming", "paneIndex"];

/// A line of an example, and where it stands.
enum Example<'a> {
    Value(&'a str, &'a str),
    Statement(&'a str),
    NotRun(&'a str),
}

impl<'a> Example<'a> {
    fn from_line(line: &'a str) -> Example<'a> {
        match line.split_once("  // ") {
            Some((statement, "not run")) => Example::NotRun(statement),
            Some((expression, value)) => Example::Value(expression, value),
            None => Example::Statement(line),
        }
    }
}

/// The directives that the page says a program needs.
fn use_directives(page: &str) -> String {
    let (intro, _) = page.split_once("\n## ").unwrap();
    let quoted = intro.split('`').skip(1).step_by(2);
    quoted
        .filter(|text| text.starts_with("use "))
        .map(|text| format!("{text}\n"))
        .collect()
}

/// A program that prints the value of each expression on a page; the expressions and their values.
fn program(page: &str) -> (String, Vec<(&str, &str)>) {
    let mut text = use_directives(page);
    text += "composite Main { graph\n\
             stream<int32 n> In = Beacon() { param iterations : 1; }\n\
             (stream<int32 n> Sent) as Out = Custom(In) { logic onTuple In : {\n";
    let mut values = Vec::new();
    let mut of_panes = String::new();
    let needs_pane = |statement: &str| PANE_FUNCTIONS.iter().any(|name| statement.contains(name));
    for block in page.split("\n```spl\n").skip(1) {
        let (block, _) = block.split_once("```").expect("a block ends");
        text += "{\n";
        for line in block.lines() {
            let _ = match Example::from_line(line) {
                Example::Value(expression, value) => {
                    values.push((expression, value));
                    let number = values.len();
                    writeln!(
                        text,
                        "printStringLn(\"\\n@{number} \" + (rstring) [{expression}]);"
                    )
                }
                Example::Statement(statement) => writeln!(text, "{statement}"),
                Example::NotRun(statement) if needs_pane(statement) => {
                    writeln!(of_panes, "{{ {statement} }}")
                }
                Example::NotRun(statement) => writeln!(text, "if (n < 0) {{ {statement} }}"),
            };
        }
        text += "}\n";
    }
    text += "} } }\n";
    text += &format!("void ofPanes() {{ {of_panes} }}\n");
    (text, values)
}

/// Compares the values of a page. Returns their number.
fn check_page(path: &Path, args: &[&str]) -> usize {
    let page = fs::read_to_string(path).unwrap();
    let (text, values) = program(&page);
    let scratch = Scratch::new();
    let printed = scratch.run(&text, args).ok();
    let mut found = printed
        .lines()
        .filter_map(|line| line.strip_prefix('@')?.split_once(' '));
    for (at, (expression, value)) in values.iter().enumerate() {
        let place = format!("{}: {expression}", path.display());
        let (number, printed) = found.next().expect("a value for each expression");
        assert_eq!(number, (at + 1).to_string(), "{place}");
        assert_eq!(printed, format!("[{value}]"), "{place}");
    }
    values.len()
}

#[test]
fn every_example_of_a_function_has_the_value_that_its_page_says() {
    let folder = fs::read_dir(root().join("docs/functions")).unwrap();
    let mut count = 0;
    for entry in folder {
        let path = entry.unwrap().path();
        if path.file_name() != Some("README.md".as_ref()) {
            count += check_page(&path, &[]);
            check_page(&path, &["--interpret"]);
        }
    }
    assert!(count > 500, "{count}");
}
