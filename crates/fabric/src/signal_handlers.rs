//! Signal handlers of the process, kept while a library is loaded.
//!
//! A library that libfabric links (`libinfinipath`) installs handlers for crashes and for SIGTERM
//! when it is loaded. With them a process that crashes exits with a status, and whoever started it
//! does not learn of the signal.

use std::mem::MaybeUninit;
use std::ptr;

/// Signals that have handlers: those with names, from SIGHUP to SIGSYS.
const SIGNALS: std::ops::RangeInclusive<libc::c_int> = libc::SIGHUP..=libc::SIGSYS;

/// Actions of the process on each signal when the value was made. Dropping it takes back later
/// changes.
pub(crate) struct SignalHandlers(Vec<(libc::c_int, libc::sigaction)>);

impl SignalHandlers {
    /// Notes the actions that the process takes now.
    pub(crate) fn keep() -> SignalHandlers {
        let action = |signal| Some((signal, action_of(signal)?));
        SignalHandlers(SIGNALS.filter_map(action).collect())
    }
}

impl Drop for SignalHandlers {
    fn drop(&mut self) {
        for (signal, action) in &self.0 {
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
