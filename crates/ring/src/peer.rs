//! Who is at the other end of a socket between processes.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// A process, as it was when it made or accepted the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its number; 0: it is in a namespace of processes that ours does not see, as in another
    /// container.
    pub pid: i32,
    /// Its user's number.
    pub uid: u32,
}

/// The process at the other end. (rustix has this call, for peers whose number is not 0 only.)
///
/// # Errors
/// It is no such socket.
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
