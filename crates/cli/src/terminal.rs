//! What the terminal behind a stream understands.

use std::ffi::OsStr;
use std::io::IsTerminal;

/// Whether a stream leads to a terminal that understands escape sequences: those that move the cursor
/// and those that colour. `TERM=dumb` says that it does not; without `TERM` nothing says that it does.
pub fn takes_escapes(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && is_able(std::env::var_os("TERM").as_deref())
}

fn is_able(term: Option<&OsStr>) -> bool {
    term.is_some_and(|term| !term.is_empty() && term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::is_able;

    #[test]
    fn dumb_terminals_take_no_escapes() {
        assert!(is_able(Some("xterm-256color".as_ref())));
        for term in [None, Some("".as_ref()), Some("dumb".as_ref())] {
            assert!(!is_able(term), "{term:?}");
        }
    }
}
