//! Instructions of functions that take lines of text apart, beside those of the libraries that find
//! the places: each makes an owned string of each part.

use graph::PortIndex;
use gungraun::{library_benchmark, library_benchmark_group};
use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use thalweg_micro::compiled_operator::CompiledOperator;
use tuple::{RString, TupleBuf, Value};

use super::about;

const LINES: i64 = 2_000;

/// The pattern of the operator `Matched`, with the options of Perl patterns of rstrings.
const PATTERN: &str = r#"^(\S+) \S+ \S+ \[([^\]]+)\] "(\w+) (\S+) [^"]*" (\d+) (\d+)"#;

/// Lines of a web server's log, in its usual form.
fn lines() -> Vec<Vec<u8>> {
    let line = |at: i64| {
        let (seconds, path, bytes) = (at % 60, at * 37 % 1_000, at * 7_919 % 100_000);
        format!(
            "10.0.{}.{} - - [28/Nov/2026:10:00:{seconds:02} +0000] \"GET /path/{path}/item.html?q={at} \
             HTTP/1.1\" 200 {bytes} \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\"",
            at % 200,
            at % 251,
        )
        .into_bytes()
    };
    (0..LINES).map(line).collect()
}

/// An operator that has seen the lines once: its pattern is compiled.
fn fed(name: &str) -> (CompiledOperator, Vec<TupleBuf>) {
    let mut single = CompiledOperator::compile("Counted.spl", name);
    let values = lines().into_iter();
    let values = values.map(|line| vec![Value::RString(RString(line))]);
    let tuples = single.flat_tuples(0, values);
    assert_eq!(single.process(PortIndex(0), &tuples), tuples.len());
    (single, tuples)
}

#[library_benchmark]
#[bench::pattern(args = ("Matched"), setup = fed, config = about(19_800_000))]
#[bench::tokenize(args = ("Words"), setup = fed, config = about(19_400_000))]
fn function(
    (mut single, tuples): (CompiledOperator, Vec<TupleBuf>),
) -> (usize, CompiledOperator, Vec<TupleBuf>) {
    let sent = single.process(PortIndex(0), &tuples);
    (sent, single, tuples)
}

/// The pattern, compiled and used once for each line.
fn compiled() -> (Regex, Vec<Vec<u8>>) {
    let syntax = syntax::Config::new()
        .multi_line(true)
        .dot_matches_new_line(true)
        .unicode(false)
        .utf8(false);
    let regex = Regex::builder().syntax(syntax).build(PATTERN);
    let regex = regex.expect("a right pattern");
    let lines = lines();
    assert!(lines.iter().all(|line| regex.is_match(line)));
    parts((regex.clone(), lines.clone()));
    (regex, lines)
}

fn parts((regex, lines): (Regex, Vec<Vec<u8>>)) -> usize {
    let mut captures = regex.create_captures();
    let mut count = 0;
    for line in &lines {
        regex.captures(line, &mut captures);
        let groups = captures.iter().flatten();
        let parts: Vec<Vec<u8>> = groups.map(|group| line[group.range()].to_vec()).collect();
        count += std::hint::black_box(parts).len();
    }
    count
}

#[library_benchmark]
#[bench::pattern(args = (), setup = compiled, config = about(17_500_000))]
fn library(of: (Regex, Vec<Vec<u8>>)) -> usize {
    parts(of)
}

library_benchmark_group!(name = text_group, benchmarks = [function, library]);
