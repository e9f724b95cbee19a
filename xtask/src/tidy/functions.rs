//! No function is longer than a screen.

use super::TidySource;

/// Lines of a function, from its `fn` to its closing brace.
pub const FUNCTION_LINES_MAX: usize = 70;

/// Findings on one file.
pub fn check(source: &TidySource) -> Vec<String> {
    let long = function_lengths(&source.text).into_iter();
    let long = long.filter(|(_, length)| *length > FUNCTION_LINES_MAX);
    long.map(|(line, length)| {
        format!(
            "{}:{line}: a function of {length} lines, at most {FUNCTION_LINES_MAX}",
            source.path
        )
    })
    .collect()
}

/// First line and number of lines of each function that has more than one line. Relies on rustfmt:
/// a function ends at the first `}` with its own indent.
pub fn function_lengths(text: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let starts = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_function(line));
    let lengths = starts.filter_map(|(start, line)| {
        let indent = &line[..line.len() - line.trim_start().len()];
        let (close, parameters) = (format!("{indent}}}"), format!("{indent})"));
        let end = lines[start..]
            .iter()
            .position(|line| *line == close || is_declaration_end(line, &parameters))?;
        (!is_declaration_end(lines[start + end], &parameters)).then_some((start + 1, end + 1))
    });
    lengths.collect()
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
