//! The program that started this one: ranks end with it.

use std::thread::Builder;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{PidfdFlags, Signal, getpid, getppid, kill_process, pidfd_open};

use crate::error::Error;

/// Calls a function, on a thread of its own, when the process that started this one has ended, and
/// kills this process: mpirun that is killed cannot end its ranks, and they would stay. Nobody is
/// left whom an exit status would tell anything.
///
/// # Errors
/// [`Error::System`] if the system cannot start a thread.
pub fn watch_parent(on_end: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    // A parent in another namespace of processes has no number here, and cannot be watched.
    let Some(parent) = getppid() else {
        return Ok(());
    };
    let opened = pidfd_open(parent, PidfdFlags::empty());
    // If the number is another process's now, the parent has ended before.
    let is_same = getppid() == Some(parent);
    let Ok(parent) = opened else {
        return Ok(());
    };
    let on_end = move || {
        on_end();
        let _ = kill_process(getpid(), Signal::KILL);
    };
    let watch = move || {
        if !is_same {
            return on_end();
        }
        loop {
            let mut ended = [PollFd::new(&parent, PollFlags::IN)];
            if poll(&mut ended, None).is_ok() && !ended[0].revents().is_empty() {
                return on_end();
            }
        }
    };
    let thread = Builder::new().name("parent".to_owned()).spawn(watch);
    thread.map_err(|error| Error::system("start a thread", error))?;
    Ok(())
}
