//! The text of a calibration, which `thalweg calibrate` writes and plans are made with.
//!
//! ```text
//! thalweg calibration 1                     # the version of this format
//! time 2026-11-24T15:04:05Z
//! processor Some CPU @ 3.60GHz
//! cores 2
//! within shm tuple_ns 12.5 byte_ns 0.25 latency_ns 9000 error_percent 7 noise_percent 3
//! between rdma provider=verbs mode=write tuple_ns 90 byte_ns 0.1 latency_ns 2500 ...
//! ```
//! Each line is words with blanks between them; a line that begins with `#` is a comment. The first
//! line is the version's; all others come in any order.

use std::fmt::Write;

use syntax::nearest;

use super::{Calibration, CalibrationError, CostFit, MediumCost, MediumReach};

/// The version of the format that is written and read.
const VERSION: u32 = 1;

/// The first words of the text.
const TITLE: [&str; 2] = ["thalweg", "calibration"];

/// Words that a line may begin with.
const LINE_KEYWORDS: [&str; 5] = ["time", "processor", "cores", "within", "between"];

/// The numbers of a medium, in the order in which they are written. The last one, [`NOISE`], is
/// left out where it was not measured.
const NUMBERS: [&str; 5] = ["tuple_ns", "byte_ns", "latency_ns", "error_percent", NOISE];

/// The number that only several turns give.
const NOISE: &str = "noise_percent";

impl Calibration {
    /// The calibration as text, which [`Calibration::parse`] reads back as it is.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // A string can always be written to.
        let _ = writeln!(text, "{} {VERSION}", TITLE.join(" "));
        let _ = writeln!(
            text,
            "# Written by `thalweg calibrate`; docs/calibrate.md says what the numbers mean."
        );
        let _ = writeln!(text, "time {}", self.time);
        let _ = writeln!(text, "processor {}", self.processor);
        let _ = writeln!(text, "cores {}", self.cores);
        for cost in &self.media {
            let words = MediumReach::WORDS
                .iter()
                .find(|(reach, _)| *reach == cost.reach);
            let reach = words.map_or("", |(_, word)| word);
            let _ = write!(text, "{reach} {}", cost.medium);
            if !cost.settings.is_empty() {
                let _ = write!(text, " {}", cost.settings);
            }
            for (name, number) in NUMBERS.into_iter().zip(numbers(cost)) {
                if let Some(number) = number {
                    let _ = write!(text, " {name} {number}");
                }
            }
            text.push('\n');
        }
        text
    }

    /// Reads the text of a calibration.
    ///
    /// # Errors
    /// The first mistake in the text.
    pub fn parse(text: &str) -> Result<Calibration, CalibrationError> {
        let mut lines = (1..)
            .zip(text.lines())
            .map(|(number, line)| Line::new(number, line));
        let end = text.lines().count() as u32 + 1;
        let first = lines.next().unwrap_or(Line::new(1, ""));
        first.check_version()?;
        let (mut time, mut processor, mut cores, mut media) = (None, None, None, Vec::new());
        for mut line in lines {
            let Some(word) = line.next_word().filter(|word| !word.text.starts_with('#')) else {
                continue;
            };
            match word.text {
                "time" => set_once(&mut time, word, line.rest("a time")?)?,
                "processor" => set_once(&mut processor, word, line.rest("a processor")?)?,
                "cores" => {
                    let count = line.require("a number of cores")?;
                    set_once(&mut cores, word, count.cores()?)?;
                    line.expect_end()?;
                }
                "within" => add(&mut media, line.cost(MediumReach::WithinHost)?, word)?,
                "between" => add(&mut media, line.cost(MediumReach::BetweenHosts)?, word)?,
                _ => return Err(word.unknown("first word of a line", &LINE_KEYWORDS)),
            }
        }
        let missing = |what: &str| CalibrationError {
            line: end,
            column: 1,
            message: format!("the file ends without a line `{what}`"),
        };
        Ok(Calibration {
            time: time.ok_or_else(|| missing("time"))?,
            processor: processor.ok_or_else(|| missing("processor"))?,
            cores: cores.ok_or_else(|| missing("cores"))?,
            media,
        })
    }
}

fn numbers(cost: &MediumCost) -> [Option<f64>; NUMBERS.len()] {
    let MediumCost {
        fit,
        latency_ns,
        noise_percent,
        ..
    } = *cost;
    [
        Some(fit.tuple_ns),
        Some(fit.byte_ns),
        Some(latency_ns),
        Some(fit.error_percent),
        noise_percent,
    ]
}

fn set_once<T>(to: &mut Option<T>, word: Word<'_>, value: T) -> Result<(), CalibrationError> {
    match to.replace(value) {
        None => Ok(()),
        Some(_) => Err(word.error(format!("there is a line `{}` already", word.text))),
    }
}

fn add(
    media: &mut Vec<MediumCost>,
    cost: MediumCost,
    word: Word<'_>,
) -> Result<(), CalibrationError> {
    let is_same = |other: &MediumCost| {
        other.reach == cost.reach && other.medium == cost.medium && other.settings == cost.settings
    };
    if media.iter().any(is_same) {
        let name = [&*cost.medium, &*cost.settings].join(" ");
        let message = format!(
            "there is a line `{} {}` already",
            word.text,
            name.trim_end()
        );
        return Err(word.error(message));
    }
    media.push(cost);
    Ok(())
}

/// A word of a line, with its place.
#[derive(Clone, Copy)]
struct Word<'t> {
    text: &'t str,
    line: u32,
    column: u32,
}

impl Word<'_> {
    fn error(self, message: String) -> CalibrationError {
        CalibrationError {
            line: self.line,
            column: self.column,
            message,
        }
    }

    /// The mistake that the word is none of these; a message calls them `what`.
    fn unknown(self, what: &str, known: &[&str]) -> CalibrationError {
        let text = self.text;
        self.error(match nearest(text, known.iter().copied()) {
            Some(near) => format!("`{text}` is no {what}; did you mean `{near}`?"),
            None => format!("`{text}` is no {what}; there are {}", known.join(", ")),
        })
    }

    fn cores(self) -> Result<u32, CalibrationError> {
        let wrong = |_| self.error(format!("`{}` is no number of cores", self.text));
        self.text.parse().map_err(wrong)
    }

    /// The word as a number that a measurement can have.
    fn number(self) -> Result<f64, CalibrationError> {
        let number = self.text.parse().ok();
        let number = number.filter(|number: &f64| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| self.error(format!("`{}` is no number of 0 or more", self.text)))
    }
}

/// A line of the text whose words are read one by one.
struct Line<'t> {
    rest: &'t str,
    number: u32,
    /// Column of the first character of `rest`.
    column: u32,
}

impl<'t> Line<'t> {
    fn new(number: u32, text: &'t str) -> Line<'t> {
        Line {
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

    fn next_word(&mut self) -> Option<Word<'t>> {
        self.skip_blanks();
        let end = self
            .rest
            .find(char::is_whitespace)
            .unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        let word = Word {
            text,
            line: self.number,
            column: self.column,
        };
        self.column += text.chars().count() as u32;
        self.rest = rest;
        (!text.is_empty()).then_some(word)
    }

    fn missing(&self, what: &str) -> CalibrationError {
        CalibrationError {
            line: self.number,
            column: self.column,
            message: format!("{what} is missing here"),
        }
    }

    fn require(&mut self, what: &str) -> Result<Word<'t>, CalibrationError> {
        self.next_word().ok_or_else(|| self.missing(what))
    }

    /// All further words, with single blanks between them.
    fn rest(&mut self, what: &str) -> Result<String, CalibrationError> {
        let mut words = vec![self.require(what)?.text];
        words.extend(std::iter::from_fn(|| self.next_word()).map(|word| word.text));
        Ok(words.join(" "))
    }

    fn expect_end(mut self) -> Result<(), CalibrationError> {
        match self.next_word() {
            None => Ok(()),
            Some(word) => Err(word.error(format!("`{}` does not belong here", word.text))),
        }
    }

    /// Checks that this is the first line of a calibration of this version.
    fn check_version(mut self) -> Result<(), CalibrationError> {
        for title in TITLE {
            let word = self.require("`thalweg calibration 1`")?;
            if word.text != title {
                let message = "this is no calibration: it does not begin with `thalweg \
                               calibration`";
                return Err(word.error(message.to_owned()));
            }
        }
        let version = self.require("the version")?;
        if version.text.parse() != Ok(VERSION) {
            let message = format!(
                "this is version `{}` of the format, and version {VERSION} is read; `thalweg \
                 calibrate` writes the file anew",
                version.text
            );
            return Err(version.error(message));
        }
        self.expect_end()
    }

    /// The name, the settings and the numbers of a medium.
    fn cost(&mut self, reach: MediumReach) -> Result<MediumCost, CalibrationError> {
        let medium = self.require("the name of a medium")?.text.to_owned();
        let mut settings: Vec<&str> = Vec::new();
        let mut found = [None; NUMBERS.len()];
        while let Some(word) = self.next_word() {
            if word.text.contains('=') {
                settings.push(word.text);
                continue;
            }
            let at = NUMBERS.iter().position(|name| *name == word.text);
            let at = at.ok_or_else(|| word.unknown("number of a medium", &NUMBERS))?;
            let number = self.require("a number")?.number()?;
            set_once(&mut found[at], word, number)?;
        }
        let missing = NUMBERS
            .iter()
            .zip(&found)
            .find(|(name, found)| found.is_none() && **name != NOISE);
        if let Some((name, _)) = missing {
            return Err(self.missing(&format!("`{name}` of {medium}")));
        }
        let [tuple_ns, byte_ns, latency_ns, error_percent, _] =
            found.map(Option::unwrap_or_default);
        Ok(MediumCost {
            reach,
            medium,
            settings: settings.join(" "),
            fit: CostFit {
                tuple_ns,
                byte_ns,
                error_percent,
            },
            latency_ns,
            noise_percent: found[NUMBERS.len() - 1],
        })
    }
}
