//! The text of a profile, which `thalweg run --profile` writes.
//!
//! ```text
//! thalweg profile 1                         # the version of this format
//! program Vwap
//! processor Some CPU @ 3.60GHz
//! cores 2
//! runs 1
//! seconds 2.5
//! operator Trades kind Filter tuples 1000 cpu_ns 4200 state_bytes 0
//! stream Trades.0 tuples 700 bytes 33600 peak_per_second 300
//! crossing Trades.0 medium shm frames 700 bytes 39200 send_ns 2400 receive_ns 3100
//! queue Sums.0 tuples 700 full_ns 0 empty_ns 120000
//! thread 0.1 busy_ns 4000000 polling_ns 300000
//! ```
//! Each line is words with blanks between them; a line that begins with `#` is a comment. The first
//! line is the version's; all others come in any order, and so do the numbers of a line.

use std::collections::HashSet;
use std::fmt::{self, Write};

use super::{
    CrossingProfile, OperatorProfile, Profile, QueueProfile, StreamProfile, ThreadProfile,
};
use crate::measurement_text::{MeasurementError, TextLine, TextWord, set_once};

/// The version of the format that is written and read.
const VERSION: u32 = 1;

/// Words that a line may begin with.
const LINE_KEYWORDS: [&str; 10] = [
    "program",
    "processor",
    "cores",
    "runs",
    "seconds",
    "operator",
    "stream",
    "crossing",
    "queue",
    "thread",
];

/// Processor time of an operator, as a multiple of what all cores have in the time of the runs,
/// that is still believed: clocks of threads and of the wall are read at different moments.
const CPU_SLACK: f64 = 1.25;

impl Profile {
    /// The profile as text, which [`Profile::parse`] reads back as it is.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // A string can always be written to.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        writeln!(text, "thalweg profile {VERSION}")?;
        writeln!(
            text,
            "# Written by `thalweg run --profile`; docs/profiles.md says what the numbers mean."
        )?;
        writeln!(text, "program {}", self.program)?;
        writeln!(text, "processor {}", self.processor)?;
        writeln!(text, "cores {}", self.cores)?;
        writeln!(text, "runs {}", self.runs)?;
        writeln!(text, "seconds {}", self.seconds)?;
        write_lines(text, "operator", &self.operators)?;
        write_lines(text, "stream", &self.streams)?;
        write_lines(text, "crossing", &self.crossings)?;
        write_lines(text, "queue", &self.queues)?;
        write_lines(text, "thread", &self.threads)
    }

    /// Reads the text of a profile.
    ///
    /// # Errors
    /// The first mistake in the text.
    pub fn parse(text: &str) -> Result<Profile, MeasurementError> {
        let mut lines = (1..)
            .zip(text.lines())
            .map(|(number, line)| TextLine::new(number, line));
        let first = lines.next().unwrap_or(TextLine::new(1, ""));
        first.check_title(("profile", VERSION), "thalweg run --profile")?;
        let mut parts = ProfileParts::default();
        for mut line in lines {
            let word = line.next_word().filter(|word| !word.text.starts_with('#'));
            if let Some(word) = word {
                parts.read(word, line)?;
            }
        }
        parts.finish(text.lines().count() as u32 + 1)
    }
}

fn write_lines(text: &mut String, word: &str, lines: &[impl fmt::Display]) -> fmt::Result {
    lines
        .iter()
        .try_for_each(|line| writeln!(text, "{word} {line}"))
}

impl fmt::Display for OperatorProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OperatorProfile {
            operator,
            kind,
            tuples,
            cpu_ns,
            state_bytes,
        } = self;
        write!(f, "{operator} kind {kind} tuples {tuples} cpu_ns {cpu_ns} ")?;
        write!(f, "state_bytes {state_bytes}")
    }
}

impl fmt::Display for StreamProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StreamProfile {
            operator,
            port,
            tuples,
            bytes,
            peak_per_second,
        } = self;
        write!(f, "{operator}.{port} tuples {tuples} bytes {bytes} ")?;
        write!(f, "peak_per_second {peak_per_second}")
    }
}

impl fmt::Display for CrossingProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CrossingProfile {
            operator,
            port,
            medium,
            frames,
            bytes,
            send_ns,
            receive_ns,
        } = self;
        write!(
            f,
            "{operator}.{port} medium {medium} frames {frames} bytes {bytes} "
        )?;
        write!(f, "send_ns {send_ns} receive_ns {receive_ns}")
    }
}

impl fmt::Display for QueueProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let QueueProfile {
            operator,
            port,
            tuples,
            full_ns,
            empty_ns,
        } = self;
        write!(
            f,
            "{operator}.{port} tuples {tuples} full_ns {full_ns} empty_ns {empty_ns}"
        )
    }
}

impl fmt::Display for ThreadProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ThreadProfile {
            thread,
            busy_ns,
            polling_ns,
        } = self;
        write!(f, "{thread} busy_ns {busy_ns} polling_ns {polling_ns}")
    }
}

/// The parts of a profile that have been read.
#[derive(Default)]
struct ProfileParts<'t> {
    program: Option<String>,
    processor: Option<String>,
    cores: Option<u32>,
    runs: Option<u32>,
    seconds: Option<f64>,
    /// The lists; nothing else of it is set.
    lists: Profile,
    /// The name of each operator in `lists`, with its place.
    operators: Vec<TextWord<'t>>,
    /// First words and names of the lines of the lists.
    names: HashSet<(&'t str, String)>,
}

impl<'t> ProfileParts<'t> {
    fn read(&mut self, word: TextWord<'t>, mut line: TextLine<'t>) -> Result<(), MeasurementError> {
        match word.text {
            "program" => set_once(&mut self.program, word, line.rest("a program")?)?,
            "processor" => set_once(&mut self.processor, word, line.rest("a processor")?)?,
            "cores" => {
                let count = line.require("a number of cores")?;
                set_once(&mut self.cores, word, count.cores()?)?;
            }
            "runs" => {
                let runs = line.require("a number of runs")?;
                let count = u32::try_from(runs.count()?);
                let count = count.ok().filter(|count| *count > 0);
                let wrong = || runs.error(format!("`{}` is no number of runs", runs.text));
                set_once(&mut self.runs, word, count.ok_or_else(wrong)?)?;
            }
            "seconds" => {
                let seconds = line.require("a number of seconds")?;
                set_once(&mut self.seconds, word, seconds.number()?)?;
            }
            "operator" | "stream" | "crossing" | "queue" | "thread" => {
                self.read_list_line(word, &mut line)?;
            }
            _ => return Err(word.unknown("first word of a line", &LINE_KEYWORDS)),
        }
        line.expect_end()
    }

    fn read_list_line(
        &mut self,
        word: TextWord<'t>,
        line: &mut TextLine<'t>,
    ) -> Result<(), MeasurementError> {
        let what = match word.text {
            "operator" => "the name of an operator",
            "thread" => "the number of a thread",
            _ => "the name of an operator and a port",
        };
        let name = line.require(what)?;
        let lists = &mut self.lists;
        let mut key = name.text.to_owned();
        match word.text {
            "operator" => {
                lists.operators.push(operator(name, line)?);
                self.operators.push(name);
            }
            "stream" => lists.streams.push(stream(name, line)?),
            "crossing" => {
                let crossing = crossing(name, line)?;
                key = format!("{key} medium {}", crossing.medium);
                lists.crossings.push(crossing);
            }
            "queue" => lists.queues.push(queue(name, line)?),
            _ => lists.threads.push(thread(name, line)?),
        }
        let message = format!("there is a line `{} {key}` already", word.text);
        match self.names.insert((word.text, key)) {
            true => Ok(()),
            false => Err(word.error(message)),
        }
    }

    fn finish(self, end: u32) -> Result<Profile, MeasurementError> {
        let missing = |what: &str| MeasurementError {
            line: end,
            column: 1,
            message: format!("the file ends without a line `{what}`"),
        };
        let profile = Profile {
            program: self.program.ok_or_else(|| missing("program"))?,
            processor: self.processor.ok_or_else(|| missing("processor"))?,
            cores: self.cores.ok_or_else(|| missing("cores"))?,
            runs: self.runs.ok_or_else(|| missing("runs"))?,
            seconds: self.seconds.ok_or_else(|| missing("seconds"))?,
            ..self.lists
        };
        let cpu_ns_max = profile.seconds * f64::from(profile.cores.max(1)) * 1e9 * CPU_SLACK;
        let mut operators = profile.operators.iter().zip(&self.operators);
        match operators.find(|(operator, _)| operator.cpu_ns as f64 > cpu_ns_max) {
            None => Ok(profile),
            Some((operator, name)) => Err(name.error(format!(
                "`{}` cannot have taken {} ns of processor time: {} cores have no more than that in \
                 {} s",
                operator.operator, operator.cpu_ns, profile.cores, profile.seconds
            ))),
        }
    }
}

/// The operator and the port in a word like `Trades.0`.
fn port_name(word: TextWord<'_>) -> Result<(String, u32), MeasurementError> {
    let parts = word.text.rsplit_once('.');
    let parts = parts.and_then(|(operator, port)| Some((operator, port.parse().ok()?)));
    match parts {
        Some((operator, port)) if !operator.is_empty() => Ok((operator.to_owned(), port)),
        _ => Err(word.error(format!(
            "`{}` is no port; right would be the operator's name, a dot and the port's number, as \
             in `Trades.0`",
            word.text
        ))),
    }
}

/// The word behind this keyword.
fn keyword_value<'t>(
    line: &mut TextLine<'t>,
    keyword: &str,
) -> Result<TextWord<'t>, MeasurementError> {
    let found = line.require(&format!("`{keyword}`"))?;
    if found.text != keyword {
        let message = format!("`{}` stands where `{keyword}` was expected", found.text);
        return Err(found.error(message));
    }
    line.require(&format!("a name behind `{keyword}`"))
}

fn operator(
    name: TextWord<'_>,
    line: &mut TextLine<'_>,
) -> Result<OperatorProfile, MeasurementError> {
    let kind = keyword_value(line, "kind")?.text.to_owned();
    let names = ["tuples", "cpu_ns", "state_bytes"];
    let [tuples, cpu_ns, state_bytes] =
        line.counts(("number of an operator", name.text), &names)?;
    Ok(OperatorProfile {
        operator: name.text.to_owned(),
        kind,
        tuples,
        cpu_ns,
        state_bytes,
    })
}

fn stream(name: TextWord<'_>, line: &mut TextLine<'_>) -> Result<StreamProfile, MeasurementError> {
    let (operator, port) = port_name(name)?;
    let names = ["tuples", "bytes", "peak_per_second"];
    let [tuples, bytes, peak_per_second] =
        line.counts(("number of a stream", name.text), &names)?;
    Ok(StreamProfile {
        operator,
        port,
        tuples,
        bytes,
        peak_per_second,
    })
}

fn crossing(
    name: TextWord<'_>,
    line: &mut TextLine<'_>,
) -> Result<CrossingProfile, MeasurementError> {
    let (operator, port) = port_name(name)?;
    let medium = keyword_value(line, "medium")?.text.to_owned();
    let names = ["frames", "bytes", "send_ns", "receive_ns"];
    let [frames, bytes, send_ns, receive_ns] =
        line.counts(("number of a crossing", name.text), &names)?;
    Ok(CrossingProfile {
        operator,
        port,
        medium,
        frames,
        bytes,
        send_ns,
        receive_ns,
    })
}

fn queue(name: TextWord<'_>, line: &mut TextLine<'_>) -> Result<QueueProfile, MeasurementError> {
    let (operator, port) = port_name(name)?;
    let names = ["tuples", "full_ns", "empty_ns"];
    let [tuples, full_ns, empty_ns] = line.counts(("number of a queue", name.text), &names)?;
    Ok(QueueProfile {
        operator,
        port,
        tuples,
        full_ns,
        empty_ns,
    })
}

fn thread(name: TextWord<'_>, line: &mut TextLine<'_>) -> Result<ThreadProfile, MeasurementError> {
    let names = ["busy_ns", "polling_ns"];
    let [busy_ns, polling_ns] = line.counts(("number of a thread", name.text), &names)?;
    Ok(ThreadProfile {
        thread: name.text.to_owned(),
        busy_ns,
        polling_ns,
    })
}
