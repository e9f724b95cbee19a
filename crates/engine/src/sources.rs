//! The files of a compilation: read from disk and recorded, or read from the record.
//!
//! A PE process compiles its program again. It does so from what the launcher's compiler has read, so
//! that an edit in the meantime changes nothing.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use compiler::{Generated, Source};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Error, files};

/// Everything that a compiler has read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Sources {
    /// The text of the main file.
    pub(crate) main: Text,
    /// Folders and the files in them.
    folders: Vec<(Name, Vec<Name>)>,
    /// Files and their texts, or why they could not be read.
    files: Vec<(Name, Result<Text, String>)>,
    /// Paths and their canonical ones.
    canonical: Vec<(Name, Name)>,
}

/// What of [`Source`] a PE needs: what was said while a text was generated is said already.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Text {
    text: String,
    /// Of a text that was generated, for each of its lines the line of the file.
    lines: Option<Vec<u32>>,
}

/// Reads from disk and remembers.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    /// The main file.
    main: Source,
    /// Arguments of the Perl code in files.
    mixed_args: Vec<String>,
    seen: RefCell<Sources>,
    /// The first folder that could not be read, and why.
    failure: RefCell<Option<(PathBuf, io::Error)>>,
}

/// A path; any bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name(pub PathBuf);

impl Recorder {
    /// Begins with the main file; `mixed_args` are for the Perl code in files.
    pub fn open(main: &Path, mixed_args: &[String]) -> Result<Recorder, Error> {
        let main = files::text(main, mixed_args)?;
        let sources = Sources {
            main: Text::new(&main),
            ..Sources::default()
        };
        Ok(Recorder {
            main,
            mixed_args: mixed_args.to_vec(),
            seen: RefCell::new(sources),
            failure: RefCell::default(),
        })
    }

    /// The main file's text.
    pub fn main(&self) -> Source {
        self.main.clone()
    }

    /// What was read.
    ///
    /// # Errors
    /// A folder could not be read, so that what the compiler has found may be wrong.
    pub fn into_sources(self) -> Result<Sources, Error> {
        match self.failure.into_inner() {
            Some((folder, error)) => Err(Error::read(&folder, error)),
            None => Ok(self.seen.into_inner()),
        }
    }
}

impl compiler::Loader for Recorder {
    fn list(&self, folder: &Path) -> Vec<PathBuf> {
        let found = files::list(folder).unwrap_or_else(|error| {
            let mut failure = self.failure.borrow_mut();
            failure.get_or_insert((folder.to_owned(), error));
            Vec::new()
        });
        let names = found.iter().cloned().map(Name).collect();
        let mut seen = self.seen.borrow_mut();
        seen.folders.push((Name(folder.to_owned()), names));
        found
    }

    fn read(&self, path: &Path) -> Result<Source, String> {
        let found = files::read(path, &self.mixed_args);
        let text = found.as_ref().map(Text::new).map_err(String::clone);
        let mut seen = self.seen.borrow_mut();
        seen.files.push((Name(path.to_owned()), text));
        found
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

    fn read(&self, path: &Path) -> Result<Source, String> {
        let found = self.files.iter().rev().find(|(name, _)| name.is(path));
        let missing = || Err(format!("{} was not read", path.display()));
        let (_, text) = found.map_or_else(missing, Ok)?;
        text.as_ref().map(Text::source).map_err(String::clone)
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

impl Text {
    fn new(source: &Source) -> Text {
        Text {
            text: source.text.clone(),
            lines: source.generated.as_ref().map(|g| g.lines.clone()),
        }
    }

    pub fn source(&self) -> Source {
        Source {
            text: self.text.clone(),
            generated: self.lines.clone().map(|lines| Generated {
                lines,
                ..Generated::default()
            }),
        }
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
            main: Text::default(),
            folders: vec![(
                Name("t".into()),
                vec![Name("t/A.spl".into()), Name(odd.clone())],
            )],
            files: vec![
                (Name("t/A.spl".into()), Ok(Text::new(&"text".into()))),
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
        assert_eq!(read.read(Path::new("t/A.spl")), Ok("text".into()));
        assert_eq!(read.read(&odd), Err("no".to_owned()));
        assert!(read.read(Path::new("t/B.spl")).is_err());
        assert_eq!(read.canonical(Path::new("t")), Path::new("/kit/t"));
        assert_eq!(read.canonical(Path::new("u")), Path::new("u"));
    }
}
