//! Files of results: one JSON array of outcomes, written and read back.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::Outcome;

/// Name of the file that `bench --out` writes into its folder.
pub const FILE: &str = "results.json";

/// An error that names the file of results and, if its content is wrong, the place in it.
#[derive(Debug)]
pub struct ResultsReadError {
    path: PathBuf,
    cause: ResultsReadCause,
}

#[derive(Debug)]
enum ResultsReadCause {
    Io(io::Error),
    Json(serde_json::Error),
}

/// Reads results from a file, or from `results.json` in a folder.
///
/// # Errors
/// The file cannot be read, or is not an array of outcomes.
pub fn read(path: &Path) -> Result<Vec<Outcome>, ResultsReadError> {
    let file = match path.is_dir() {
        true => path.join(FILE),
        false => path.to_owned(),
    };
    let read = || {
        let text = read_bounded(&file).map_err(ResultsReadCause::Io)?;
        serde_json::from_slice(&text).map_err(ResultsReadCause::Json)
    };
    read().map_err(|cause| ResultsReadError {
        path: file.clone(),
        cause,
    })
}

/// Limit on the bytes of a file of results: an endless file, such as a device, is refused there.
const BYTES_MAX: u64 = 64 << 20;

/// The bytes of a file; an error if there are more than `BYTES_MAX`.
fn read_bounded(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = File::open(file)?.take(BYTES_MAX + 1);
    file.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        let message = format!("it has more than {} MB, or no end", BYTES_MAX >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// The outcomes as the JSON text of a file of results.
pub fn to_json_text(outcomes: &[Outcome]) -> String {
    // A plain structure of numbers and text: there is nothing that could fail.
    let text = serde_json::to_string_pretty(outcomes).expect("outcomes are plain values");
    text + "\n"
}

impl std::fmt::Display for ResultsReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let path = self.path.display();
        match &self.cause {
            ResultsReadCause::Io(error) => write!(f, "cannot read results from {path}: {error}"),
            ResultsReadCause::Json(error) => write!(
                f,
                "{path} is no file of results, an array as `bench --json` prints it: {error}"
            ),
        }
    }
}

impl std::error::Error for ResultsReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            ResultsReadCause::Io(error) => Some(error),
            ResultsReadCause::Json(error) => Some(error),
        }
    }
}
