//! Output of a script: the generated text, the line of the file behind each of its lines, and the
//! messages on standard error.
//!
//! ```text
//!   mark    0x1E  c | p | x  digits  0x1F        preamble.pl prints and describes them
//! ```

const MARK: char = '\x1e';
const MARK_END: char = '\x1f';

/// Standard output of a script, decoded.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ScriptOutput {
    /// Generated text without marks.
    pub text: String,
    /// For each line of the text, the line of the file that its first character comes from.
    pub lines: Vec<u32>,
    /// Last line of the file that printed something.
    pub last_line: u32,
    /// Line of the file that ended the script, if it did not run to its end.
    pub exit_line: Option<u32>,
}

/// A message of Perl on standard error.
#[derive(Debug, PartialEq, Eq)]
pub struct ScriptMessage {
    /// Line of the file, if the message names one.
    pub line: Option<u32>,
    /// Text of the message, without its position.
    pub text: String,
}

/// Decodes the standard output of a script.
pub fn parse_output(output: &str) -> ScriptOutput {
    let mut parsed = ScriptOutput {
        last_line: 1,
        ..ScriptOutput::default()
    };
    let (mut line, mut is_copied) = (1, true);
    let mut is_fresh = true;
    let mut rest = output;
    while let Some(c) = rest.chars().next() {
        if let Some((kind, number, behind)) = parse_mark(rest) {
            rest = behind;
            match kind {
                'x' => parsed.exit_line = Some(number),
                _ => {
                    (line, is_copied) = (number, kind == 'c');
                    parsed.last_line = number;
                }
            }
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if std::mem::take(&mut is_fresh) {
            parsed.lines.push(line);
        }
        parsed.text.push(c);
        if c == '\n' {
            is_fresh = true;
            line += u32::from(is_copied);
        }
    }
    if is_fresh {
        parsed.lines.push(line);
    }
    parsed
}

/// The mark that a text begins with: its letter, its number, and the rest of the text.
fn parse_mark(text: &str) -> Option<(char, u32, &str)> {
    let mut inside = text.strip_prefix(MARK)?.chars();
    let kind = inside.next().filter(|kind| "cpx".contains(*kind))?;
    let (number, behind) = inside.as_str().split_once(MARK_END)?;
    // Code that was not called from the file has line 0.
    Some((kind, number.parse::<u32>().ok()?.max(1), behind))
}

/// Splits standard error into messages; the script calls its file `name`. A line without a position
/// continues the message before it.
pub fn parse_messages(errors: &str, name: &str) -> Vec<ScriptMessage> {
    let mut messages: Vec<ScriptMessage> = Vec::new();
    for text in errors.lines().map(str::trim_end).filter(|t| !t.is_empty()) {
        if is_summary(text) && !messages.is_empty() {
            continue;
        }
        match (parse_message(text, name), messages.last_mut()) {
            (Some(message), _) => messages.push(message),
            (None, Some(before)) => {
                before.text.push(' ');
                before.text.push_str(text.trim_start());
            }
            (None, None) => messages.push(ScriptMessage {
                line: None,
                text: text.to_owned(),
            }),
        }
    }
    messages
}

/// Whether a line only sums up messages before it.
fn is_summary(text: &str) -> bool {
    (text.starts_with("Execution of ") && text.ends_with("errors."))
        || text.starts_with("BEGIN failed--")
        || text.starts_with("BEGIN not safe after errors")
        || text.ends_with("had compilation errors.")
}

/// `what at NAME line 7.`, `what at NAME line 7, near "x"`.
fn parse_message(text: &str, name: &str) -> Option<ScriptMessage> {
    let position = format!(" at {name} line ");
    let at = text.find(&position)?;
    let behind = &text[at + position.len()..];
    let digits = behind.find(|c: char| !c.is_ascii_digit());
    let (number, rest) = behind.split_at(digits.unwrap_or(behind.len()));
    let rest = rest.strip_suffix('.').unwrap_or(rest);
    Some(ScriptMessage {
        line: number.parse().ok(),
        text: format!("{}{rest}", &text[..at]),
    })
}

#[cfg(test)]
mod tests {
    use super::{ScriptMessage, parse_messages, parse_output};

    #[test]
    fn each_line_of_the_text_comes_from_a_line_of_the_file() {
        let output = "\x1ec1\x1fa\nb\n\x1ep7\x1fc\nd\x1ec9\x1f e\nf";
        let found = parse_output(output);
        assert_eq!(found.text, "a\nb\nc\nd e\nf");
        assert_eq!(found.lines, [1, 2, 7, 7, 10]);
        assert_eq!((found.last_line, found.exit_line), (9, None));
    }

    #[test]
    fn what_only_looks_like_a_mark_is_text() {
        for text in ["\x1e", "\x1ec", "\x1ez1\x1f", "\x1ec\x1f", "\x1ec1"] {
            assert_eq!(parse_output(text).text, text);
        }
        let found = parse_output("\x1ex3\x1f");
        assert_eq!((found.text.as_str(), found.exit_line), ("", Some(3)));
        assert_eq!(found.lines, [1]);
    }

    #[test]
    fn messages_are_told_from_each_other() {
        let errors = "syntax error at a b.splmm line 5, near \"}\n  else\"\n\
            Global symbol \"$x\" at a b.splmm line 7.\n\
            BEGIN not safe after errors - compilation aborted at a b.splmm line 6.\n\
            Execution of - aborted due to compilation errors.\n";
        let expected = [
            (Some(5), "syntax error, near \"} else\""),
            (Some(7), "Global symbol \"$x\""),
        ];
        let expected = expected.map(|(line, text)| ScriptMessage {
            line,
            text: text.to_owned(),
        });
        assert_eq!(parse_messages(errors, "a b.splmm"), expected);
        let alone = parse_messages("ERROR: a number\nis needed\n", "x");
        assert_eq!(alone[0].text, "ERROR: a number is needed");
        assert_eq!((alone.len(), alone[0].line), (1, None));
    }
}
