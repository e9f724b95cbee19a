//! The position of the parser in the text, and the tokens that it reads there.

use super::super::failure::{QueryFailure, QueryResult};
use crate::scan::text::is_name_char;

#[derive(Clone, Copy, Debug)]
pub struct QueryCursor<'t> {
    pub rest: &'t str,
}

impl<'t> QueryCursor<'t> {
    pub fn new(text: &'t str) -> QueryCursor<'t> {
        QueryCursor { rest: text }
    }

    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next character, if there is one.
    pub fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// A failure with the text at the position.
    pub fn failure_at(&self, why: &str) -> QueryFailure {
        let here: String = self.rest.chars().take(20).collect();
        QueryFailure::Query(match here.is_empty() {
            true => format!("{why}, at its end"),
            false => format!("{why}, at `{here}`"),
        })
    }

    /// Skips blanks and comments, which nest.
    pub fn skip_blanks(&mut self) -> QueryResult<()> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
            if !self.rest.starts_with("(:") {
                return Ok(());
            }
            self.comment()?;
        }
    }

    fn comment(&mut self) -> QueryResult<()> {
        let begin = *self;
        let mut depth = 0_usize;
        loop {
            if self.take_exact("(:") {
                depth += 1;
            } else if self.take_exact(":)") {
                depth -= 1;
                if depth == 0 {
                    return Ok(());
                }
            } else if !self.skip() {
                return Err(begin.failure_at("a comment is not closed by `:)`"));
            }
        }
    }

    /// Skips a character; false at the end.
    pub fn skip(&mut self) -> bool {
        let mut chars = self.rest.chars();
        let found = chars.next().is_some();
        self.rest = chars.as_str();
        found
    }

    /// Reads a text at the position, if it is there.
    pub fn take_exact(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Reads a symbol after blanks, if it is there.
    pub fn take(&mut self, symbol: &str) -> QueryResult<bool> {
        self.skip_blanks()?;
        Ok(self.take_exact(symbol))
    }

    pub fn expect(&mut self, symbol: &str) -> QueryResult<()> {
        match self.take(symbol)? {
            true => Ok(()),
            false => Err(self.failure_at(&format!("`{symbol}` is missing"))),
        }
    }

    /// Whether a word is at the position and is not the beginning of a longer one.
    pub fn is_word(&self, word: &str) -> bool {
        let rest = self.rest.strip_prefix(word);
        rest.is_some_and(|rest| !rest.starts_with(is_word_char))
    }

    /// Reads words with blanks before each, if all of them are there.
    pub fn take_words(&mut self, words: &str) -> QueryResult<bool> {
        let begin = *self;
        for word in words.split(' ') {
            self.skip_blanks()?;
            if !self.is_word(word) {
                *self = begin;
                return Ok(false);
            }
            self.rest = &self.rest[word.len()..];
        }
        Ok(true)
    }

    pub fn expect_word(&mut self, word: &str) -> QueryResult<()> {
        match self.take_words(word)? {
            true => Ok(()),
            false => Err(self.failure_at(&format!("`{word}` is missing"))),
        }
    }

    /// Whether a word is at the position and one of these symbols after it.
    pub fn is_word_before(&self, word: &str, symbols: &[&str]) -> bool {
        let mut ahead = *self;
        if !ahead.is_word(word) {
            return false;
        }
        ahead.rest = &ahead.rest[word.len()..];
        ahead.skip_blanks().is_ok() && symbols.iter().any(|symbol| ahead.rest.starts_with(symbol))
    }

    /// Reads a name without a prefix, if there is one.
    pub fn word(&mut self) -> Option<&'t str> {
        let first = self.peek().filter(|&c| is_word_start(c))?;
        let behind = self.rest[first.len_utf8()..].find(|c| !is_word_char(c));
        let end = behind.map_or(self.rest.len(), |at| at + first.len_utf8());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(word)
    }

    /// Reads a name and its prefix, if there is one.
    pub fn prefixed(&mut self) -> Option<(&'t str, &'t str)> {
        let first = self.word()?;
        let begin = *self;
        if self.take_exact(":")
            && let Some(local) = self.word()
        {
            return Some((first, local));
        }
        *self = begin;
        Some(("", first))
    }

    /// Reads a text in quotes, and replaces references.
    pub fn string(&mut self) -> QueryResult<String> {
        self.skip_blanks()?;
        let quote = match self.peek() {
            Some(quote @ ('"' | '\'')) => quote,
            _ => return Err(self.failure_at("a text in quotes is missing")),
        };
        let begin = *self;
        self.skip();
        let mut text = String::new();
        loop {
            match self.peek() {
                None => return Err(begin.failure_at("a text is not closed")),
                Some('&') => text.push(self.reference()?),
                Some(c) => {
                    self.skip();
                    if c != quote {
                        text.push(c);
                    } else if self.peek() == Some(quote) {
                        self.skip();
                        text.push(quote);
                    } else {
                        return Ok(text);
                    }
                }
            }
        }
    }

    /// Reads a reference, as `&amp;`.
    pub fn reference(&mut self) -> QueryResult<char> {
        let found = self.rest[1..].split_once(';').and_then(|(name, rest)| {
            let c = match name {
                "lt" => '<',
                "gt" => '>',
                "amp" => '&',
                "quot" => '"',
                "apos" => '\'',
                _ => reference_character(name.strip_prefix('#')?)?,
            };
            Some((c, rest))
        });
        match found {
            Some((c, rest)) => {
                self.rest = rest;
                Ok(c)
            }
            None => Err(self.failure_at("`&` begins no reference; write `&amp;`")),
        }
    }
}

fn reference_character(number: &str) -> Option<char> {
    let point = match number.strip_prefix('x') {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(point).filter(|&c| c >= ' ' || matches!(c, '\t' | '\n' | '\r'))
}

/// Whether a character may be part of a name without a prefix.
fn is_word_char(c: char) -> bool {
    is_name_char(c) && c != ':'
}

/// Whether a name without a prefix may begin with a character.
fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}
