//! The file with a machine's calibration, which plans are made with.

use std::env;
use std::path::{Path, PathBuf};

use planner::{Calibration, MediumCost, MediumReach, default_calibration_file, processor_name};

use crate::error::Error;
use crate::plan::{check_medium_settings, media, usable_core_count};
use crate::sources::bounded;

/// Name of the operators of a thread in a calibration, which no medium joins.
const FUSED: &str = "fused";

/// A calibration, and notes on it for the user.
#[derive(Clone, Debug)]
pub struct LoadedCalibration {
    /// The costs by which `auto` may choose: those of media that there are, but for `rdma` over
    /// sockets.
    pub calibration: Calibration,
    /// Sentences: the file is one of another machine, or has media that there are not.
    pub notes: Vec<String>,
}

/// Reads the calibration in `file`, else that in the user's cache folder, if there is one.
///
/// # Errors
/// [`Error::Read`] if the file cannot be read, [`Error::Plan`] with line and column if it is
/// garbled. A missing file in the cache folder is none.
pub fn load_calibration(file: Option<&Path>) -> Result<Option<LoadedCalibration>, Error> {
    let (path, is_named) = match (file, user_calibration_file()) {
        (Some(file), _) => (file.to_owned(), true),
        (None, Some(file)) => (file, false),
        (None, None) => return Ok(None),
    };
    if !is_named && !path.is_file() {
        return Ok(None);
    }
    let text = bounded::read_text(&path).map_err(|error| Error::read(&path, error))?;
    let calibration = Calibration::parse(&text);
    let mut calibration =
        calibration.map_err(|error| Error::Plan(format!("{}:{error}", path.display())))?;
    let note = calibration.machine_note(&processor(), usable_core_count());
    let mut notes = Vec::from_iter(note);
    calibration.media.retain(|cost| match check_cost(cost) {
        Ok(()) => true,
        Err(why) => {
            notes.push(why);
            false
        }
    });
    let notes = notes
        .iter()
        .map(|note| format!("{}: {note}", path.display()));
    let notes = notes.collect();
    // Over sockets `rum` is what `auto` takes: it survives a broken connection, and notices a
    // network that falls silent.
    calibration.media.retain(|cost| {
        let mut words = cost.settings.split_whitespace();
        cost.medium != "rdma" || !words.any(|word| word == "provider=tcp")
    });
    Ok(Some(LoadedCalibration { calibration, notes }))
}

/// Checks that there is the medium of a cost, with its settings. That of a library is there only if
/// its folder was searched.
///
/// # Errors
/// A sentence: the cost has no effect.
fn check_cost(cost: &MediumCost) -> Result<(), String> {
    let reach = match cost.reach {
        MediumReach::WithinHost => "within",
        MediumReach::BetweenHosts => "between",
    };
    let (medium, settings) = (&*cost.medium, &*cost.settings);
    let line = [reach, medium, settings].join(" ");
    let no_effect = |why: String| format!("the line `{}` has no effect: {why}", line.trim_end());
    let media = media();
    if medium != FUSED && !media.iter().any(|one| one.name == medium) {
        let names = media.iter().filter(|one| !one.is_for_tests);
        let help = match syntax::nearest(medium, names.map(|one| one.name).chain([FUSED])) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "--media-path names folders with media of libraries".to_owned(),
        };
        return Err(no_effect(format!("there is no medium `{medium}`; {help}")));
    }
    match settings {
        "" => Ok(()),
        _ => check_medium_settings(medium, settings).map_err(no_effect),
    }
}

fn user_calibration_file() -> Option<PathBuf> {
    let (cache, home) = (env::var_os("XDG_CACHE_HOME"), env::var_os("HOME"));
    default_calibration_file(cache.as_deref(), home.as_deref())
}

/// The name of this machine's processor.
pub(crate) fn processor() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo");
    processor_name(&cpuinfo.unwrap_or_default())
}
