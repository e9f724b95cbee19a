//! The file with a program's profile.

use std::path::Path;

use planner::Profile;

use crate::error::Error;
use crate::sources::bounded;

/// Reads the file of a profile.
///
/// # Errors
/// [`Error::Read`] if the file cannot be read, [`Error::Plan`] with line and column if it is
/// garbled.
pub fn load_profile(file: &Path) -> Result<Profile, Error> {
    let text = bounded::read_text(file).map_err(|error| Error::read(file, error))?;
    let profile = Profile::parse(&text);
    profile.map_err(|error| Error::Plan(format!("{}:{error}", file.display())))
}
