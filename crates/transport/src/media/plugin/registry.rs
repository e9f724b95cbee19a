//! The libraries of this process: which folders were searched, which media they have, and which
//! files in them cannot be used.

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::plugin::MediumLibrary;

use super::medium::PluginMedium;
use crate::{Error, Medium};

/// Beginning of a library's file name, before the medium's name.
const FILE_PREFIX: &str = "libthalweg_medium_";

/// End of a library's file name.
const FILE_SUFFIX: &str = ".so";

/// Most bytes of a medium's name.
const NAME_BYTES_MAX: usize = 32;

/// A library or folder that was looked at, and cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableMedium {
    /// Name of the medium by the library's file name; `None`: a folder.
    pub name: Option<String>,
    /// File of the library, or the folder.
    pub file: PathBuf,
    /// Sentence that names the file and says what is wrong.
    pub why: String,
}

#[derive(Default)]
struct Registry {
    folders: Vec<PathBuf>,
    media: Vec<&'static PluginMedium>,
    unusable: Vec<UnusableMedium>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    folders: Vec::new(),
    media: Vec::new(),
    unusable: Vec::new(),
});

/// Loads the libraries of folders that were not searched before, in the order of the folders. A
/// library whose medium is there already, or whose name `is_taken`, is unusable, as is a folder
/// that cannot be read.
pub(in crate::media) fn search(folders: &[PathBuf], is_taken: fn(&str) -> bool) {
    let mut registry = lock();
    for folder in folders {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
        if !registry.folders.contains(&folder) {
            registry.search_folder(&folder, is_taken);
            registry.folders.push(folder);
        }
    }
}

/// Loads one library, whose medium has the name that the file says.
///
/// # Errors
/// The file is no library, or none that can be a medium.
pub fn load(file: &Path) -> Result<&'static dyn Medium, Error> {
    let mut registry = lock();
    let known = registry.media.iter().find(|medium| medium.is_of(file));
    if let Some(known) = known {
        return Ok(*known);
    }
    let name = file.file_name().and_then(medium_name).unwrap_or("library");
    let medium = load_as(name, file).map_err(Error::Refused)?;
    registry.media.push(medium);
    Ok(medium)
}

/// The libraries and folders that were looked at and cannot be used.
pub fn unusable() -> Vec<UnusableMedium> {
    lock().unusable.clone()
}

/// Words for an error about a medium that is not there: where libraries were looked for, and which
/// cannot be used. `None` if no folder was given.
pub fn describe_search() -> Option<String> {
    let registry = lock();
    let folders: Vec<_> = registry
        .folders
        .iter()
        .map(|f| f.display().to_string())
        .collect();
    if folders.is_empty() {
        return None;
    }
    let mut words = format!("others were looked for in {}", folders.join(", "));
    for UnusableMedium { why, .. } in &registry.unusable {
        let _ = write!(words, "; {why}");
    }
    Some(words)
}

/// The medium of a library by its name.
pub(super) fn find_library(name: &str) -> Option<&'static PluginMedium> {
    let media = lock().media.clone().into_iter();
    let mut media = media;
    media.find(|medium| medium.name() == name)
}

/// The media of libraries, in the order in which they were found.
pub(in crate::media) fn media() -> Vec<&'static dyn Medium> {
    let media = lock().media.clone().into_iter();
    media.map(|medium| medium as &dyn Medium).collect()
}

fn lock() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    fn search_folder(&mut self, folder: &Path, is_taken: fn(&str) -> bool) {
        let files = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let mut files = match files {
            Ok(files) => files,
            Err(error) => {
                self.unusable.push(UnusableMedium {
                    name: None,
                    file: folder.to_owned(),
                    why: format!("the folder {} cannot be read: {error}", folder.display()),
                });
                return;
            }
        };
        files.sort_by_key(fs::DirEntry::file_name);
        for file in files {
            if let Some(name) = medium_name(&file.file_name()) {
                self.add(name, file.path(), is_taken);
            }
        }
    }

    fn add(&mut self, name: &str, file: PathBuf, is_taken: fn(&str) -> bool) {
        match self
            .check_name(name, &file, is_taken)
            .and_then(|()| load_as(name, &file))
        {
            Ok(medium) => self.media.push(medium),
            Err(why) => self.unusable.push(UnusableMedium {
                name: Some(name.to_owned()),
                file,
                why,
            }),
        }
    }

    /// Checks that a library's name is one that no other medium has.
    fn check_name(
        &self,
        name: &str,
        file: &Path,
        is_taken: fn(&str) -> bool,
    ) -> Result<(), String> {
        let file = file.display();
        let is_word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(is_word) {
            return Err(format!(
                "{file}: the name of a medium has 1 to {NAME_BYTES_MAX} lower-case letters, digits \
                 and underscores"
            ));
        }
        if name == "auto" || is_taken(name) {
            return Err(format!(
                "{file}: `{name}` is a word of Thalweg's own; rename the library"
            ));
        }
        match self.media.iter().find(|medium| medium.name() == name) {
            Some(other) => {
                let other = other.library().unwrap_or(Path::new("")).display();
                Err(format!(
                    "{file}: {other} has the same name and was found first"
                ))
            }
            None => Ok(()),
        }
    }
}

fn load_as(name: &str, file: &Path) -> Result<&'static PluginMedium, String> {
    let library = MediumLibrary::load(file).map_err(|error| error.to_string())?;
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    Ok(Box::leak(Box::new(PluginMedium { name, library })))
}

/// The name of a medium, if a file is named like a library of one.
fn medium_name(file: &OsStr) -> Option<&str> {
    let name = file.to_str()?.strip_prefix(FILE_PREFIX)?;
    name.strip_suffix(FILE_SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_have_media_in_them() {
        assert_eq!(
            medium_name(OsStr::new("libthalweg_medium_pipe.so")),
            Some("pipe")
        );
        for other in [
            "libthalweg_medium_pipe.a",
            "libpipe.so",
            "thalweg_medium_pipe.so",
        ] {
            assert_eq!(medium_name(OsStr::new(other)), None);
        }
    }

    #[test]
    fn names_of_other_media_and_odd_names_are_refused() {
        let registry = Registry::default();
        let check = |name: &str| registry.check_name(name, Path::new("/lib.so"), |n| n == "tcp");
        let refused = |name: &str| check(name).unwrap_err();
        assert!(refused("tcp").contains("a word of Thalweg's own"));
        assert!(refused("auto").contains("a word of Thalweg's own"));
        for odd in ["", "Pipe", "a b", &"x".repeat(33)] {
            assert!(refused(odd).contains("1 to 32 lower-case letters"), "{odd}");
        }
        assert!(check("pipe_2").is_ok());
    }
}
