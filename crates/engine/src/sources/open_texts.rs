//! Open texts: source files as an editor has them, before they are saved.
//!
//! The compiler reads an open text in place of the file of its path, and every other file from
//! disk. The Perl code of mixed-mode files is not run: an editor must not start programs because a
//! folder is opened. So such files count as absent.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use compiler::{Loader, SourceText};

use super::mixed_mode::is_mixed;
use super::source_files;
use crate::error::Error;

/// Texts of files that are open in an editor, by the canonical paths of the files.
#[derive(Clone, Debug, Default)]
pub struct OpenTexts {
    texts: BTreeMap<PathBuf, Arc<str>>,
}

impl OpenTexts {
    /// Puts a text in place of that of a file, which need not exist.
    pub fn insert(&mut self, path: &Path, text: Arc<str>) {
        self.texts.insert(source_files::canonical(path), text);
    }

    /// The text of a file: the open one, or that on disk.
    ///
    /// # Errors
    /// [`Error::Read`] if the file is not open and cannot be read.
    pub fn read_or_load(&self, path: &Path) -> Result<SourceText, Error> {
        match self.texts.get(&source_files::canonical(path)) {
            Some(text) => Ok((&**text).into()),
            None if is_mixed(path) => {
                let error = io::Error::other("its Perl code is not run here");
                Err(Error::read(path, error))
            }
            None => source_files::read_source_file(path, &[]),
        }
    }
}

impl Loader for OpenTexts {
    fn list(&self, folder: &Path) -> Vec<PathBuf> {
        let mut found = source_files::list(folder).unwrap_or_default();
        found.retain(|path| !is_mixed(path));
        let canonical = source_files::canonical(folder);
        let is_spl = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "spl");
        let open = self.texts.keys().filter(is_spl);
        let here = open.filter(|path| path.parent() == Some(&canonical));
        let names = here.filter_map(|path| Some(folder.join(path.file_name()?)));
        let new: Vec<_> = names.filter(|path| !found.contains(path)).collect();
        found.extend(new);
        found
    }

    fn read(&self, path: &Path) -> Result<SourceText, String> {
        self.read_or_load(path).map_err(|error| error.to_string())
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        source_files::canonical(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_texts_hide_files_and_add_some() {
        let folder = std::env::temp_dir().join(format!("thalweg-open-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("A.spl"), "saved").unwrap();
        std::fs::write(folder.join("B.splmm"), "Perl").unwrap();
        let mut open = OpenTexts::default();
        open.insert(&folder.join("A.spl"), "typed".into());
        open.insert(&folder.join("C.spl"), "new".into());
        let listed = open.list(&folder);
        let read = |name: &str| open.read(&folder.join(name)).map(|source| source.text);
        let (a, c, d) = (read("A.spl"), read("C.spl"), read("D.spl"));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(listed, [folder.join("A.spl"), folder.join("C.spl")]);
        assert_eq!(a.as_deref(), Ok("typed"));
        assert_eq!(c.as_deref(), Ok("new"));
        assert!(d.is_err());
    }
}
