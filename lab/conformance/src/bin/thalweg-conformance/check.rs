//! `check`: all behaviours of a library one after the other, and the report on them.

use std::io::{self, Write};
use std::process::ExitCode;

use conformance::TestOutcome;
use conformance::child::TestFailure;
use serde_json::{Value, json};

use crate::args::MediumCheckArgs;
use crate::isolated::{ChildEnd, run_child};
use crate::verdict::{MediumVerdict, VerdictKind};

/// Tests a library and prints the report. The exit status says whether all behaviours passed.
pub fn check(args: &MediumCheckArgs) -> ExitCode {
    let passed = report(args);
    match passed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(failure) => {
            eprintln!("thalweg: {failure}");
            ExitCode::from(1)
        }
    }
}

/// Whether all behaviours passed.
///
/// # Errors
/// The library cannot be loaded, or has no behaviour of this name.
fn report(args: &MediumCheckArgs) -> Result<bool, TestFailure> {
    let names = names(args)?;
    let mut verdicts = Vec::new();
    for name in &names {
        let timeout_ms = args.timeout.as_millis().to_string();
        let end = run_child(
            &["test"],
            &args.library,
            &[name, &timeout_ms],
            args.deadline,
        )?;
        let verdict = MediumVerdict::new(&end, args.deadline);
        if !args.json {
            print_line(&line(name, &verdict))?;
        }
        verdicts.push(verdict);
    }
    let passed = verdicts
        .iter()
        .filter(|v| v.kind == VerdictKind::Passed)
        .count();
    let failed = verdicts.len() - passed;
    match args.json {
        true => print_line(&format!("{:#}", to_json(args, &names, &verdicts)))?,
        false => print_line(&summary(passed, failed))?,
    }
    Ok(failed == 0)
}

/// Names of the behaviours to test.
fn names(args: &MediumCheckArgs) -> Result<Vec<String>, TestFailure> {
    let end = run_child(&["list"], &args.library, &[], args.deadline)?;
    if let ChildEnd::Done(status, output) = &end
        && status.success()
    {
        let names = output.stdout.lines().map(str::to_owned);
        let part = args.only.as_deref().unwrap_or_default();
        let names: Vec<_> = names.filter(|name| name.contains(part)).collect();
        return match names.is_empty() {
            false => Ok(names),
            true => Err(format!("the library has no behaviour with {part} in its name").into()),
        };
    }
    let verdict = MediumVerdict::new(&end, args.deadline);
    Err(match verdict.kind {
        VerdictKind::Crashed | VerdictKind::Blocked => format!(
            "{}: {}, while it was loaded and asked for an edge",
            args.library.display(),
            verdict.sentence
        )
        .into(),
        _ => verdict.sentence.into(),
    })
}

fn line(name: &str, verdict: &MediumVerdict) -> String {
    match verdict.kind {
        VerdictKind::Passed => format!("passed   {name}"),
        kind => format!(
            "{:<8} {name}: {}",
            kind.word().to_uppercase(),
            verdict.sentence
        ),
    }
}

fn summary(passed: usize, failed: usize) -> String {
    let behaviours = match passed + failed {
        1 => "1 behaviour".to_owned(),
        count => format!("{count} behaviours"),
    };
    match failed {
        0 => format!("{behaviours}, all passed"),
        failed => format!("{behaviours}, {failed} not shown"),
    }
}

fn to_json(args: &MediumCheckArgs, names: &[String], verdicts: &[MediumVerdict]) -> Value {
    let behaviours = names.iter().zip(verdicts).map(|(name, verdict)| {
        json!({ "name": name, "verdict": verdict.kind.word(), "sentence": verdict.sentence })
    });
    let behaviours: Vec<_> = behaviours.collect();
    json!({ "library": args.library.to_string_lossy(), "behaviours": behaviours })
}

/// Prints a line at once, as the next behaviour may take minutes.
fn print_line(line: &str) -> TestOutcome {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
