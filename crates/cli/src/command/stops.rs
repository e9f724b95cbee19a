//! What signals ask of a run: the first one an orderly shutdown, a further one an end at once.
//!
//! `timeout` sends its signal to its child and then to the child's group, and whoever passes Ctrl-C
//! on sends what the terminal has sent already. So the same signal again, within a moment, is no
//! further one.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use engine::StopHandle;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use super::{Failure, tell};
use crate::progress::make_way;

/// All that ask for an end. A terminal that is closed sends SIGHUP; whoever starts a program with
/// `nohup` has it ignored, and that stays so.
pub fn signals() -> Vec<i32> {
    let mut signals = vec![SIGINT, SIGTERM, SIGQUIT];
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if !ignores(&status, SIGHUP) {
        signals.push(SIGHUP);
    }
    signals
}

/// Whether a process of this status, as /proc has it, ignores a signal.
fn ignores(status: &str, signal: i32) -> bool {
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// So long after the first signal the same one may be its echo. Nobody presses Ctrl-C so fast.
const ECHO: Duration = Duration::from_millis(250);

/// A thread that hears signals.
pub struct Stops(Arc<Mutex<Wish>>);

/// That of whoever has sent one.
#[derive(Default)]
struct Wish {
    is_said: bool,
    /// What can be stopped, once there is something.
    stop: Option<StopHandle>,
}

/// What a signal means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    First,
    Echo,
    Further,
}

/// The signals that came.
#[derive(Default)]
struct Ear {
    first: Option<(i32, Instant)>,
    has_echoed: bool,
}

impl Stops {
    /// Listens from now on.
    ///
    /// # Errors
    /// The system has no descriptor or thread left.
    pub fn listen() -> Result<Stops, Failure> {
        let failure = |error| Failure::Program(format!("cannot listen for signals: {error}"));
        let mut signals = Signals::new(signals()).map_err(failure)?;
        let wish = Arc::<Mutex<Wish>>::default();
        let stops = Stops(Arc::clone(&wish));
        let listen = move || {
            let mut ear = Ear::default();
            for signal in signals.forever() {
                match ear.hear(signal, Instant::now()) {
                    Heard::First => {
                        say(&wish);
                        remark();
                    }
                    Heard::Echo => {}
                    Heard::Further => signal_hook::low_level::exit(128 + signal),
                }
            }
        };
        let thread = Builder::new().name("signals".to_owned()).spawn(listen);
        thread.map(|_| stops).map_err(failure)
    }

    /// There is something now that can be stopped.
    pub fn lead_to(&self, stop: StopHandle) {
        let mut wish = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if wish.is_said {
            stop.stop();
        }
        wish.stop = Some(stop);
    }
}

/// So long a shutdown is not worth a word.
const SOON: Duration = Duration::from_secs(1);

/// Says why the run has not ended yet, if it has not.
fn remark() {
    let later = || {
        std::thread::sleep(SOON);
        make_way();
        tell(
            "thalweg: shutting down: sources have been told to end, and what is under way is carried \
             through; a further signal ends it at once, and loses that\n",
        );
    };
    // Without a thread nothing is said.
    let _ = Builder::new().name("remark".to_owned()).spawn(later);
}

fn say(wish: &Mutex<Wish>) {
    let mut wish = wish.lock().unwrap_or_else(PoisonError::into_inner);
    wish.is_said = true;
    if let Some(stop) = &wish.stop {
        stop.stop();
    }
}

impl Ear {
    fn hear(&mut self, signal: i32, now: Instant) -> Heard {
        let Some((first, at)) = self.first else {
            self.first = Some((signal, now));
            return Heard::First;
        };
        let is_echo = signal == first && now.duration_since(at) < ECHO;
        if is_echo && !std::mem::replace(&mut self.has_echoed, true) {
            Heard::Echo
        } else {
            Heard::Further
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_read_from_the_status() {
        let status = "Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000002\n";
        assert!(ignores(status, SIGHUP));
        assert!(!ignores(status, SIGINT));
        assert!(!ignores("", SIGHUP));
    }

    fn heard(signals: &[(i32, Duration)]) -> Vec<Heard> {
        let (mut ear, start) = (Ear::default(), Instant::now());
        let signals = signals.iter();
        let heard = signals.map(|&(signal, after)| ear.hear(signal, start + after));
        heard.collect()
    }

    #[test]
    fn the_same_signal_at_once_is_an_echo() {
        let soon = Duration::from_millis(1);
        let twice = heard(&[(SIGTERM, Duration::ZERO), (SIGTERM, soon)]);
        assert_eq!(twice, [Heard::First, Heard::Echo]);
    }

    #[test]
    fn another_one_a_third_one_and_a_later_one_are_further_ones() {
        let soon = Duration::from_millis(1);
        let (first, other) = ((SIGINT, Duration::ZERO), (SIGTERM, soon));
        assert_eq!(heard(&[first, other]), [Heard::First, Heard::Further]);
        let thrice = heard(&[first, (SIGINT, soon), (SIGINT, soon * 2)]);
        assert_eq!(thrice, [Heard::First, Heard::Echo, Heard::Further]);
        let late = heard(&[first, (SIGINT, ECHO)]);
        assert_eq!(late, [Heard::First, Heard::Further]);
    }
}
