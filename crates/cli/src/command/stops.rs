//! What signals ask of a run: the first one an orderly shutdown, a further one an end at once.
//!
//! `timeout` sends its signal to its child and then to the child's group, and whoever passes Ctrl-C
//! on sends what the terminal has sent already. So the same signal again, within a moment, is no
//! further one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use engine::{Processes, StopHandle};

use super::signals::{Came, Signals};
use super::{Failure, tell};
use crate::progress::make_way;

/// So long after the first signal the same one may be its echo. Nobody presses Ctrl-C so fast.
const ECHO: Duration = Duration::from_millis(250);

/// A thread that hears signals.
pub struct Stops(Arc<Asked>);

/// What signals have asked for.
#[derive(Default)]
struct Asked {
    shutdown: Mutex<Shutdown>,
    /// The process is about to end, with the status that says by which signal.
    is_ending: AtomicBool,
}

/// An orderly end.
#[derive(Default)]
struct Shutdown {
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
    first: Option<Came>,
    has_echoed: bool,
}

impl Stops {
    /// Listens from now on. A further signal ends these processes, too.
    ///
    /// # Errors
    /// The system has no descriptor or thread left.
    pub fn listen(processes: Processes) -> Result<Stops, Failure> {
        let failure = |error| Failure::Program(format!("cannot listen for signals: {error}"));
        let mut signals = Signals::that_end().map_err(failure)?;
        let asked = Arc::<Asked>::default();
        let stops = Stops(Arc::clone(&asked));
        let listen = move || {
            let mut ear = Ear::default();
            while let Ok(came) = signals.next() {
                match ear.hear(came) {
                    Heard::First => {
                        asked.say();
                        remark();
                    }
                    Heard::Echo => {}
                    Heard::Further => asked.end(&processes, came.signal),
                }
            }
        };
        let thread = Builder::new().name("signals".to_owned()).spawn(listen);
        thread.map(|_| stops).map_err(failure)
    }

    /// There is something now that can be stopped.
    pub fn lead_to(&self, stop: StopHandle) {
        let mut shutdown = self.0.shutdown();
        if shutdown.is_said {
            stop.stop();
        }
        shutdown.stop = Some(stop);
    }

    /// The run is over. If a further signal is just about to end this process, that is how it ends:
    /// what is to be said of PEs that it has killed is nothing.
    pub fn are_over(self) {
        while self.0.is_ending.load(Ordering::Acquire) {
            std::thread::park();
        }
    }
}

impl Asked {
    fn shutdown(&self) -> MutexGuard<'_, Shutdown> {
        self.shutdown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self) {
        let mut shutdown = self.shutdown();
        shutdown.is_said = true;
        if let Some(stop) = &shutdown.stop {
            stop.stop();
        }
    }

    /// Ends everything from here, whatever other threads and processes are doing.
    fn end(&self, processes: &Processes, signal: i32) {
        self.is_ending.store(true, Ordering::Release);
        processes.kill();
        signal_hook::low_level::exit(128 + signal)
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

impl Ear {
    fn hear(&mut self, came: Came) -> Heard {
        let Some(first) = self.first else {
            self.first = Some(came);
            return Heard::First;
        };
        let is_soon = came.at.saturating_sub(first.at) < ECHO;
        let is_echo = came.signal == first.signal && is_soon;
        if is_echo && !std::mem::replace(&mut self.has_echoed, true) {
            Heard::Echo
        } else {
            Heard::Further
        }
    }
}

#[cfg(test)]
mod tests {
    use signal_hook::consts::{SIGINT, SIGTERM};

    use super::*;

    fn heard(signals: &[(i32, Duration)]) -> Vec<Heard> {
        let mut ear = Ear::default();
        let signals = signals.iter();
        let heard = signals.map(|&(signal, at)| ear.hear(Came { at, signal }));
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
