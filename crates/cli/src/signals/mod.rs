//! Signals that ask the command to end: the orderly shutdown of a run, and the end at once.

mod received_signals;
mod signal_listener;

pub use received_signals::{Signals, ignore_file_size_signal};
pub use signal_listener::SignalListener;
