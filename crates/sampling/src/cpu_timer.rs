//! The timer of one thread's processor time.

use std::io::Error;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering, compiler_fence};

use crate::cpu_samples::CpuSamples;
use crate::signal_handler::{self, TimerTarget};

/// Most samples a second that can be asked for: kernels look at clocks of processor time no more
/// often than this.
pub const SAMPLES_PER_SECOND_MAX: u32 = 1_000;

/// A timer that samples the thread which has started it, until it is dropped there.
#[derive(Debug)]
pub struct CpuTimer {
    timer: libc::timer_t,
    /// The thread as signals of the timer point to it: kept as long as one may come.
    thread: Box<TimerTarget>,
    /// Kept as long as the thread's samples point to it.
    samples: Option<Arc<CpuSamples>>,
    /// Signals of the timer are the thread's own: it has to be dropped on that thread.
    _on_thread: PhantomData<*const ()>,
}

impl CpuTimer {
    /// Starts to sample the calling thread, so often in a second of its processor time: at least
    /// once, and at most [`SAMPLES_PER_SECOND_MAX`] times. Nothing is recorded before
    /// [`CpuTimer::record_in`] says where.
    ///
    /// # Errors
    /// The system has no more timers, or something else handles SIGPROF.
    pub fn start(per_second: u32) -> Result<CpuTimer, Error> {
        signal_handler::install()?;
        let period_ns = 1_000_000_000 / u64::from(per_second.clamp(1, SAMPLES_PER_SECOND_MAX));
        let thread = Box::new(TimerTarget {
            samples: AtomicPtr::default(),
            period_ns,
        });
        // SAFETY: zeros are a valid event.
        let mut event: libc::sigevent = unsafe { MaybeUninit::zeroed().assume_init() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGPROF;
        event.sigev_value.sival_ptr = ptr::from_ref(&*thread).cast_mut().cast();
        event.sigev_notify_thread_id = rustix::thread::gettid().as_raw_nonzero().get();
        let mut timer = MaybeUninit::uninit();
        let clock = libc::CLOCK_THREAD_CPUTIME_ID;
        // SAFETY: the event is complete, and `timer` has room for a timer.
        if unsafe { libc::timer_create(clock, &mut event, timer.as_mut_ptr()) } != 0 {
            return Err(Error::last_os_error());
        }
        let timer = CpuTimer {
            // SAFETY: the call has succeeded, so it has written a timer.
            timer: unsafe { timer.assume_init() },
            thread,
            samples: None,
            _on_thread: PhantomData,
        };
        let period = libc::timespec {
            tv_sec: (period_ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (period_ns % 1_000_000_000) as libc::c_long,
        };
        let setting = libc::itimerspec {
            it_interval: period,
            it_value: period,
        };
        // SAFETY: the timer exists, and the setting is valid.
        match unsafe { libc::timer_settime(timer.timer, 0, &setting, ptr::null_mut()) } {
            0 => Ok(timer),
            _ => Err(Error::last_os_error()),
        }
    }

    /// Records what the thread does from now on in these samples, or nowhere.
    pub fn record_in(&mut self, samples: Option<Arc<CpuSamples>>) {
        let pointer = samples.as_ref().map_or(ptr::null(), |samples| {
            samples.allocate();
            Arc::as_ptr(samples)
        });
        self.thread
            .samples
            .store(pointer.cast_mut(), Ordering::Relaxed);
        // The handler runs on this thread, and no longer finds the ones before, which go here.
        compiler_fence(Ordering::SeqCst);
        self.samples = samples;
    }
}

impl Drop for CpuTimer {
    fn drop(&mut self) {
        let no_wait = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the sets are made before they are used, and the timer exists until here. While
        // the signal is blocked no handler runs on this thread, and the timer's signals go to no
        // other one; what has come already is taken away, so none points to the samples later.
        unsafe {
            let mut profiling = MaybeUninit::<libc::sigset_t>::zeroed().assume_init();
            let mut before = MaybeUninit::<libc::sigset_t>::zeroed().assume_init();
            libc::sigemptyset(&mut profiling);
            libc::sigaddset(&mut profiling, libc::SIGPROF);
            libc::pthread_sigmask(libc::SIG_BLOCK, &profiling, &mut before);
            libc::timer_delete(self.timer);
            while libc::sigtimedwait(&profiling, ptr::null_mut(), &no_wait) >= 0 {}
            libc::pthread_sigmask(libc::SIG_SETMASK, &before, ptr::null_mut());
        }
    }
}
