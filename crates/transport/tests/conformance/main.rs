//! The conformance suite: every behaviour on every registered medium that is capable of it, and on
//! the reference medium, one with a single receiver, `rum`, `tcp` and `rum-rdma` with rails; and
//! every broken medium caught.
//!
//! ```text
//!   cargo test -p thalweg-transport --test conformance             all of it
//!   cargo test -p thalweg-transport --test conformance -- shm::    one medium
//!   cargo test -p thalweg-transport --test conformance -- wake     some behaviours
//!   cargo test -p thalweg-transport --test conformance -- kill     SIGKILL at 50 points
//! ```

extern crate thalweg_transport as transport;

use std::alloc::System;
use std::num::NonZero;
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::time::Duration;

use conformance::{MediumTest, RDMA_SETTINGS, Rails, Rig, Single, TestOutcome, broken, kill};
use libtest_mimic::{Arguments, Failed, Trial};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use transport::{Medium, media};

/// Counts allocations, of which a warm edge has none.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Longest time that any step may take; longer means that it hangs. No test depends on how fast the
/// machine is.
const PATIENCE: Duration = Duration::from_secs(300);

/// Trials at once: kill tests wait for processes three quarters of their time.
fn threads() -> usize {
    4 * available_parallelism().map_or(1, NonZero::get)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(exit) = conformance::play_child(&arguments) {
        return exit;
    }
    name_missing();
    let suite = media().into_iter().flat_map(trials);
    let broken_media = broken::all().map(|(medium, behaviour)| {
        let name = format!("broken::{}::{behaviour}", medium.name());
        trial(name, move || broken::is_caught(medium, behaviour))
    });
    let complete = trial(
        "broken::every_behaviour_can_fail".to_owned(),
        broken::every_behaviour_can_fail,
    );
    let kills = kill::MEDIA.iter().filter_map(|promise| {
        let mut media = media().into_iter();
        media.find(|medium| medium.name() == promise.medium)
    });
    // Those over libfabric take longest, for each of their processes loads it.
    let (fabric, other): (Vec<_>, Vec<_>) =
        kills.partition(|medium| medium.name().contains("rdma"));
    let kills = fabric.into_iter().chain(other).flat_map(kills_of);
    // Kills first: some take minutes, in which the others run beside them.
    let trials = kills.chain(suite).chain(broken_media).chain([complete]);
    let trials = trials.collect();
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert_with(threads);
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Every medium that is under test: those whose libraries are installed.
fn media() -> Vec<&'static dyn Medium> {
    let reference: &'static dyn Medium = &broken::WHOLE;
    let own = [reference, &Single, &Rails::RUM, &Rails::TCP];
    let rails: &'static dyn Medium = &Rails::RDMA;
    let found = rdma_settings().chain([rails]);
    let found = found.filter(|medium| medium.check_available().is_ok());
    let own = own.into_iter().chain(found);
    own.chain(media::available()).collect()
}

/// The medium `rdma` with each of its settings.
fn rdma_settings() -> impl Iterator<Item = &'static dyn Medium> {
    RDMA_SETTINGS
        .iter()
        .map(|medium| -> &'static dyn Medium { medium })
}

/// Says which media are not tested, and why.
fn name_missing() {
    for medium in media::all().into_iter().chain(rdma_settings()) {
        if let Err(why) = medium.check_available() {
            eprintln!("PASSED OVER: the medium {}, for {why}", medium.name());
        }
    }
}

fn rig(medium: &'static dyn Medium) -> Rig {
    let patience = PATIENCE;
    Rig { medium, patience }
}

/// Tests of a medium: the behaviours that its capabilities allow.
fn trials(medium: &'static dyn Medium) -> Vec<Trial> {
    let tests = conformance::tests_of(rig(medium)).into_iter();
    let trials = tests.map(|(name, run)| {
        let name = format!("{}::{name}", medium.name());
        let repeat = repeat(medium, &name);
        trial(name, move || {
            run(rig(medium)).map_err(|failure| format!("{failure}{repeat}").into())
        })
    });
    trials.collect()
}

/// Kill tests of a medium between processes.
fn kills_of(medium: &'static dyn Medium) -> Vec<Trial> {
    let inside = kill::inside_of(medium.name());
    let kills = kill::all().into_iter().chain(inside);
    let trials = kills.map(|(name, run): MediumTest| {
        let name = format!("{}::kill::{name}", medium.name());
        trial(name, move || run(rig(medium)))
    });
    trials.collect()
}

/// Command that repeats a failed test with its seed.
fn repeat(medium: &dyn Medium, name: &str) -> String {
    if medium.name() != "sim" {
        return String::new();
    }
    let (variable, seed) = (media::sim::SEED_VARIABLE, *media::sim::SEED);
    format!(
        "\nto repeat it: {variable}={seed} cargo test -p thalweg-transport --test conformance -- {name}"
    )
}

fn trial(name: String, run: impl FnOnce() -> TestOutcome + Send + 'static) -> Trial {
    Trial::test(name, move || run().map_err(Failed::from))
}
