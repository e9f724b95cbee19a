//! Source files of a compilation: recorded as the compiler reads them, and read again from the
//! record.
//!
//! A PE's process compiles its program again, from the files that the launcher's compiler has read,
//! so that an edit in the meantime changes nothing.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use compiler::{GeneratedOrigin, SourceText};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::source_files;
use crate::error::Error;

/// Everything that the compiler has read: files, folders and canonical paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct RecordedSources {
    /// Text of the main file.
    pub main: RecordedText,
    /// Folders, and the source files in them.
    folders: Vec<(RawPath, Vec<RawPath>)>,
    /// Files, and their texts or why they could not be read.
    files: Vec<(RawPath, Result<RecordedText, String>)>,
    /// Paths, and their canonical forms.
    canonical: Vec<(RawPath, RawPath)>,
}

/// The part of a [`SourceText`] that a PE needs. Problems of generating the text are left out: the
/// launcher has reported them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct RecordedText {
    text: String,
    /// For each line of a generated text, the line of the file that it comes from; `None` if the
    /// text was not generated.
    lines: Option<Vec<u32>>,
}

/// Reads source files from disk for the compiler, and records them.
#[derive(Debug, Default)]
pub struct SourceRecorder {
    /// Text of the main file, with problems of generating it.
    main: SourceText,
    /// Arguments of the Perl code in files.
    mixed_args: Vec<String>,
    recorded: RefCell<RecordedSources>,
    /// First folder that could not be read, and why.
    list_error: RefCell<Option<(PathBuf, io::Error)>>,
}

/// A path that serializes as its bytes, which need not be UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawPath(pub PathBuf);

impl SourceRecorder {
    /// Reads the main file. `mixed_args` are the arguments of Perl code in mixed-mode files.
    ///
    /// # Errors
    /// [`Error::Read`] if the main file cannot be read.
    pub fn open(main: &Path, mixed_args: &[String]) -> Result<SourceRecorder, Error> {
        let main = source_files::read_source_file(main, mixed_args)?;
        let sources = RecordedSources {
            main: RecordedText::new(&main),
            ..RecordedSources::default()
        };
        Ok(SourceRecorder {
            main,
            mixed_args: mixed_args.to_vec(),
            recorded: RefCell::new(sources),
            list_error: RefCell::default(),
        })
    }

    /// Returns the main file's text.
    pub fn main_source(&self) -> SourceText {
        self.main.clone()
    }

    /// Returns the record of everything that was read.
    ///
    /// # Errors
    /// [`Error::Read`] if a folder could not be read: the compiler may have missed files in it.
    pub fn into_sources(self) -> Result<RecordedSources, Error> {
        match self.list_error.into_inner() {
            Some((folder, error)) => Err(Error::read(&folder, error)),
            None => Ok(self.recorded.into_inner()),
        }
    }
}

impl compiler::Loader for SourceRecorder {
    fn list(&self, folder: &Path) -> Vec<PathBuf> {
        let found = source_files::list(folder).unwrap_or_else(|error| {
            let mut list_error = self.list_error.borrow_mut();
            list_error.get_or_insert((folder.to_owned(), error));
            Vec::new()
        });
        let names = found.iter().cloned().map(RawPath).collect();
        let mut recorded = self.recorded.borrow_mut();
        recorded.folders.push((RawPath(folder.to_owned()), names));
        found
    }

    fn read(&self, path: &Path) -> Result<SourceText, String> {
        let found = source_files::read_toolkit_file(path, &self.mixed_args);
        let text = found.as_ref().map(RecordedText::new).map_err(String::clone);
        let mut recorded = self.recorded.borrow_mut();
        recorded.files.push((RawPath(path.to_owned()), text));
        found
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        let mut recorded = self.recorded.borrow_mut();
        if let Some(known) = recorded.recorded_canonical(path) {
            return known;
        }
        let found = source_files::canonical(path);
        let pair = (RawPath(path.to_owned()), RawPath(found.clone()));
        recorded.canonical.push(pair);
        found
    }
}

/// Answers from the record. If the compiler read something twice, the last answer counts.
impl compiler::Loader for RecordedSources {
    fn list(&self, folder: &Path) -> Vec<PathBuf> {
        let found = self
            .folders
            .iter()
            .rev()
            .find(|(name, _)| name.is_bytes_of(folder));
        let names = found.map_or(&[][..], |(_, names)| names);
        names.iter().map(|name| name.0.clone()).collect()
    }

    fn read(&self, path: &Path) -> Result<SourceText, String> {
        let found = self
            .files
            .iter()
            .rev()
            .find(|(name, _)| name.is_bytes_of(path));
        let missing = || Err(format!("{} was not read", path.display()));
        let (_, text) = found.map_or_else(missing, Ok)?;
        text.as_ref()
            .map(RecordedText::to_source)
            .map_err(String::clone)
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        self.recorded_canonical(path)
            .unwrap_or_else(|| path.to_owned())
    }
}

impl RecordedSources {
    fn recorded_canonical(&self, path: &Path) -> Option<PathBuf> {
        let found = self
            .canonical
            .iter()
            .find(|(name, _)| name.is_bytes_of(path));
        found.map(|(_, canonical)| canonical.0.clone())
    }
}

impl RecordedText {
    fn new(source: &SourceText) -> RecordedText {
        RecordedText {
            text: source.text.clone(),
            lines: source.generated.as_ref().map(|g| g.lines.clone()),
        }
    }

    pub fn to_source(&self) -> SourceText {
        SourceText {
            text: self.text.clone(),
            generated: self.lines.clone().map(|lines| GeneratedOrigin {
                lines,
                ..GeneratedOrigin::default()
            }),
        }
    }
}

impl RawPath {
    /// Whether both paths have equal bytes.
    fn is_bytes_of(&self, path: &Path) -> bool {
        self.0.as_os_str() == path.as_os_str()
    }
}

impl Serialize for RawPath {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.as_os_str().as_bytes().serialize(to)
    }
}

impl<'de> Deserialize<'de> for RawPath {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<RawPath, D::Error> {
        let bytes = Vec::<u8>::deserialize(from)?;
        Ok(RawPath(PathBuf::from(OsString::from_vec(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use compiler::Loader;

    use super::*;

    #[test]
    fn the_record_answers_as_the_disk_did() {
        let odd = PathBuf::from(OsString::from_vec(b"odd\xff.spl".to_vec()));
        let sources = RecordedSources {
            main: RecordedText::default(),
            folders: vec![(
                RawPath("t".into()),
                vec![RawPath("t/A.spl".into()), RawPath(odd.clone())],
            )],
            files: vec![
                (
                    RawPath("t/A.spl".into()),
                    Ok(RecordedText::new(&"text".into())),
                ),
                (RawPath(odd.clone()), Err("no".to_owned())),
            ],
            canonical: vec![(RawPath("t".into()), RawPath("/kit/t".into()))],
        };
        let text = serde_json::to_string(&sources).unwrap();
        let read: RecordedSources = serde_json::from_str(&text).unwrap();
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
