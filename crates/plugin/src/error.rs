//! Errors of libraries, each a sentence for the user.

use std::fmt;
use std::path::Path;

/// The reason why a library cannot be used, or why a call of it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginError {
    /// The file is no library that can be a medium; the sentence names it.
    Unusable(String),
    /// The library broke a rule of `thalweg_medium.h`; the sentence names file and function.
    Broken(String),
    /// The other side of the edge is gone, as the library says.
    Lost(String),
    /// The library refuses the other side.
    Refused(String),
    /// The system refused a call of the library.
    System(String),
}

impl PluginError {
    /// An error of a file that cannot be a medium.
    pub(crate) fn unusable(file: &Path, why: impl fmt::Display) -> PluginError {
        PluginError::Unusable(format!("{}: {why}", file.display()))
    }

    /// An error of a function that did what no library may do.
    #[cold]
    pub(crate) fn broken(file: &Path, function: &str, what: impl fmt::Display) -> PluginError {
        PluginError::Broken(format!(
            "the medium {} breaks a rule of thalweg_medium.h: {function} {what}",
            file.display()
        ))
    }
}

impl fmt::Display for PluginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PluginError::Unusable(sentence)
            | PluginError::Broken(sentence)
            | PluginError::Lost(sentence)
            | PluginError::Refused(sentence)
            | PluginError::System(sentence) => f.write_str(sentence),
        }
    }
}

impl std::error::Error for PluginError {}
