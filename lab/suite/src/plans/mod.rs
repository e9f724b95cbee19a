//! Generated programs on many plans: what the cost model predicts, what runs give, and what the
//! optimiser's choice is worth.
//!
//! ```text
//!   all fused --profile--> cola, predictions       each plan by turns with all fused
//! ```
//! A run lasts from the first tuple at any sink to the last end of a sink: sinks print the times.
//! The other lines that a plan prints are compared with those of all operators in one process.

mod generated_program;
mod random_plan;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use control::Error;
use generated_program::{GeneratedProgram, TIME, generate};
use measure::Outcome;

use crate::bench::{BenchCase, BenchSession, set_rates};
use crate::job::run_to_end;

/// The programs and plans that are measured.
#[derive(Clone, Debug)]
pub struct PlansOptions {
    /// Seed of the first program; the others have those that follow.
    pub seed: u64,
    /// Number of generated programs.
    pub programs: u32,
    /// Operators of the smallest and of the largest program, sinks not counted; in this order.
    pub operators: (u32, u32),
    /// Random plans of each program.
    pub random_plans: u32,
    /// Seconds of a run of all operators in one process.
    pub seconds: f64,
    /// File of a calibration, for predictions and the optimiser.
    pub calibration: Option<PathBuf>,
}

/// Name of the benchmark with rates of plans beside those of all operators in one process.
pub const PLANS_BENCH: &str = "plans";

/// Name of the benchmark with rates of plans beside those that were predicted.
pub const PREDICTIONS_BENCH: &str = "predictions";

/// The name of the optimiser's plan in paths of outcomes.
pub const OPTIMISED_PLAN: &str = "cola";

/// Control of the rates of plans.
const FUSED_CONTROL: &str = "process with all operators";

/// Tuples of each source in the run by which the length of the others is chosen.
const FIRST_TUPLES: u32 = 20_000;

/// Most tuples of a source in a run.
const MOST_TUPLES: f64 = 400e6;

/// A program and its files, in a folder that is removed at the end.
struct PlansFolder<'a> {
    folder: PathBuf,
    thalweg: PathBuf,
    program: GeneratedProgram,
    options: &'a PlansOptions,
}

/// A run by what its sinks printed.
#[derive(Debug, PartialEq)]
struct PlanRun {
    /// Seconds from the first tuple at a sink to the end of the last sink.
    seconds: f64,
    /// Numbers and sums of the sinks, in order of the lines' texts.
    results: Vec<String>,
}

/// A plan as the options that ask for it.
struct NamedPlan {
    name: String,
    options: Vec<String>,
}

impl NamedPlan {
    fn new(name: &str, options: &[&str]) -> NamedPlan {
        NamedPlan {
            name: name.to_owned(),
            options: options.iter().map(|&word| word.to_owned()).collect(),
        }
    }

    /// All operators in one process.
    fn fused() -> NamedPlan {
        NamedPlan::new("fused", &["--fuse", "all"])
    }
}

impl<'a> PlansFolder<'a> {
    fn new(thalweg: PathBuf, seed: u64, options: &'a PlansOptions) -> Result<Self, Error> {
        let folder = std::env::temp_dir().join(format!("thalweg-plans-{}", std::process::id()));
        let (least, most) = options.operators;
        // Sizes go up evenly, whatever the number of programs.
        let place = (seed - options.seed) as f64 / f64::from((options.programs - 1).max(1));
        let operators = f64::from(least) + place * f64::from(most - least);
        let files = PlansFolder {
            folder,
            thalweg,
            program: generate(seed, operators.round() as u32),
            options,
        };
        let written = fs::create_dir_all(&files.folder)
            .and_then(|()| fs::write(files.path("Generated.spl"), &files.program.text));
        written.map_err(|error| Error::system("write a program", error))?;
        Ok(files)
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// The command with these words and the program.
    fn command(&self, words: &[&str], options: &[String], tuples: u32) -> Command {
        let mut command = Command::new(&self.thalweg);
        command.args(words).args(options);
        command.arg(self.path("Generated.spl"));
        command.arg(format!("n={tuples}"));
        command
    }

    fn run(&self, options: &[String], tuples: u32) -> Result<PlanRun, Error> {
        let output = run_to_end(self.command(&["run"], options, tuples))?;
        PlanRun::read(&output).ok_or_else(|| {
            Error::new(format!(
                "no tuple has come to a sink of a generated program: {output}"
            ))
        })
    }

    /// Source tuples a second of a run.
    fn rate_of(&self, run: &PlanRun, tuples: u32) -> f64 {
        f64::from(tuples) * f64::from(self.program.sources) / run.seconds
    }

    /// Source tuples a second of a plan, which has to give these results.
    fn rate(&self, plan: &NamedPlan, tuples: u32, results: &[String]) -> Result<f64, Error> {
        let run = self.run(&plan.options, tuples)?;
        if run.results != results {
            return Err(Error::new(format!(
                "the plan {} of a generated program prints {:?}, all operators in one process \
                 {results:?}",
                plan.name, run.results
            )));
        }
        Ok(self.rate_of(&run, tuples))
    }

    fn measured_options(&self) -> Vec<String> {
        let mut options = vec!["--use-profile".to_owned(), self.path("fused.profile")];
        if let Some(calibration) = &self.options.calibration {
            let file = calibration.display().to_string();
            options.extend(["--calibration".to_owned(), file]);
        }
        options
    }

    /// The plans that are measured; that of all operators in one process first.
    fn plans(&self, seed: u64) -> Result<Vec<NamedPlan>, Error> {
        let mut optimised = NamedPlan::new(OPTIMISED_PLAN, &["--fuse", "cola"]);
        optimised.options.extend(self.measured_options());
        let mut plans = vec![
            NamedPlan::fused(),
            NamedPlan::new("unfused", &["--fuse", "none"]),
            NamedPlan::new("spl", &["--fuse", "spl"]),
            NamedPlan::new("dedicated", &["--fuse", "all", "--threading", "dedicated"]),
            optimised,
        ];
        for number in 0..self.options.random_plans {
            let name = format!("random-{number}");
            let file = self.path(&format!("{name}.plan"));
            let text = random_plan::random_plan(&self.program, seed, number);
            fs::write(&file, text).map_err(|error| Error::system("write a plan", error))?;
            plans.push(NamedPlan::new(&name, &["--fuse", &file]));
        }
        Ok(plans)
    }

    /// The predicted source tuples a second of a plan.
    fn predicted(&self, plan: &NamedPlan) -> Result<f64, Error> {
        let dump = ["dump", "--stage", "plan"];
        let text = run_to_end(self.command(&dump, &plan.options, 1))?;
        let file = self.path("predicted.plan");
        fs::write(&file, text).map_err(|error| Error::system("write a plan", error))?;
        let compare = ["plan", "compare", &file, &file];
        let printed = run_to_end(self.command(&compare, &self.measured_options(), 1))?;
        predicted_rate(&printed, &file)
            .ok_or_else(|| Error::new(format!("`thalweg plan compare` gives no rate: {printed}")))
    }
}

impl PlanRun {
    /// Reads what the sinks of a run have printed; `None` if no tuple has come to any.
    fn read(output: &str) -> Option<PlanRun> {
        let (mut begin, mut end) = (u64::MAX, 0_u64);
        let mut results = Vec::new();
        for line in output.lines() {
            let Some(times) = line.strip_prefix(TIME).and_then(|at| at.strip_prefix(' ')) else {
                results.push(line.to_owned());
                continue;
            };
            let (first, last) = times.split_once(' ')?;
            begin = begin.min(first.parse().ok()?);
            end = end.max(last.parse().ok()?);
        }
        results.sort_unstable();
        let ns = end.checked_sub(begin)?.max(1);
        let seconds = ns as f64 / 1e9;
        Some(PlanRun { seconds, results })
    }
}

/// The rate in what `thalweg plan compare` prints of a file.
fn predicted_rate(printed: &str, file: &str) -> Option<f64> {
    let line = printed.lines().next()?;
    let text = line.strip_prefix(file)?.strip_prefix(": ")?;
    let (number, unit) = text.split_once(' ')?;
    let factor = match unit.starts_with("million ") {
        true => 1e6,
        false => 1.0,
    };
    Some(number.parse::<f64>().ok()? * factor)
}

impl Drop for PlansFolder<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Measures the plans of each program, one program after the other.
///
/// # Errors
/// A run fails, or a plan gives another result than all operators in one process.
pub fn plans(bench: &mut BenchSession<'_>, what: &PlansOptions) -> Result<(), Error> {
    let mut predictions = Vec::new();
    let measured = (0..what.programs).try_for_each(|number| {
        let seed = what.seed + u64::from(number);
        let files = PlansFolder::new(bench.settings.thalweg.clone(), seed, what)?;
        measure_program(bench, &files, seed, &mut predictions)
    });
    // A table of their own, behind that of the plans.
    for outcome in predictions {
        bench.add_outcome(outcome);
    }
    measured
}

fn measure_program(
    bench: &mut BenchSession<'_>,
    files: &PlansFolder<'_>,
    seed: u64,
    predictions: &mut Vec<Outcome>,
) -> Result<(), Error> {
    let fused = NamedPlan::fused();
    let first = files.run(&fused.options, FIRST_TUPLES)?;
    let rate = files.rate_of(&first, FIRST_TUPLES);
    let sources = f64::from(files.program.sources);
    let tuples = (rate * files.options.seconds / sources).clamp(1000.0, MOST_TUPLES) as u32;
    let profile = ["--profile".to_owned(), files.path("fused.profile")];
    let profiled = files.run(&[&fused.options[..], &profile].concat(), tuples)?;
    let plans = files.plans(seed)?;
    let mut rates: Vec<Vec<f64>> = vec![Vec::new(); plans.len()];
    for _ in 0..bench.settings.runs {
        for (plan, rates) in plans.iter().zip(&mut rates) {
            rates.push(files.rate(plan, tuples, &profiled.results)?);
        }
    }
    for (plan, rates_of_plan) in plans.iter().zip(&rates) {
        let operators = files.program.operators.len();
        let path = format!("{seed}, {operators} operators: {}", plan.name);
        let compared = |bench: &BenchSession<'_>, of, control, control_samples: &[f64]| {
            let mut outcome = bench.empty_outcome(BenchCase {
                bench: of,
                path: path.clone(),
                control,
                ..BenchCase::default()
            });
            set_rates(&mut outcome, rates_of_plan, control_samples);
            outcome
        };
        let outcome = compared(bench, PLANS_BENCH, FUSED_CONTROL, &rates[0]);
        bench.add_outcome(outcome);
        let predicted = vec![files.predicted(plan)?; rates_of_plan.len()];
        let control = "prediction of the cost model";
        predictions.push(compared(bench, PREDICTIONS_BENCH, control, &predicted));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_lasts_from_the_first_tuple_to_the_last_end() {
        let output =
            "Sink2 7 9\ntime 2000000000 5000000000\nSink1 0 0\ntime 1000000000 4000000000\n";
        let run = PlanRun {
            seconds: 4.0,
            results: vec!["Sink1 0 0".to_owned(), "Sink2 7 9".to_owned()],
        };
        assert_eq!(PlanRun::read(output), Some(run));
        assert_eq!(PlanRun::read("Sink1 0 0\n"), None);
    }

    #[test]
    fn rates_are_read_from_what_plan_compare_prints() {
        let printed = "a b.plan: 2.50 million source tuples a second, 400.0 ns\nrest";
        assert_eq!(predicted_rate(printed, "a b.plan"), Some(2.5e6));
        let printed = "x: 3863 source tuples a second, 2.0 ns";
        assert_eq!(predicted_rate(printed, "x"), Some(3863.0));
        assert_eq!(predicted_rate("x: any rate, 0.0 ns", "x"), None);
        assert_eq!(predicted_rate("", "x"), None);
    }
}
