//! The VWAP application with 332 operators, on the plans that the Streams 2.0 report compares:
//! a process for each operator, the optimiser's first and second plan, one by hand.
//!
//! ```text
//!   all fused --profile--> cola 1 --profile--> cola 2
//! ```
//! Each plan runs by turns with all operators fused into one process, which is the control. A run
//! without trades tells the time of a start, which is subtracted: with some hundred processes that
//! is most of a run. What plans give is compared in the tests of `thalweg run`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use control::{Error, median};

use crate::bench::{BenchCase, BenchSession};
use crate::job::run_to_end;

/// The plans and media that are measured.
#[derive(Clone, Debug)]
pub struct VwapOptions {
    /// Tickers for each ticker of the input: the length of a run.
    pub copies: u32,
    /// The plans that are measured.
    pub plans: Vec<VwapPlan>,
    /// Media of streams between processes.
    pub media: Vec<String>,
}

/// A plan beside that with all operators in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VwapPlan {
    /// A process for each operator.
    Unfused,
    /// The optimiser's, with the profile of all operators in one process.
    FirstCola,
    /// The optimiser's, with the profile of its first plan.
    SecondCola,
    /// The plan of `examples/vwap/manual.plan`.
    Manual,
    /// One process, whose threads take operators from a pool.
    Dynamic,
}

impl VwapPlan {
    /// All plans in the order of the report.
    pub const ALL: [VwapPlan; 5] = [
        VwapPlan::Unfused,
        VwapPlan::FirstCola,
        VwapPlan::SecondCola,
        VwapPlan::Manual,
        VwapPlan::Dynamic,
    ];

    /// The plan's name in options and results.
    pub fn name(self) -> &'static str {
        match self {
            VwapPlan::Unfused => "unfused",
            VwapPlan::FirstCola => "cola-1",
            VwapPlan::SecondCola => "cola-2",
            VwapPlan::Manual => "manual",
            VwapPlan::Dynamic => "dynamic",
        }
    }

    /// Part of the copies that a run takes: 332 processes on a few cores take long.
    fn copies(self, copies: u32) -> u32 {
        match self {
            VwapPlan::Unfused => (copies / 50).max(1),
            _ => copies,
        }
    }
}

/// Lines of trades and quotes in the input, without that of the columns' names.
const LINES: u32 = 4_000;

/// The program, its input, plans and profiles, in a folder that is removed at the end.
struct VwapFolder {
    folder: PathBuf,
    thalweg: PathBuf,
}

impl VwapFolder {
    fn new(thalweg: PathBuf) -> Result<VwapFolder, Error> {
        const PROGRAM: &str = include_str!("../../../examples/vwap/Vwap332.spl");
        const MANUAL: &str = include_str!("../../../examples/vwap/manual.plan");
        const INPUT: &str = include_str!("../../../examples/vwap/data/TradesAndQuotes.csv");
        let folder = std::env::temp_dir().join(format!("thalweg-vwap-{}", std::process::id()));
        let files = VwapFolder { folder, thalweg };
        let columns = INPUT.lines().next().unwrap_or_default();
        let texts = [
            ("Vwap332.spl", PROGRAM),
            ("manual.plan", MANUAL),
            ("trades.csv", INPUT),
            ("none.csv", columns),
        ];
        let written = fs::create_dir_all(&files.folder).and_then(|()| {
            let mut texts = texts.iter();
            texts.try_for_each(|(name, text)| fs::write(files.folder.join(name), text))
        });
        written.map_err(|error| Error::system("write the program and its input", error))?;
        Ok(files)
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Seconds of a run with these options.
    fn seconds(&self, options: &[String], input: &str, copies: u32) -> Result<f64, Error> {
        let mut command = Command::new(&self.thalweg);
        command
            .arg("run")
            .args(options)
            .arg(self.path("Vwap332.spl"));
        command.arg(format!("input={}", self.path(input)));
        command.args(["output=/dev/null".to_owned(), format!("copies={copies}")]);
        let begin = Instant::now();
        run_to_end(command)?;
        Ok(begin.elapsed().as_secs_f64())
    }

    /// Writes the profile of a run with these options.
    fn profile(&self, name: &str, options: &[String], copies: u32) -> Result<(), Error> {
        let profile = ["--profile".to_owned(), self.path(name)];
        self.seconds(&[options, &profile].concat(), "trades.csv", copies)?;
        Ok(())
    }

    /// Options of a plan with a medium between processes.
    fn options(&self, plan: VwapPlan, medium: &str) -> Vec<String> {
        let optimised = |profile: &str| {
            let profile = self.path(profile);
            vec![
                "--fuse".to_owned(),
                "cola".to_owned(),
                "--use-profile".to_owned(),
                profile,
            ]
        };
        let mut options = match plan {
            VwapPlan::Unfused => vec!["--fuse".to_owned(), "none".to_owned()],
            VwapPlan::FirstCola => optimised("fused.profile"),
            VwapPlan::SecondCola => optimised(&format!("cola-{medium}.profile")),
            VwapPlan::Manual => vec!["--fuse".to_owned(), self.path("manual.plan")],
            VwapPlan::Dynamic => return ["--threading", "dynamic"].map(str::to_owned).to_vec(),
        };
        options.extend(["-F", medium].map(str::to_owned));
        options
    }
}

impl Drop for VwapFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Measures the plans, one after the other.
///
/// # Errors
/// A run fails.
pub fn vwap(bench: &mut BenchSession<'_>, what: &VwapOptions) -> Result<(), Error> {
    let files = VwapFolder::new(bench.settings.thalweg.clone())?;
    files.profile("fused.profile", &[], what.copies)?;
    for plan in &what.plans {
        let no_medium = [String::new()];
        let media = match plan {
            VwapPlan::Dynamic => &no_medium[..],
            _ => &what.media,
        };
        for medium in media {
            if *plan == VwapPlan::SecondCola {
                let first = files.options(VwapPlan::FirstCola, medium);
                files.profile(&format!("cola-{medium}.profile"), &first, what.copies)?;
            }
            measure(bench, &files, what.copies, (*plan, medium))?;
        }
    }
    Ok(())
}

fn measure(
    bench: &mut BenchSession<'_>,
    files: &VwapFolder,
    copies: u32,
    (plan, medium): (VwapPlan, &str),
) -> Result<(), Error> {
    let mut outcome = bench.empty_outcome(BenchCase {
        bench: "vwap",
        path: format!("{} {medium}", plan.name()).trim_end().to_owned(),
        control: "process with all operators",
        ..BenchCase::default()
    });
    outcome.runs = bench.settings.runs;
    let rate = |options: &[String], copies: u32| {
        let start = files.seconds(options, "none.csv", 1)?;
        let seconds = files.seconds(options, "trades.csv", copies)?;
        let tuples = f64::from(LINES) * f64::from(copies);
        // A run that is no longer than a start tells nothing of the rate.
        Ok::<_, Error>(tuples / (seconds - start).max(seconds / 100.0))
    };
    let options = files.options(plan, medium);
    for _ in 0..outcome.runs {
        outcome.control_samples.push(rate(&[], copies)?);
        outcome.samples.push(rate(&options, plan.copies(copies))?);
    }
    let pairs = outcome.samples.iter().zip(&outcome.control_samples);
    outcome.ratio = Some(median(pairs.map(|(own, control)| own / control)));
    outcome.tuples_per_s = Some(median(outcome.samples.iter().copied()));
    outcome.control_tuples_per_s = Some(median(outcome.control_samples.iter().copied()));
    bench.add_outcome(outcome);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_has_its_number_of_lines_and_is_removed() {
        let files = VwapFolder::new("thalweg".into()).unwrap();
        let input = fs::read_to_string(files.path("trades.csv")).unwrap();
        assert_eq!(input.lines().count(), LINES as usize + 1);
        let folder = files.folder.clone();
        drop(files);
        assert!(!folder.exists());
    }
}
