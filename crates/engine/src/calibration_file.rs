//! The file with a machine's calibration, which plans are made with.

use std::env;
use std::path::{Path, PathBuf};

use planner::{Calibration, default_calibration_file, processor_name};

use crate::error::Error;
use crate::plan::usable_core_count;
use crate::sources::bounded;

/// A calibration, and a note on it for the user.
#[derive(Clone, Debug)]
pub struct LoadedCalibration {
    /// The costs by which `auto` may choose: all but those of `rdma` over sockets.
    pub calibration: Calibration,
    /// A sentence, if the file is one of another machine.
    pub note: Option<String>,
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
    let note = note.map(|note| format!("{}: {note}", path.display()));
    // Over sockets `rum` is what `auto` takes: it survives a broken connection, and notices a
    // network that falls silent.
    calibration.media.retain(|cost| {
        let mut words = cost.settings.split_whitespace();
        cost.medium != "rdma" || !words.any(|word| word == "provider=tcp")
    });
    Ok(Some(LoadedCalibration { calibration, note }))
}

fn user_calibration_file() -> Option<PathBuf> {
    let (cache, home) = (env::var_os("XDG_CACHE_HOME"), env::var_os("HOME"));
    default_calibration_file(cache.as_deref(), home.as_deref())
}

fn processor() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo");
    processor_name(&cpuinfo.unwrap_or_default())
}
