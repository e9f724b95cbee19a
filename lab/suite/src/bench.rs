//! What all benchmarks share: settings, the blank result, and where results go.

use std::path::PathBuf;
use std::process::Command;

use control::{Error, RunArrivals};
use measure::{Host, Outcome};
use transport::IdleStrategy;

use crate::CodecKind;
use crate::job::{self, SplJob};
use crate::paired_runs::{self, PairedRunOptions, RunLength, RunTuples};

/// How it is measured.
#[derive(Clone, Debug)]
pub struct BenchSettings {
    /// The `thalweg` command, which runs the SPL programs.
    pub thalweg: PathBuf,
    /// The command that serves controls: the benchmark's own binary.
    pub binary: PathBuf,
    /// How often each contender runs.
    pub runs: u32,
    /// How long a run is.
    pub length: RunLength,
    /// How threads wait, those of programs and of controls of latencies; `None`: as usual.
    pub idle: Option<IdleStrategy>,
    /// The user's options, for the record.
    pub options: String,
}

impl BenchSettings {
    /// The commands that run programs and controls.
    pub(crate) fn commands(&self) -> (PathBuf, PathBuf) {
        (self.thalweg.clone(), self.binary.clone())
    }
}

/// A sitting: one machine, one build, one set of settings.
pub struct BenchSession<'a> {
    pub(crate) settings: BenchSettings,
    outcome_template: Outcome,
    report: &'a mut dyn FnMut(&Outcome),
    outcomes: Vec<Outcome>,
}

/// One question: on which path, with which tuples.
#[derive(Clone, Debug, Default)]
pub(crate) struct BenchCase {
    pub bench: &'static str,
    pub path: String,
    pub codec: Option<CodecKind>,
    pub size_bytes: Option<u64>,
    pub receivers: Option<u32>,
    /// Tuples a second that the source offers.
    pub rate_offered: Option<f64>,
    /// What the control is, in a few words.
    pub control: &'static str,
    /// Seconds of a run at least, or buffers of the system would be measured.
    pub seconds_min: f64,
}

impl<'a> BenchSession<'a> {
    /// Looks at the machine, which takes a second. Each result goes to `report` as soon as there is
    /// one.
    pub fn new(settings: BenchSettings, report: &'a mut dyn FnMut(&Outcome)) -> BenchSession<'a> {
        let blank = Outcome {
            host: Host::detect(),
            commit: commit(),
            options: Some(settings.options.clone()),
            ..Outcome::default()
        };
        BenchSession {
            settings,
            outcome_template: blank,
            report,
            outcomes: Vec::new(),
        }
    }

    /// All results so far.
    pub fn into_outcomes(self) -> Vec<Outcome> {
        self.outcomes
    }

    /// A program under a plan, as a contender.
    pub(crate) fn job(&self, program: &str, plan: &str) -> Result<SplJob, Error> {
        Ok(SplJob::new(program, plan)?.with_idle(self.settings.idle))
    }

    /// How long a run is, from now on.
    pub fn set_length(&mut self, length: RunLength) {
        self.settings.length = length;
    }

    /// Answers a question by a contest.
    ///
    /// # Errors
    /// A contender fails.
    pub(crate) fn measure_case(
        &mut self,
        question: BenchCase,
        ours: &mut RunTuples<'_>,
        control: &mut RunTuples<'_>,
    ) -> Result<(), Error> {
        let runs = self.settings.runs;
        let turns = PairedRunOptions {
            length: self.settings.length.at_least(question.seconds_min),
            runs,
            tuples_per_s_expected: self.expected_tuples_per_s(&question),
        };
        let figures = paired_runs::run_by_turns(turns, ours, control)
            .map_err(|error| Error::new(format!("{}: {error}", question.title())))?;
        let mut outcome = self.empty_outcome(question);
        let rate = figures.tuples_per_s();
        outcome.tuples_per_s = Some(rate);
        outcome.gbit_per_s = outcome
            .size_bytes
            .map(|size| rate * size as f64 * 8.0 / 1e9);
        outcome.control_tuples_per_s = Some(figures.control_tuples_per_s());
        outcome.ratio = Some(figures.ratio());
        outcome.runs = runs;
        outcome.samples = figures.samples;
        outcome.control_samples = figures.control_samples;
        self.add_outcome(outcome);
        Ok(())
    }

    /// Tuples a second of the source: those of the question before, if it was about the same path.
    fn expected_tuples_per_s(&self, question: &BenchCase) -> Option<f64> {
        let before = self.outcomes.last()?;
        let codec = question.codec.map(CodecKind::name);
        let is_near = before.bench == question.bench
            && before.path == question.path
            && before.codec.as_deref() == codec;
        let of_all = before.tuples_per_s.filter(|_| is_near)?;
        Some(of_all / f64::from(before.receivers.unwrap_or(1)))
    }

    /// Says why a question cannot be answered here.
    pub(crate) fn add_unavailable(&mut self, question: BenchCase, why: String) {
        let mut outcome = self.empty_outcome(question);
        outcome.unavailable = Some(why);
        self.add_outcome(outcome);
    }

    /// A result without figures.
    pub(crate) fn empty_outcome(&self, question: BenchCase) -> Outcome {
        Outcome {
            bench: question.bench.to_owned(),
            path: question.path,
            codec: question.codec.map(|codec| codec.name().to_owned()),
            size_bytes: question.size_bytes,
            receivers: question.receivers,
            rate_offered: question.rate_offered,
            control: Some(question.control.to_owned()),
            ..self.outcome_template.clone()
        }
    }

    /// One more result.
    pub(crate) fn add_outcome(&mut self, outcome: Outcome) {
        (self.report)(&outcome);
        self.outcomes.push(outcome);
    }
}

impl BenchCase {
    /// The question in a few words.
    fn title(&self) -> String {
        let codec = self.codec.map(|codec| format!(" {}", codec.name()));
        let size = self.size_bytes.map(|size| format!(" {size} B"));
        let (codec, size) = (codec.unwrap_or_default(), size.unwrap_or_default());
        format!("{} {}{codec}{size}", self.bench, self.path)
    }
}

/// The commit that is built, `+` behind it if the tree was changed; `None` if git does not tell.
pub fn commit() -> Option<String> {
    option_env!("THALWEG_COMMIT").map(str::to_owned)
}

/// Runs a control; what its sinks say.
pub(crate) fn run_control(command: Command, sinks: u32) -> Result<RunArrivals, Error> {
    RunArrivals::parse_output(&job::run_to_end(command)?, sinks)
}
