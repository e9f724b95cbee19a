//! The medium between threads of one process: a ring in private memory, bells to wake each other.
//!
//! A ticket is a number in a table of this process. What nobody has fetched goes with the sender.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use ring::{Reader, Shape};

use super::ringed::{Peers, Receiving, Sending};
use crate::{Bell, Caps, Error, Inbound, Medium, Outbound, Spec, Ticket};

/// A ring in private memory.
pub(super) struct Ring;

/// Bells of an edge as one side has them.
struct Bells {
    /// Ours.
    own: Bell,
    /// Theirs, by number.
    peers: Vec<Bell>,
    /// Receivers that nobody has fetched when the sender goes, from here on.
    tickets: Vec<u64>,
}

/// A receiver that waits to be fetched.
struct Waiting {
    reader: Reader,
    bells: Bells,
}

static WAITING: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

/// By the number in the ticket.
#[derive(Default)]
struct Table {
    next: u64,
    waiting: HashMap<u64, Waiting>,
}

impl Medium for Ring {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn caps(&self) -> Caps {
        Caps {
            crosses_processes: false,
            crosses_hosts: false,
            is_foreign: false,
            is_one_to_many: true,
            batches: false,
            receivers_max: ring::READERS_MAX,
            is_for_tests: false,
        }
    }

    fn open(&self, spec: &Spec) -> Result<(Box<dyn Outbound>, Vec<Ticket>), Error> {
        let failed = |error| Error::system(format!("make the ring of {}", spec.name), error);
        let shape = Shape {
            bytes: spec.ring_bytes,
            readers: spec.receivers,
        };
        let (writer, readers) = ring::private(shape).map_err(failed)?;
        let sender = Bell::new().map_err(failed)?;
        let mut bells = Bells {
            own: sender.clone(),
            peers: Vec::new(),
            tickets: Vec::new(),
        };
        let mut tickets = Vec::new();
        for reader in readers {
            let own = Bell::new().map_err(failed)?;
            bells.peers.push(own.clone());
            let number = reader.number();
            let to_sender = Bells {
                own,
                peers: vec![sender.clone()],
                tickets: Vec::new(),
            };
            let ticket = put_aside(reader, to_sender);
            bells.tickets.push(ticket);
            let own = ticket.to_le_bytes();
            tickets.push(Ticket::seal(self.name(), spec, number, &own));
        }
        Ok((Box::new(Sending::new(spec, writer, bells)), tickets))
    }

    fn accept(&self, spec: &Spec, ticket: Ticket) -> Result<Box<dyn Inbound>, Error> {
        let (_, number) = ticket.unseal(self.name(), spec)?;
        let number = number.try_into().map(u64::from_le_bytes).ok();
        let waiting = number.and_then(|number| table().waiting.remove(&number));
        let Some(Waiting { reader, bells }) = waiting else {
            return Err(Error::Refused(format!(
                "{}: the ticket was used before, or its sender is gone",
                spec.name
            )));
        };
        Ok(Box::new(Receiving::new(spec, reader, bells)))
    }
}

fn put_aside(reader: Reader, bells: Bells) -> u64 {
    let mut table = table();
    table.next += 1;
    let number = table.next;
    table.waiting.insert(number, Waiting { reader, bells });
    number
}

fn table() -> MutexGuard<'static, Table> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Threads do not die without dropping what they have, so nobody is ever dead.
impl Peers for Bells {
    fn wake(&self, sleepers: u64) {
        let peers = (0..).zip(&self.peers);
        let sleepers = peers.filter(|(number, _)| sleepers & 1 << number != 0);
        sleepers.for_each(|(_, bell)| bell.ring());
    }

    fn dead(&mut self) -> u64 {
        0
    }

    fn silence(&mut self) -> u64 {
        self.own.silence();
        0
    }

    fn dismiss(&mut self, _: u32) {}

    fn sources<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>) {
        readable.push(self.own.as_fd());
    }
}

impl Drop for Bells {
    /// The end before it in the same drop is gone: whoever sleeps is to notice.
    fn drop(&mut self) {
        self.wake(u64::MAX);
        let unused: Vec<_> = match self.tickets.is_empty() {
            true => Vec::new(),
            false => {
                let mut table = table();
                let tickets = self.tickets.iter();
                tickets
                    .filter_map(|ticket| table.waiting.remove(ticket))
                    .collect()
            }
        };
        // Not under the lock: they have bells too.
        drop(unused);
    }
}
