//! The windows of a run, and its rate.

use control::{CoreWindows, median};

/// Number of windows in a run.
const COUNT: usize = 300;

/// Fewest windows that must count for a result.
const WHOLE_MIN: usize = 5;

/// Number of frames of this length that make a run.
pub fn run_count(len: usize) -> u64 {
    CoreWindows::message_count(len, COUNT)
}

/// Windows before the first frame of this length.
pub fn windows(len: usize) -> CoreWindows {
    CoreWindows::new(len, COUNT)
}

/// Million frames a second in the median window; not a number if there were too few in which both
/// sides ran.
pub fn rate(sender: &CoreWindows, receiver: &CoreWindows) -> f64 {
    let rates = receiver.rates(sender);
    match rates.len() < WHOLE_MIN {
        true => f64::NAN,
        false => median(rates.into_iter()) / 1e6,
    }
}
