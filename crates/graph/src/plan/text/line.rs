//! A line of a plan's text as words, read one after the other.

use super::{Place, PlanTextError, did_you_mean};

/// A word and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'t> {
    pub text: &'t str,
    pub place: Place,
}

/// The words of a line that are still to be read.
#[derive(Debug)]
pub(super) struct Line<'t> {
    words: std::vec::IntoIter<Word<'t>>,
    end: Place,
}

impl<'t> Line<'t> {
    /// The words of a line, without the comment at its end; `number` counts from 1.
    pub fn new(text: &'t str, number: u32) -> Line<'t> {
        let mut words: Vec<Word<'_>> = Vec::new();
        let mut column = 1;
        let place = |column| Place {
            line: number,
            column,
        };
        let is_blank = |c: char| c.is_whitespace() || c == ',';
        for piece in text.split_inclusive(is_blank) {
            let word = piece.trim_end_matches(is_blank);
            if word.starts_with('#') {
                break;
            }
            if !word.is_empty() {
                let place = place(column);
                words.push(Word { text: word, place });
            }
            column += piece.chars().count() as u32;
        }
        let last = words.last();
        let end = last.map_or(1, |word| {
            word.place.column + word.text.chars().count() as u32
        });
        Line {
            words: words.into_iter(),
            end: place(end),
        }
    }

    /// The next word.
    pub fn next(&mut self) -> Option<Word<'t>> {
        self.words.next()
    }

    /// The next word, which `what` names.
    pub fn need(&mut self, what: &str) -> Result<Word<'t>, PlanTextError> {
        let end = self.end;
        self.next()
            .ok_or_else(|| end.error(format!("{what} is missing here")))
    }

    /// The next word, which is this one.
    pub fn expect(&mut self, word: &str) -> Result<(), PlanTextError> {
        match self.need(&format!("`{word}`"))? {
            found if found.text == word => Ok(()),
            found => Err(found.error(format!("`{word}` belongs here, not `{}`", found.text))),
        }
    }

    /// The next word if it is a number.
    pub fn number_if_any<N: std::str::FromStr>(&mut self) -> Result<Option<N>, PlanTextError> {
        match self.words.as_slice().first().copied() {
            Some(word) if word.text.starts_with(|c: char| c.is_ascii_digit()) => {
                self.next();
                word.number().map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The next word, a number that `what` names.
    pub fn number<N: std::str::FromStr>(&mut self, what: &str) -> Result<N, PlanTextError> {
        self.need(what)?.number()
    }

    /// Nothing is left.
    pub fn end(mut self) -> Result<(), PlanTextError> {
        match self.next() {
            None => Ok(()),
            Some(word) => Err(word.error(format!("`{}` does not belong here", word.text))),
        }
    }
}

impl Word<'_> {
    /// Something is wrong with it.
    pub fn error(self, message: impl Into<String>) -> PlanTextError {
        self.place.error(message)
    }

    /// It is none of these words.
    pub fn unknown(self, what: &str, candidates: &[&str]) -> PlanTextError {
        let message = format!("`{}` is no {what}", self.text);
        match crate::nearest(self.text, candidates.iter().copied()) {
            Some(_) => {
                let candidates = candidates.iter().copied();
                self.error(did_you_mean(message, self.text, candidates))
            }
            None => {
                let words: Vec<_> = candidates.iter().map(|word| format!("`{word}`")).collect();
                self.error(format!("{message}; there are {}", words.join(", ")))
            }
        }
    }

    /// Its value as a number.
    pub fn number<N: std::str::FromStr>(self) -> Result<N, PlanTextError> {
        let text = self.text;
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(self.error(format!("`{text}` is no whole number")));
        }
        text.parse()
            .map_err(|_| self.error(format!("{text} is too large a number")))
    }
}
