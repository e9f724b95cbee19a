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

/// Those that may wait to be accepted.
const BACKLOG: i32 = 64;

/// How often a name is looked at whose holder does not answer ...
pub(crate) const CONNECT_ATTEMPTS_MAX: u32 = 1000;

/// ... and how long after the last time: for a second in all.
pub(crate) const CONNECT_RETRY_PAUSE: Duration = Duration::from_millis(1);

/// Packets that are taken away at once.
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

/// Takes a name; `None`: somebody has it.
pub(crate) fn bind_name(address: &SocketAddrUnix) -> Result<Option<OwnedFd>, Error> {
    let socket = new_packet_socket()?;
    match bind(&socket, address) {
        Err(Errno::ADDRINUSE) => return Ok(None),
        bound => bound.map_err(|error| Error::system("take a name for the topic", error))?,
    }
    listen(&socket, BACKLOG).map_err(|error| Error::system("listen", error))?;
    Ok(Some(socket))
}

/// Who has a name.
pub(crate) enum ConnectOutcome {
    /// Somebody, at the other end.
    Connected(OwnedFd),
    /// Somebody who does not get round to answering.
    Busy,
    /// Nobody, or somebody who does not listen.
    Refused,
}

/// Connects to whoever has a name.
pub(crate) fn try_connect(address: &SocketAddrUnix) -> Result<ConnectOutcome, Error> {
    let socket = new_packet_socket()?;
    match retry_on_intr(|| connect(&socket, address)) {
        Ok(()) => Ok(ConnectOutcome::Connected(socket)),
        Err(Errno::AGAIN) => Ok(ConnectOutcome::Busy),
        Err(Errno::CONNREFUSED) => Ok(ConnectOutcome::Refused),
        Err(error) => Err(Error::system("connect to a topic", error)),
    }
}

/// The next that has come; `None`: nobody.
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

/// The process at the other end, if it is of our user; 0: it is in another namespace of processes.
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

/// Wakes whoever sleeps at the other end. One that is full wakes already; one that is closed is
/// noticed by whoever looks.
pub(crate) fn wake(socket: &OwnedFd) {
    let _ = send(socket, &[1], SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
}

/// Takes away whatever woke us. `true`: the other end is closed.
pub(crate) fn drain_wakeups(socket: &OwnedFd) -> bool {
    let mut byte = [0; 1];
    // No more than that: who sends without end is not to keep us here.
    for _ in 0..DRAINED_PACKETS_MAX {
        match recv(socket, &mut byte[..], RecvFlags::DONTWAIT) {
            Ok((0, _)) => return true,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return error != Errno::AGAIN,
        }
    }
    false
}

/// Sleeps until a socket has something, or for so long.
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
