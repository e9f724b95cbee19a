//! The handler of SIGPROF: it notes a sample for the thread that it interrupts.

use std::io::{Error, ErrorKind};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

use crate::cpu_samples::CpuSamples;

/// Installs the handler, once for the process; it stays. To be called before the process loads
/// libraries that may keep or change handlers.
///
/// # Errors
/// Something else in the process handles SIGPROF, or the system refuses.
pub fn install() -> Result<(), Error> {
    static INSTALLED: OnceLock<Result<(), (ErrorKind, String)>> = OnceLock::new();
    let installed =
        INSTALLED.get_or_init(|| install_once().map_err(|error| (error.kind(), error.to_string())));
    match installed {
        Ok(()) => Ok(()),
        Err((kind, text)) => Err(Error::new(*kind, text.clone())),
    }
}

fn install_once() -> Result<(), Error> {
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: the action is only read, and `before` has room for one.
    if unsafe { libc::sigaction(libc::SIGPROF, ptr::null(), before.as_mut_ptr()) } != 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: the call has succeeded, so it has written an action.
    let before = unsafe { before.assume_init() };
    if before.sa_sigaction != libc::SIG_DFL && before.sa_sigaction != libc::SIG_IGN {
        let message = "something else in this process handles SIGPROF";
        return Err(Error::new(ErrorKind::ResourceBusy, message));
    }
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_signal;
    // SAFETY: zeros are a valid action, with an empty mask.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    // SAFETY: the handler is of the type that SA_SIGINFO asks for, and calls only what a handler
    // may call: atomic loads and stores.
    match unsafe { libc::sigaction(libc::SIGPROF, &action, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// Notes the instruction that was interrupted, if a timer of [`crate::CpuTimer`] has sent the
/// signal.
extern "C" fn on_signal(_: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel hands over a valid `info`.
    let info = unsafe { &*info };
    if info.si_code != libc::SI_TIMER {
        return;
    }
    // SAFETY: signals of timers carry the value that the timer was made with.
    let samples = unsafe { info.si_value().sival_ptr } as *const CpuSamples;
    // SAFETY: all timers that signal SIGPROF were made by `CpuTimer::start` with a pointer to
    // samples, which the timer keeps until no signal of it is left.
    if let Some(samples) = unsafe { samples.as_ref() } {
        samples.record(instruction(context));
    }
}

#[cfg(target_arch = "x86_64")]
fn instruction(context: *mut libc::c_void) -> usize {
    // SAFETY: the kernel hands over a valid context of this machine.
    let context = unsafe { &*(context as *const libc::ucontext_t) };
    context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize
}

#[cfg(target_arch = "aarch64")]
fn instruction(context: *mut libc::c_void) -> usize {
    // SAFETY: the kernel hands over a valid context of this machine.
    let context = unsafe { &*(context as *const libc::ucontext_t) };
    context.uc_mcontext.pc as usize
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn instruction(_: *mut libc::c_void) -> usize {
    0
}
