//! The conformance suite: every behaviour on every registered medium that is capable of it, and on
//! the reference medium, one with a single receiver and `rum` with rails; and every broken medium
//! caught.
//!
//! ```text
//!   cargo test -p thalweg-transport --test conformance             all of it
//!   cargo test -p thalweg-transport --test conformance -- shm::    one medium
//!   cargo test -p thalweg-transport --test conformance -- wake     some behaviours
//!   cargo test -p thalweg-transport --test conformance -- kill     SIGKILL at 50 points
//! ```

extern crate thalweg_transport as transport;

mod behaviours;
mod broken;
#[path = "../child/mod.rs"]
mod child;
mod compiled;
mod granting;
mod kill;
mod play;
mod rails;
mod reference;
mod reference_ends;
mod rig;
mod script;
mod single;

use std::process::ExitCode;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use transport::{Medium, media};

use crate::behaviours::{Behaviour, Needs};
use crate::rig::{Outcome, Rig};

/// Longest time that any step may take; longer means that it hangs. No test depends on how fast the
/// machine is.
const PATIENCE: Duration = Duration::from_secs(300);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [role, rest @ ..] = &arguments[..]
        && role == "child"
    {
        return play::play(rest, find, |name| {
            behaviours::role(name).or_else(|| kill::role(name))
        });
    }
    name_missing();
    let suite = media().into_iter().flat_map(trials);
    let broken = broken::all().map(|(medium, behaviour)| {
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
    let kills = kills.flat_map(kills_of);
    let trials = suite.chain(kills).chain(broken).chain([complete]);
    let trials = trials.collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Every medium that is under test: those whose libraries are installed.
fn media() -> Vec<&'static dyn Medium> {
    let reference: &'static dyn Medium = &broken::WHOLE;
    let own = [reference, &single::Single, &rails::Rails];
    own.into_iter().chain(media::available()).collect()
}

/// Says which media are not tested, and why.
fn name_missing() {
    for medium in media::all() {
        if let Err(why) = medium.check_available() {
            eprintln!("PASSED OVER: the medium {}, for {why}", medium.name());
        }
    }
}

/// A medium under test, or a broken one. Loads no library: a child asks for its one medium.
fn find(name: &str) -> Option<&'static dyn Medium> {
    let own: [&'static dyn Medium; 3] = [&broken::WHOLE, &single::Single, &rails::Rails];
    let own = own.into_iter().find(|medium| medium.name() == name);
    own.or_else(|| media::find(name))
        .or_else(|| broken::find(name))
}

/// Tests of a medium: the behaviours that its capabilities allow.
fn trials(medium: &'static dyn Medium) -> Vec<Trial> {
    let rig = Rig {
        medium,
        patience: PATIENCE,
    };
    let grant = has_grant(rig);
    let capable = Needs {
        several: medium.open(&rig.spec(2)).is_ok() || medium.caps().is_one_to_many,
        processes: medium.caps().crosses_processes,
        grant,
        lone_grant: grant && behaviours::grants_lone_frames(rig),
    };
    let asked = behaviours::all().into_iter();
    let asked = asked.filter(|behaviour| behaviour.needs.are_met_by(capable));
    let asked = asked.map(|Behaviour { name, run, .. }| {
        let name = format!("{}::{name}", medium.name());
        let repeat = repeat(medium, &name);
        trial(name, move || {
            run(rig).map_err(|failure| format!("{failure}{repeat}").into())
        })
    });
    asked.collect()
}

/// Whether compiled code may write frames in place.
fn has_grant(rig: Rig) -> bool {
    let opened = rig.medium.open(&rig.spec(1));
    opened.is_ok_and(|(mut out, _)| out.grant().is_some())
}

/// Kill tests of a medium between processes.
fn kills_of(medium: &'static dyn Medium) -> Vec<Trial> {
    let rig = Rig {
        medium,
        patience: PATIENCE,
    };
    let inside = kill::inside_of(medium.name());
    let kills = kill::all().into_iter().chain(inside).map(|(name, run)| {
        let name = format!("{}::kill::{name}", medium.name());
        trial(name, move || run(rig))
    });
    kills.collect()
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

fn trial(name: String, run: impl FnOnce() -> Outcome + Send + 'static) -> Trial {
    Trial::test(name, move || run().map_err(Failed::from))
}
