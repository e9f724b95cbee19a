//! Toolkit roots: from a file and its namespace to the root, from a root and a namespace to
//! folders.

use std::path::{Path, PathBuf};

/// The root in which a file of a namespace lies; `None` if its folders are not named after it.
pub(super) fn root_of(path: &Path, namespace: &str) -> Option<PathBuf> {
    let folder = path.parent()?;
    if namespace.is_empty() {
        return Some(folder.to_owned());
    }
    if folder.file_name().is_some_and(|name| name == namespace) {
        return Some(folder.parent()?.to_owned());
    }
    let mut at = folder;
    for part in namespace.rsplit('.') {
        if at.file_name().is_none_or(|name| name != part) {
            return None;
        }
        at = at.parent()?;
    }
    Some(at.to_owned())
}

/// The folders of a root in which files of a namespace may lie.
pub(super) fn folders(root: &Path, namespace: &str) -> Vec<PathBuf> {
    if namespace.is_empty() {
        return vec![root.to_owned()];
    }
    let nested = root.join(namespace.replace('.', "/"));
    let dotted = root.join(namespace);
    if nested == dotted {
        vec![dotted]
    } else {
        vec![dotted, nested]
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{folders, root_of};

    #[test]
    fn a_root_is_above_the_folders_of_the_namespace() {
        let root = |path: &str, namespace| root_of(Path::new(path), namespace);
        assert_eq!(root("t/a.b/X.spl", "a.b"), Some(PathBuf::from("t")));
        assert_eq!(root("t/a/b/X.spl", "a.b"), Some(PathBuf::from("t")));
        assert_eq!(root("a/X.spl", "a"), Some(PathBuf::from("")));
        assert_eq!(root("t/X.spl", ""), Some(PathBuf::from("t")));
        assert_eq!(root("t/c/X.spl", "a.b"), None);
        assert_eq!(root("X.spl", "a"), None);
    }

    #[test]
    fn a_namespace_of_one_part_has_one_folder() {
        assert_eq!(folders(Path::new("t"), "a"), [PathBuf::from("t/a")]);
        assert_eq!(folders(Path::new("t"), "a.b").len(), 2);
    }
}
