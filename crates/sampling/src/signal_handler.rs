//! The handler of SIGPROF: it notes a sample for the thread that it interrupts.

use std::io::{Error, ErrorKind};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::cpu_samples::CpuSamples;

/// A thread as its timer's signals point to it.
#[derive(Debug)]
pub struct TimerTarget {
    /// Where samples are recorded; null for nowhere.
    pub samples: AtomicPtr<CpuSamples>,
    /// Processor time between two signals.
    pub period_ns: u64,
}

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
    let thread = unsafe { info.si_value().sival_ptr } as *const TimerTarget;
    // SAFETY: all timers that signal SIGPROF were made by `CpuTimer::start` with a pointer to such
    // a value, which the timer keeps until no signal of it is left.
    let Some(thread) = (unsafe { thread.as_ref() }) else {
        return;
    };
    // SAFETY: `CpuTimer::record_in`, which runs on this thread too, keeps the samples as long as
    // the pointer to them stands there.
    if let Some(samples) = unsafe { thread.samples.load(Ordering::Relaxed).as_ref() } {
        let periods = 1 + u64::from(overrun(info));
        samples.record(instruction(context), periods * thread.period_ns);
    }
}

/// Number of further periods that have passed before the signal was delivered.
fn overrun(info: &libc::siginfo_t) -> u32 {
    // Behind three numbers and padding of 4 bytes stand the timer's number and this one:
    // `struct siginfo` of Linux, `_timer` (include/uapi/asm-generic/siginfo.h).
    const AT: usize = 20;
    // SAFETY: a `siginfo_t` has 128 bytes, all of which the kernel has written.
    let overrun = unsafe {
        ptr::from_ref(info)
            .byte_add(AT)
            .cast::<i32>()
            .read_unaligned()
    };
    overrun.max(0) as u32
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
