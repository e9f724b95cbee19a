//! A PE's process as the launcher sees it, with its control connection: its child, or a rank that
//! another program has started and that has connected.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::{Arc, Weak};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::job_outcome::ProcessExit;
use crate::control::connection::{
    self, ControlReadResult, ControlReceiver, ControlSender, with_retries,
};

/// A PE's process and the connection to it. Dropping it kills the process if it is a child that
/// still runs, and waits for its end.
pub struct PeChild {
    /// `None`: a rank that is no child.
    process: Option<std::process::Child>,
    /// Process descriptor, readable when the process has ended; `None` once it was waited for.
    exit_fd: Option<Arc<OwnedFd>>,
    /// Whether the PE may still send messages.
    is_connected: bool,
    /// Receives the messages of the PE.
    pub receiver: ControlReceiver,
    /// Sends messages to the PE.
    pub sender: ControlSender,
}

/// Reading ends of a process's output pipes.
pub struct OutputPipes {
    /// Pipe from the standard output of the process.
    pub stdout: OwnedFd,
    /// Pipe from the standard error of the process.
    pub stderr: OwnedFd,
}

impl PeChild {
    /// Starts a process, which ends with the calling thread: see [`crate::serve`].
    ///
    /// The process stays in the launcher's process group, so that it may read the terminal, and
    /// stops and continues with the job. Ctrl-C reaches it too: the command has to ignore that.
    ///
    /// # Errors
    /// The process cannot be started or watched.
    pub fn spawn(mut command: Command) -> io::Result<(PeChild, OutputPipes)> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut process = command
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let opened = open_exit_fd(&mut process).inspect_err(|_| {
            // Without a descriptor for its end, the process could not be watched.
            let _ = process.kill();
            let _ = process.wait();
        });
        let (exit_fd, pipes) = opened?;
        let (receiver, sender) = connection::split_connection(ours);
        let child = PeChild {
            process: Some(process),
            exit_fd: Some(Arc::new(exit_fd)),
            is_connected: true,
            receiver,
            sender,
        };
        Ok((child, pipes))
    }

    /// A rank that has connected by this socket, which does not block.
    pub fn of_rank(control: OwnedFd) -> PeChild {
        let (receiver, sender) = connection::split_connection(control);
        PeChild {
            process: None,
            exit_fd: None,
            is_connected: true,
            receiver,
            sender,
        }
    }

    /// Whether the process is no child: its end is known by that of its connection alone.
    pub fn is_remote(&self) -> bool {
        self.process.is_none()
    }

    /// The process descriptor, readable when the process has ended; the reference dies when the
    /// process was waited for.
    pub fn exit_fd(&self) -> Weak<OwnedFd> {
        self.exit_fd
            .as_ref()
            .map(Arc::downgrade)
            .unwrap_or_default()
    }

    /// Reads from the connection, at most `turns` times; returns whether the PE has closed it.
    ///
    /// # Errors
    /// The connection broke.
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

    /// Whether the PE may still send messages.
    pub fn is_connected(&self) -> bool {
        self.is_connected
    }

    /// Ignores all further messages of the PE.
    pub fn disconnect(&mut self) {
        self.is_connected = false;
    }

    /// Descriptors to poll, each with whether it reports the end of the process.
    pub fn poll_entries(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags, bool)> {
        let mut flags = PollFlags::IN;
        // The socket may be writable while the kernel has no memory for the message.
        let waits_for_room = self.sender.has_unsent() && self.sender.retry_after().is_none();
        flags.set(PollFlags::OUT, waits_for_room);
        let connection = (self.receiver.as_fd(), flags, false);
        // A closed connection would be readable for ever.
        let connection = Some(connection).filter(|_| self.is_connected);
        let end = self.exit_fd.as_ref();
        let end = end.map(|end| (end.as_fd(), PollFlags::IN, true));
        connection.into_iter().chain(end)
    }

    /// Kills the process at once; one that is no child ends when its connection is closed.
    pub fn kill(&mut self) {
        match &mut self.process {
            // The process may have ended just before.
            Some(process) => drop(process.kill()),
            None => self.sender.close(),
        }
    }

    /// Waits for the end of the process.
    pub fn wait(&mut self) -> ProcessExit {
        let Some(process) = &mut self.process else {
            return ProcessExit::Unknown;
        };
        let exit = process.wait();
        self.exit_fd = None;
        exit.map_or(ProcessExit::Status(-1), ProcessExit::from)
    }

    /// Waits for the end of a child at most this long; returns whether it has ended.
    pub fn wait_at_most(&mut self, time: Duration) -> bool {
        let Some(exit_fd) = &self.exit_fd else {
            return true;
        };
        let mut ended = [PollFd::new(&**exit_fd, PollFlags::IN)];
        let timeout = Timespec::try_from(time).ok();
        let polled = with_retries(|| poll(&mut ended, timeout.as_ref()));
        let has_ended = polled.is_ok_and(|count| count > 0);
        if has_ended {
            self.wait();
        }
        has_ended
    }
}

/// Opens the descriptor for a process's end, and takes its output pipes.
fn open_exit_fd(process: &mut std::process::Child) -> io::Result<(OwnedFd, OutputPipes)> {
    // Both are pipes: `spawn` was told so.
    let stdout = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let stderr = process.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let pipes = OutputPipes {
        stdout: stdout.into(),
        stderr: stderr.into(),
    };
    let end = pidfd_open(Pid::from_child(process), PidfdFlags::empty())?;
    Ok((end, pipes))
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
