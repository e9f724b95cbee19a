//! The error of benchmarks and controls.

use std::fmt;

/// One sentence, with the system's error if that was the cause.
#[derive(Debug)]
pub struct Error {
    sentence: String,
    cause: Option<std::io::Error>,
}

impl Error {
    /// An error with this sentence and no cause.
    pub fn new(sentence: impl Into<String>) -> Error {
        Error {
            sentence: sentence.into(),
            cause: None,
        }
    }

    /// An error of the system: `cannot` and the action that was tried, which is a verb with its
    /// object.
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
