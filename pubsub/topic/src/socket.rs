//! Sockets of a topic: packets between processes of one user, never blocking.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with,
    bind, connect, listen, recv, send, socket_with,
};

use crate::error::Error;
use crate::topic_name::TopicName;

/// Most connections that wait to be accepted: as many as a ring has readers.
const BACKLOG: i32 = 64;

/// Times that a connection to a name is tried whose holder does not answer.
pub(crate) const CONNECT_ATTEMPTS_MAX: u32 = 1000;

/// Pause between two tries, so that all of them take about a second.
pub(crate) const CONNECT_RETRY_PAUSE: Duration = Duration::from_millis(1);

/// Most packets that are read away with one call.
const DRAINED_PACKETS_MAX: u32 = 64;

const SOCKET_FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);

fn new_packet_socket() -> Result<OwnedFd, Error> {
    socket_with(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SOCKET_FLAGS,
        None,
    )
    .map_err(|error| Error::system("make a socket", error))
}

/// Binds a name. `None`: another process has it.
pub(crate) fn bind_name(address: &SocketAddrUnix) -> Result<Option<OwnedFd>, Error> {
    let socket = new_packet_socket()?;
    match bind(&socket, address) {
        Err(Errno::ADDRINUSE) => return Ok(None),
        bound => bound.map_err(|error| Error::system("take a name for the topic", error))?,
    }
    listen(&socket, BACKLOG).map_err(|error| Error::system("listen", error))?;
    Ok(Some(socket))
}

/// Result of connecting to a name.
pub(crate) enum ConnectOutcome {
    /// The connection is made.
    Connected(OwnedFd),
    /// The holder of the name does not accept connections at the moment.
    Busy,
    /// No process has the name, or its holder does not listen.
    Refused,
}

/// Connects to the process that has a name.
pub(crate) fn try_connect(address: &SocketAddrUnix) -> Result<ConnectOutcome, Error> {
    let socket = new_packet_socket()?;
    match retry_on_intr(|| connect(&socket, address)) {
        Ok(()) => Ok(ConnectOutcome::Connected(socket)),
        Err(Errno::AGAIN) => Ok(ConnectOutcome::Busy),
        Err(Errno::CONNREFUSED) => Ok(ConnectOutcome::Refused),
        Err(error) => Err(Error::system("connect to a topic", error)),
    }
}

/// Accepts the next connection. `None`: there is none.
pub(crate) fn accept(listener: &OwnedFd) -> Result<Option<OwnedFd>, Errno> {
    loop {
        match accept_with(listener, SOCKET_FLAGS) {
            Ok(socket) => return Ok(Some(socket)),
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::INTR | Errno::CONNABORTED) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Checks that the process at the other end is of this user, and returns its process id; 0: it is
/// in another namespace of processes.
pub(crate) fn check_peer(socket: &OwnedFd, name: &TopicName) -> Result<i32, Error> {
    let peer =
        ring::socket_peer(socket).map_err(|error| Error::system("look who has come", error))?;
    check_user(peer.uid, name)?;
    Ok(peer.pid)
}

fn check_user(user: u32, name: &TopicName) -> Result<(), Error> {
    if user == name.user() {
        return Ok(());
    }
    let topic = name.topic().to_owned();
    Err(Error::ForeignUser { topic, user })
}

/// Wakes the process that sleeps at the other end. A full socket wakes already; a closed one is
/// noticed by the next look.
pub(crate) fn wake(socket: &OwnedFd) {
    let _ = send(socket, &[1], SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
}

/// Reads away the packets that woke this end. `true`: the other end is closed.
pub(crate) fn drain_wakeups(socket: &OwnedFd) -> bool {
    let mut byte = [0; 1];
    // A limit, so that a process that sends without end does not keep this one here.
    for _ in 0..DRAINED_PACKETS_MAX {
        match recv(socket, &mut byte[..], RecvFlags::DONTWAIT) {
            Ok((0, _)) => return true,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return error != Errno::AGAIN,
        }
    }
    false
}

/// Sleeps until a socket is readable, or until the timeout.
pub(crate) fn wait_readable(socket: impl AsFd, timeout: Option<&Timespec>) -> Result<(), Error> {
    let mut fds = [PollFd::new(&socket, PollFlags::IN)];
    match poll(&mut fds, timeout) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(Error::system("wait", error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_users_are_refused() {
        let name = TopicName::new("prices").unwrap();
        assert!(check_user(name.user(), &name).is_ok());
        let error = check_user(name.user() + 1, &name).unwrap_err().to_string();
        let other = name.user() + 1;
        assert_eq!(
            error,
            format!(
                "topic `prices` of this user is held by a process of user {other}; it is not trusted"
            )
        );
    }
}
