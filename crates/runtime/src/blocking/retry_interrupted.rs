//! System calls that a signal may interrupt.

use std::io::{self, ErrorKind};

/// Does again what a signal has interrupted: that says nothing of what was to be done.
///
/// # Errors
/// What else the work says.
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
