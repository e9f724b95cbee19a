//! The files of a compilation: read from disk and recorded, or read from the record.
//!
//! A PE process compiles its program again. It does so from what the launcher's compiler has read, so
//! that an edit in the meantime changes nothing.

use std::cell::RefCell;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Error, files};

/// Everything that a compiler has read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Sources {
    /// The text of the main file.
    pub(crate) main: String,
    /// Folders and the files in them.
    folders: Vec<(Name, Vec<Name>)>,
    /// Files and their texts, or why they could not be read.
    files: Vec<(Name, Result<String, String>)>,
    /// Paths and their canonical ones.
    canonical: Vec<(Name, Name)>,
}

/// Reads from disk and remembers.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    seen: RefCell<Sources>,
}

/// A path; any bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name(pub PathBuf);

impl Recorder {
    /// Begins with the main file.
    pub fn open(main: &Path) -> Result<Recorder, Error> {
        let sources = Sources {
            main: files::text(main)?,
            ..Sources::default()
        };
        let seen = RefCell::new(sources);
        Ok(Recorder { seen })
    }

    /// The main file's text.
    pub fn main(&self) -> String {
        self.seen.borrow().main.clone()
    }

    /// What was read.
    pub fn into_sources(self) -> Sources {
        self.seen.into_inner()
    }
}

impl compiler::Loader for Recorder {
    fn list(&self, folder: &Path) -> Vec<PathBuf> {
        let found = files::list(folder);
        let names = found.iter().cloned().map(Name).collect();
        let mut seen = self.seen.borrow_mut();
        seen.folders.push((Name(folder.to_owned()), names));
        found
    }

    fn read(&self, path: &Path) -> Result<String, String> {
        let text = files::read(path);
        let mut seen = self.seen.borrow_mut();
        seen.files.push((Name(path.to_owned()), text.clone()));
        text
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        let mut seen = self.seen.borrow_mut();
        if let Some(known) = seen.known_canonical(path) {
            return known;
        }
        let found = files::canonical(path);
        let pair = (Name(path.to_owned()), Name(found.clone()));
        seen.canonical.push(pair);
        found
    }
}

/// From the record; what was asked for twice is answered as the last time.
impl compiler::Loader for Sources {
    fn list(&self, folder: &Path) -> Vec<PathBuf> {
        let found = self.folders.iter().rev().find(|(name, _)| name.is(folder));
        let names = found.map_or(&[][..], |(_, names)| names);
        names.iter().map(|name| name.0.clone()).collect()
    }

    fn read(&self, path: &Path) -> Result<String, String> {
        let found = self.files.iter().rev().find(|(name, _)| name.is(path));
        let missing = || Err(format!("{} was not read", path.display()));
        found.map_or_else(missing, |(_, text)| text.clone())
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        self.known_canonical(path)
            .unwrap_or_else(|| path.to_owned())
    }
}

impl Sources {
    fn known_canonical(&self, path: &Path) -> Option<PathBuf> {
        let found = self.canonical.iter().find(|(name, _)| name.is(path));
        found.map(|(_, canonical)| canonical.0.clone())
    }
}

impl Name {
    /// Byte by byte.
    fn is(&self, path: &Path) -> bool {
        self.0.as_os_str() == path.as_os_str()
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.as_os_str().as_bytes().serialize(to)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
        let bytes = Vec::<u8>::deserialize(from)?;
        Ok(Name(PathBuf::from(OsString::from_vec(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use compiler::Loader;

    use super::*;

    #[test]
    fn the_record_answers_as_the_disk_did() {
        let odd = PathBuf::from(OsString::from_vec(b"odd\xff.spl".to_vec()));
        let sources = Sources {
            main: "main".to_owned(),
            folders: vec![(
                Name("t".into()),
                vec![Name("t/A.spl".into()), Name(odd.clone())],
            )],
            files: vec![
                (Name("t/A.spl".into()), Ok("text".to_owned())),
                (Name(odd.clone()), Err("no".to_owned())),
            ],
            canonical: vec![(Name("t".into()), Name("/kit/t".into()))],
        };
        let text = serde_json::to_string(&sources).unwrap();
        let read: Sources = serde_json::from_str(&text).unwrap();
        assert_eq!(read, sources);
        assert_eq!(
            read.list(Path::new("t")),
            [PathBuf::from("t/A.spl"), odd.clone()]
        );
        assert_eq!(read.list(Path::new("u")), Vec::<PathBuf>::new());
        assert_eq!(read.read(Path::new("t/A.spl")), Ok("text".to_owned()));
        assert_eq!(read.read(&odd), Err("no".to_owned()));
        assert!(read.read(Path::new("t/B.spl")).is_err());
        assert_eq!(read.canonical(Path::new("t")), Path::new("/kit/t"));
        assert_eq!(read.canonical(Path::new("u")), Path::new("u"));
    }
}
