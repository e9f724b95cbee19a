//! Child processes of tests and benches: the same program once more, with a socket to its parent.
//!
//! On the socket, which is the child's standard input, go tickets with their descriptors, and
//! single bytes that report progress.

use std::error;
use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{self, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use transport::EdgeTicket;

use crate::ranks;

/// A failure, as a sentence.
pub type TestFailure = Box<dyn error::Error + Send + Sync>;

/// Result of a test or of a step.
pub type TestOutcome = Result<(), TestFailure>;

/// Returns a failure unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(format!($($words)+).into());
        }
    };
}

/// A child process, which is killed when it is dropped.
pub struct Child {
    /// Socket to the child.
    pub control: ControlSocket,
    /// `None`: a rank, which mpirun has started.
    process: Option<process::Child>,
    patience: Duration,
}

/// One side of the socket between parent and child.
pub struct ControlSocket(UnixStream);

/// Most bytes of a ticket on the socket.
const TICKET_BYTES_MAX: usize = 4096;
const TICKET_FDS_MAX: usize = 8;

/// Starts a child with these arguments.
pub fn start(arguments: &[&str], patience: Duration) -> Result<Child, TestFailure> {
    if let Some(socket) = ranks::give_role(arguments, patience)? {
        socket.set_read_timeout(Some(patience))?;
        return Ok(Child {
            control: ControlSocket(socket),
            process: None,
            patience,
        });
    }
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_read_timeout(Some(patience))?;
    let process = Command::new(std::env::current_exe()?)
        .args(arguments)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stderr(Stdio::piped())
        .spawn()?;
    Ok(Child {
        control: ControlSocket(ours),
        process: Some(process),
        patience,
    })
}

/// The child's side of the socket to its parent.
pub fn to_parent(patience: Duration) -> Result<ControlSocket, TestFailure> {
    let control = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    control.set_read_timeout(Some(patience))?;
    Ok(ControlSocket(control))
}

impl Child {
    /// Kills the child and waits until it is gone.
    pub fn kill(&mut self) -> TestOutcome {
        if let Some(process) = &mut self.process {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    /// Exit status of the child, if it has ended.
    ///
    /// # Errors
    /// The child is a rank, whose status mpirun alone learns.
    pub fn status(&mut self) -> Result<Option<ExitStatus>, TestFailure> {
        let process = self.process.as_mut().ok_or("a rank has no status here")?;
        Ok(process.try_wait()?)
    }

    /// Waits until the child has ended.
    pub fn ends(&mut self) -> Result<ExitStatus, TestFailure> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.status()? {
                return Ok(status);
            }
            ensure!(start.elapsed() < self.patience, "the child does not end");
            std::thread::yield_now();
        }
    }

    /// Waits until the child has ended, which must be successful.
    pub fn ends_well(&mut self) -> TestOutcome {
        let mut last_word = [0_u8; 1];
        let until_eof = self.control.0.read(&mut last_word)?;
        ensure!(until_eof == 0, "the child says {last_word:?} at the end");
        if self.process.is_none() {
            // A rank whose role fails ends with a failure, and so does its whole job.
            return Ok(());
        }
        let status = self.ends()?;
        let mut words = String::new();
        if let Some(stderr) = self.process.as_mut().and_then(|p| p.stderr.as_mut()) {
            stderr.read_to_string(&mut words)?;
        }
        ensure!(status.success(), "the child failed, {status}: {words}");
        Ok(())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

impl AsFd for ControlSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl ControlSocket {
    /// Sends a byte that reports progress.
    pub fn say(&mut self, word: u8) -> TestOutcome {
        Ok(self.0.write_all(&[word])?)
    }

    /// Waits for this byte of the other side.
    pub fn hear(&mut self, word: u8) -> TestOutcome {
        let heard = self.listen()?;
        ensure!(heard == word, "heard {heard} instead of {word}");
        Ok(())
    }

    /// Waits for any byte of the other side.
    pub fn listen(&mut self) -> Result<u8, TestFailure> {
        let mut heard = [0_u8];
        let read = self.0.read_exact(&mut heard);
        read.map_err(|error| format!("no word from the other process: {error}"))?;
        Ok(heard[0])
    }

    /// Sends a ticket with its descriptors.
    pub fn give(&mut self, ticket: &EdgeTicket) -> TestOutcome {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(TICKET_FDS_MAX))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let fds: Vec<_> = ticket.fds.iter().map(AsFd::as_fd).collect();
        if !fds.is_empty() {
            let fits = ancillary.push(SendAncillaryMessage::ScmRights(&fds));
            ensure!(fits, "a ticket with {} descriptors", fds.len());
        }
        let len = ticket.bytes.len() as u32;
        let parts = [&len.to_le_bytes()[..], &ticket.bytes];
        let parts = parts.map(IoSlice::new);
        let sent = sendmsg(&self.0, &parts, &mut ancillary, SendFlags::NOSIGNAL)?;
        ensure!(sent == 4 + ticket.bytes.len(), "a ticket was sent in part");
        Ok(())
    }

    /// Receives a ticket with its descriptors.
    pub fn take(&mut self) -> Result<EdgeTicket, TestFailure> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(TICKET_FDS_MAX))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut len = [0_u8; 4];
        let mut parts = [IoSliceMut::new(&mut len)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let message = recvmsg(&self.0, &mut parts, &mut ancillary, flags)?;
        ensure!(message.bytes == 4, "no ticket from the other process");
        let len = u32::from_le_bytes(len) as usize;
        ensure!(len <= TICKET_BYTES_MAX, "a ticket of {len} bytes");
        let mut bytes = vec![0; len];
        self.0.read_exact(&mut bytes)?;
        let rights = ancillary.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(fds) => Some(fds),
            _ => None,
        });
        let fds = rights.flatten().collect();
        Ok(EdgeTicket { bytes, fds })
    }
}
