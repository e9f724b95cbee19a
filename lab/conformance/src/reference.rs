//! The reference medium: an edge between threads that is as plain as can be, one lock around a
//! queue of words. It shows that the suite can be passed; with a [`Fault`] in it, that it can be
//! failed.

use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use transport::{EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, ReceivingEnd, SendingEnd};

use crate::broken::Fault;
use crate::reference_ends::{Receiving, Sending};

/// The reference medium, whole or with a fault.
pub struct Reference {
    /// Name of the medium, for `--list`.
    pub name: &'static str,
    /// Fault of the medium, if it has one.
    pub fault: Fault,
}

/// ReferenceState that both ends of an edge share.
pub struct Shared {
    /// Fault of the medium, if it has one.
    pub fault: Fault,
    /// Wakeups: one for each receiver, by number, and the last for the sender.
    pub bells: Vec<OwnedFd>,
    /// Most bytes of a payload.
    pub payload_bytes_max: usize,
    state: Mutex<ReferenceState>,
}

/// Frames that are not released by every receiver. Positions count words since the edge was opened.
pub struct ReferenceState {
    /// Headers and payloads, from `base` on.
    pub words: VecDeque<u64>,
    /// Position of the first word.
    pub base: u64,
    /// Most words that may be unreleased.
    pub words_max: usize,
    /// Position that each receiver has released; `None`: it is gone.
    pub released: Vec<Option<u64>>,
    /// Whether the sender still exists.
    pub has_sender: bool,
    /// Whether each end sleeps, by the number of its wakeup.
    pub sleeps: Vec<bool>,
}

/// Receiving ends that were not fetched, by the ticket's bytes; they go with the sender.
static WAITING: LazyLock<Mutex<Waiting>> = LazyLock::new(Mutex::default);

type Waiting = HashMap<Vec<u8>, (u32, Weak<Shared>)>;

/// Capabilities of a medium between threads.
pub const IN_PROCESS: MediumCaps = MediumCaps {
    crosses_processes: false,
    crosses_hosts: false,
    is_untrusted: false,
    is_one_to_many: true,
    is_batching: false,
    receivers_max: u32::MAX,
    is_for_tests: false,
};

impl Medium for Reference {
    fn name(&self) -> &'static str {
        self.name
    }

    fn caps(&self) -> MediumCaps {
        IN_PROCESS
    }

    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        let shared = Arc::new(Shared::new(spec, self.fault)?);
        let tickets = (0..spec.receiver_count).map(|receiver| {
            let bytes = ticket(spec, receiver, self.fault);
            lock(&WAITING).insert(bytes.clone(), (receiver, Arc::downgrade(&shared)));
            EdgeTicket {
                bytes,
                fds: Vec::new(),
            }
        });
        let tickets = tickets.collect();
        Ok((Box::new(Sending::new(shared)), tickets))
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        let bytes = match self.fault {
            Fault::AcceptsGarbled => repaired(ticket.bytes),
            _ => ticket.bytes,
        };
        let is_ours = bytes.get(12..28) == Some(&spec.token[..]) || self.fault == Fault::AcceptsAny;
        let known = match self.fault {
            Fault::AcceptsTwice => lock(&WAITING).get(&bytes).cloned(),
            _ => lock(&WAITING).remove(&bytes),
        };
        let known = known.and_then(|(receiver, shared)| Some((receiver, shared.upgrade()?)));
        match known {
            Some((receiver, shared)) if is_ours => Ok(Box::new(Receiving::new(shared, receiver))),
            _ => Err(Error::Refused("no such ticket".to_owned())),
        }
    }
}

/// `edge u64 | receiver u32 | token`
fn ticket(spec: &EdgeSpec, receiver: u32, fault: Fault) -> Vec<u8> {
    static EDGES: Mutex<u64> = Mutex::new(0);
    let mut edges = lock(&EDGES);
    *edges += 1;
    let edge = match fault {
        Fault::MixesEdges => u64::MAX - u64::from(spec.edge),
        _ => *edges << 16,
    };
    let mut bytes = edge.to_le_bytes().to_vec();
    bytes.extend(receiver.to_le_bytes());
    bytes.extend(spec.token);
    bytes
}

/// The ticket that a garbled one is nearest to.
fn repaired(bytes: Vec<u8>) -> Vec<u8> {
    let distance = |known: &&Vec<u8>| {
        let wrong = known.iter().zip(&bytes).filter(|(a, b)| a != b).count();
        wrong + known.len().abs_diff(bytes.len())
    };
    let nearest = lock(&WAITING).keys().min_by_key(distance).cloned();
    nearest.unwrap_or(bytes)
}

impl Shared {
    fn new(spec: &EdgeSpec, fault: Fault) -> Result<Shared, Error> {
        let bell = |_| {
            let flags = rustix::event::EventfdFlags::NONBLOCK;
            rustix::event::eventfd(0, flags)
                .map_err(|e| Error::system("make an event descriptor", e))
        };
        let words_max = spec.ring_bytes / 8;
        Ok(Shared {
            fault,
            bells: (0..=spec.receiver_count)
                .map(bell)
                .collect::<Result<_, _>>()?,
            payload_bytes_max: spec.ring_bytes / 4,
            state: Mutex::new(ReferenceState {
                words: VecDeque::with_capacity(words_max),
                base: 0,
                words_max,
                released: vec![Some(0); spec.receiver_count as usize],
                has_sender: true,
                sleeps: vec![false; spec.receiver_count as usize + 1],
            }),
        })
    }

    /// Locks the state of the edge.
    pub fn state(&self) -> MutexGuard<'_, ReferenceState> {
        lock(&self.state)
    }

    /// Number of the sender's wakeup.
    pub fn sender(&self) -> usize {
        self.bells.len() - 1
    }

    /// Wakes a side that sleeps.
    pub fn ring(&self, state: &ReferenceState, bell: usize) {
        if state.sleeps[bell] {
            let _ = rustix::io::write(&self.bells[bell], &1_u64.to_ne_bytes());
        }
    }

    /// Clears a wakeup after a sleep.
    pub fn silence(&self, bell: usize) {
        if self.fault != Fault::RingsForever {
            let _ = rustix::io::read(&self.bells[bell], &mut [0_u8; 8]);
        }
    }
}

impl ReferenceState {
    /// Position of the next word.
    pub fn end(&self) -> u64 {
        self.base + self.words.len() as u64
    }

    /// Drops the words that every receiver has released.
    pub fn forget(&mut self, fault: Fault) {
        let released = self.released.iter().flatten();
        let slowest = match fault {
            Fault::FastestDecides => released.max(),
            Fault::WaitsForTheDead if self.released.contains(&None) => Some(&self.base),
            _ => released.min(),
        };
        let end = self.end();
        let slowest = slowest.copied().unwrap_or(end).max(self.base);
        self.words.drain(..(slowest - self.base) as usize);
        self.base = slowest;
    }
}

/// Locks; a failed test leaves the rest usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
