//! The two commands that a benchmark starts: `thalweg`, which runs programs, and this one.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::failure::BenchFailure;

/// Environment variable with the path of the `thalweg` command to measure. `thalweg bench` sets it
/// to its own path.
const THALWEG_COMMAND: &str = "THALWEG_COMMAND";

/// The path of this command, which serves controls too.
///
/// # Errors
/// The system does not tell the path.
pub fn own_binary() -> Result<PathBuf, BenchFailure> {
    std::env::current_exe()
        .map_err(|error| BenchFailure::Failed(format!("cannot find this command: {error}")))
}

/// The `thalweg` command to measure: the one that `THALWEG_COMMAND` names, else the one beside this
/// command, else the first in PATH.
///
/// # Errors
/// No such binary exists; the message says how to build it.
pub fn thalweg_binary() -> Result<PathBuf, BenchFailure> {
    let named = std::env::var_os(THALWEG_COMMAND).map(PathBuf::from);
    let found = named.or_else(|| find("thalweg", &own_binary().ok()?, std::env::var_os("PATH")));
    found.ok_or_else(|| {
        BenchFailure::Failed(
            "there is no `thalweg` beside this command or in PATH to run programs; build it with \
             `cargo build --release -p thalweg-cli`"
                .to_owned(),
        )
    })
}

/// The file called `name` in the folder of `beside`, else in the first folder of `path` that has
/// one.
fn find(name: &str, beside: &Path, path: Option<OsString>) -> Option<PathBuf> {
    let path = path.as_deref().unwrap_or(OsStr::new(""));
    let folders = beside.parent().map(Path::to_owned).into_iter();
    folders
        .chain(std::env::split_paths(path))
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_the_command_comes_before_path() {
        let own = own_binary().unwrap();
        let (name, folder) = (own.file_name().unwrap(), own.parent().unwrap());
        let name = name.to_str().unwrap();
        assert_eq!(find(name, &own, None).as_ref(), Some(&own));
        let elsewhere = Path::new("/nonexistent/command");
        assert_eq!(find(name, elsewhere, None), None);
        let path = Some(folder.as_os_str().to_owned());
        assert_eq!(find(name, elsewhere, path).as_ref(), Some(&own));
    }
}
