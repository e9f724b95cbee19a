//! Regular expressions: POSIX extended ones and Perl's, compiled once per thread and pattern.
//!
//! | flavour | text | alternatives | `.` | `^` and `$` |
//! | --- | --- | --- | --- | --- |
//! | [`RegexFlavour::PosixRegex`] | bytes | leftmost, then longest | any byte | ends of the text |
//! | [`RegexFlavour::PerlBytes`] | bytes | leftmost, then first | anything | ends of lines |
//! | [`RegexFlavour::Icu`] | code points | leftmost, then first | not a line feed | ends of the text |
//! | [`RegexFlavour::PerlPoints`] | code points | leftmost, then first | anything | ends of lines |
//!
//! # Why this way
//! The C library's `regexec` would need unsafe code and a locale, so POSIX syntax is parsed here
//! ([`ere`]) and matched by automata that know the longest match ([`posix`]). Perl's syntax goes to
//! fancy-regex, which falls back to backtracking only for look-around and back-references.
//!
//! # Cost
//! A pattern is compiled when a thread first sees it; the [`CACHE_SIZE`] patterns used last stay.

mod ere;
mod posix;
mod replace;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use eval::Fault;
use fancy_regex::{BytesMode, RegexBuilder};

pub(super) use replace::replace;

/// Which syntax and which text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum RegexFlavour {
    /// POSIX extended regular expressions, for rstrings.
    Posix,
    /// Perl's, for rstrings.
    PerlBytes,
    /// Perl's with the defaults of the ICU library, for ustrings.
    Icu,
    /// Perl's, for ustrings.
    PerlPoints,
}

/// The ranges of the whole match and of each group, if the group took part.
pub(super) type CaptureGroups = Vec<Option<Range<usize>>>;

/// How many patterns a thread keeps compiled.
const CACHE_SIZE: usize = 128;

/// A compiled pattern.
pub(super) enum CompiledPattern {
    Posix(posix::PosixRegex),
    Perl(fancy_regex::Regex),
}

impl CompiledPattern {
    /// The first match that begins at `from` or later. For the flavours that see code points the
    /// text is UTF-8.
    pub(super) fn groups(&self, text: &[u8], from: usize) -> Result<Option<CaptureGroups>, Fault> {
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

/// The compiled pattern, from the thread's cache if it is there.
///
/// # Errors
/// A fault that names the pattern and what is wrong with it.
pub(super) fn cached_pattern(
    flavour: RegexFlavour,
    pattern: &[u8],
) -> Result<Rc<CompiledPattern>, Fault> {
    thread_local! {
        static CACHE: RefCell<RegexCache> = RefCell::default();
    }
    CACHE.with_borrow_mut(|cache| cache.get(flavour, pattern))
}

/// Whether a POSIX pattern matches somewhere in a text.
///
/// # Errors
/// A fault that names the pattern and what is wrong with it.
pub fn is_match(text: &[u8], pattern: &[u8]) -> Result<bool, Fault> {
    let pattern = cached_pattern(RegexFlavour::Posix, pattern)?;
    Ok(pattern.groups(text, 0)?.is_some())
}

type RegexCacheKey = (RegexFlavour, Box<[u8]>);

#[derive(Default)]
struct RegexCache {
    /// Compiled patterns with the time of their last use.
    patterns: HashMap<RegexCacheKey, (Rc<CompiledPattern>, u64)>,
    /// Counts the uses.
    use_count: u64,
    /// The pattern used last: most programs use few, one after the other on every tuple.
    last: Option<(RegexCacheKey, Rc<CompiledPattern>)>,
}

impl RegexCache {
    fn get(&mut self, flavour: RegexFlavour, text: &[u8]) -> Result<Rc<CompiledPattern>, Fault> {
        if let Some(((last, key), pattern)) = &self.last
            && (*last, &**key) == (flavour, text)
        {
            return Ok(Rc::clone(pattern));
        }
        self.use_count += 1;
        let key = (flavour, Box::from(text));
        let pattern = match self.patterns.get_mut(&key) {
            Some((pattern, used)) => {
                *used = self.use_count;
                Rc::clone(pattern)
            }
            None => self.add(key.clone())?,
        };
        self.last = Some((key, Rc::clone(&pattern)));
        Ok(pattern)
    }

    fn add(&mut self, key: RegexCacheKey) -> Result<Rc<CompiledPattern>, Fault> {
        let pattern = compile(key.0, &key.1).map_err(|why| {
            let text = String::from_utf8_lossy(&key.1);
            Fault::value(format!("the regular expression \"{text}\" is wrong: {why}"))
        })?;
        if self.patterns.len() >= CACHE_SIZE {
            let oldest = self.patterns.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.patterns.remove(&oldest);
            }
        }
        let pattern = Rc::new(pattern);
        self.patterns
            .insert(key, (Rc::clone(&pattern), self.use_count));
        Ok(pattern)
    }
}

fn compile(flavour: RegexFlavour, pattern: &[u8]) -> Result<CompiledPattern, String> {
    let (source, mode) = match flavour {
        RegexFlavour::Posix => return posix::PosixRegex::new(pattern).map(CompiledPattern::Posix),
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

/// A pattern of bytes in pure ASCII: the others as escapes, so that a class of two-byte characters
/// is the class of their bytes.
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
