//! Perl's expressions, by fancy-regex.
//!
//! In Perl patterns `^` and `$` match at the ends of lines. A text of one line has no such ends but
//! its own, and a pattern whose `^` means the start of the text need not be looked for behind it.
//! So there is a second program for texts of one line, as most are.

use fancy_regex::{BytesMode, Regex, RegexBuilder};

use super::posix::CaptureGroups;

/// A pattern with the options of its flavour.
pub(super) struct PerlOptions {
    /// Whether the text is bytes or UTF-8.
    pub mode: BytesMode,
    /// Whether `^` and `$` also match at the ends of lines.
    pub by_lines: bool,
    /// Whether `.` matches a line feed, too.
    pub dot_is_anything: bool,
}

/// A pattern that is compiled for its texts.
pub(in crate::function) struct PerlRegex {
    any_text: Regex,
    /// For texts of one line; `None` if it would be the same.
    one_line: Option<Regex>,
}

impl PerlRegex {
    /// Compiles a pattern with its options.
    ///
    /// # Errors
    /// A sentence that says where the pattern is wrong.
    pub(super) fn new(pattern: &str, options: &PerlOptions) -> Result<PerlRegex, String> {
        let compile = |by_lines: bool| {
            RegexBuilder::new(pattern)
                .bytes_mode(options.mode)
                .multi_line(by_lines)
                .dot_matches_new_line(options.dot_is_anything)
                .build()
                .map_err(|e| e.to_string())
        };
        let has_ends = options.by_lines && pattern.contains(['^', '$']);
        Ok(PerlRegex {
            any_text: compile(options.by_lines)?,
            one_line: has_ends.then(|| compile(false)).transpose()?,
        })
    }

    /// The program for a text.
    fn program(&self, text: &[u8]) -> &Regex {
        match &self.one_line {
            Some(one_line) if memchr::memchr(b'\n', text).is_none() => one_line,
            _ => &self.any_text,
        }
    }

    /// Whether a text has a match.
    ///
    /// # Errors
    /// The search took too many steps.
    pub fn is_match(&self, text: &[u8]) -> fancy_regex::Result<bool> {
        self.program(text).is_match(text)
    }

    /// The first match that begins at `from` or later.
    ///
    /// # Errors
    /// The search took too many steps.
    pub fn groups(&self, text: &[u8], from: usize) -> fancy_regex::Result<Option<CaptureGroups>> {
        let found = self.program(text).captures_from_pos(text, from)?;
        Ok(found.map(|captures| {
            let mut groups = CaptureGroups::with_capacity(captures.len());
            groups.extend(
                captures
                    .iter()
                    .map(|group| group.map(|group| group.range())),
            );
            groups
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: PerlOptions = PerlOptions {
        mode: BytesMode::Ascii,
        by_lines: true,
        dot_is_anything: true,
    };

    #[test]
    fn both_programs_match_alike_where_there_is_one_line() {
        let patterns = [
            "^a",
            "a$",
            "^",
            "$",
            "^$",
            "b^",
            "$b",
            "(^|b)(a*)($|b)",
            "^(?=a)|b$",
            r"(a)\1$",
            r"\Aa|^b",
            "(?-m)^a$",
            "[^b]$",
            "a|^b+$",
            "(?:^a)?b",
        ];
        let texts = [
            "", "a", "b", "ab", "ba", "aab", "baa", "abab", "bbbb", "\r", "a\rb",
        ];
        for pattern in patterns {
            let regex = PerlRegex::new(pattern, &OPTIONS).unwrap();
            for text in texts.map(str::as_bytes) {
                for from in 0..=text.len() {
                    let of_any = regex.any_text.captures_from_pos(text, from).unwrap();
                    let expected = of_any.map(|found| {
                        let groups = found.iter().map(|group| group.map(|group| group.range()));
                        groups.collect::<CaptureGroups>()
                    });
                    let found = regex.groups(text, from).unwrap();
                    assert_eq!(found, expected, "{pattern} in {text:?} from {from}");
                }
                let expected = regex.any_text.is_match(text).unwrap();
                assert_eq!(
                    regex.is_match(text).unwrap(),
                    expected,
                    "{pattern} in {text:?}"
                );
            }
            assert!(regex.one_line.is_some(), "{pattern}");
        }
    }

    #[test]
    fn ends_of_lines_are_matched() {
        let regex = PerlRegex::new("^b(.)?$", &OPTIONS).unwrap();
        assert_eq!(
            regex.groups(b"a\nbc\nd", 0).unwrap().unwrap(),
            [Some(2..4), Some(3..4)]
        );
        assert!(!regex.is_match(b"a bc d").unwrap());
        let text_ends = PerlOptions {
            by_lines: false,
            ..OPTIONS
        };
        let regex = PerlRegex::new("^b$", &text_ends).unwrap();
        assert!(regex.one_line.is_none() && !regex.is_match(b"a\nb\nc").unwrap());
    }
}
