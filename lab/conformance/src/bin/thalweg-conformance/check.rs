//! `check`: all behaviours of a library one after the other, and the report on them.

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use conformance::TestOutcome;
use conformance::child::TestFailure;
use serde_json::{Value, json};

use crate::args::MediumCheckArgs;
use crate::isolated::{ChildEnd, NEEDS_DEATHS, NEEDS_RANKS, run_child};
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
    for (name, needs) in &names {
        let verdict = test(args, name, needs)?;
        if !args.json {
            print_line(&line(name, &verdict))?;
        }
        verdicts.push(verdict);
    }
    let passed = verdicts
        .iter()
        .filter(|v| v.kind == VerdictKind::Passed)
        .count();
    let over = verdicts
        .iter()
        .filter(|v| v.kind == VerdictKind::PassedOver)
        .count();
    let failed = verdicts.len() - passed - over;
    match args.json {
        true => print_line(&format!("{:#}", to_json(args, &names, &verdicts)))?,
        false => print_line(&summary(passed, failed, over))?,
    }
    Ok(failed == 0)
}

/// Tests one behaviour in a process of its own, or in ranks.
fn test(args: &MediumCheckArgs, name: &str, needs: &str) -> Result<MediumVerdict, TestFailure> {
    let launcher = args.launcher.as_deref().unwrap_or_default();
    let launcher: Vec<_> = launcher.split_whitespace().collect();
    let timeout_ms = args.timeout.as_millis().to_string();
    let mut more = vec![name, &timeout_ms];
    let socket = env::temp_dir().join(format!("thalweg-conformance-{}", std::process::id()));
    let socket = socket.to_str().ok_or("the temporary folder is no UTF-8")?;
    if needs == NEEDS_DEATHS {
        let why = "the death of a rank ends the whole job of ranks";
        return Ok(MediumVerdict::passed_over(why));
    }
    if needs == NEEDS_RANKS && launcher.is_empty() {
        let why = "its processes have to be ranks: --launcher 'mpirun -n 3'";
        return Ok(MediumVerdict::passed_over(why));
    }
    if !launcher.is_empty() {
        more.push(socket);
    }
    let end = run_child(&launcher, &["test"], &args.library, &more, args.deadline);
    if !launcher.is_empty() {
        // A rank 0 that was killed has left it.
        let _ = std::fs::remove_file(socket);
    }
    Ok(MediumVerdict::new(&end?, args.deadline))
}

/// Names of the behaviours to test, each with what it needs.
fn names(args: &MediumCheckArgs) -> Result<Vec<(String, String)>, TestFailure> {
    let end = run_child(&[], &["list"], &args.library, &[], args.deadline)?;
    if let ChildEnd::Done(status, output) = &end
        && status.success()
    {
        let lines = output.stdout.lines();
        let names = lines.filter_map(|line| line.split_once(' '));
        let part = args.only.as_deref().unwrap_or_default();
        let names = names.filter(|(name, _)| name.contains(part));
        let names: Vec<_> = names
            .map(|(name, needs)| (name.to_owned(), needs.to_owned()))
            .collect();
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

fn summary(passed: usize, failed: usize, over: usize) -> String {
    let over = match over {
        0 => String::new(),
        over => format!(", {over} passed over"),
    };
    let behaviours = match passed + failed {
        1 => "1 behaviour".to_owned(),
        count => format!("{count} behaviours"),
    };
    match failed {
        0 => format!("{behaviours}, all passed{over}"),
        failed => format!("{behaviours}, {failed} not shown{over}"),
    }
}

fn to_json(
    args: &MediumCheckArgs,
    names: &[(String, String)],
    verdicts: &[MediumVerdict],
) -> Value {
    let behaviours = names.iter().zip(verdicts).map(|((name, _), verdict)| {
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
