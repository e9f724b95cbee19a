//! Waiting for bytes that may never come (from pipes, terminals, sockets) without missing a
//! shutdown.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use runtime::{StopSignal, Wakeup, retry_interrupted};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;

/// A file descriptor that becomes readable when a shutdown is requested.
#[derive(Clone, Debug)]
pub struct StopWaiter(Wakeup);

/// An open file whose reads end when a shutdown is requested.
#[derive(Debug)]
pub struct InterruptibleFile {
    pub file: File,
    /// Ends a wait for more bytes; `None` for regular files, which never wait.
    stop_waiter: Option<StopWaiter>,
    /// Where another client may wait for the end of this connection; `None` if there is no such
    /// place, or it was said already.
    listener: Option<Arc<TcpListener>>,
}

/// The error of a read that was ended, once, because another client waits. Nothing was read, and
/// the next read goes on.
#[derive(Debug)]
pub struct ClientWaits;

impl std::error::Error for ClientWaits {}

impl std::fmt::Display for ClientWaits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("another client waits")
    }
}

/// The message that another client waits, beside a connection with this peer.
pub fn client_waits(peer: &str) -> String {
    format!("another client waits until the connection with {peer} has ended")
}

/// Whether there is something to read, or a client to be accepted.
pub fn is_readable_now(file: &impl AsFd) -> bool {
    let mut fds = [PollFd::new(file, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// The event that ended a wait for bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitEnd {
    Bytes,
    Client,
    Stop,
}

/// Identity of a regular file, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InodeId {
    device: u64,
    inode: u64,
}

impl InodeId {
    /// The id of a regular file; `None` for any other.
    pub fn from_metadata(metadata: &Metadata) -> Option<InodeId> {
        metadata.is_file().then(|| InodeId {
            device: metadata.dev(),
            inode: metadata.ino(),
        })
    }
}

/// Flag of `open`: the call does not wait for another process to open the other end of a pipe, or
/// for a modem line.
pub const NONBLOCK: i32 = OFlags::NONBLOCK.bits().cast_signed();

/// The names of standard input.
const STDIN: [&str; 3] = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

impl StopWaiter {
    /// A waiter for the shutdown of the PE.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn new(stop: &StopSignal) -> io::Result<StopWaiter> {
        let wakeup = Wakeup::new()?;
        let on_stop = wakeup.clone();
        stop.on_request(move || on_stop.wake());
        Ok(StopWaiter(wakeup))
    }

    /// Waits until there is something to read, or the end of it; `false`: a shutdown came first.
    pub fn wait_readable(&self, file: &impl AsFd) -> io::Result<bool> {
        Ok(self.wait(file, None)? == WaitEnd::Bytes)
    }

    /// Waits for the first of three: something to read, a client at the listener, a shutdown.
    fn wait(&self, file: &impl AsFd, listener: Option<&TcpListener>) -> io::Result<WaitEnd> {
        let events = PollFlags::IN;
        let file = PollFd::new(file, events);
        let stop = PollFd::new(&self.0, events);
        let client = listener.map(|listener| PollFd::new(listener, events));
        let mut fds = [file.clone(), stop, client.unwrap_or(file)];
        let fds = if listener.is_some() {
            &mut fds[..]
        } else {
            &mut fds[..2]
        };
        let now = Some(&Timespec::default());
        if rustix::io::retry_on_intr(|| poll(fds, now))? == 0 {
            runtime::while_asleep(|| rustix::io::retry_on_intr(|| poll(fds, None)))?;
        }
        let is_ready = |at: usize| fds.get(at).is_some_and(|one| !one.revents().is_empty());
        Ok(if is_ready(2) {
            WaitEnd::Client
        } else if is_ready(0) {
            WaitEnd::Bytes
        } else {
            WaitEnd::Stop
        })
    }

    /// Waits until a peer has made room to write, or is gone; `false` if a shutdown came and the
    /// peer made no room for the given time.
    pub fn wait_writable(&self, socket: &impl AsFd, linger: Duration) -> io::Result<bool> {
        let linger = Timespec {
            tv_sec: linger.as_secs() as i64,
            tv_nsec: i64::from(linger.subsec_nanos()),
        };
        let room = PollFd::new(socket, PollFlags::OUT);
        let mut fds = [room, PollFd::new(&self.0, PollFlags::IN)];
        runtime::while_asleep(|| {
            rustix::io::retry_on_intr(|| poll(&mut fds, None))?;
            if fds[0].revents().is_empty() {
                rustix::io::retry_on_intr(|| poll(&mut fds[..1], Some(&linger)))?;
            }
            Ok(!fds[0].revents().is_empty())
        })
    }
}

impl InterruptibleFile {
    /// Opens a file or a named pipe, without waiting for a writer of the pipe.
    ///
    /// # Errors
    /// The error of the system, or that the path is a folder.
    pub fn open(path: &Path, stop_waiter: &StopWaiter) -> io::Result<InterruptibleFile> {
        // The read waits for a pipe that has no writer yet.
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(NONBLOCK);
        let file = options.open(path).or_else(|error| {
            // A socket cannot be opened by name.
            let is_socket = error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error());
            if is_socket && STDIN.iter().any(|name| path == Path::new(name)) {
                return Ok(io::stdin().as_fd().try_clone_to_owned()?.into());
            }
            Err(error)
        })?;
        let kind = retry_interrupted(|| file.metadata())?.file_type();
        if kind.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let stop_waiter = (!kind.is_file()).then(|| stop_waiter.clone());
        Ok(InterruptibleFile {
            file,
            stop_waiter,
            listener: None,
        })
    }

    /// Whether it has a length and a place to read from, as pipes and terminals have not.
    pub fn is_regular(&self) -> bool {
        self.stop_waiter.is_none()
    }

    /// Identity of the file; `None` if it is not a regular file.
    pub fn id(&self) -> io::Result<Option<InodeId>> {
        Ok(InodeId::from_metadata(&retry_interrupted(|| {
            self.file.metadata()
        })?))
    }
}

impl InterruptibleFile {
    /// A socket that is open already. If a client waits at the listener meanwhile, one read ends
    /// with [`ClientWaits`].
    pub fn from_socket(
        file: File,
        stop_waiter: &StopWaiter,
        listener: Option<Arc<TcpListener>>,
    ) -> InterruptibleFile {
        InterruptibleFile {
            file,
            stop_waiter: Some(stop_waiter.clone()),
            listener,
        }
    }
}

/// Whether a failed call must be repeated: a signal came, or another process took the bytes.
fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}

impl Read for InterruptibleFile {
    /// Reads bytes. 0 means the end for now, of the file or by a shutdown.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(stop_waiter) = &self.stop_waiter {
                match stop_waiter.wait(&self.file, self.listener.as_deref())? {
                    WaitEnd::Bytes => {}
                    WaitEnd::Client => {
                        self.listener = None;
                        return Err(io::Error::other(ClientWaits));
                    }
                    WaitEnd::Stop => return Ok(0),
                }
            }
            match self.file.read(bytes) {
                Err(error) if is_transient(&error) => {}
                read => return read,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Write, pipe};
    use std::os::fd::OwnedFd;

    use super::*;

    #[test]
    fn a_shutdown_ends_a_wait_but_not_what_has_come() {
        let stop = StopSignal::default();
        let stop_waiter = StopWaiter::new(&stop).unwrap();
        let (reader, mut writer) = pipe().unwrap();
        let file = File::from(OwnedFd::from(reader));
        let mut watched = InterruptibleFile::from_socket(file, &stop_waiter, None);
        writer.write_all(b"one").unwrap();
        let mut bytes = [0; 8];
        assert_eq!(watched.read(&mut bytes).unwrap(), 3);
        let waiting = std::thread::spawn(move || {
            let count = watched.read(&mut bytes).unwrap();
            (watched, count)
        });
        stop.request();
        let (mut watched, count) = waiting.join().unwrap();
        assert_eq!(count, 0);
        writer.write_all(b"two").unwrap();
        assert_eq!(watched.read(&mut bytes).unwrap(), 3);
    }
}
