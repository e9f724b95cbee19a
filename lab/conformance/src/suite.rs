//! The suite as programs run it: the tests of a medium, and the roles of their children.

use std::path::Path;
use std::process::ExitCode;

use transport::{Medium, media};

use crate::behaviours::{self, Needs};
use crate::child::TestFailure;
use crate::rig::{MediumTest, Rig};
use crate::{broken, kill, play, rails, rdma_settings, single};

/// Plays the role of a child, if the program was started as one. Otherwise `None`.
pub fn play_child(arguments: &[String]) -> Option<ExitCode> {
    let (first, rest) = arguments.split_first()?;
    (first == "child").then(|| {
        play::play(rest, find, |name| {
            behaviours::role(name).or_else(|| kill::role(name))
        })
    })
}

/// The tests of a medium: the behaviours that its capabilities allow.
pub fn tests_of(rig: Rig) -> Vec<MediumTest> {
    let (grant, caps) = (rig.has_grant(), rig.medium.caps());
    let capable = Needs {
        several: caps.receivers_max > 1,
        processes: caps.crosses_processes,
        grant,
        lone_grant: grant && behaviours::grants_lone_frames(rig),
    };
    let asked = behaviours::all().into_iter();
    let asked = asked.filter(|behaviour| behaviour.needs.are_met_by(capable));
    asked
        .map(|behaviour| (behaviour.name, behaviour.run))
        .collect()
}

/// Whether a behaviour has ends in several processes, which have to be ranks if the medium joins
/// ranks.
pub fn needs_ranks(name: &str) -> bool {
    let all = behaviours::all().into_iter();
    let mut of_processes = all.filter(|behaviour| behaviour.needs.processes);
    of_processes.any(|behaviour| behaviour.name == name)
}

/// The medium that a child is started for: the file of a library, or a name. Looks for no other
/// library, which takes time.
fn find(word: &str) -> Result<&'static dyn Medium, TestFailure> {
    if word.contains('/') {
        return Ok(media::plugin::load(Path::new(word))?);
    }
    let own: [&'static dyn Medium; 5] = [
        &broken::WHOLE,
        &single::Single,
        &rails::Rails::RUM,
        &rails::Rails::TCP,
        &rails::Rails::RDMA,
    ];
    let settings = rdma_settings::RDMA_SETTINGS.iter();
    let settings = settings.map(|medium| -> &'static dyn Medium { medium });
    let own = own.into_iter().chain(settings);
    let own = own.into_iter().find(|medium| medium.name() == word);
    let found = own
        .or_else(|| media::find(word))
        .or_else(|| broken::find(word));
    found.ok_or_else(|| format!("there is no medium {word}").into())
}
