//! Why a benchmark came to no result.

use std::fmt;

/// A sentence, and what caused it if that was the system.
#[derive(Debug)]
pub struct Error {
    sentence: String,
    cause: Option<std::io::Error>,
}

impl Error {
    /// What is wrong.
    pub fn new(sentence: impl Into<String>) -> Error {
        Error {
            sentence: sentence.into(),
            cause: None,
        }
    }

    /// From what the system refused: what was tried.
    pub fn system(tried: &str, cause: impl Into<std::io::Error>) -> Error {
        Error {
            sentence: format!("cannot {tried}"),
            cause: Some(cause.into()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)?;
        match &self.cause {
            Some(cause) => write!(f, ": {cause}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as _)
    }
}
