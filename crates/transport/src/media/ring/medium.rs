//! The medium `ring`: opens and accepts edges over a ring in private memory.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use ring::{Reader, RingShape};

use crate::media::ring_edge::{RingPeers, RingReceiver, RingSender};
use crate::{EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, ReceivingEnd, SendingEnd, Wakeup};

/// The medium `ring`: see the [module](super).
pub(in crate::media) struct RingMedium;

/// Wakeups of an edge as one side has them.
struct RingWakeups {
    /// Wakeup of this side.
    own_wakeup: Wakeup,
    /// Wakeups of the other sides, by number.
    peer_wakeups: Vec<Wakeup>,
    /// Tickets of this sender's receivers, in [`UNCLAIMED_READERS`] until they are fetched.
    unclaimed_tickets: Vec<u64>,
}

/// A receiving end that was not fetched yet.
struct UnclaimedReader {
    reader: Reader,
    wakeups: RingWakeups,
}

static UNCLAIMED_READERS: LazyLock<Mutex<UnclaimedReaders>> = LazyLock::new(Mutex::default);

/// Receiving ends that were not fetched yet, by the number in the ticket.
#[derive(Default)]
struct UnclaimedReaders {
    last_ticket: u64,
    readers: HashMap<u64, UnclaimedReader>,
}

impl Medium for RingMedium {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn description(&self) -> String {
        "a lock-free ring in private memory".to_owned()
    }

    fn caps(&self) -> MediumCaps {
        MediumCaps {
            crosses_processes: false,
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
        let (writer, readers) = ring::private_ring(shape).map_err(failed)?;
        let sender = Wakeup::new().map_err(failed)?;
        let mut wakeups = RingWakeups {
            own_wakeup: sender.clone(),
            peer_wakeups: Vec::new(),
            unclaimed_tickets: Vec::new(),
        };
        let mut tickets = Vec::new();
        for reader in readers {
            let own = Wakeup::new().map_err(failed)?;
            wakeups.peer_wakeups.push(own.clone());
            let number = reader.number();
            let sender_wakeups = RingWakeups {
                own_wakeup: own,
                peer_wakeups: vec![sender.clone()],
                unclaimed_tickets: Vec::new(),
            };
            let ticket = register_unclaimed(reader, sender_wakeups);
            wakeups.unclaimed_tickets.push(ticket);
            let own = ticket.to_le_bytes();
            tickets.push(EdgeTicket::seal(self.name(), spec, number, &own));
        }
        Ok((Box::new(RingSender::new(spec, writer, wakeups)), tickets))
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        let (_, number) = ticket.unseal(self.name(), spec)?;
        let number = number.try_into().map(u64::from_le_bytes).ok();
        let waiting = number.and_then(|number| lock_unclaimed().readers.remove(&number));
        let Some(UnclaimedReader { reader, wakeups }) = waiting else {
            return Err(Error::Refused(format!(
                "{}: the ticket was used before, or its sender is gone",
                spec.name
            )));
        };
        Ok(Box::new(RingReceiver::new(spec, reader, wakeups)))
    }
}

fn register_unclaimed(reader: Reader, wakeups: RingWakeups) -> u64 {
    let mut table = lock_unclaimed();
    table.last_ticket += 1;
    let number = table.last_ticket;
    table
        .readers
        .insert(number, UnclaimedReader { reader, wakeups });
    number
}

fn lock_unclaimed() -> MutexGuard<'static, UnclaimedReaders> {
    UNCLAIMED_READERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// Threads do not die without dropping their ends, so no peer is ever dead.
impl RingPeers for RingWakeups {
    fn wake(&self, sleepers: u64) {
        let peers = (0..).zip(&self.peer_wakeups);
        let sleepers = peers.filter(|(number, _)| sleepers & 1 << number != 0);
        sleepers.for_each(|(_, wakeup)| wakeup.wake());
    }

    fn dead_peers(&mut self) -> u64 {
        0
    }

    fn clear_wakeups(&mut self) -> u64 {
        self.own_wakeup.clear();
        0
    }

    fn dismiss(&mut self, _: u32) {}

    fn poll_fds<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>) {
        readable.push(self.own_wakeup.as_fd());
    }
}

impl Drop for RingWakeups {
    /// The ring's end was dropped just before: sleeping peers are woken to notice it.
    fn drop(&mut self) {
        self.wake(u64::MAX);
        let unused: Vec<_> = match self.unclaimed_tickets.is_empty() {
            true => Vec::new(),
            false => {
                let mut table = lock_unclaimed();
                let tickets = self.unclaimed_tickets.iter();
                tickets
                    .filter_map(|ticket| table.readers.remove(ticket))
                    .collect()
            }
        };
        // Dropped without the lock: dropping them runs this function again.
        drop(unused);
    }
}
