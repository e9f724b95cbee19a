//! Signals as values, each with the time of its arrival.
//!
//! ```text
//!   handler --a byte--> socket, a pair for each signal --byte and time--> the reading thread
//! ```
//! The handler sends a datagram, and the kernel notes the time. So every signal is received on its
//! own, however late the reading thread runs, and the time between two signals is exact.
//!
//! A read that fails is tried again. If reads keep failing, the signals get back their default
//! effect, so that the process can still be ended.

use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};

/// Number of reads that may fail in a row before signals get back their default effect.
const READ_FAILURES_MAX: u32 = 1000;

/// A queue of received signals.
pub struct Signals {
    sockets: Vec<(i32, UnixDatagram)>,
    /// Signals received and not yet returned, in order of their times.
    received: VecDeque<ReceivedSignal>,
    /// Whether reading has failed for good: then the handlers have the signals' default effect.
    has_failed: Arc<AtomicBool>,
}

/// A signal that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedSignal {
    /// Time of arrival, since 1970.
    pub time: Duration,
    /// Number of the signal.
    pub signal: i32,
}

impl Signals {
    /// Starts receiving the signals that ask for an end: SIGINT, SIGTERM, SIGQUIT, SIGHUP unless
    /// ignored.
    ///
    /// # Errors
    /// The system has no descriptor left.
    pub fn terminating() -> io::Result<Signals> {
        Signals::new(&terminating_signals())
    }

    fn new(signals: &[i32]) -> io::Result<Signals> {
        let has_failed = Arc::<AtomicBool>::default();
        let listen = |&signal: &i32| {
            let (ours, handler) = UnixDatagram::pair()?;
            ours.set_nonblocking(true)?;
            // Without kernel time stamps, the time of reading has to do.
            let _ = setsockopt(&ours, sockopt::ReceiveTimestampns, &true);
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&has_failed))?;
            signal_hook::low_level::pipe::register(signal, handler)?;
            Ok((signal, ours))
        };
        let sockets = signals.iter().map(listen).collect::<io::Result<_>>()?;
        Ok(Signals {
            sockets,
            received: VecDeque::new(),
            has_failed,
        })
    }

    /// Waits for the next signal.
    ///
    /// # Errors
    /// Reading has failed for good; from now on the signals end the process.
    pub fn next(&mut self) -> io::Result<ReceivedSignal> {
        let mut failures = 0;
        loop {
            if let Some(signal) = self.received.pop_front() {
                return Ok(signal);
            }
            match self.wait().and_then(|()| self.read()) {
                Ok(()) | Err(Errno::EINTR) => {}
                Err(_) if failures < READ_FAILURES_MAX => failures += 1,
                Err(error) => {
                    self.has_failed.store(true, Ordering::Relaxed);
                    return Err(error.into());
                }
            }
        }
    }

    fn wait(&self) -> Result<(), Errno> {
        let sockets = self.sockets.iter();
        let fds = sockets.map(|(_, socket)| PollFd::new(socket.as_fd(), PollFlags::POLLIN));
        poll(&mut fds.collect::<Vec<_>>(), PollTimeout::NONE).map(drop)
    }

    fn read(&mut self) -> Result<(), Errno> {
        for (signal, socket) in &self.sockets {
            while let Some(at) = receive_time(socket)? {
                let signal = *signal;
                self.received.push_back(ReceivedSignal { time: at, signal });
            }
        }
        self.received
            .make_contiguous()
            .sort_by_key(|signal| signal.time);
        Ok(())
    }
}

/// Reads the time of the next signal from a socket; `None` if no signal is there.
fn receive_time(socket: &UnixDatagram) -> Result<Option<Duration>, Errno> {
    loop {
        let mut byte = [0];
        let mut buffer = [IoSliceMut::new(&mut byte)];
        let mut control = nix::cmsg_space!(TimeSpec);
        let flags = MsgFlags::MSG_DONTWAIT;
        let fd = socket.as_raw_fd();
        let message = match recvmsg::<()>(fd, &mut buffer, Some(&mut control), flags) {
            Err(Errno::EAGAIN) => return Ok(None),
            Err(Errno::EINTR) => continue,
            message => message?,
        };
        // Registering a socket may send an empty datagram.
        if message.bytes > 0 {
            let stamp = message.cmsgs()?.find_map(|control| match control {
                ControlMessageOwned::ScmTimestampns(at) => Some(Duration::from(at)),
                _ => None,
            });
            let now = || SystemTime::now().duration_since(UNIX_EPOCH);
            return Ok(Some(stamp.unwrap_or_else(|| now().unwrap_or_default())));
        }
    }
}

/// Ignores SIGXFSZ, so that a write beyond the limit of a file's size (`ulimit -f`) fails with an
/// error (File too large). By default the signal kills the process.
pub fn ignore_file_size_signal() {
    // If registering fails, the default effect stays: the limit kills.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// The signals that ask for an end. A closed terminal sends SIGHUP; `nohup` starts a program with
/// SIGHUP ignored, which stays so.
fn terminating_signals() -> Vec<i32> {
    let mut signals = vec![SIGINT, SIGTERM, SIGQUIT];
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if !ignores(&status, SIGHUP) {
        signals.push(SIGHUP);
    }
    signals
}

/// Whether a process ignores a signal, from the text of its `/proc/PID/status`.
fn ignores(status: &str, signal: i32) -> bool {
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use signal_hook::consts::{SIGUSR1, SIGUSR2};
    use signal_hook::low_level::raise;

    use super::*;

    #[test]
    fn what_is_ignored_is_read_from_the_status() {
        let status = "Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000002\n";
        assert!(ignores(status, SIGHUP));
        assert!(!ignores(status, SIGINT));
        assert!(!ignores("", SIGHUP));
    }

    /// All signals arrive before the reader runs: none is lost, and each has its own time.
    #[test]
    fn each_signal_has_its_time_however_late_it_is_read() {
        let mut signals = Signals::new(&[SIGUSR1, SIGUSR2]).unwrap();
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let mut times = vec![now()];
        for signal in [SIGUSR2, SIGUSR1, SIGUSR1] {
            raise(signal).unwrap();
            times.push(now());
        }
        for (at, signal) in [SIGUSR2, SIGUSR1, SIGUSR1].into_iter().enumerate() {
            let received = signals.next().unwrap();
            assert_eq!(received.signal, signal);
            let range = times[at]..=times[at + 1];
            assert!(
                range.contains(&received.time),
                "{:?} in {range:?}",
                received.time
            );
        }
    }
}
