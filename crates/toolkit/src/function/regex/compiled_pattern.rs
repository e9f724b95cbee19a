//! Compiled patterns of all flavours.

use eval::Fault;
use fancy_regex::{BytesMode, RegexBuilder};

use super::posix::{CaptureGroups, PosixRegex};

/// Syntax of a pattern, and the kind of text that it is matched with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::function) enum RegexFlavour {
    /// POSIX extended regular expressions, for rstrings.
    Posix,
    /// Perl's regular expressions, for rstrings.
    PerlBytes,
    /// Perl's regular expressions with the defaults of the ICU library, for ustrings.
    Icu,
    /// Perl's regular expressions, for ustrings.
    PerlPoints,
}

/// A pattern compiled for its flavour.
pub(in crate::function) enum CompiledPattern {
    Posix(PosixRegex),
    Perl(fancy_regex::Regex),
}

impl CompiledPattern {
    /// The first match that begins at `from` or later. For the flavours that see code points the
    /// text is UTF-8.
    pub(in crate::function) fn groups(
        &self,
        text: &[u8],
        from: usize,
    ) -> Result<Option<CaptureGroups>, Fault> {
        match self {
            CompiledPattern::Posix(posix) => Ok(posix.groups(&text[from..], from)),
            CompiledPattern::Perl(regex) => {
                let found = regex.captures_from_pos(text, from);
                let found = found.map_err(|e| Fault::value(format!("regular expression: {e}")))?;
                Ok(found.map(|captures| captures.iter().map(|g| g.map(|g| g.range())).collect()))
            }
        }
    }
}

pub(super) fn compile(flavour: RegexFlavour, pattern: &[u8]) -> Result<CompiledPattern, String> {
    let (source, mode) = match flavour {
        RegexFlavour::Posix => return PosixRegex::new(pattern).map(CompiledPattern::Posix),
        RegexFlavour::PerlBytes => (escape_non_ascii(pattern), BytesMode::Ascii),
        RegexFlavour::Icu | RegexFlavour::PerlPoints => (
            String::from_utf8_lossy(pattern).into_owned(),
            BytesMode::UnicodeBytes,
        ),
    };
    let by_lines = flavour != RegexFlavour::Icu;
    RegexBuilder::new(&source)
        .bytes_mode(mode)
        .multi_line(by_lines)
        .dot_matches_new_line(by_lines)
        .build()
        .map(CompiledPattern::Perl)
        .map_err(|e| e.to_string())
}

/// A pattern of bytes in pure ASCII, with escapes for other bytes: a class of two-byte characters
/// becomes the class of their bytes.
fn escape_non_ascii(pattern: &[u8]) -> String {
    let mut text = String::with_capacity(pattern.len());
    for &byte in pattern {
        if byte.is_ascii() {
            text.push(byte.into());
        } else {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    text
}
