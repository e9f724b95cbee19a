//! Regular expressions: POSIX extended ones and Perl's, compiled once per thread and pattern.
//!
//! | flavour | text | alternatives | `.` | `^` and `$` |
//! | --- | --- | --- | --- | --- |
//! | [`Flavour::Posix`] | bytes | leftmost, then longest | any byte | ends of the text |
//! | [`Flavour::PerlBytes`] | bytes | leftmost, then first | anything | ends of lines |
//! | [`Flavour::Icu`] | code points | leftmost, then first | not a line feed | ends of the text |
//! | [`Flavour::PerlPoints`] | code points | leftmost, then first | anything | ends of lines |
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

use fancy_regex::{BytesMode, RegexBuilder};
use graph::Fault;

pub(super) use replace::replace;

/// Which syntax and which text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Flavour {
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
pub(super) type Groups = Vec<Option<Range<usize>>>;

/// How many patterns a thread keeps compiled.
const CACHE_SIZE: usize = 128;

/// A compiled pattern.
pub(super) enum Pattern {
    Posix(posix::Posix),
    Perl(fancy_regex::Regex),
}

impl Pattern {
    /// The first match that begins at `from` or later. For the flavours that see code points the
    /// text is UTF-8.
    pub(super) fn groups(&self, text: &[u8], from: usize) -> Result<Option<Groups>, Fault> {
        match self {
            Pattern::Posix(posix) => Ok(posix.groups(&text[from..], from)),
            Pattern::Perl(regex) => {
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
pub(super) fn compiled(flavour: Flavour, pattern: &[u8]) -> Result<Rc<Pattern>, Fault> {
    thread_local! {
        static CACHE: RefCell<Cache> = RefCell::default();
    }
    CACHE.with_borrow_mut(|cache| cache.get(flavour, pattern))
}

/// Whether a POSIX pattern matches somewhere in a text.
///
/// # Errors
/// A fault that names the pattern and what is wrong with it.
pub fn is_match(text: &[u8], pattern: &[u8]) -> Result<bool, Fault> {
    let pattern = compiled(Flavour::Posix, pattern)?;
    Ok(pattern.groups(text, 0)?.is_some())
}

type Key = (Flavour, Box<[u8]>);

#[derive(Default)]
struct Cache {
    /// Compiled patterns with the time of their last use.
    patterns: HashMap<Key, (Rc<Pattern>, u64)>,
    /// Counts the uses.
    now: u64,
    /// The pattern used last: most programs use few, one after the other on every tuple.
    last: Option<(Key, Rc<Pattern>)>,
}

impl Cache {
    fn get(&mut self, flavour: Flavour, text: &[u8]) -> Result<Rc<Pattern>, Fault> {
        if let Some(((last, key), pattern)) = &self.last
            && (*last, &**key) == (flavour, text)
        {
            return Ok(Rc::clone(pattern));
        }
        self.now += 1;
        let key = (flavour, Box::from(text));
        let pattern = match self.patterns.get_mut(&key) {
            Some((pattern, used)) => {
                *used = self.now;
                Rc::clone(pattern)
            }
            None => self.add(key.clone())?,
        };
        self.last = Some((key, Rc::clone(&pattern)));
        Ok(pattern)
    }

    fn add(&mut self, key: Key) -> Result<Rc<Pattern>, Fault> {
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
        self.patterns.insert(key, (Rc::clone(&pattern), self.now));
        Ok(pattern)
    }
}

fn compile(flavour: Flavour, pattern: &[u8]) -> Result<Pattern, String> {
    let (source, mode) = match flavour {
        Flavour::Posix => return posix::Posix::new(pattern).map(Pattern::Posix),
        Flavour::PerlBytes => (ascii(pattern), BytesMode::Ascii),
        Flavour::Icu | Flavour::PerlPoints => (
            String::from_utf8_lossy(pattern).into_owned(),
            BytesMode::UnicodeBytes,
        ),
    };
    let by_lines = flavour != Flavour::Icu;
    RegexBuilder::new(&source)
        .bytes_mode(mode)
        .multi_line(by_lines)
        .dot_matches_new_line(by_lines)
        .build()
        .map(Pattern::Perl)
        .map_err(|e| e.to_string())
}

/// A pattern of bytes in pure ASCII: the others as escapes, so that a class of two-byte characters
/// is the class of their bytes.
fn ascii(pattern: &[u8]) -> String {
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
