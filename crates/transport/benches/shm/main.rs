//! Shared memory between two processes, through the contract and bare.
//!
//! ```text
//!   process, core 0                          process, core 1
//!     copy in -> claim, commit  ==ring==>  poll, add up all words, release
//! ```
//! Beside it, in the same turn: the same frames on the same ring without the contract's dynamic
//! calls; a bare ring of words between two threads that publishes its index each 32 KB; blocks of
//! 256 KB handed from thread to thread, which is what copying from core to core can do at best.
//! Results are ratios, medians of several turns. Times in which one of the two sides had no
//! processor are left out, so that other programs on the machine do not decide; `NaN` is when there
//! were no others.

mod bare;
mod calls;
mod latency;
mod library;
mod paths;
mod pin;
mod rate;
mod silence;
mod windows;

use std::process::ExitCode;

use conformance::child::{TestFailure, TestOutcome};

/// Turns of each contender, of which the median counts.
const TURNS: usize = 9;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match &arguments[..] {
        [role, rest @ ..] if role == "child" => paths::child(rest),
        _ => report(arguments.iter().find(|argument| !argument.starts_with('-'))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all parts, or the part of this name; `second`, which mostly waits, only by its name.
fn report(only: Option<&String>) -> TestOutcome {
    pin::begin()?;
    let is_asked = |part: &str| only.is_none_or(|only| only == part);
    if is_asked("rate") {
        rate::one_to_one()?;
    }
    if is_asked("calls") {
        calls::on_one_thread()?;
    }
    if is_asked("latency") {
        latency::ping_pong()?;
    }
    if is_asked("silence") {
        silence::first_frame(&silence::SHORT)?;
    }
    if only.is_some_and(|only| only == "second") {
        silence::first_frame(&silence::LONG)?;
    }
    if is_asked("library") {
        library::beside_rust()?;
    }
    if is_asked("many") {
        rate::one_to_many()?;
        calls::of_the_sender()?;
    }
    Ok(())
}

/// Median result of each contender, over its turns.
fn medians<const N: usize>(
    mut turn: impl FnMut() -> Result<[f64; N], TestFailure>,
) -> Result<[f64; N], TestFailure> {
    let turns: Result<Vec<_>, _> = (0..TURNS).map(|_| turn()).collect();
    let turns = turns?;
    Ok(std::array::from_fn(|contender| {
        let results = turns.iter().map(|turn| turn[contender]);
        control::median(results.filter(|result| !result.is_nan()))
    }))
}
