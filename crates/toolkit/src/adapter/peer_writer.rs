//! Writing to a peer that may stop reading (a connection, a pipe, a terminal), without blocking a
//! shutdown.

use std::fs::File;
use std::io::{self, Write};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use super::stop_waiter::StopWaiter;

/// Longest time that a write waits for room after a shutdown was requested.
const LINGER: Duration = Duration::from_secs(1);

/// Writes to a peer. A write waits for room until a shutdown is requested, and then for at most
/// [`LINGER`].
pub struct PeerWriter {
    file: File,
    is_socket: bool,
    stop_waiter: StopWaiter,
    /// Whether the peer made no room during [`LINGER`]; further writes do not wait.
    has_given_up: bool,
}

impl PeerWriter {
    /// A writer to a connection.
    pub fn from_socket(file: File, stop_waiter: &StopWaiter) -> PeerWriter {
        PeerWriter {
            file,
            is_socket: true,
            stop_waiter: stop_waiter.clone(),
            has_given_up: false,
        }
    }

    /// A writer to a pipe or a device that was opened in non-blocking mode.
    pub fn from_pipe(file: File, stop_waiter: &StopWaiter) -> PeerWriter {
        PeerWriter {
            is_socket: false,
            ..PeerWriter::from_socket(file, stop_waiter)
        }
    }

    /// Writes as many bytes as there is room for, and returns their number.
    fn try_write(&self, bytes: &[u8]) -> Result<usize, Errno> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        rustix::io::retry_on_intr(|| match self.is_socket {
            true => send(&self.file, bytes, flags),
            false => rustix::io::write(&self.file, bytes),
        })
    }
}

impl Write for PeerWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        while !self.has_given_up {
            match self.try_write(bytes) {
                Err(Errno::AGAIN) => {
                    self.has_given_up = !self.stop_waiter.wait_writable(&self.file, LINGER)?;
                }
                sent => return Ok(sent?),
            }
        }
        let message = "the peer does not read, and a shutdown was asked for";
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    use runtime::StopSignal;

    use super::*;

    /// More than any buffer of the kernel holds.
    const MANY: usize = 64 << 20;

    /// A connection and a pipe, each with who reads.
    fn pairs() -> Vec<(StopSignal, PeerWriter, File)> {
        let stop_waiter = |stop: &StopSignal| StopWaiter::new(stop).unwrap();
        let (own, peer) = UnixStream::pair().unwrap();
        let stop = StopSignal::default();
        let connection = PeerWriter::from_socket(OwnedFd::from(own).into(), &stop_waiter(&stop));
        let connected = (stop, connection, File::from(OwnedFd::from(peer)));
        let (reader, writer) = io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&writer, true).unwrap();
        let stop = StopSignal::default();
        let pipe = PeerWriter::from_pipe(OwnedFd::from(writer).into(), &stop_waiter(&stop));
        vec![connected, (stop, pipe, File::from(OwnedFd::from(reader)))]
    }

    #[test]
    fn who_reads_late_gets_everything() {
        for (_stop, mut own, mut peer) in pairs() {
            let writing = std::thread::spawn(move || own.write_all(&vec![7; MANY]));
            let mut bytes = Vec::new();
            peer.read_to_end(&mut bytes).unwrap();
            writing.join().unwrap().unwrap();
            assert_eq!(bytes.len(), MANY);
        }
    }

    #[test]
    fn who_does_not_read_is_given_up_a_while_after_a_shutdown() {
        for (stop, mut own, _peer) in pairs() {
            stop.request();
            let begun = Instant::now();
            let error = own.write_all(&vec![7; MANY]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            // Not before: a peer that is only slow receives all bytes.
            assert!(begun.elapsed() >= LINGER);
            assert!(own.has_given_up, "it is not waited for again");
            own.write_all(b"more").unwrap_err();
        }
    }
}
