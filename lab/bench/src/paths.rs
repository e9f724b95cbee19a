//! The paths that the words of `--path` mean, with the media of libraries.

use std::path::PathBuf;

use suite::StreamPath;
use transport::media;

use crate::failure::BenchFailure;

/// The paths of these words; none if there are no words. Libraries in the folders of `media_path`
/// are loaded first.
///
/// # Errors
/// A word means no path.
pub fn paths_of(words: &[String], media_path: &[String]) -> Result<Vec<StreamPath>, BenchFailure> {
    media::search(&folders(media_path));
    let paths = words.iter().map(|word| StreamPath::of_word(word));
    let paths: Result<Vec<_>, _> = paths.collect();
    let with_search = |sentence: String| match media::plugin::describe_search() {
        Some(search) => BenchFailure::Usage(format!("{sentence}; {search}")),
        None => BenchFailure::Usage(sentence),
    };
    Ok(paths.map_err(with_search)?.concat())
}

/// The folders of `--media-path`, which have colons between them.
pub fn folders(media_path: &[String]) -> Vec<PathBuf> {
    let folders = media_path.iter().flat_map(std::env::split_paths);
    folders
        .filter(|folder| !folder.as_os_str().is_empty())
        .collect()
}

/// Checks that paths lead to other hosts.
///
/// # Errors
/// One does not.
pub fn check_hosts(paths: &[StreamPath]) -> Result<(), BenchFailure> {
    match paths.iter().find(|path| !path.leads_to_hosts()) {
        None => Ok(()),
        Some(path) => {
            let sentence = format!("{path} does not lead to other hosts");
            Err(BenchFailure::Usage(sentence))
        }
    }
}

/// Checks that paths lead to other processes.
///
/// # Errors
/// One does not.
pub fn check_crossing(paths: &[StreamPath]) -> Result<(), BenchFailure> {
    match paths.iter().find(|path| !path.is_crossing()) {
        None => Ok(()),
        Some(path) => {
            let sentence = format!("receivers are processes, to which {path} does not lead");
            Err(BenchFailure::Usage(sentence))
        }
    }
}
