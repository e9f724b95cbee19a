//! The terminal: escape sequences, size, and lines cut to its width.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::os::fd::AsFd;

use rustix::termios::{isatty, tcgetwinsize};

/// Size assumed for a terminal that does not report one: that of the classic VT100.
const DEFAULT_SIZE: TerminalSize = TerminalSize {
    columns: 80,
    lines: 24,
};

/// Size of a terminal in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalSize {
    /// Number of characters in a line.
    pub columns: usize,
    /// Number of lines on the screen.
    pub lines: usize,
}

/// Whether a stream leads to a terminal that understands escape sequences for the cursor and for
/// colours. `TERM=dumb` says that it does not; without `TERM` it is assumed not to.
pub fn supports_escapes(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && is_term_supported(std::env::var_os("TERM").as_deref())
}

fn is_term_supported(term: Option<&OsStr>) -> bool {
    term.is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// The size of a terminal; `None` if the stream leads to no terminal.
pub fn size(of: impl AsFd) -> Option<TerminalSize> {
    if !isatty(&of) {
        return None;
    }
    let Ok(size) = tcgetwinsize(of) else {
        return Some(DEFAULT_SIZE);
    };
    let known = |number: u16, otherwise| match number {
        0 => otherwise,
        number => number.into(),
    };
    Some(TerminalSize {
        columns: known(size.ws_col, DEFAULT_SIZE.columns),
        lines: known(size.ws_row, DEFAULT_SIZE.lines),
    })
}

/// Cuts a line to a number of columns; an ellipsis stands for the rest.
pub fn truncate(line: &str, columns: usize) -> String {
    let mut used = 0;
    let mut end = 0;
    for (at, c) in line.char_indices() {
        if used < columns {
            end = at;
        }
        used += char_columns(c);
        if used > columns {
            let mut cut = line[..end].to_owned();
            if columns > 0 {
                cut.push('\u{2026}');
            }
            return cut;
        }
    }
    line.to_owned()
}

/// Number of columns of a character: 2 for East Asian scripts and emoji, else 1.
fn char_columns(c: char) -> usize {
    let is_wide = matches!(
        u32::from(c),
        0x1100..=0x115f
            | 0x2e80..=0xa4cf
            | 0xac00..=0xd7a3
            | 0xf900..=0xfaff
            | 0xfe30..=0xfe6f
            | 0xff00..=0xff60
            | 0xffe0..=0xffe6
            | 0x1f300..=0x1faff
            | 0x20000..=0x3fffd
    );
    if is_wide { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dumb_terminals_take_no_escapes() {
        assert!(is_term_supported(Some("xterm-256color".as_ref())));
        for term in [None, Some("".as_ref()), Some("dumb".as_ref())] {
            assert!(!is_term_supported(term), "{term:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_cut_at_a_character() {
        assert_eq!(truncate("abc", 3), "abc");
        assert_eq!(truncate("abcd", 3), "ab\u{2026}");
        assert_eq!(truncate("größe", 4), "grö\u{2026}");
        assert_eq!(truncate("流れの数", 8), "流れの数");
        assert_eq!(truncate("流れの数", 7), "流れの\u{2026}");
        assert_eq!(truncate("流れの数", 6), "流れ\u{2026}");
        assert_eq!(truncate("abc", 0), "");
        assert_eq!(truncate("", 0), "");
    }
}
