//! The medium `shm`: opens and accepts edges over a ring in shared memory.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use ring::{JoinError, RingShape};

use super::peer_sockets::{PeerSockets, verify_ticket};
use crate::media::ring_edge::{RingReceiver, RingSender};
use crate::{EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, ReceivingEnd, SendingEnd};

/// The medium `shm`: see the [module](super).
pub(in crate::media) struct ShmMedium;

impl Medium for ShmMedium {
    fn name(&self) -> &'static str {
        "shm"
    }

    fn description(&self) -> String {
        "a lock-free ring in shared memory without a name".to_owned()
    }

    fn caps(&self) -> MediumCaps {
        MediumCaps {
            crosses_processes: true,
            crosses_hosts: false,
            is_untrusted: false,
            is_one_to_many: true,
            is_batching: false,
            receivers_max: ring::READERS_MAX,
            is_for_tests: false,
        }
    }

    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        let failed = |error| Error::system(format!("make the ring of {}", spec.name), error);
        let shape = RingShape {
            bytes: spec.ring_bytes,
            readers: spec.receiver_count,
        };
        let (writer, memory) = ring::shared_ring(shape).map_err(failed)?;
        let own = memory_identity(memory.as_fd())?;
        let (mut sockets, mut tickets) = (PeerSockets::default(), Vec::new());
        for receiver in 0..spec.receiver_count {
            let mut ticket = EdgeTicket::seal(self.name(), spec, receiver, &own);
            let socket = sockets.add_peer(&ticket.bytes)?;
            ticket.fds = vec![memory.try_clone().map_err(failed)?, socket];
            tickets.push(ticket);
        }
        Ok((Box::new(RingSender::new(spec, writer, sockets)), tickets))
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        let (receiver, own) = ticket.unseal(self.name(), spec)?;
        let refused = |why: &str| Error::Refused(format!("{}: {why}", spec.name));
        let [memory, socket] = &ticket.fds[..] else {
            return Err(refused("the ticket came without its two descriptors"));
        };
        verify_ticket(socket, &ticket.bytes).map_err(|error| error.into_edge_error(&spec.name))?;
        if memory_identity(memory.as_fd())? != own {
            return Err(refused("the memory is not the one that the ticket means"));
        }
        let reader = ring::join_ring(memory.as_fd(), receiver).map_err(|error| match error {
            JoinError::System(error) => Error::system("map the ring", error),
            error => refused(&error.to_string()),
        })?;
        let [_, socket] =
            memory_and_socket(ticket).ok_or_else(|| refused("the ticket is broken"))?;
        let sockets = PeerSockets::with_sender(socket);
        Ok(Box::new(RingReceiver::new(spec, reader, sockets)))
    }
}

fn memory_and_socket(ticket: EdgeTicket) -> Option<[OwnedFd; 2]> {
    ticket.fds.try_into().ok()
}

/// Device and inode of the memory's file, unique while a process has it open.
fn memory_identity(memory: BorrowedFd<'_>) -> Result<[u8; 16], Error> {
    let stat = rustix::fs::fstat(memory).map_err(|e| Error::system("look at the memory", e))?;
    let mut identity = [0; 16];
    identity[..8].copy_from_slice(&stat.st_dev.to_le_bytes());
    identity[8..].copy_from_slice(&stat.st_ino.to_le_bytes());
    Ok(identity)
}
