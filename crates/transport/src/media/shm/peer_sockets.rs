//! Sockets between the two processes of an edge, which wake the other side and show its death.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair,
};
use rustix::process::geteuid;

use crate::Error;
use crate::media::ring_edge::RingPeers;
use crate::wakeup::retry_wakeup_call;

/// Ends of the socket pairs on this side, by the number of the peer; `None`: the peer is gone.
#[derive(Default)]
pub(super) struct PeerSockets {
    sockets: Vec<Option<OwnedFd>>,
}

/// The reason why a socket is not accepted.
pub(super) enum PeerSocketError {
    /// The socket does not fit the ticket: the text says why.
    Refused(String),
    /// The system refused a call.
    System(Errno),
}

impl PeerSocketError {
    /// Turns it into the error of an edge.
    pub(super) fn into_edge_error(self, edge: &str) -> Error {
        match self {
            PeerSocketError::Refused(why) => Error::Refused(format!("{edge}: {why}")),
            PeerSocketError::System(error) => {
                Error::system(format!("look at the lifeline of {edge}"), error)
            }
        }
    }
}

impl PeerSockets {
    /// Makes a socket pair for one more peer and returns the peer's end. The ticket's bytes are
    /// sent into it; the first receiver that uses the ticket takes them out.
    pub(super) fn add_peer(&mut self, ticket: &[u8]) -> Result<OwnedFd, Error> {
        let failed = |error| Error::system("make a pair of sockets", error);
        let flags = SocketFlags::CLOEXEC;
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(failed)?;
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let sent = retry_on_intr(|| send(&ours, ticket, flags)).map_err(failed)?;
        if sent < ticket.len() {
            return Err(failed(Errno::NOBUFS));
        }
        self.sockets.push(Some(ours));
        Ok(theirs)
    }

    /// The peers of a receiver: the sender alone.
    pub(super) fn with_sender(socket: OwnedFd) -> PeerSockets {
        PeerSockets {
            sockets: vec![Some(socket)],
        }
    }

    fn iter(&self) -> impl Iterator<Item = (u32, &OwnedFd)> {
        let sockets = (0..).zip(&self.sockets);
        sockets.filter_map(|(number, socket)| Some((number, socket.as_ref()?)))
    }

    fn peers_where(&self, is: impl Fn(&OwnedFd) -> bool) -> u64 {
        let those = self.iter().filter(|(_, socket)| is(socket));
        those.fold(0, |set, (number, _)| set | 1 << number)
    }
}

/// Checks that a process of this user made the socket for this ticket, and that the ticket was not
/// used before.
pub(super) fn verify_ticket(socket: &OwnedFd, ticket: &[u8]) -> Result<(), PeerSocketError> {
    let peer = ring::socket_peer(socket).map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::NOTSOCK) => {
            PeerSocketError::Refused("the ticket came without a lifeline".to_owned())
        }
        error => PeerSocketError::System(error.unwrap_or(Errno::INVAL)),
    })?;
    check_user(peer.uid, geteuid().as_raw())?;
    let mut greeting = vec![0; ticket.len()];
    // Peek first: other bytes that lie there belong to the end that has used the ticket.
    for flags in [RecvFlags::PEEK, RecvFlags::empty()] {
        let flags = flags | RecvFlags::DONTWAIT;
        let got = match retry_on_intr(|| recv(socket, &mut greeting[..], flags)) {
            Ok((got, _)) => got,
            Err(Errno::AGAIN) => 0,
            Err(error) => return Err(PeerSocketError::System(error)),
        };
        if got < ticket.len() || greeting != ticket {
            return Err(PeerSocketError::Refused(
                "the ticket was used before".to_owned(),
            ));
        }
    }
    Ok(())
}

fn check_user(peer: u32, ours: u32) -> Result<(), PeerSocketError> {
    if peer == ours {
        return Ok(());
    }
    Err(PeerSocketError::Refused(format!(
        "the edge was made by user {peer}, and this process runs as user {ours}"
    )))
}

/// Whether the other end is closed. Leaves received bytes where they are.
fn is_peer_closed(socket: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(socket, PollFlags::RDHUP)];
    let gone = PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR;
    retry_on_intr(|| poll(&mut fds, Some(&Timespec::default()))).is_ok()
        && fds[0].revents().intersects(gone)
}

/// Takes the bytes away that woke this side. `true`: the other end is closed.
fn drain_wakeups(socket: &OwnedFd) -> bool {
    let mut bytes = [0; 64];
    loop {
        match recv(socket, &mut bytes, RecvFlags::DONTWAIT) {
            Ok((0, _)) => return true,
            Ok((got, _)) if got < bytes.len() => return false,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return error != Errno::AGAIN,
        }
    }
}

impl RingPeers for PeerSockets {
    fn wake(&self, sleepers: u64) {
        for (_, socket) in self
            .iter()
            .filter(|(number, _)| sleepers & 1 << number != 0)
        {
            // A full socket wakes already; a closed one is noticed by the next look.
            retry_wakeup_call(|| send(socket, &[1], SendFlags::DONTWAIT | SendFlags::NOSIGNAL));
        }
    }

    fn dead_peers(&mut self) -> u64 {
        self.peers_where(is_peer_closed)
    }

    fn clear_wakeups(&mut self) -> u64 {
        self.peers_where(drain_wakeups)
    }

    fn dismiss(&mut self, peer: u32) {
        self.sockets[peer as usize] = None;
    }

    fn poll_fds<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>) {
        readable.extend(self.iter().map(|(_, socket)| socket.as_fd()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(checked: Result<(), PeerSocketError>) -> String {
        match checked {
            Ok(()) => "nothing is wrong".to_owned(),
            Err(error) => error.into_edge_error("Trades.0").to_string(),
        }
    }

    #[test]
    fn another_users_edge_is_refused() {
        assert_eq!(refusal(check_user(1000, 1000)), "nothing is wrong");
        assert_eq!(
            refusal(check_user(1000, 1001)),
            "Trades.0: the edge was made by user 1000, and this process runs as user 1001"
        );
    }

    #[test]
    fn a_greeting_is_taken_once_and_nothing_else_with_it() {
        let mut ours = PeerSockets::default();
        let theirs = ours.add_peer(b"ticket").ok().unwrap();
        assert_eq!(
            refusal(verify_ticket(&theirs, b"tickex")),
            "Trades.0: the ticket was used before"
        );
        assert_eq!(
            refusal(verify_ticket(&theirs, b"ticket")),
            "nothing is wrong"
        );
        ours.wake(1);
        assert_ne!(
            refusal(verify_ticket(&theirs, b"ticket")),
            "nothing is wrong"
        );
        let mut theirs = PeerSockets::with_sender(theirs);
        assert!(is_ready(&theirs), "the wake-up is still there");
        assert_eq!((theirs.clear_wakeups(), theirs.dead_peers()), (0, 0));
        assert!(!is_ready(&theirs));
        drop(ours);
        assert!(is_ready(&theirs), "an end wakes");
        assert_eq!((theirs.clear_wakeups(), theirs.dead_peers()), (1, 1));
    }

    fn is_ready(sockets: &PeerSockets) -> bool {
        let mut sources = Vec::new();
        sockets.poll_fds(&mut sources);
        let mut fds = [PollFd::from_borrowed_fd(sources[0], PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }
}
