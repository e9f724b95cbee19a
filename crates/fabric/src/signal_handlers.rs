//! Signal handlers of the process, kept while a library is loaded.
//!
//! A library that libfabric links (`libinfinipath`) installs handlers for crashes and for SIGTERM
//! when it is loaded. With them a process that crashes exits with a status, and whoever started it
//! does not learn of the signal.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// Signals that have handlers: those with names, from SIGHUP to SIGSYS.
const SIGNALS: std::ops::RangeInclusive<libc::c_int> = libc::SIGHUP..=libc::SIGSYS;

/// The actions of the process on each signal while at least one [`SignalHandlers`] lives.
static KEPT: Mutex<KeptActions> = Mutex::new(KeptActions {
    keepers: 0,
    actions: Vec::new(),
});

struct KeptActions {
    keepers: usize,
    /// Noted by the first keeper alone: another thread may be within a library when the second
    /// comes, and the library's handlers would be noted as the process's own.
    actions: Vec<(libc::c_int, libc::sigaction)>,
}

/// Keeps the process's actions on signals: dropping it takes back what was changed since the
/// first of the values that live at a time, of all threads, was made. A handler that the program
/// itself installs meanwhile in another thread is taken back too.
pub(crate) struct SignalHandlers(());

impl SignalHandlers {
    /// Notes the actions that the process takes now, unless another value lives that did.
    pub(crate) fn keep() -> SignalHandlers {
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.keepers == 0 {
            let action = |signal| Some((signal, action_of(signal)?));
            kept.actions = SIGNALS.filter_map(action).collect();
        }
        kept.keepers += 1;
        SignalHandlers(())
    }
}

impl Drop for SignalHandlers {
    fn drop(&mut self) {
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        kept.keepers -= 1;
        for (signal, action) in &kept.actions {
            let now = action_of(*signal);
            if now.is_some_and(|now| now.sa_sigaction != action.sa_sigaction) {
                // SAFETY: the action was the process's own before, so its handler is still there.
                unsafe { libc::sigaction(*signal, action, ptr::null_mut()) };
            }
        }
    }
}

/// Action of the process on a signal; `None`: the signal has no handlers.
fn action_of(signal: libc::c_int) -> Option<libc::sigaction> {
    let mut action = MaybeUninit::zeroed();
    // SAFETY: no action is set; the current one is written if the call returns 0.
    let result = unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: the call has set all of it, and zeros are a valid action too.
    (result == 0).then(|| unsafe { action.assume_init() })
}

#[cfg(test)]
mod tests {
    use super::{SignalHandlers, action_of};

    #[test]
    fn a_handler_that_a_second_keeper_finds_is_taken_back_too() {
        let before = action_of(libc::SIGUSR2).unwrap();
        let mut ignored = before;
        ignored.sa_sigaction = libc::SIG_IGN;
        let first = SignalHandlers::keep();
        // SAFETY: a signal that is ignored runs nothing, and no other test uses this one.
        unsafe { libc::sigaction(libc::SIGUSR2, &raw const ignored, std::ptr::null_mut()) };
        let second = SignalHandlers::keep();
        for keeper in [first, second] {
            drop(keeper);
            let now = action_of(libc::SIGUSR2).unwrap();
            assert_eq!(now.sa_sigaction, before.sa_sigaction);
        }
    }
}
