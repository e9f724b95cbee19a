//! Whether the process of a command that has asked for something still runs.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Whether a process of this number runs.
pub fn is_alive(process: u32) -> bool {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}
