//! The Perl script that prints the SPL text of a mixed-mode file.

use std::fmt::Write;
use std::time::Duration;

use compiler::Problem;

/// Defines what the script calls.
const PREAMBLE: &str = include_str!("preamble.pl");

/// The number of the system call `prctl`, by which a process asks to end with the one that started
/// it; 0: it is not known here.
const PRCTL: u32 = if cfg!(target_arch = "x86_64") {
    157
} else if cfg!(any(target_arch = "aarch64", target_arch = "riscv64")) {
    167
} else {
    0
};

/// A part of a file, with the line that it begins in.
#[derive(Debug, PartialEq, Eq)]
enum Part<'t> {
    Text(u32, &'t str),
    Code(u32, &'t str),
    Value(u32, &'t str),
}

/// The script of a file that is called `name` in messages, for a process that is started from here.
///
/// # Errors
/// Perl begins and does not end.
pub fn script(template: &str, name: &str, patience: Duration) -> Result<String, Problem> {
    let parts = parts(template)?;
    let mut script = PREAMBLE.to_owned();
    let seconds = patience.as_secs() + 1;
    let file = quoted(name);
    let parent = std::process::id();
    // Nothing can fail that writes into a string.
    let _ = writeln!(
        script,
        "BEGIN {{ Thalweg::Output::begin({file}, {seconds}, {parent}, {PRCTL}) }}"
    );
    for part in &parts {
        let (Part::Text(line, _) | Part::Code(line, _) | Part::Value(line, _)) = part;
        let _ = writeln!(script, "# line {line} \"{name}\"");
        let _ = match part {
            // The text is bytes, whatever the code says of itself.
            Part::Text(line, text) => {
                let text = quoted(text);
                writeln!(
                    script,
                    "{{ no utf8; Thalweg::Output::copy({line}, {text}); }}"
                )
            }
            Part::Code(_, code) => writeln!(script, "{code}\n{}", end(code)),
            // The end of the line ends a comment too.
            Part::Value(_, code) => writeln!(script, "Thalweg::Output::value({code}\n);"),
        };
    }
    Ok(script)
}

/// What ends the last statement of some code: it may end without a semicolon, but also within a block.
fn end(code: &str) -> &'static str {
    match code.trim_end().ends_with([';', '{', '}', '(', ',']) {
        true => "",
        false => ";",
    }
}

fn parts(template: &str) -> Result<Vec<Part<'_>>, Problem> {
    let (mut parts, mut rest, mut line) = (Vec::new(), template, 1);
    while let Some(start) = rest.find("<%") {
        let text = &rest[..start];
        if !text.is_empty() {
            parts.push(Part::Text(line, text));
        }
        line += lines(text);
        let inside = &rest[start + 2..];
        let Some(length) = inside.find("%>") else {
            let message = "the Perl code that begins here has no end";
            return Err(Problem::error(line, message.to_owned()).help("end it with `%>`"));
        };
        let code = &inside[..length];
        parts.push(match code.strip_prefix('=') {
            Some(value) => Part::Value(line, value),
            None => Part::Code(line, code),
        });
        line += lines(code);
        rest = &inside[length + 2..];
    }
    if !rest.is_empty() {
        parts.push(Part::Text(line, rest));
    }
    Ok(parts)
}

fn lines(text: &str) -> u32 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u32
}

/// A string of Perl, in one line: of one over several lines Perl says that its end may be missing.
fn quoted(text: &str) -> String {
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
    use super::{Part, end, parts, quoted};

    #[test]
    fn text_code_and_values_are_told_apart() {
        let found = parts("a\n<% my $x = 1;\n%>b<%=$x%>\n").unwrap();
        let expected = [
            Part::Text(1, "a\n"),
            Part::Code(2, " my $x = 1;\n"),
            Part::Text(3, "b"),
            Part::Value(3, "$x"),
            Part::Text(3, "\n"),
        ];
        assert_eq!(found, expected);
        assert_eq!(parts("").unwrap(), []);
        let problem = parts("a\n\n<% if").unwrap_err();
        assert_eq!((problem.line, problem.is_error), (3, true));
    }

    #[test]
    fn strings_of_perl_are_what_they_were() {
        assert_eq!(
            quoted("it's \"$a\" @b \\n\n"),
            r#""it's \"\$a\" \@b \\n\n""#
        );
    }

    #[test]
    fn statements_end_and_blocks_stay_open() {
        assert_eq!(end(" my $x = 1 "), ";");
        assert_eq!(end(" for (1..3) { "), "");
        assert_eq!(end(" } "), "");
        assert_eq!(end(" # a remark"), ";");
    }
}
