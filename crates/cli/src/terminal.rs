//! The terminal: escape sequences, size, changes of the size, and lines cut to its width.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::termios::{isatty, tcgetwinsize};
use signal_hook::consts::SIGWINCH;
use signal_hook::iterator::Signals;

/// Size assumed for a terminal that does not report one: that of the classic VT100.
const DEFAULT_SIZE: TerminalSize = TerminalSize {
    columns: 80,
    lines: 24,
};

/// Size of a terminal in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Events of the terminal's size changing.
pub struct ResizeEvents(Receiver<()>);

impl ResizeEvents {
    /// Starts listening for changes, on a thread of its own. If the thread cannot be started, no
    /// events come.
    pub fn listen() -> ResizeEvents {
        let (sender, changes) = channel();
        if let Ok(mut signals) = Signals::new([SIGWINCH]) {
            let forward = move || {
                for _ in signals.forever() {
                    if sender.send(()).is_err() {
                        return;
                    }
                }
            };
            let _ = std::thread::Builder::new().spawn(forward);
        }
        ResizeEvents(changes)
    }

    /// Waits for a change until the time `end`; returns whether there was one.
    pub fn wait_until(&self, end: Instant) -> bool {
        let left = || end.saturating_duration_since(Instant::now());
        match self.0.recv_timeout(left()) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(left());
                false
            }
        }
    }

    /// Waits for `time`, and calls `changed` at each change of the size meanwhile.
    ///
    /// # Errors
    /// The error that `changed` returns.
    pub fn wait_with_resizes<E>(
        &self,
        time: Duration,
        mut changed: impl FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        let end = Instant::now() + time;
        while self.wait_until(end) {
            changed()?;
        }
        Ok(())
    }
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
