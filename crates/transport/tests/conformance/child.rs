//! Child processes: this program once more, with a role to play and a socket to its parent.
//!
//! ```text
//!   conformance child MEDIUM ROLE LINK RECEIVERS PATIENCE_MS      stdin: the socket
//! ```
//! On the socket go tickets, with their descriptors, and single bytes that say how far somebody is.

use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{self, Command, ExitCode, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use transport::{Medium, Spec, Ticket};

use crate::ensure;
use crate::rig::{Failure, Outcome, Rig};

/// What a child does.
pub type Role = fn(Rig, &Spec, &mut Control) -> Outcome;

/// A child process; killed when it is dropped.
pub struct Child {
    /// The socket to it.
    pub control: Control,
    process: process::Child,
    patience: Duration,
}

/// One side of the socket between parent and child.
pub struct Control(UnixStream);

/// Bytes of a ticket and descriptors with it are not more than that.
const TICKET_BYTES_MAX: usize = 4096;
const TICKET_FDS_MAX: usize = 8;

/// Starts a child that plays a role on an edge.
pub fn start(rig: Rig, role: &str, spec: &Spec) -> Result<Child, Failure> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_read_timeout(Some(rig.patience))?;
    let process = Command::new(std::env::current_exe()?)
        .args(["child", rig.medium.name(), role])
        .args([spec.link, spec.receivers].map(|number| number.to_string()))
        .arg(rig.patience.as_millis().to_string())
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stderr(Stdio::piped())
        .spawn()?;
    Ok(Child {
        control: Control(ours),
        process,
        patience: rig.patience,
    })
}

/// Plays a role that needs no edge of the parent's, in a process of its own.
pub fn run_alone(rig: Rig, role: &str) -> Outcome {
    start(rig, role, &rig.spec(1))?.ends_well()
}

/// The child's side of [`start`].
pub fn play(
    arguments: &[String],
    find_medium: impl Fn(&str) -> Option<&'static dyn Medium>,
    find_role: impl Fn(&str) -> Option<Role>,
) -> ExitCode {
    let played = (|| -> Outcome {
        let [medium, role, link, receivers, patience] = arguments else {
            return Err("a child needs a medium, a role, an edge and patience".into());
        };
        let rig = Rig {
            medium: find_medium(medium).ok_or("no such medium")?,
            patience: Duration::from_millis(patience.parse()?),
        };
        let spec = Spec {
            link: link.parse()?,
            ..rig.spec(receivers.parse()?)
        };
        let control = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
        control.set_read_timeout(Some(rig.patience))?;
        find_role(role).ok_or("no such role")?(rig, &spec, &mut Control(control))
    })();
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

impl Child {
    /// SIGKILL, and waits until it is gone.
    pub fn kill(&mut self) -> Outcome {
        self.process.kill()?;
        self.process.wait()?;
        Ok(())
    }

    /// Waits until it has ended, and it was content.
    pub fn ends_well(&mut self) -> Outcome {
        let mut last_word = [0_u8; 1];
        let until_eof = self.control.0.read(&mut last_word)?;
        ensure!(until_eof == 0, "the child says {last_word:?} at the end");
        let start = std::time::Instant::now();
        let status = loop {
            if let Some(status) = self.process.try_wait()? {
                break status;
            }
            let is_late = start.elapsed() > self.patience;
            ensure!(!is_late, "the child does not end");
            std::thread::yield_now();
        };
        let mut words = String::new();
        if let Some(stderr) = &mut self.process.stderr {
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

impl Control {
    /// Says how far it is.
    pub fn say(&mut self, word: u8) -> Outcome {
        Ok(self.0.write_all(&[word])?)
    }

    /// Whether the other side has said something, or is gone.
    pub fn has_word(&self) -> Result<bool, Failure> {
        let mut source = [PollFd::new(&self.0, PollFlags::IN)];
        Ok(poll(&mut source, Some(&Timespec::default()))? > 0)
    }

    /// Waits until the other side is so far.
    pub fn hear(&mut self, word: u8) -> Outcome {
        let mut heard = [0_u8];
        let read = self.0.read_exact(&mut heard);
        read.map_err(|error| format!("no word from the other process: {error}"))?;
        ensure!(heard == [word], "heard {heard:?} instead of {word}");
        Ok(())
    }

    /// Hands a ticket over.
    pub fn give(&mut self, ticket: &Ticket) -> Outcome {
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

    /// Takes a ticket.
    pub fn take(&mut self) -> Result<Ticket, Failure> {
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
        Ok(Ticket { bytes, fds })
    }
}
