//! A file that a scan has found.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use runtime::retry_interrupted;
use tuple::{RString, Value};

/// An output function that describes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanFunction {
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

impl ScanFunction {
    /// The function of a name.
    pub fn from_name(name: &str) -> ScanFunction {
        match name {
            "FilePath" => ScanFunction::FilePath,
            "FullPath" => ScanFunction::FullPath,
            "FileName" => ScanFunction::FileName,
            "Directory" => ScanFunction::Directory,
            "DestinationDirectory" => ScanFunction::DestinationDirectory,
            "DestinationFilePath" => ScanFunction::DestinationFilePath,
            "DestinationFullPath" => ScanFunction::DestinationFullPath,
            "Size" => ScanFunction::Size,
            "Atime" => ScanFunction::Atime,
            "Ctime" => ScanFunction::Ctime,
            "Mtime" => ScanFunction::Mtime,
            _ => ScanFunction::AsIs,
        }
    }
}

/// A file that the scan found.
pub struct ScannedFile {
    /// The directory as the program names it.
    pub directory: PathBuf,
    /// The directory, below the data directory if the program names a relative path.
    pub full_directory: PathBuf,
    /// Directory that files are moved to, in both forms.
    pub destination: Option<(PathBuf, PathBuf)>,
    pub name: PathBuf,
    pub metadata: Metadata,
}

impl ScannedFile {
    /// The answer to an output function.
    pub fn evaluate(&self, function: ScanFunction) -> Value {
        let (to, full_to) = match &self.destination {
            Some((to, full)) => (to, full),
            None => (&self.directory, &self.full_directory),
        };
        match function {
            ScanFunction::FilePath => path(&self.directory.join(&self.name)),
            ScanFunction::FullPath => path(&absolute(&self.full_directory.join(&self.name))),
            ScanFunction::FileName => path(&self.name),
            ScanFunction::Directory => path(&self.directory),
            ScanFunction::DestinationDirectory => path(to),
            ScanFunction::DestinationFilePath => path(&to.join(&self.name)),
            ScanFunction::DestinationFullPath => path(&absolute(&full_to.join(&self.name))),
            ScanFunction::Size => Value::Uint64(self.metadata.len()),
            ScanFunction::Atime => Value::Uint64(self.metadata.atime().max(0) as u64),
            ScanFunction::Ctime => Value::Uint64(self.metadata.ctime().max(0) as u64),
            ScanFunction::Mtime => Value::Uint64(self.metadata.mtime().max(0) as u64),
            ScanFunction::AsIs => path(&to.join(&self.name)),
        }
    }

    /// Time of the last change of the inode, in seconds and nanoseconds.
    pub fn changed_at(&self) -> (i64, i64) {
        (self.metadata.ctime(), self.metadata.ctime_nsec())
    }

    /// Time of the last write, in seconds and nanoseconds.
    pub fn modified_at(&self) -> (i64, i64) {
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
/// The error of the system for the directory.
pub fn regular_files(directory: &Path) -> io::Result<Vec<(PathBuf, Metadata)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        // Follows links, as opening the file does.
        if let Ok(metadata) = retry_interrupted(|| fs::metadata(entry.path()))
            && metadata.is_file()
        {
            files.push((PathBuf::from(entry.file_name()), metadata));
        }
    }
    Ok(files)
}
