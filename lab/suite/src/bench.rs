//! A session of benchmarks: settings, cases, outcomes.

use std::path::PathBuf;
use std::process::Command;

use control::{Error, RunArrivals, median};
use measure::{Host, Outcome};
use transport::IdleStrategy;

use crate::CodecKind;
use crate::job::{self, SplJob};
use crate::paired_runs::{self, PairedRunOptions, RunLength, RunTuples};

/// The settings of a session.
#[derive(Clone, Debug)]
pub struct BenchSettings {
    /// The `thalweg` command, which runs the SPL programs.
    pub thalweg: PathBuf,
    /// The command that serves controls: the benchmark's own binary.
    pub binary: PathBuf,
    /// Number of runs of each contender.
    pub runs: u32,
    /// Length of each run.
    pub length: RunLength,
    /// How threads wait: those of programs, and those of controls of latencies. `None`: adaptively.
    pub idle: Option<IdleStrategy>,
    /// Folders with libraries that are media, as `--media-path` takes them.
    pub media_path: Vec<String>,
    /// Options of the user's command, which outcomes record.
    pub options: String,
}

impl BenchSettings {
    /// A program under a plan, as a contender.
    pub(crate) fn job(&self, program: &str, plan: &str) -> Result<SplJob, Error> {
        let job = SplJob::new(program, plan)?.with_idle(self.idle);
        Ok(job.with_media_path(&self.media_path))
    }

    /// The commands that run programs and controls.
    pub(crate) fn commands(&self) -> (PathBuf, PathBuf) {
        (self.thalweg.clone(), self.binary.clone())
    }
}

/// A session: benchmarks on one machine, of one build, with one set of settings.
pub struct BenchSession<'a> {
    pub(crate) settings: BenchSettings,
    outcome_template: Outcome,
    report: &'a mut dyn FnMut(&Outcome),
    outcomes: Vec<Outcome>,
}

/// The question of one outcome: benchmark, path and tuples.
#[derive(Clone, Debug, Default)]
pub(crate) struct BenchCase {
    pub bench: &'static str,
    pub path: String,
    pub codec: Option<CodecKind>,
    pub size_bytes: Option<u64>,
    pub receivers: Option<u32>,
    /// Tuples a second that the source offers.
    pub rate_offered: Option<f64>,
    /// Description of the control in a few words.
    pub control: &'static str,
    /// Seconds of a run at least; in a shorter one, buffers of the system would be measured.
    pub seconds_min: f64,
}

impl<'a> BenchSession<'a> {
    /// Starts a session. Describes the machine first, which takes a second. Each outcome is passed
    /// to `report` as soon as it is there.
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

    /// The outcomes of the session, in order.
    pub fn into_outcomes(self) -> Vec<Outcome> {
        self.outcomes
    }

    /// A program under a plan, as a contender.
    pub(crate) fn job(&self, program: &str, plan: &str) -> Result<SplJob, Error> {
        self.settings.job(program, plan)
    }

    /// Sets the length of the runs that follow.
    pub fn set_length(&mut self, length: RunLength) {
        self.settings.length = length;
    }

    /// Measures a case: runs Thalweg and the control by turns, and adds the outcome.
    ///
    /// # Errors
    /// A contender fails, or the two do not read the same.
    pub(crate) fn measure_case(
        &mut self,
        case: BenchCase,
        ours: &mut RunTuples<'_>,
        control: &mut RunTuples<'_>,
    ) -> Result<(), Error> {
        let runs = self.settings.runs;
        let turns = PairedRunOptions {
            length: self.settings.length.at_least(case.seconds_min),
            runs,
            tuples_per_s_expected: self.expected_tuples_per_s(&case),
        };
        let figures = paired_runs::run_by_turns(turns, ours, control)
            .map_err(|error| Error::new(format!("{}: {error}", case.title())))?;
        let mut outcome = self.empty_outcome(case);
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

    /// Tuples a second that the source will probably send: those of the case before, if it had the
    /// same path.
    fn expected_tuples_per_s(&self, case: &BenchCase) -> Option<f64> {
        let before = self.outcomes.last()?;
        let codec = case.codec.map(CodecKind::name);
        let is_near = before.bench == case.bench
            && before.path == case.path
            && before.codec.as_deref() == codec;
        let of_all = before.tuples_per_s.filter(|_| is_near)?;
        Some(of_all / f64::from(before.receivers.unwrap_or(1)))
    }

    /// Adds an outcome that says why a case cannot be measured here.
    pub(crate) fn add_unavailable(&mut self, case: BenchCase, why: String) {
        let mut outcome = self.empty_outcome(case);
        outcome.unavailable = Some(why);
        self.add_outcome(outcome);
    }

    /// An outcome of a case, without figures.
    pub(crate) fn empty_outcome(&self, case: BenchCase) -> Outcome {
        Outcome {
            bench: case.bench.to_owned(),
            path: case.path,
            codec: case.codec.map(|codec| codec.name().to_owned()),
            size_bytes: case.size_bytes,
            receivers: case.receivers,
            rate_offered: case.rate_offered,
            control: Some(case.control.to_owned()),
            ..self.outcome_template.clone()
        }
    }

    /// Reports an outcome and adds it to the session's.
    pub(crate) fn add_outcome(&mut self, outcome: Outcome) {
        (self.report)(&outcome);
        self.outcomes.push(outcome);
    }
}

impl BenchCase {
    /// The case in a few words, for messages.
    fn title(&self) -> String {
        let codec = self.codec.map(|codec| format!(" {}", codec.name()));
        let size = self.size_bytes.map(|size| format!(" {size} B"));
        let (codec, size) = (codec.unwrap_or_default(), size.unwrap_or_default());
        format!("{} {}{codec}{size}", self.bench, self.path)
    }
}

/// The commit of this build, with `+` appended if the tree was changed; `None` if git did not tell.
pub fn commit() -> Option<String> {
    option_env!("THALWEG_COMMIT").map(str::to_owned)
}

/// Runs a control with `sinks` sinks; the arrivals that they print.
pub(crate) fn run_control(command: Command, sinks: u32) -> Result<RunArrivals, Error> {
    RunArrivals::parse_output(&job::run_to_end(command)?, sinks)
}

/// Sets the rates of a plan's runs and of what they are compared with.
pub(crate) fn set_rates(outcome: &mut Outcome, samples: &[f64], control_samples: &[f64]) {
    outcome.runs = samples.len() as u32;
    let pairs = samples.iter().zip(control_samples);
    outcome.ratio = Some(median(pairs.map(|(own, control)| own / control)));
    outcome.tuples_per_s = Some(median(samples.iter().copied()));
    outcome.control_tuples_per_s = Some(median(control_samples.iter().copied()));
    outcome.samples = samples.to_vec();
    outcome.control_samples = control_samples.to_vec();
}
