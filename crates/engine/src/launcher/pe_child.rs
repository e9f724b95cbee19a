//! One PE's process, as its launcher holds it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::{Arc, Weak};

use rustix::event::PollFlags;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::job_outcome::ProcessExit;
use crate::control::connection::{self, ControlReadResult, ControlReceiver, ControlSender};

/// A PE's process and the connection to it. It is killed, if need be, and waited for when this is
/// dropped.
pub struct PeChild {
    process: std::process::Child,
    /// Readable when the process has ended; `None` when it was waited for.
    exit_fd: Option<Arc<OwnedFd>>,
    /// It may still say something.
    is_connected: bool,
    /// What it says.
    pub receiver: ControlReceiver,
    /// What it is told.
    pub sender: ControlSender,
}

/// What a process prints.
pub struct OutputPipes {
    /// Its standard output.
    pub stdout: OwnedFd,
    /// Its standard error.
    pub stderr: OwnedFd,
}

impl PeChild {
    /// Starts a process. It ends with the thread that calls this: see
    /// [`crate::pe::serve`].
    ///
    /// In the launcher's process group, so that it may read the terminal, and stops and goes on
    /// with the job. Ctrl-C reaches it too: it is up to the command to ignore that.
    pub fn spawn(mut command: Command) -> io::Result<(PeChild, OutputPipes)> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut process = command
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let watched = open_exit_fd(&mut process).inspect_err(|_| {
            // Nobody would know of it.
            let _ = process.kill();
            let _ = process.wait();
        });
        let (end, printed) = watched?;
        let (inbox, outbox) = connection::split_connection(ours);
        let child = PeChild {
            process,
            exit_fd: Some(Arc::new(end)),
            is_connected: true,
            receiver: inbox,
            sender: outbox,
        };
        Ok((child, printed))
    }

    /// Readable when the process has ended; gone when it was waited for.
    pub fn exit_fd(&self) -> Weak<OwnedFd> {
        self.exit_fd
            .as_ref()
            .map(Arc::downgrade)
            .unwrap_or_default()
    }

    /// Reads what it says, at most so many times; whether that was its last word.
    pub fn read_messages(&mut self, turns: usize) -> io::Result<bool> {
        for _ in 0..turns {
            match self.receiver.fill_buffer() {
                Ok(ControlReadResult::Received) => {}
                Ok(ControlReadResult::WouldBlock) => return Ok(false),
                last => {
                    self.is_connected = false;
                    return last.map(|_| true);
                }
            }
        }
        Ok(false)
    }

    /// Whether it may still say something.
    pub fn is_connected(&self) -> bool {
        self.is_connected
    }

    /// Listens to it no more.
    pub fn disconnect(&mut self) {
        self.is_connected = false;
    }

    /// What to wait for, and whether it is the process' end.
    pub fn poll_entries(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags, bool)> {
        let mut flags = PollFlags::IN;
        // There may be room, and yet no memory.
        let waits_for_room = self.sender.has_unsent() && self.sender.retry_after().is_none();
        flags.set(PollFlags::OUT, waits_for_room);
        let talk = (self.receiver.as_fd(), flags, false);
        // Whoever has closed its side would be ready for ever.
        let talk = Some(talk).filter(|_| self.is_connected);
        let end = self.exit_fd.as_ref();
        let end = end.map(|end| (end.as_fd(), PollFlags::IN, true));
        talk.into_iter().chain(end)
    }

    /// Ends it now.
    pub fn kill(&mut self) {
        // It may have ended just before.
        let _ = self.process.kill();
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> ProcessExit {
        let exit = self.process.wait();
        self.exit_fd = None;
        exit.map_or(ProcessExit::Status(-1), ProcessExit::from)
    }
}

/// What tells of a process' end, and what it prints.
fn open_exit_fd(process: &mut std::process::Child) -> io::Result<(OwnedFd, OutputPipes)> {
    // Both are pipes, as was asked for.
    let stdout = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let stderr = process.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let printed = OutputPipes {
        stdout: stdout.into(),
        stderr: stderr.into(),
    };
    let end = pidfd_open(Pid::from_child(process), PidfdFlags::empty())?;
    Ok((end, printed))
}

impl Drop for PeChild {
    fn drop(&mut self) {
        if self.exit_fd.is_some() {
            self.kill();
            self.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_process_is_gone_when_it_was_waited_for() {
        let (mut child, _printed) = PeChild::spawn(Command::new("true")).unwrap();
        let end = child.exit_fd();
        assert!(end.upgrade().is_some());
        assert_eq!(child.wait(), ProcessExit::Status(0));
        assert!(end.upgrade().is_none() && child.exit_fd().upgrade().is_none());
        assert!(child.poll_entries().all(|(_, _, is_end)| !is_end));
    }
}
