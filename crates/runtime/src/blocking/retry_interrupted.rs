//! System calls that a signal may interrupt.

use std::io::{self, ErrorKind};

/// Calls `work` again as long as a signal interrupts it, and returns its first other result.
///
/// # Errors
/// Any error of `work` but [`ErrorKind::Interrupted`].
///
/// ```
/// use std::io::{Error, ErrorKind};
///
/// let mut results = [Err(ErrorKind::Interrupted), Ok(7)].into_iter();
/// let read = || results.next().unwrap().map_err(Error::from);
/// assert_eq!(thalweg_runtime::retry_interrupted(read).unwrap(), 7);
/// ```
pub fn retry_interrupted<T>(mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match work() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interruptions_are_no_errors() {
        let mut turns = [
            Err(ErrorKind::Interrupted),
            Err(ErrorKind::Interrupted),
            Ok(7),
        ]
        .into_iter();
        assert_eq!(retry_interrupted(|| Ok(turns.next().unwrap()?)).unwrap(), 7);
        let error = retry_interrupted(|| Err::<(), _>(ErrorKind::BrokenPipe.into()));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::BrokenPipe);
    }
}
