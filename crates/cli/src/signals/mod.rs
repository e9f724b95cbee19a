//! Signals that ask the command to end: an orderly shutdown first, an end at once after that.

mod received_signals;
mod signal_listener;

pub use received_signals::{Signals, ignore_file_size_signal};
pub use signal_listener::SignalListener;
