//! A line of a plan's text as words, read one after the other.

use super::plan_text_error::{PlanTextError, PlanTextPos, did_you_mean};

/// A word of a line, with its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlanTextWord<'t> {
    pub text: &'t str,
    pub pos: PlanTextPos,
}

/// The words of a line that are not read yet.
#[derive(Debug)]
pub(super) struct PlanTextLine<'t> {
    words: std::vec::IntoIter<PlanTextWord<'t>>,
    end_pos: PlanTextPos,
}

impl<'t> PlanTextLine<'t> {
    /// The words of a line, without the comment at its end; `number` counts from 1.
    pub fn new(text: &'t str, number: u32) -> PlanTextLine<'t> {
        let mut words: Vec<PlanTextWord<'_>> = Vec::new();
        let mut column = 1;
        let pos_at = |column| PlanTextPos {
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
                words.push(PlanTextWord {
                    text: word,
                    pos: pos_at(column),
                });
            }
            column += piece.chars().count() as u32;
        }
        let last = words.last();
        let end = last.map_or(1, |word| word.pos.column + word.text.chars().count() as u32);
        PlanTextLine {
            words: words.into_iter(),
            end_pos: pos_at(end),
        }
    }

    /// The next word of the line, if there is one.
    pub fn next(&mut self) -> Option<PlanTextWord<'t>> {
        self.words.next()
    }

    /// The next word, if a condition holds for it.
    pub fn next_if(&mut self, is_wanted: impl Fn(&str) -> bool) -> Option<PlanTextWord<'t>> {
        let word = self.words.as_slice().first()?;
        is_wanted(word.text).then(|| self.next())?
    }

    /// The next word; a message calls it `what` if it is missing.
    pub fn require(&mut self, what: &str) -> Result<PlanTextWord<'t>, PlanTextError> {
        let end = self.end_pos;
        self.next()
            .ok_or_else(|| end.error(format!("{what} is missing here")))
    }

    /// Reads the next word, which has to be `word`.
    pub fn expect(&mut self, word: &str) -> Result<(), PlanTextError> {
        match self.require(&format!("`{word}`"))? {
            found if found.text == word => Ok(()),
            found => Err(found.error(format!("`{word}` belongs here, not `{}`", found.text))),
        }
    }

    /// The next word if it begins with a digit, as a number.
    pub fn optional_number<N: std::str::FromStr>(&mut self) -> Result<Option<N>, PlanTextError> {
        match self.words.as_slice().first().copied() {
            Some(word) if word.text.starts_with(|c: char| c.is_ascii_digit()) => {
                self.next();
                word.number().map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The next word as a number; a message calls it `what` if it is missing.
    pub fn number<N: std::str::FromStr>(&mut self, what: &str) -> Result<N, PlanTextError> {
        self.require(what)?.number()
    }

    /// Refuses words that are left in the line.
    pub fn expect_end(mut self) -> Result<(), PlanTextError> {
        match self.next() {
            None => Ok(()),
            Some(word) => Err(word.error(format!("`{}` does not belong here", word.text))),
        }
    }
}

impl PlanTextWord<'_> {
    /// A mistake at the word's position.
    pub fn error(self, message: impl Into<String>) -> PlanTextError {
        self.pos.error(message)
    }

    /// The mistake that the word is none of `candidates`; a message calls these `what`.
    pub fn unknown(self, what: &str, candidates: &[&str]) -> PlanTextError {
        let message = format!("`{}` is no {what}", self.text);
        match syntax::nearest(self.text, candidates.iter().copied()) {
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

    /// The word as a decimal number.
    pub fn number<N: std::str::FromStr>(self) -> Result<N, PlanTextError> {
        let text = self.text;
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(self.error(format!("`{text}` is no whole number")));
        }
        text.parse()
            .map_err(|_| self.error(format!("{text} is too large a number")))
    }
}
