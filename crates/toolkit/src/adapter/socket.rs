//! Writing to a peer that may not read for ever, without hanging through a shutdown.

use std::fs::File;
use std::io::{self, Write};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use super::alarm::Alarm;

/// How long a peer may take to make room once a shutdown was asked for.
const LINGER: Duration = Duration::from_secs(1);

/// A connected socket.
pub struct Socket {
    file: File,
    alarm: Alarm,
    /// The peer made no room: it is not waited for again.
    has_given_up: bool,
}

impl Socket {
    /// What is written to it waits for the peer until the alarm, and a second more.
    pub fn over(file: File, alarm: &Alarm) -> Socket {
        Socket {
            file,
            alarm: alarm.clone(),
            has_given_up: false,
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        while !self.has_given_up {
            match rustix::io::retry_on_intr(|| send(&self.file, bytes, flags)) {
                Err(Errno::AGAIN) => {
                    self.has_given_up = !self.alarm.leaves_room(&self.file, LINGER)?;
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

    use runtime::Stop;

    use super::*;

    /// More than any buffer of the kernel holds.
    const MANY: usize = 64 << 20;

    fn pair() -> (Stop, Socket, UnixStream) {
        let stop = Stop::default();
        let alarm = Alarm::new(&stop).unwrap();
        let (own, peer) = UnixStream::pair().unwrap();
        let socket = Socket::over(OwnedFd::from(own).into(), &alarm);
        (stop, socket, peer)
    }

    #[test]
    fn who_reads_late_gets_everything() {
        let (_stop, mut socket, mut peer) = pair();
        let writing = std::thread::spawn(move || socket.write_all(&vec![7; MANY]));
        let mut bytes = Vec::new();
        peer.read_to_end(&mut bytes).unwrap();
        writing.join().unwrap().unwrap();
        assert_eq!(bytes.len(), MANY);
    }

    #[test]
    fn who_does_not_read_is_given_up_a_while_after_a_shutdown() {
        let (stop, mut socket, _peer) = pair();
        stop.request();
        let begun = Instant::now();
        let error = socket.write_all(&vec![7; MANY]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() >= LINGER);
        let begun = Instant::now();
        socket.write_all(b"more").unwrap_err();
        assert!(begun.elapsed() < LINGER);
    }
}
