//! `thalweg test`: runs the tests that stand beside programs, and reports as cargo does.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use clap::Args as ClapArgs;

use crate::failure::CommandFailure;
use crate::output::write_stdout;
use crate::program::shell_words;
use crate::testing::{CaseOutcome, TestCase, TestFile, bless, find_test_files, run_case};

/// Arguments of `thalweg test`.
#[derive(Debug, ClapArgs)]
pub struct TestCommandArgs {
    /// Folders, programs, or test files (`NAME.test.toml`)
    #[arg(default_value = ".")]
    pub paths: Vec<PathBuf>,

    /// Run only tests whose file, name or plan contains this text
    #[arg(long, value_name = "PART")]
    pub only: Option<String>,

    /// Write what the runs give into the test files, in place of what is expected
    #[arg(long)]
    pub bless: bool,

    /// Runs at the same time [default: as many as the command may use cores]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}

/// A test on one of its plans.
struct PlannedRun<'f> {
    file: &'f TestFile,
    case: &'f TestCase,
    plan: Vec<String>,
    /// Name in reports: file, test, plan.
    name: String,
    /// The first plan of the test, whose results are blessed.
    is_first: bool,
}

/// Runs all tests, and fails if one of them does.
pub fn run(args: TestCommandArgs) -> Result<(), CommandFailure> {
    let begin = Instant::now();
    let paths = find_test_files(&args.paths)?;
    if paths.is_empty() {
        let message = "there are no tests here; those of NAME.spl are in NAME.test.toml beside it";
        return Err(CommandFailure::Usage(message.to_owned()));
    }
    let files = paths.iter().map(|path| TestFile::read(path));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    let mut runs = Vec::new();
    for file in &files {
        for case in &file.cases {
            add_runs(file, case, &mut runs)?;
        }
    }
    let all = runs.len();
    if let Some(part) = &args.only {
        runs.retain(|run| run.name.contains(part.as_str()));
    }
    let plural = if runs.len() == 1 { "" } else { "s" };
    write_stdout(&format!("running {} test{plural}\n", runs.len()))?;
    let cores = || engine::usable_core_count().max(1) as usize;
    let jobs = args.jobs.map_or_else(cores, usize::from);
    let outcomes = execute(&runs, jobs)?;
    let mut failed: Vec<_> = runs.iter().zip(&outcomes).collect();
    failed.retain(|(_, outcome)| !outcome.failures.is_empty());
    if args.bless {
        return bless_failed(&failed);
    }
    report_failures(&failed)?;
    let word = if failed.is_empty() { "ok" } else { "FAILED" };
    write_stdout(&format!(
        "\ntest result: {word}. {} passed; {} failed; {} left out; finished in {:.2}s\n",
        runs.len() - failed.len(),
        failed.len(),
        all - runs.len(),
        begin.elapsed().as_secs_f64()
    ))?;
    match failed.is_empty() {
        true => Ok(()),
        false => Err(CommandFailure::Reported),
    }
}

fn add_runs<'f>(
    file: &'f TestFile,
    case: &'f TestCase,
    runs: &mut Vec<PlannedRun<'f>>,
) -> Result<(), CommandFailure> {
    for (at, plan) in case.plans.iter().enumerate() {
        let shown = file.path.strip_prefix(".").unwrap_or(&file.path).display();
        let words = shell_words(plan)
            .map_err(|why| CommandFailure::Program(format!("{shown}: the plan `{plan}` {why}")))?;
        let name = match plan.is_empty() {
            true => format!("{shown}: {}", case.name),
            false => format!("{shown}: {} ({plan})", case.name),
        };
        runs.push(PlannedRun {
            file,
            case,
            plan: words.0,
            name,
            is_first: at == 0,
        });
    }
    Ok(())
}

/// Runs tests on threads; a line for each as it ends, outcomes in the order of the tests.
fn execute(runs: &[PlannedRun<'_>], jobs: usize) -> Result<Vec<CaseOutcome>, CommandFailure> {
    let next = AtomicUsize::new(0);
    let (sender, ended) = mpsc::channel();
    let mut outcomes: Vec<Option<CaseOutcome>> = runs.iter().map(|_| None).collect();
    thread::scope(|scope| {
        for _ in 0..jobs.min(runs.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(run) = runs.get(at) else {
                        return;
                    };
                    let outcome = run_case(run.file, run.case, &run.plan);
                    if sender.send((at, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (at, outcome) in ended {
            let word = if outcome.failures.is_empty() {
                "ok"
            } else {
                "FAILED"
            };
            write_stdout(&format!("test {} ... {word}\n", runs[at].name))?;
            outcomes[at] = Some(outcome);
        }
        Ok::<(), CommandFailure>(())
    })?;
    Ok(outcomes.into_iter().flatten().collect())
}

fn report_failures(failed: &[(&PlannedRun<'_>, &CaseOutcome)]) -> Result<(), CommandFailure> {
    if failed.is_empty() {
        return Ok(());
    }
    write_stdout("\nfailures:\n")?;
    for (run, outcome) in failed {
        write_stdout(&format!("\n---- {} ----\n", run.name))?;
        for failure in &outcome.failures {
            write_stdout(&format!("{}\n", failure.trim_end()))?;
        }
    }
    Ok(())
}

/// Writes what failed tests gave on their first plans into their files.
fn bless_failed(failed: &[(&PlannedRun<'_>, &CaseOutcome)]) -> Result<(), CommandFailure> {
    let mut unblessed = Vec::new();
    let mut by_file: Vec<(&TestFile, BTreeMap<_, _>)> = Vec::new();
    for (run, outcome) in failed.iter().filter(|(run, _)| run.is_first) {
        let Some(texts) = &outcome.texts else {
            unblessed.push((*run, *outcome));
            continue;
        };
        if by_file
            .last()
            .is_none_or(|(file, _)| file.path != run.file.path)
        {
            by_file.push((run.file, BTreeMap::new()));
        }
        if let Some((_, texts_of_file)) = by_file.last_mut() {
            texts_of_file.insert(run.case.index, texts);
        }
    }
    for (file, texts) in &by_file {
        bless(file, texts)?;
        write_stdout(&format!(
            "blessed {} of {}\n",
            texts.len(),
            file.path.display()
        ))?;
    }
    report_failures(&unblessed)?;
    match unblessed.is_empty() {
        true => Ok(()),
        false => Err(CommandFailure::Reported),
    }
}
