//! The signal listener of a run: the first signal requests an orderly shutdown, a further one ends
//! the run at once.
//!
//! `timeout` sends its signal to its child and then to the child's group, and a wrapper that passes
//! Ctrl-C on repeats what the terminal has sent already. So the same signal again, within
//! [`ECHO_MAX`], is an echo and no further signal.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use engine::{JobProcesses, StopHandle};

use super::received_signals::{ReceivedSignal, Signals};
use crate::failure::CommandFailure;
use crate::output::{self, write_stderr};
use crate::progress_line::erase;

/// Time after the first signal in which the same one is taken for its echo; no person presses
/// Ctrl-C twice so fast.
const ECHO_MAX: Duration = Duration::from_millis(250);

/// The listener: a thread that acts on signals while a run lasts.
pub struct SignalListener(Arc<ShutdownState>);

/// State that the listener's thread shares with the run.
#[derive(Default)]
struct ShutdownState {
    shutdown: Mutex<ShutdownRequest>,
    /// Whether the process is about to exit with the status of a signal.
    is_exiting: AtomicBool,
}

/// A request for an orderly shutdown.
#[derive(Default)]
struct ShutdownRequest {
    is_requested: bool,
    /// Handle of the job, once it runs.
    stop_handle: Option<StopHandle>,
}

/// Meaning of a received signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignalClass {
    First,
    Echo,
    Further,
}

/// Tells echoes from further signals.
#[derive(Default)]
struct SignalClassifier {
    first: Option<ReceivedSignal>,
    has_echoed: bool,
}

impl SignalListener {
    /// Starts listening. A further signal kills `processes` as well as this one.
    ///
    /// # Errors
    /// [`CommandFailure::Program`] if the system has no descriptor or thread left.
    pub fn listen(processes: JobProcesses) -> Result<SignalListener, CommandFailure> {
        let failure =
            |error| CommandFailure::Program(format!("cannot listen for signals: {error}"));
        let mut signals = Signals::terminating().map_err(failure)?;
        let state = Arc::<ShutdownState>::default();
        let listener = SignalListener(Arc::clone(&state));
        let listen = move || {
            let mut classifier = SignalClassifier::default();
            while let Ok(received) = signals.next() {
                match classifier.classify(received) {
                    SignalClass::First => {
                        state.request_shutdown();
                        remark_on_shutdown();
                    }
                    SignalClass::Echo => {}
                    SignalClass::Further => state.kill_and_exit(&processes, received.signal),
                }
            }
        };
        let thread = Builder::new().name("signals".to_owned()).spawn(listen);
        thread.map(|_| listener).map_err(failure)
    }

    /// Sets the job that a signal stops; a shutdown that was requested before stops it now.
    pub fn set_stop_handle(&self, stop: StopHandle) {
        let mut shutdown = self.0.lock_request();
        if shutdown.is_requested {
            stop.stop();
        }
        shutdown.stop_handle = Some(stop);
    }

    /// Ends listening because the run is over. If a further signal is about to end this process,
    /// waits for that: the deaths of PEs that it has killed are not to be reported.
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

    /// Kills the PEs and exits, whatever other threads and processes are doing.
    fn kill_and_exit(&self, processes: &JobProcesses, signal: i32) {
        self.is_exiting.store(true, Ordering::Release);
        processes.kill();
        signal_hook::low_level::exit(128 + signal)
    }
}

/// Time after which a shutdown that still runs is explained; most are over before.
const REMARK_DELAY: Duration = Duration::from_secs(1);

/// Explains, after [`REMARK_DELAY`], why the run has not ended yet.
fn remark_on_shutdown() {
    if output::is_quiet() {
        return;
    }
    let later = || {
        std::thread::sleep(REMARK_DELAY);
        erase();
        write_stderr(
            "thalweg: shutting down: the sources have been told to end, and tuples under way are still \
             processed; another signal ends the job at once and loses them\n",
        );
    };
    // If no thread can be started, the explanation is left out.
    let _ = Builder::new().name("remark".to_owned()).spawn(later);
}

impl SignalClassifier {
    fn classify(&mut self, signal: ReceivedSignal) -> SignalClass {
        let Some(first) = self.first else {
            self.first = Some(signal);
            return SignalClass::First;
        };
        let is_soon = signal.time.saturating_sub(first.time) < ECHO_MAX;
        let is_echo = signal.signal == first.signal && is_soon;
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

    fn classes(signals: &[(i32, Duration)]) -> Vec<SignalClass> {
        let mut classifier = SignalClassifier::default();
        let signals = signals.iter();
        let classes =
            signals.map(|&(signal, time)| classifier.classify(ReceivedSignal { time, signal }));
        classes.collect()
    }

    #[test]
    fn the_same_signal_at_once_is_an_echo() {
        let soon = Duration::from_millis(1);
        let twice = classes(&[(SIGTERM, Duration::ZERO), (SIGTERM, soon)]);
        assert_eq!(twice, [SignalClass::First, SignalClass::Echo]);
    }

    #[test]
    fn another_one_a_third_one_and_a_later_one_are_further_ones() {
        let soon = Duration::from_millis(1);
        let (first, other) = ((SIGINT, Duration::ZERO), (SIGTERM, soon));
        assert_eq!(
            classes(&[first, other]),
            [SignalClass::First, SignalClass::Further]
        );
        let thrice = classes(&[first, (SIGINT, soon), (SIGINT, soon * 2)]);
        assert_eq!(
            thrice,
            [SignalClass::First, SignalClass::Echo, SignalClass::Further]
        );
        let late = classes(&[first, (SIGINT, ECHO_MAX)]);
        assert_eq!(late, [SignalClass::First, SignalClass::Further]);
    }
}
