//! A registry of the processes of jobs, which can kill them all at once from any thread.
//!
//! An orderly shutdown is the launcher's task. The registry serves the end that waits for nothing:
//! neither for the launcher's thread, nor for PEs that do not answer or are stopped (SIGSTOP).

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

/// How long killed processes may take to end. They end at once, unless the kernel waits on their
/// behalf for a device that does not answer.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);

/// Pause between two looks at a process that is being started.
const STARTER_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Registry of the processes that jobs have started and not yet waited for; clones share it.
#[derive(Clone, Default)]
pub struct JobProcesses(Arc<ProcessTable>);

#[derive(Default)]
struct ProcessTable {
    /// Whether further processes are refused.
    is_closed: AtomicBool,
    /// Kernel id of the thread that is starting a process; 0: none is.
    starter_tid: AtomicI32,
    /// Process descriptors, readable when the process has ended, dropped when it was waited for.
    /// Locked while a process is started.
    exit_fds: Mutex<Vec<Weak<OwnedFd>>>,
}

impl JobProcesses {
    /// Calls `start` to start a process, and registers the descriptor that it returns. A process
    /// that the calling thread starts in other ways may be killed too, if [`JobProcesses::kill`]
    /// runs at the same time.
    ///
    /// # Errors
    /// The process cannot be started, or [`JobProcesses::kill`] was called before.
    pub(crate) fn start<T>(
        &self,
        start: impl FnOnce() -> io::Result<(T, Weak<OwnedFd>)>,
    ) -> io::Result<T> {
        // The lock is held while the process starts: it is either registered or does not exist.
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

    /// Kills all registered processes and waits until they have ended, at most ten seconds.
    /// Processes cannot be started any more.
    pub fn kill(&self) {
        self.0.is_closed.store(true, Ordering::SeqCst);
        let deadline = Instant::now() + KILL_TIMEOUT;
        let Some(ends) = self.exit_fds(deadline) else {
            return;
        };
        for end in &ends {
            // The process may have ended just before.
            let _ = pidfd_send_signal(end, Signal::KILL);
        }
        for end in &ends {
            if wait_exit(end, deadline) {
                // The launcher may have waited for it already.
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
                let _ = waitid(WaitId::PidFd(end.as_fd()), options);
            }
        }
    }

    /// The descriptors of all processes; `None` if the lock is not free by the deadline. A process
    /// that is being started may be stopped before it executes its program, and so block the thread
    /// that starts it: it is killed.
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
                // The thread starts processes of jobs only, and all of them are to end.
                let _ = kill_process(child, Signal::KILL);
            }
            std::thread::sleep(STARTER_POLL_INTERVAL);
        }
    }
}

/// Lists the processes that a thread has started and not waited for, from /proc.
fn child_pids(thread: i32) -> Vec<Pid> {
    let list = format!("/proc/self/task/{thread}/children");
    let text = fs::read_to_string(list).unwrap_or_default();
    let numbers = text.split_whitespace().map(str::parse);
    let numbers = numbers.filter_map(Result::ok);
    numbers.filter_map(Pid::from_raw).collect()
}

/// Waits for the end of a process; returns whether it came before the deadline.
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
            // The call was interrupted or failed. The processes are killed already, so try again.
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

    /// Like a process that is stopped before it executes its program.
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
