//! The processes of jobs: all of them can be ended at once, from any thread.
//!
//! An orderly shutdown is the launcher's business. This is for the end that waits for nothing:
//! neither for the launcher's thread, nor for PEs that do not answer or do not even run (SIGSTOP).

use std::fmt;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError, Weak};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, pidfd_send_signal, waitid,
};

/// How long a process that was killed may take to be gone. It is gone at once, unless the kernel
/// waits in it for a device that does not answer.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);

/// Between two looks at a process that is being started.
const STARTER_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The processes that jobs have started and not waited for. Clones are the same.
#[derive(Clone, Default)]
pub struct JobProcesses(Arc<ProcessTable>);

#[derive(Default)]
struct ProcessTable {
    /// No further process is started.
    is_closed: AtomicBool,
    /// The thread that is starting a process; 0: none is.
    starter_tid: AtomicI32,
    /// Readable when a process has ended; gone when it was waited for. Locked while one is started.
    exit_fds: Mutex<Vec<Weak<OwnedFd>>>,
}

impl JobProcesses {
    /// Starts a process, unless all were killed. What the calling thread starts by other ways may
    /// be killed as well if all are killed at the same time.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn start<T>(
        &self,
        start: impl FnOnce() -> io::Result<(T, Weak<OwnedFd>)>,
    ) -> io::Result<T> {
        // Held while it is started: a process is either in the list or not there.
        let mut ends = self
            .0
            .exit_fds
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if self.0.is_closed.load(Ordering::SeqCst) {
            return Err(io::Error::other("the job has been killed"));
        }
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        self.0.starter_tid.store(thread, Ordering::SeqCst);
        let started = start();
        self.0.starter_tid.store(0, Ordering::SeqCst);
        let (process, end) = started?;
        ends.retain(|end| end.strong_count() > 0);
        ends.push(end);
        Ok(process)
    }

    /// Kills all of them and waits until they are gone. None can be started any more.
    pub fn kill(&self) {
        self.0.is_closed.store(true, Ordering::SeqCst);
        let deadline = Instant::now() + KILL_TIMEOUT;
        let Some(ends) = self.exit_fds(deadline) else {
            return;
        };
        for end in &ends {
            // It may have ended just before.
            let _ = pidfd_send_signal(end, Signal::KILL);
        }
        for end in &ends {
            if wait_exit(end, deadline) {
                // Unless the launcher has done so.
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
                let _ = waitid(WaitId::PidFd(end.as_fd()), options);
            }
        }
    }

    /// All that there are. One that is just being started may be stopped before it has become what
    /// it is to be, and so hold up who starts it: it is killed.
    fn exit_fds(&self, deadline: Instant) -> Option<Vec<Arc<OwnedFd>>> {
        loop {
            match self.0.exit_fds.try_lock() {
                Ok(ends) => return Some(ends.iter().filter_map(Weak::upgrade).collect()),
                Err(TryLockError::Poisoned(ends)) => {
                    return Some(ends.get_ref().iter().filter_map(Weak::upgrade).collect());
                }
                Err(TryLockError::WouldBlock) if Instant::now() > deadline => return None,
                Err(TryLockError::WouldBlock) => {}
            }
            for child in child_pids(self.0.starter_tid.load(Ordering::SeqCst)) {
                // All are to end.
                let _ = kill_process(child, Signal::KILL);
            }
            std::thread::sleep(STARTER_POLL_INTERVAL);
        }
    }
}

/// The processes that a thread of this one has started and nobody has waited for, as /proc has
/// them.
fn child_pids(thread: i32) -> Vec<Pid> {
    let list = format!("/proc/self/task/{thread}/children");
    let text = fs::read_to_string(list).unwrap_or_default();
    let numbers = text.split_whitespace().map(str::parse);
    let numbers = numbers.filter_map(Result::ok);
    numbers.filter_map(Pid::from_raw).collect()
}

/// Waits for the end of a process.
fn wait_exit(end: &OwnedFd, deadline: Instant) -> bool {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec {
            tv_sec: left.as_secs().cast_signed(),
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut fds = [PollFd::new(end, PollFlags::IN)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(ready) if ready > 0 => return true,
            // It was interrupted, or has failed: the processes are killed, and there is time.
            _ if left.is_zero() => return false,
            _ => {}
        }
    }
}

impl fmt::Debug for JobProcesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Processes")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command};
    use std::sync::mpsc::channel;

    use rustix::process::{PidfdFlags, pidfd_open};

    use super::*;

    fn sleeper(processes: &JobProcesses) -> io::Result<(Child, Arc<OwnedFd>)> {
        processes.start(|| {
            let child = Command::new("sleep").arg("1000").spawn()?;
            let end = Arc::new(pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?);
            let listed = Arc::downgrade(&end);
            Ok(((child, end), listed))
        })
    }

    #[test]
    fn all_are_killed_even_those_that_are_stopped_and_no_more_are_started() {
        let processes = JobProcesses::default();
        let started = [(); 3].map(|()| sleeper(&processes).unwrap());
        pidfd_send_signal(&started[1].1, Signal::STOP).unwrap();
        processes.kill();
        for (mut child, _) in started {
            // They were waited for.
            let error = child.try_wait().unwrap_err();
            assert_eq!(error.raw_os_error(), Some(10), "ECHILD: {error}");
        }
        let error = sleeper(&processes).unwrap_err();
        assert_eq!(error.to_string(), "the job has been killed");
        processes.kill();
    }

    /// As one that is stopped before it has become what it is to be.
    #[test]
    fn one_that_holds_up_who_starts_it_is_killed_and_no_child_of_others() {
        let processes = JobProcesses::default();
        let mut stranger = Command::new("sleep").arg("1000").spawn().unwrap();
        let (sender, is_starting) = channel();
        let starting = processes.clone();
        let starter = std::thread::spawn(move || {
            starting.start(|| {
                let mut child = Command::new("sleep").arg("1000").spawn()?;
                sender.send(()).unwrap();
                Ok((child.wait()?.signal(), Weak::new()))
            })
        });
        is_starting.recv().unwrap();
        processes.kill();
        assert_eq!(starter.join().unwrap().unwrap(), Some(9));
        assert!(stranger.try_wait().unwrap().is_none());
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }
}
