//! The process at the other end of a socket.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// A process and its user, as they were when it made or accepted the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Process id; 0: the process is in a process namespace that this one cannot see, as in another
    /// container.
    pub pid: i32,
    /// User id of the process.
    pub uid: u32,
}

/// Returns the process at the other end of a Unix socket. (rustix has this call only for peers
/// whose process id is not 0.)
///
/// # Errors
/// The descriptor is no connected Unix socket.
///
/// # Example
/// ```
/// use std::os::unix::net::UnixStream;
///
/// let (one, _other) = UnixStream::pair()?;
/// let peer = thalweg_ring::socket_peer(&one)?;
/// assert_eq!(peer.pid, std::process::id() as i32);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn socket_peer(socket: impl AsFd) -> io::Result<Peer> {
    let mut found = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the option's value is an `ucred`, and both pointers are to locals of that size.
    let done = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut found).cast(),
            &raw mut len,
        )
    };
    match done {
        0 => Ok(Peer {
            pid: found.pid,
            uid: found.uid,
        }),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn both_ends_of_a_pair_are_ours() {
        let (one, other) = UnixStream::pair().unwrap();
        for end in [one, other] {
            let peer = socket_peer(&end).unwrap();
            assert_eq!(peer.pid, std::process::id() as i32);
            assert_eq!(peer.uid, rustix::process::geteuid().as_raw());
        }
    }

    #[test]
    fn a_file_has_no_peer() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(socket_peer(&file).is_err());
    }
}
