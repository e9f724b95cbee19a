//! A file that a scan has found.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use runtime::uninterrupted;
use tuple::{RString, Value};

/// An output function that says something of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    AsIs,
    FilePath,
    FullPath,
    FileName,
    Directory,
    DestinationDirectory,
    DestinationFilePath,
    DestinationFullPath,
    Size,
    Atime,
    Ctime,
    Mtime,
}

impl Said {
    /// That of a name.
    pub fn of(name: &str) -> Said {
        match name {
            "FilePath" => Said::FilePath,
            "FullPath" => Said::FullPath,
            "FileName" => Said::FileName,
            "Directory" => Said::Directory,
            "DestinationDirectory" => Said::DestinationDirectory,
            "DestinationFilePath" => Said::DestinationFilePath,
            "DestinationFullPath" => Said::DestinationFullPath,
            "Size" => Said::Size,
            "Atime" => Said::Atime,
            "Ctime" => Said::Ctime,
            "Mtime" => Said::Mtime,
            _ => Said::AsIs,
        }
    }
}

/// A file, and where it was moved.
pub struct Entry {
    /// The directory as the program names it.
    pub directory: PathBuf,
    /// The same below the data directory.
    pub full_directory: PathBuf,
    /// Where files are moved, in both forms.
    pub destination: Option<(PathBuf, PathBuf)>,
    pub name: PathBuf,
    pub metadata: Metadata,
}

impl Entry {
    /// The answer to an output function.
    pub fn say(&self, said: Said) -> Value {
        let (to, full_to) = match &self.destination {
            Some((to, full)) => (to, full),
            None => (&self.directory, &self.full_directory),
        };
        match said {
            Said::FilePath => path(&self.directory.join(&self.name)),
            Said::FullPath => path(&absolute(&self.full_directory.join(&self.name))),
            Said::FileName => path(&self.name),
            Said::Directory => path(&self.directory),
            Said::DestinationDirectory => path(to),
            Said::DestinationFilePath => path(&to.join(&self.name)),
            Said::DestinationFullPath => path(&absolute(&full_to.join(&self.name))),
            Said::Size => Value::Uint64(self.metadata.len()),
            Said::Atime => Value::Uint64(self.metadata.atime().max(0) as u64),
            Said::Ctime => Value::Uint64(self.metadata.ctime().max(0) as u64),
            Said::Mtime => Value::Uint64(self.metadata.mtime().max(0) as u64),
            Said::AsIs => path(&to.join(&self.name)),
        }
    }

    /// When it last changed, in seconds and nanoseconds.
    pub fn changed(&self) -> (i64, i64) {
        (self.metadata.ctime(), self.metadata.ctime_nsec())
    }

    /// When it was last written, in seconds and nanoseconds.
    pub fn written(&self) -> (i64, i64) {
        (self.metadata.mtime(), self.metadata.mtime_nsec())
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn path(path: &Path) -> Value {
    Value::RString(RString(path.as_os_str().as_bytes().to_vec()))
}

/// The regular files of a directory. Those that go while it is read are left out.
///
/// # Errors
/// What the system says of the directory.
pub fn files(directory: &Path) -> io::Result<Vec<(PathBuf, Metadata)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        // Follows links, as whoever opens the file does.
        if let Ok(metadata) = uninterrupted(|| fs::metadata(entry.path()))
            && metadata.is_file()
        {
            files.push((PathBuf::from(entry.file_name()), metadata));
        }
    }
    Ok(files)
}
