//! The Perl script that prints the SPL text of a mixed-mode file.

use std::fmt::Write;
use std::time::Duration;

use compiler::GenerationProblem;

/// Perl definitions of the functions that scripts call.
const PREAMBLE: &str = include_str!("preamble.pl");

/// Number of the system call `prctl`, by which a process asks the kernel to end it with its parent;
/// 0 where the number is not known here.
const PRCTL: u32 = if cfg!(target_arch = "x86_64") {
    157
} else if cfg!(any(target_arch = "aarch64", target_arch = "riscv64")) {
    167
} else {
    0
};

/// A part of a mixed-mode file, with the line that it begins in.
#[derive(Debug, PartialEq, Eq)]
enum TemplatePart<'t> {
    Text(u32, &'t str),
    Code(u32, &'t str),
    Value(u32, &'t str),
}

/// Makes the Perl script of a file, for a child of this process. Messages call the file `name`; the
/// script ends itself when `timeout` and a second are over.
///
/// # Errors
/// A `<%` has no `%>`.
pub fn script(template: &str, name: &str, timeout: Duration) -> Result<String, GenerationProblem> {
    let parts = parse_template(template)?;
    let mut script = PREAMBLE.to_owned();
    let seconds = timeout.as_secs() + 1;
    let file = quote_perl(name);
    let parent = std::process::id();
    // Writing into a string cannot fail.
    let _ = writeln!(
        script,
        "BEGIN {{ Thalweg::Output::begin({file}, {seconds}, {parent}, {PRCTL}) }}"
    );
    for (at, part) in parts.iter().enumerate() {
        let (TemplatePart::Text(line, _)
        | TemplatePart::Code(line, _)
        | TemplatePart::Value(line, _)) = part;
        let _ = writeln!(script, "# line {line} \"{name}\"");
        let _ = match part {
            // The text is bytes, even after a `use utf8` in the code.
            TemplatePart::Text(line, text) => {
                let text = quote_perl(text);
                writeln!(
                    script,
                    "{{ no utf8; Thalweg::Output::copy({line}, {text}); }}"
                )
            }
            TemplatePart::Code(_, code) => {
                let end = statement_end(code, parts.get(at + 1));
                writeln!(script, "{code}\n{end}")
            }
            // The line end also ends a comment in the code.
            TemplatePart::Value(_, code) => writeln!(script, "Thalweg::Output::value({code}\n);"),
        };
    }
    Ok(script)
}

/// Perl words that continue a statement after `}`; none of them begins one.
const CLAUSES: [&str; 3] = ["else", "elsif", "continue"];

/// Perl words that begin a statement with a block or follow a block: `do { } while $x;`.
const MODIFIERS: [&str; 6] = ["if", "unless", "while", "until", "for", "foreach"];

/// The text that ends the last statement of a piece of code: `;` or nothing.
///
/// Code may end without a semicolon, and a surplus one is an empty statement, which is allowed
/// wherever text may follow. Only code that follows at once may continue an open statement. The
/// last character decides whether a statement is open, even if it belongs to a comment.
fn statement_end(code: &str, next: Option<&TemplatePart<'_>>) -> &'static str {
    let Some(TemplatePart::Code(_, next)) = next else {
        return ";";
    };
    let word = first_word(next);
    let is_loose = !next.trim_end().ends_with(['{', '}']);
    let goes_on = match code.trim_end().chars().last() {
        _ if CLAUSES.contains(&word) => true,
        Some('{' | '(' | ',') => true,
        Some('}') => is_loose && MODIFIERS.contains(&word),
        _ => false,
    };
    if goes_on { "" } else { ";" }
}

/// The word that a piece of code begins with, after comments.
fn first_word(code: &str) -> &str {
    let mut rest = code.trim_start();
    while rest.starts_with('#') {
        rest = rest
            .split_once('\n')
            .map_or("", |(_, rest)| rest.trim_start());
    }
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &rest[..end.unwrap_or(rest.len())]
}

fn parse_template(template: &str) -> Result<Vec<TemplatePart<'_>>, GenerationProblem> {
    let (mut parts, mut rest, mut line) = (Vec::new(), template, 1);
    while let Some(start) = rest.find("<%") {
        let text = &rest[..start];
        if !text.is_empty() {
            parts.push(TemplatePart::Text(line, text));
        }
        line += count_line_ends(text);
        let inside = &rest[start + 2..];
        let Some(length) = inside.find("%>") else {
            let message = "the Perl code that begins here has no end";
            return Err(
                GenerationProblem::error(line, message.to_owned()).with_help("end it with `%>`")
            );
        };
        let code = &inside[..length];
        parts.push(match code.strip_prefix('=') {
            Some(value) => TemplatePart::Value(line, value),
            None => TemplatePart::Code(line, code),
        });
        line += count_line_ends(code);
        rest = &inside[length + 2..];
    }
    if !rest.is_empty() {
        parts.push(TemplatePart::Text(line, rest));
    }
    Ok(parts)
}

fn count_line_ends(text: &str) -> u32 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u32
}

/// Quotes a text as a Perl string in one line; of a string over several lines Perl warns that its
/// end may be missing.
fn quote_perl(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '"' | '\\' | '$' | '@' => quoted.extend(['\\', c]),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::{TemplatePart, parse_template, quote_perl, statement_end};

    #[test]
    fn text_code_and_values_are_told_apart() {
        let found = parse_template("a\n<% my $x = 1;\n%>b<%=$x%>\n").unwrap();
        let expected = [
            TemplatePart::Text(1, "a\n"),
            TemplatePart::Code(2, " my $x = 1;\n"),
            TemplatePart::Text(3, "b"),
            TemplatePart::Value(3, "$x"),
            TemplatePart::Text(3, "\n"),
        ];
        assert_eq!(found, expected);
        assert_eq!(parse_template("").unwrap(), []);
        let problem = parse_template("a\n\n<% if").unwrap_err();
        assert_eq!((problem.line, problem.is_error), (3, true));
    }

    #[test]
    fn strings_of_perl_are_what_they_were() {
        assert_eq!(
            quote_perl("it's \"$a\" @b \\n\n"),
            r#""it's \"\$a\" \@b \\n\n""#
        );
    }

    #[test]
    fn statements_end_and_what_is_open_stays_so() {
        let before = |code: &str, next: &'static str| {
            statement_end(code, Some(&TemplatePart::Code(1, next)))
        };
        for code in ["", " my $x = 1 ", " for (1..3) { ", " } ", " # a remark;"] {
            assert_eq!(statement_end(code, None), ";", "{code}");
            assert_eq!(
                statement_end(code, Some(&TemplatePart::Text(1, "a"))),
                ";",
                "{code}"
            );
        }
        for code in [" my $h = { a => 1 }", "1 # that's;", "my $x = 1"] {
            for next in [
                "$x = 2",
                "if (1) {",
                " while (1) { print 1 }",
                "elsewhere();",
            ] {
                assert_eq!(before(code, next), ";", "{code}, {next}");
            }
        }
        for next in ["else {", " elsif ($x) {", "# no\n # no\n else{ print 1 }"] {
            assert_eq!(before("}", next), "", "{next}");
            assert_eq!(before("} # so far", next), "", "{next}");
        }
        assert_eq!(before("do { $x++ }", "while ($x < 3);"), "");
        assert_eq!(before("f(1,", "2);"), "");
        assert_eq!(before("my $h = {", "a => 1 };"), "");
    }
}
