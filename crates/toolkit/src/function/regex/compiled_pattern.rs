//! Compiled patterns of all flavours.

use eval::Fault;
use fancy_regex::BytesMode;

use super::ere::BACK_REFERENCE;
use super::perl::{PerlOptions, PerlRegex};
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
    Posix(Box<PosixRegex>),
    Perl(Box<PerlRegex>),
}

impl CompiledPattern {
    /// Whether a text has a match. For the flavours that see code points the text is UTF-8.
    pub(in crate::function) fn is_match(&self, text: &[u8]) -> Result<bool, Fault> {
        match self {
            CompiledPattern::Posix(posix) => Ok(posix.is_match(text)),
            CompiledPattern::Perl(regex) => regex.is_match(text).map_err(|e| perl_fault(&e)),
        }
    }

    /// The first match that begins at `from` or later. For the flavours that see code points the
    /// text is UTF-8.
    pub(in crate::function) fn groups(
        &self,
        text: &[u8],
        from: usize,
    ) -> Result<Option<CaptureGroups>, Fault> {
        match self {
            CompiledPattern::Posix(posix) => Ok(posix.groups(&text[from..], from)),
            CompiledPattern::Perl(regex) => regex.groups(text, from).map_err(|e| perl_fault(&e)),
        }
    }
}

fn perl_fault(error: &fancy_regex::Error) -> Fault {
    Fault::value(format!("regular expression: {error}"))
}

pub(super) fn compile(flavour: RegexFlavour, pattern: &[u8]) -> Result<CompiledPattern, String> {
    let (source, mode) = match flavour {
        RegexFlavour::Posix => match PosixRegex::new(pattern) {
            // Only backtracking matches it. Of alternatives it takes the first, not the longest.
            Err(why) if why == BACK_REFERENCE => (escape_non_ascii(pattern), BytesMode::Ascii),
            compiled => return compiled.map(|regex| CompiledPattern::Posix(Box::new(regex))),
        },
        RegexFlavour::PerlBytes => (escape_non_ascii(pattern), BytesMode::Ascii),
        RegexFlavour::Icu | RegexFlavour::PerlPoints => (
            String::from_utf8_lossy(pattern).into_owned(),
            BytesMode::UnicodeBytes,
        ),
    };
    let options = PerlOptions {
        mode,
        by_lines: matches!(flavour, RegexFlavour::PerlBytes | RegexFlavour::PerlPoints),
        dot_is_anything: flavour != RegexFlavour::Icu,
    };
    let compiled = PerlRegex::new(&source, &options)?;
    Ok(CompiledPattern::Perl(Box::new(compiled)))
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
