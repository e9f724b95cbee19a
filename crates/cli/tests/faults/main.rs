//! Runs of the command in which one system call fails once: whatever fails, a run goes on as if
//! nothing had been, or ends and says why. It never hangs, panics, or loses tuples in silence, and
//! it leaves no process behind.
//!
//! Everyday a part of all cases is run; `THALWEG_FAULTS=all` runs each call with each error from
//! its first to its twentieth time, in every process of every program, which takes an hour or two,
//! and `THALWEG_FAULTS=shm:1:sendmsg` those whose names begin so.

mod calls;
mod inject;
mod programs;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use calls::{CALLS, Failure, failures};
use inject::{Case, Fate};
use programs::{PROGRAMS, Program};

/// Times that a call may have been made before it fails.
const TIMES: u32 = 20;

/// Everyday one of so many is run, of calls in every process and on every medium.
const STEP: usize = 7;

/// The time at which each of these fails, by turns.
const NTH: [u32; 5] = [1, 2, 3, 5, 8];

/// A call of one process with one of its errors, which fails at one time or at each of them.
#[derive(Clone, Copy)]
struct Series {
    program: &'static Program,
    process: u32,
    failure: Failure,
}

fn all() -> Vec<Series> {
    let processes = PROGRAMS.iter().flat_map(|program| {
        let processes = 0..if program.processes > 1 { 3 } else { 1 };
        processes.map(move |process| (program, process))
    });
    let series = processes.flat_map(|(program, process)| {
        failures().map(move |failure| Series {
            program,
            process,
            failure,
        })
    });
    series.collect()
}

impl Series {
    fn case(self, nth: u32) -> Case<'static> {
        Case {
            program: self.program,
            process: self.process,
            failure: self.failure,
            nth,
        }
    }

    /// Runs it at these times, until there are no more calls; what went wrong.
    fn run(self, times: impl Iterator<Item = u32>) -> Vec<String> {
        let mut wrong = Vec::new();
        for nth in times {
            let case = self.case(nth);
            match case.run() {
                Fate::NotReached => break,
                Fate::Right => {}
                Fate::Wrong(what) => wrong.push(format!("{}: {what}", case.name())),
            }
        }
        wrong
    }
}

/// Does work on all processors; what went wrong.
fn in_parallel(count: usize, work: impl Fn(usize) -> Vec<String> + Sync) -> Vec<String> {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        return;
                    }
                    let found = work(at);
                    found.iter().for_each(|found| eprintln!("{found}"));
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}

#[test]
fn a_call_that_fails_once_is_tried_again_or_said() {
    let wanted = std::env::var("THALWEG_FAULTS").unwrap_or_default();
    let mut series = all();
    let wrong = if wanted.is_empty() {
        let few: Vec<_> = series.into_iter().step_by(STEP).collect();
        in_parallel(few.len(), |at| {
            few[at].run([NTH[at % NTH.len()]].into_iter())
        })
    } else {
        if wanted != "all" {
            series.retain(|series| series.case(0).name().starts_with(&wanted));
        }
        in_parallel(series.len(), |at| series[at].run(1..=TIMES))
    };
    assert!(
        wrong.is_empty(),
        "{} of them:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Rows of the table in the docs: call, errors that come to nothing, those that may come to an
/// error.
fn documented() -> Vec<[String; 3]> {
    let page = include_str!("../../../../docs/system-calls.md");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.map(|row| {
        let mut cells = row.split('|').skip(1);
        std::array::from_fn(|_| cells.next().unwrap().replace('`', "").trim().to_owned())
    });
    cells.collect()
}

#[test]
fn the_table_of_the_docs_is_that_of_the_test() {
    let row = |(call, nothing, error): (&str, &[&str], &[&str])| {
        [call.to_owned(), nothing.join(" "), error.join(" ")]
    };
    let tested: Vec<_> = CALLS.iter().copied().map(row).collect();
    assert_eq!(documented(), tested);
}
