//! Diagnostics as text: places, several files, tabs, long lines, colour.

use std::path::Path;

use syntax::{Diagnostic, SourceMap, Span, render};
use thalweg_syntax as syntax;

fn sources() -> SourceMap {
    let mut sources = SourceMap::default();
    sources.add(Path::new("one.spl"), "first line\n\tsecond é line\nthird");
    sources.add(Path::new("two.spl"), "other file\n");
    sources
}

fn span(sources: &SourceMap, file: u32, text: &str) -> Span {
    let (id, source) = sources
        .files()
        .nth(file as usize)
        .expect("the file is there");
    let start = source.text.find(text).expect("the text is there") as u32;
    Span::new(id, start, start + text.len() as u32)
}

#[test]
fn labels_and_help_stand_under_the_message() {
    let sources = sources();
    let diagnostic = Diagnostic::error("some-code", span(&sources, 0, "é"), "something is wrong")
        .label(span(&sources, 0, "first"), "seen here first")
        .label(
            span(&sources, 0, "line\nthird"),
            "up to the end of the line",
        )
        .label(span(&sources, 1, "other"), "and here")
        .help("do otherwise");
    let expected = "\
error[some-code]: something is wrong
 --> one.spl:2:9
  |
1 | first line
  | ----- seen here first
2 |     second é line
  |            ^
  |              ---- up to the end of the line
 ::: two.spl:1:1
  |
1 | other file
  | ----- and here
  = help: do otherwise
";
    let lines = |text: &str| {
        text.lines()
            .map(|l| l.trim_start().to_owned())
            .collect::<Vec<_>>()
    };
    let shown = render(&[diagnostic], &sources, false);
    assert_eq!(lines(&shown), lines(expected), "{shown}");
}

#[test]
fn a_place_past_the_end_and_a_long_line_are_shown_too() {
    let mut sources = SourceMap::default();
    let text = format!("{}X{}", "a".repeat(5000), "b".repeat(5000));
    let file = sources.add(Path::new("long.spl"), text.as_str());
    let at = Diagnostic::warning("long", Span::new(file, 5000, 5001), "here");
    let end = Diagnostic::warning("end", Span::new(file, 10_001, 10_001), "at the end");
    let shown = render(&[at, end], &sources, false);
    assert!(
        shown.lines().all(|line| line.chars().count() < 200),
        "{shown}"
    );
    assert!(shown.contains("warning[long]: here") && shown.contains("long.spl:1:5001"));
    let lines: Vec<&str> = shown.lines().collect();
    let (source, caret) = (lines[3], lines[4]);
    let column = caret.find('^').expect("a caret is shown");
    assert_eq!(source.chars().nth(column), Some('X'));
    assert!(shown.contains("long.spl:1:10002"));
}

#[test]
fn colour_changes_nothing_but_colour() {
    let sources = sources();
    let diagnostic = Diagnostic::error("c", span(&sources, 0, "second"), "m").help("h");
    let plain = render(std::slice::from_ref(&diagnostic), &sources, false);
    let coloured = render(&[diagnostic], &sources, true);
    assert!(coloured.contains("\x1b[1;31m"));
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\x1b') {
        stripped.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    stripped.push_str(rest);
    assert_eq!(stripped, plain);
}
