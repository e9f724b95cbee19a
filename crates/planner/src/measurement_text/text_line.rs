//! Lines of a text with measured numbers, read word by word.

use syntax::nearest;

use super::MeasurementError;

/// A word of a line, with its place.
#[derive(Clone, Copy)]
pub struct TextWord<'t> {
    /// The word without blanks.
    pub text: &'t str,
    line: u32,
    column: u32,
}

impl TextWord<'_> {
    /// A mistake at the word.
    pub fn error(self, message: String) -> MeasurementError {
        MeasurementError {
            line: self.line,
            column: self.column,
            message,
        }
    }

    /// The mistake that the word is none of these; a message calls them `what`.
    pub fn unknown(self, what: &str, known: &[&str]) -> MeasurementError {
        let text = self.text;
        self.error(match nearest(text, known.iter().copied()) {
            Some(near) => format!("`{text}` is no {what}; did you mean `{near}`?"),
            None => format!("`{text}` is no {what}; there are {}", known.join(", ")),
        })
    }

    /// The word as a number of cores.
    pub fn cores(self) -> Result<u32, MeasurementError> {
        let wrong = |_| self.error(format!("`{}` is no number of cores", self.text));
        self.text.parse().map_err(wrong)
    }

    /// The word as a count.
    pub fn count(self) -> Result<u64, MeasurementError> {
        let wrong = |_| self.error(format!("`{}` is no whole number of 0 or more", self.text));
        self.text.parse().map_err(wrong)
    }

    /// The word as a number that a measurement can have.
    pub fn number(self) -> Result<f64, MeasurementError> {
        let number = self.text.parse().ok();
        let number = number.filter(|number: &f64| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| self.error(format!("`{}` is no number of 0 or more", self.text)))
    }
}

/// A line of the text whose words are read one by one.
pub struct TextLine<'t> {
    rest: &'t str,
    number: u32,
    /// Column of the first character of `rest`.
    column: u32,
}

impl<'t> TextLine<'t> {
    /// A line of this number, from 1.
    pub fn new(number: u32, text: &'t str) -> TextLine<'t> {
        TextLine {
            rest: text,
            number,
            column: 1,
        }
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest.trim_start();
        let blanks = &self.rest[..self.rest.len() - rest.len()];
        self.column += blanks.chars().count() as u32;
        self.rest = rest;
    }

    /// The next word, if there is one.
    pub fn next_word(&mut self) -> Option<TextWord<'t>> {
        self.skip_blanks();
        let end = self
            .rest
            .find(char::is_whitespace)
            .unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        let word = TextWord {
            text,
            line: self.number,
            column: self.column,
        };
        self.column += text.chars().count() as u32;
        self.rest = rest;
        (!text.is_empty()).then_some(word)
    }

    /// The mistake that something is missing behind the words read so far.
    pub fn missing(&self, what: &str) -> MeasurementError {
        MeasurementError {
            line: self.number,
            column: self.column,
            message: format!("{what} is missing here"),
        }
    }

    /// The next word, which has to be there.
    pub fn require(&mut self, what: &str) -> Result<TextWord<'t>, MeasurementError> {
        self.next_word().ok_or_else(|| self.missing(what))
    }

    /// All further words, with single blanks between them.
    pub fn rest(&mut self, what: &str) -> Result<String, MeasurementError> {
        let mut words = vec![self.require(what)?.text];
        words.extend(std::iter::from_fn(|| self.next_word()).map(|word| word.text));
        Ok(words.join(" "))
    }

    /// Checks that no further word is there.
    pub fn expect_end(mut self) -> Result<(), MeasurementError> {
        match self.next_word() {
            None => Ok(()),
            Some(word) => Err(word.error(format!("`{}` does not belong here", word.text))),
        }
    }

    /// Checks that this is the first line of a text of this kind and version, which `writer`
    /// writes.
    pub fn check_title(
        mut self,
        (kind, version): (&str, u32),
        writer: &str,
    ) -> Result<(), MeasurementError> {
        for title in ["thalweg", kind] {
            let word = self.require(&format!("`thalweg {kind} {version}`"))?;
            if word.text != title {
                let message = format!("this is no {kind}: it does not begin with `thalweg {kind}`");
                return Err(word.error(message));
            }
        }
        let word = self.require("the version")?;
        if word.text.parse() != Ok(version) {
            let message = format!(
                "this is version `{}` of the format, and version {version} is read; `{writer}` \
                 writes the file anew",
                word.text
            );
            return Err(word.error(message));
        }
        self.expect_end()
    }

    /// Reads a count for each of these names up to the end of the line, in any order. `what` is the
    /// kind of count, and `of` what they belong to, for messages.
    pub fn counts<const N: usize>(
        &mut self,
        (what, of): (&str, &str),
        names: &[&str; N],
    ) -> Result<[u64; N], MeasurementError> {
        let mut found = [None; N];
        while let Some(name) = self.next_word() {
            let at = names.iter().position(|known| *known == name.text);
            let at = at.ok_or_else(|| name.unknown(what, names))?;
            set_once(&mut found[at], name, self.require("a number")?.count()?)?;
        }
        match names.iter().zip(&found).find(|(_, found)| found.is_none()) {
            Some((name, _)) => Err(self.missing(&format!("`{name}` of {of}"))),
            None => Ok(found.map(Option::unwrap_or_default)),
        }
    }

    /// Reads the number behind its name. `what` is the kind of number for messages.
    pub fn number_of<const N: usize>(
        &mut self,
        name: TextWord<'_>,
        (what, names): (&str, &[&str; N]),
        found: &mut [Option<f64>; N],
    ) -> Result<(), MeasurementError> {
        let at = names.iter().position(|known| *known == name.text);
        let at = at.ok_or_else(|| name.unknown(what, names))?;
        let number = self.require("a number")?.number()?;
        set_once(&mut found[at], name, number)
    }
}

/// Sets what a line says, which a line before must not have said.
pub fn set_once<T>(
    to: &mut Option<T>,
    word: TextWord<'_>,
    value: T,
) -> Result<(), MeasurementError> {
    match to.replace(value) {
        None => Ok(()),
        Some(_) => Err(word.error(format!("there is a line `{}` already", word.text))),
    }
}
