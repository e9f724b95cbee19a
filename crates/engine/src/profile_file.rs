//! The file with a profile of earlier runs, which plans are made from.

use std::path::Path;

use planner::Profile;

use crate::calibration_file::processor;
use crate::error::Error;
use crate::plan::usable_core_count;
use crate::sources::bounded;

/// A profile, and notes on it for the user.
#[derive(Clone, Debug)]
pub struct LoadedProfile {
    /// The profile as the file has it.
    pub profile: Profile,
    /// Sentences: the profile is one of another machine.
    pub notes: Vec<String>,
}

/// Reads the profile in a file.
///
/// # Errors
/// [`Error::Read`] if the file cannot be read, [`Error::Plan`] with line and column if it is
/// garbled.
pub fn load_profile(file: &Path) -> Result<LoadedProfile, Error> {
    let text = bounded::read_text(file).map_err(|error| Error::read(file, error))?;
    let profile = Profile::parse(&text);
    let profile = profile.map_err(|error| Error::Plan(format!("{}:{error}", file.display())))?;
    let (here, cores) = (processor(), usable_core_count());
    let is_here = profile.processor == here && profile.cores == cores;
    let notes = (!is_here).then(|| {
        format!(
            "{}: the profile is of another machine ({}, {} cores), and this one has {here}, {cores} \
             cores",
            file.display(),
            profile.processor,
            profile.cores
        )
    });
    Ok(LoadedProfile {
        profile,
        notes: Vec::from_iter(notes),
    })
}
