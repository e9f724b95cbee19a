//! No function is longer than a screen.

use super::TidySource;

/// Lines of a function, from its `fn` to its closing brace.
const LINES_MAX: usize = 70;

/// Findings on one file. Relies on rustfmt: a function ends at the first `}` with its own indent.
pub fn check(source: &TidySource) -> Vec<String> {
    let lines: Vec<&str> = source.text.lines().collect();
    let starts = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_function(line));
    let long = starts.filter_map(|(start, line)| {
        let indent = &line[..line.len() - line.trim_start().len()];
        let (close, parameters) = (format!("{indent}}}"), format!("{indent})"));
        let is_end = |line: &&str| *line == close || is_declaration_end(line, &parameters);
        let length = lines[start..].iter().position(is_end)? + 1;
        (length > LINES_MAX && line.contains("fn ")).then(|| {
            format!(
                "{}:{}: a function of {length} lines, at most {LINES_MAX}",
                source.path,
                start + 1
            )
        })
    });
    long.collect()
}

/// Whether a line ends the declaration of a function without a body.
fn is_declaration_end(line: &str, parameters: &str) -> bool {
    line.starts_with(parameters) && line.ends_with(';')
}

fn is_function(line: &str) -> bool {
    let mut words = line.trim_start().split(' ').peekable();
    let qualifiers = [
        "pub",
        "pub(crate)",
        "pub(super)",
        "const",
        "unsafe",
        "extern",
        "\"C\"",
        "async",
    ];
    while words.peek().is_some_and(|word| qualifiers.contains(word)) {
        words.next();
    }
    // One-line functions and declarations end on the same line.
    words.next() == Some("fn") && !line.ends_with(['}', ';'])
}
