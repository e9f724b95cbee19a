//! What signals ask of a run: the first one an orderly shutdown, a further one an end at once.
//!
//! `timeout` sends its signal to its child and then to the child's group, and whoever passes Ctrl-C
//! on sends what the terminal has sent already. So the same signal again, within a moment, is no
//! further one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use engine::{JobProcesses, StopHandle};

use super::received_signals::{ReceivedSignal, Signals};
use crate::failure::CommandFailure;
use crate::output::write_stderr;
use crate::progress_line::erase;

/// So long after the first signal the same one may be its echo. Nobody presses Ctrl-C so fast.
const ECHO_MAX: Duration = Duration::from_millis(250);

/// A thread that hears signals.
pub struct SignalListener(Arc<ShutdownState>);

/// What signals have asked for.
#[derive(Default)]
struct ShutdownState {
    shutdown: Mutex<ShutdownRequest>,
    /// The process is about to end, with the status that says by which signal.
    is_exiting: AtomicBool,
}

/// An orderly end.
#[derive(Default)]
struct ShutdownRequest {
    is_requested: bool,
    /// What can be stopped, once there is something.
    stop_handle: Option<StopHandle>,
}

/// What a signal means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignalClass {
    First,
    Echo,
    Further,
}

/// The signals that came.
#[derive(Default)]
struct SignalClassifier {
    first: Option<ReceivedSignal>,
    has_echoed: bool,
}

impl SignalListener {
    /// Listens from now on. A further signal ends these processes, too.
    ///
    /// # Errors
    /// The system has no descriptor or thread left.
    pub fn listen(processes: JobProcesses) -> Result<SignalListener, CommandFailure> {
        let failure =
            |error| CommandFailure::Program(format!("cannot listen for signals: {error}"));
        let mut signals = Signals::terminating().map_err(failure)?;
        let state = Arc::<ShutdownState>::default();
        let listener = SignalListener(Arc::clone(&state));
        let listen = move || {
            let mut classifier = SignalClassifier::default();
            while let Ok(came) = signals.next() {
                match classifier.classify(came) {
                    SignalClass::First => {
                        state.request_shutdown();
                        remark_on_shutdown();
                    }
                    SignalClass::Echo => {}
                    SignalClass::Further => state.kill_and_exit(&processes, came.signal),
                }
            }
        };
        let thread = Builder::new().name("signals".to_owned()).spawn(listen);
        thread.map(|_| listener).map_err(failure)
    }

    /// There is something now that can be stopped.
    pub fn set_stop_handle(&self, stop: StopHandle) {
        let mut shutdown = self.0.lock_request();
        if shutdown.is_requested {
            stop.stop();
        }
        shutdown.stop_handle = Some(stop);
    }

    /// The run is over. If a further signal is just about to end this process, that is how it ends:
    /// what is to be said of PEs that it has killed is nothing.
    pub fn finish(self) {
        while self.0.is_exiting.load(Ordering::Acquire) {
            std::thread::park();
        }
    }
}

impl ShutdownState {
    fn lock_request(&self) -> MutexGuard<'_, ShutdownRequest> {
        self.shutdown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request_shutdown(&self) {
        let mut shutdown = self.lock_request();
        shutdown.is_requested = true;
        if let Some(stop) = &shutdown.stop_handle {
            stop.stop();
        }
    }

    /// Ends everything from here, whatever other threads and processes are doing.
    fn kill_and_exit(&self, processes: &JobProcesses, signal: i32) {
        self.is_exiting.store(true, Ordering::Release);
        processes.kill();
        signal_hook::low_level::exit(128 + signal)
    }
}

/// So long a shutdown is not worth a word.
const REMARK_DELAY: Duration = Duration::from_secs(1);

/// Says why the run has not ended yet, if it has not.
fn remark_on_shutdown() {
    let later = || {
        std::thread::sleep(REMARK_DELAY);
        erase();
        write_stderr(
            "thalweg: shutting down: sources have been told to end, and what is under way is carried \
             through; a further signal ends it at once, and loses that\n",
        );
    };
    // Without a thread nothing is said.
    let _ = Builder::new().name("remark".to_owned()).spawn(later);
}

impl SignalClassifier {
    fn classify(&mut self, came: ReceivedSignal) -> SignalClass {
        let Some(first) = self.first else {
            self.first = Some(came);
            return SignalClass::First;
        };
        let is_soon = came.time.saturating_sub(first.time) < ECHO_MAX;
        let is_echo = came.signal == first.signal && is_soon;
        if is_echo && !std::mem::replace(&mut self.has_echoed, true) {
            SignalClass::Echo
        } else {
            SignalClass::Further
        }
    }
}

#[cfg(test)]
mod tests {
    use signal_hook::consts::{SIGINT, SIGTERM};

    use super::*;

    fn heard(signals: &[(i32, Duration)]) -> Vec<SignalClass> {
        let mut ear = SignalClassifier::default();
        let signals = signals.iter();
        let heard = signals.map(|&(signal, at)| ear.classify(ReceivedSignal { time: at, signal }));
        heard.collect()
    }

    #[test]
    fn the_same_signal_at_once_is_an_echo() {
        let soon = Duration::from_millis(1);
        let twice = heard(&[(SIGTERM, Duration::ZERO), (SIGTERM, soon)]);
        assert_eq!(twice, [SignalClass::First, SignalClass::Echo]);
    }

    #[test]
    fn another_one_a_third_one_and_a_later_one_are_further_ones() {
        let soon = Duration::from_millis(1);
        let (first, other) = ((SIGINT, Duration::ZERO), (SIGTERM, soon));
        assert_eq!(
            heard(&[first, other]),
            [SignalClass::First, SignalClass::Further]
        );
        let thrice = heard(&[first, (SIGINT, soon), (SIGINT, soon * 2)]);
        assert_eq!(
            thrice,
            [SignalClass::First, SignalClass::Echo, SignalClass::Further]
        );
        let late = heard(&[first, (SIGINT, ECHO_MAX)]);
        assert_eq!(late, [SignalClass::First, SignalClass::Further]);
    }
}
