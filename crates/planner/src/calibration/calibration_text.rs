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

use super::{Calibration, CostFit, MediumCost, MediumReach};
use crate::measurement_text::{MeasurementError, TextLine, TextWord, set_once};

/// The version of the format that is written and read.
const VERSION: u32 = 1;

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
        let _ = writeln!(text, "thalweg calibration {VERSION}");
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
    pub fn parse(text: &str) -> Result<Calibration, MeasurementError> {
        let mut lines = (1..)
            .zip(text.lines())
            .map(|(number, line)| TextLine::new(number, line));
        let end = text.lines().count() as u32 + 1;
        let first = lines.next().unwrap_or(TextLine::new(1, ""));
        first.check_title(("calibration", VERSION), "thalweg calibrate")?;
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
                "within" => add(&mut media, cost(&mut line, MediumReach::WithinHost)?, word)?,
                "between" => add(
                    &mut media,
                    cost(&mut line, MediumReach::BetweenHosts)?,
                    word,
                )?,
                _ => return Err(word.unknown("first word of a line", &LINE_KEYWORDS)),
            }
        }
        let missing = |what: &str| MeasurementError {
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

fn add(
    media: &mut Vec<MediumCost>,
    cost: MediumCost,
    word: TextWord<'_>,
) -> Result<(), MeasurementError> {
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

/// The name, the settings and the numbers of a medium.
fn cost(line: &mut TextLine<'_>, reach: MediumReach) -> Result<MediumCost, MeasurementError> {
    let medium = line.require("the name of a medium")?.text.to_owned();
    let mut settings: Vec<&str> = Vec::new();
    let mut found = [None; NUMBERS.len()];
    while let Some(word) = line.next_word() {
        if word.text.contains('=') {
            settings.push(word.text);
            continue;
        }
        line.number_of(word, ("number of a medium", &NUMBERS), &mut found)?;
    }
    let missing = NUMBERS
        .iter()
        .zip(&found)
        .find(|(name, found)| found.is_none() && **name != NOISE);
    if let Some((name, _)) = missing {
        return Err(line.missing(&format!("`{name}` of {medium}")));
    }
    let [tuple_ns, byte_ns, latency_ns, error_percent, _] = found.map(Option::unwrap_or_default);
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
