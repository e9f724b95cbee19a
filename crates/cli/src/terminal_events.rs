//! Events on the terminal of a command that draws: keys, changes of the size, and signals that end
//! it.

use std::io::{IsTerminal, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Builder;
use std::time::Instant;

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;

/// An event on the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalEvent {
    /// The terminal has another size.
    Resized,
    /// The command was asked to end, by a key or a signal.
    Ended,
    /// A key was pressed.
    Pressed(TerminalKey),
}

/// A key, by what is sent for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalKey {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    /// A key with a character.
    Character(u8),
}

/// Events of the terminal, from threads of their own.
pub struct TerminalEvents {
    events: Receiver<TerminalEvent>,
    /// Set back when the events are no longer wanted; `None`: no keys are read.
    mode: Option<KeyMode>,
}

impl TerminalEvents {
    /// Begins to listen. Keys come if `reads_keys` and standard input is the terminal of this
    /// command; if threads cannot be started, no events come.
    pub fn listen(reads_keys: bool) -> TerminalEvents {
        let (sender, events) = channel();
        let mode = reads_keys.then(KeyMode::set).flatten();
        let signals = match mode {
            Some(_) => Signals::new([SIGWINCH, SIGINT, SIGTERM, SIGHUP]),
            None => Signals::new([SIGWINCH]),
        };
        if let Ok(mut signals) = signals {
            let sender = sender.clone();
            let forward = move || {
                for signal in signals.forever() {
                    let event = match signal {
                        SIGWINCH => TerminalEvent::Resized,
                        _ => TerminalEvent::Ended,
                    };
                    if sender.send(event).is_err() {
                        return;
                    }
                }
            };
            let _ = Builder::new().spawn(forward);
        }
        if mode.is_some() {
            let _ = Builder::new().spawn(move || read_keys(std::io::stdin().lock(), &sender));
        }
        TerminalEvents { events, mode }
    }

    /// Whether keys are read.
    pub fn has_keys(&self) -> bool {
        self.mode.is_some()
    }

    /// Waits for an event until the time `end`; `None`: there was none.
    pub fn next_until(&self, end: Instant) -> Option<TerminalEvent> {
        let left = end.saturating_duration_since(Instant::now());
        match self.events.recv_timeout(left) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(end.saturating_duration_since(Instant::now()));
                None
            }
        }
    }
}

/// A terminal that gives each key at once and does not show it, until it is dropped.
struct KeyMode(Termios);

impl KeyMode {
    /// Sets the mode; `None` if standard input is no terminal, or that of another command: a
    /// command in the background that reads it is stopped.
    fn set() -> Option<KeyMode> {
        let input = std::io::stdin();
        if !input.is_terminal() || tcgetpgrp(&input).ok()? != getpgrp() {
            return None;
        }
        let before = tcgetattr(&input).ok()?;
        let mut keys = before.clone();
        // Ctrl-C is a key, too: a signal would leave the terminal as it is.
        keys.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        tcsetattr(&input, OptionalActions::Now, &keys).ok()?;
        Some(KeyMode(before))
    }
}

impl Drop for KeyMode {
    fn drop(&mut self) {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Bytes of Ctrl-C, of Ctrl-D and of the beginning of an escape sequence.
const CONTROL_C: u8 = 3;
const CONTROL_D: u8 = 4;
const ESCAPE: u8 = 27;

/// Sends the keys of an input until it ends.
fn read_keys(mut input: impl Read, events: &Sender<TerminalEvent>) {
    let mut bytes = [0; 64];
    while let Ok(count @ 1..) = input.read(&mut bytes) {
        for event in key_events(&bytes[..count]) {
            if events.send(event).is_err() {
                return;
            }
        }
    }
}

/// The events of bytes that came together. A terminal sends an escape sequence at once.
fn key_events(mut bytes: &[u8]) -> Vec<TerminalEvent> {
    let mut events = Vec::new();
    while let Some((&first, rest)) = bytes.split_first() {
        if first == ESCAPE
            && let Some((key, length)) = sequence_key(rest)
        {
            events.extend(key.map(TerminalEvent::Pressed));
            bytes = &rest[length..];
            continue;
        }
        events.push(match first {
            CONTROL_C | CONTROL_D | b'q' => TerminalEvent::Ended,
            _ => TerminalEvent::Pressed(TerminalKey::Character(first)),
        });
        bytes = rest;
    }
    events
}

/// The key of an escape sequence, of which `bytes` is what follows the escape character, and the
/// bytes that it takes; the key is `None` for sequences that mean nothing here.
fn sequence_key(bytes: &[u8]) -> Option<(Option<TerminalKey>, usize)> {
    let parameters = match bytes {
        [b'[' | b'O', parameters @ ..] => parameters,
        _ => return None,
    };
    let is_end = |byte: &u8| (0x40..=0x7e).contains(byte);
    let end = parameters.iter().position(is_end)?;
    let key = match (&parameters[..end], parameters[end]) {
        ([], b'A') => Some(TerminalKey::Up),
        ([], b'B') => Some(TerminalKey::Down),
        ([], b'H') | (b"1" | b"7", b'~') => Some(TerminalKey::Home),
        ([], b'F') | (b"4" | b"8", b'~') => Some(TerminalKey::End),
        (b"5", b'~') => Some(TerminalKey::PageUp),
        (b"6", b'~') => Some(TerminalKey::PageDown),
        _ => None,
    };
    Some((key, end + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_what_a_terminal_sends() {
        use TerminalKey::{Character, Down, End, Home, PageDown, PageUp, Up};
        let sent = b"\x1b[A\x1bOB\x1b[5~\x1b[6~\x1b[H\x1b[4~\x1b[1;5Cs\x1bj";
        let pressed = [
            Up,
            Down,
            PageUp,
            PageDown,
            Home,
            End,
            Character(b's'),
            Character(ESCAPE),
            Character(b'j'),
        ];
        assert_eq!(key_events(sent), pressed.map(TerminalEvent::Pressed));
        for end in [&b"q"[..], b"\x03", b"\x04"] {
            assert_eq!(key_events(end), [TerminalEvent::Ended]);
        }
        // A sequence that was cut is no sequence.
        assert_eq!(
            key_events(b"\x1b["),
            [ESCAPE, b'['].map(|byte| TerminalEvent::Pressed(Character(byte)))
        );
    }
}
