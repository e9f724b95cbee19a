//! Ends of a medium that is as strict as the contract allows: few frames fit, small ones, and on
//! demand nothing is sent before a flush.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ring::frame::{ALIGN, FrameBatch, FrameHeader};
use transport::{Error, PeerLoss, ReceivingEnd, SendingEnd, Waitable, Wakeup};
use tuple::TupleBuf;

/// Limits of the medium.
#[derive(Clone, Copy, Debug)]
pub struct Pipe {
    /// Frames that are committed and not released, at most.
    pub frames: usize,
    /// Most bytes of a payload.
    pub payload_bytes_max: usize,
    /// Frames wait for a flush.
    pub holds_back: bool,
}

impl Default for Pipe {
    fn default() -> Pipe {
        Pipe {
            frames: 1,
            payload_bytes_max: 64,
            holds_back: false,
        }
    }
}

struct Shared {
    /// Frames that were not polled yet.
    queue: VecDeque<(FrameHeader, Vec<u8>)>,
    /// Committed and not yet out.
    held: VecDeque<(FrameHeader, Vec<u8>)>,
    /// Committed and not yet released.
    unreleased: usize,
    has_sender: bool,
    has_receiver: bool,
}

pub struct Out {
    pipe: Pipe,
    shared: Arc<Mutex<Shared>>,
    claim: TupleBuf,
    /// Rung by the receiver.
    room: Wakeup,
    /// Rung by the sender.
    work: Wakeup,
}

pub struct In {
    shared: Arc<Mutex<Shared>>,
    batch: TupleBuf,
    polled: usize,
    polls: Arc<AtomicU64>,
    is_armed: Arc<AtomicBool>,
    room: Wakeup,
    work: Wakeup,
}

impl Pipe {
    /// Opens both ends of a crossing.
    pub fn open(self) -> (Out, In) {
        let shared = Arc::new(Mutex::new(Shared {
            queue: VecDeque::new(),
            held: VecDeque::new(),
            unreleased: 0,
            has_sender: true,
            has_receiver: true,
        }));
        let (room, work) = (Wakeup::new().unwrap(), Wakeup::new().unwrap());
        let out = Out {
            pipe: self,
            shared: shared.clone(),
            claim: TupleBuf::default(),
            room: room.clone(),
            work: work.clone(),
        };
        let inbound = In {
            shared,
            batch: TupleBuf::default(),
            polled: 0,
            polls: Arc::default(),
            is_armed: Arc::default(),
            room,
            work,
        };
        (out, inbound)
    }
}

/// Counts of an inbound end.
#[derive(Clone)]
pub struct Seen {
    polls: Arc<AtomicU64>,
    is_armed: Arc<AtomicBool>,
}

impl Seen {
    /// How often it was polled.
    pub fn polls(&self) -> u64 {
        self.polls.load(Ordering::Relaxed)
    }

    /// Whether its thread is asleep or about to be.
    pub fn is_armed(&self) -> bool {
        self.is_armed.load(Ordering::Relaxed)
    }
}

impl In {
    pub fn seen(&self) -> Seen {
        Seen {
            polls: self.polls.clone(),
            is_armed: self.is_armed.clone(),
        }
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lost(receiver: Option<u32>) -> Error {
    let why = "it dropped its end".into();
    Error::PeerLost(PeerLoss {
        receiver,
        reason: why,
    })
}

impl SendingEnd for Out {
    fn payload_bytes_max(&self) -> usize {
        self.pipe.payload_bytes_max
    }

    fn claim(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        assert!(len <= self.pipe.payload_bytes_max);
        let shared = lock(&self.shared);
        if !shared.has_receiver {
            return Err(lost(Some(0)));
        }
        if shared.unreleased >= self.pipe.frames {
            return Ok(None);
        }
        self.claim.copy_from_bytes(&vec![0xee; len]);
        Ok(Some(self.claim.as_bytes_mut()))
    }

    fn commit(&mut self, kind: u8, flags: u8, len: usize) {
        let header = FrameHeader {
            len: len as u32,
            kind,
            flags,
        };
        let payload = self.claim.as_bytes_mut()[..len].to_vec();
        let mut shared = lock(&self.shared);
        shared.unreleased += 1;
        shared.held.push_back((header, payload));
        drop(shared);
        if !self.pipe.holds_back {
            self.flush().unwrap();
        }
    }

    fn flush(&mut self) -> Result<bool, Error> {
        let mut shared = lock(&self.shared);
        let mut held = std::mem::take(&mut shared.held);
        shared.queue.append(&mut held);
        drop(shared);
        self.work.wake();
        Ok(true)
    }

    fn is_drained(&mut self) -> Result<bool, Error> {
        let shared = lock(&self.shared);
        match (shared.unreleased, shared.has_receiver) {
            (0, _) => Ok(true),
            (_, true) => Ok(false),
            (_, false) => Err(lost(Some(0))),
        }
    }

    fn queued_bytes(&self) -> usize {
        lock(&self.shared).queue.iter().map(|(_, p)| p.len()).sum()
    }

    fn lost_receivers(&self) -> &[u32] {
        &[]
    }
}

impl ReceivingEnd for In {
    fn poll(&mut self) -> Result<FrameBatch<'_>, Error> {
        self.polls.fetch_add(1, Ordering::Relaxed);
        let mut shared = lock(&self.shared);
        let mut bytes = Vec::new();
        let queue = std::mem::take(&mut shared.queue);
        self.polled += queue.len();
        if queue.is_empty() && !shared.has_sender {
            return Err(lost(None));
        }
        for (header, payload) in queue {
            bytes.extend(header.to_word().to_ne_bytes());
            bytes.extend(payload);
            bytes.resize(bytes.len().next_multiple_of(ALIGN), 0xee);
        }
        self.batch.copy_from_bytes(&bytes);
        Ok(FrameBatch::new(self.batch.as_ref().bytes()))
    }

    fn release(&mut self) {
        lock(&self.shared).unreleased -= std::mem::take(&mut self.polled);
        self.room.wake();
    }
}

impl Waitable for Out {
    fn arm(&mut self) -> Result<bool, Error> {
        self.room.clear();
        let shared = lock(&self.shared);
        Ok(shared.has_receiver && shared.unreleased >= self.pipe.frames)
    }

    fn disarm(&mut self) {}

    fn poll_fds<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>, _: &mut Vec<BorrowedFd<'a>>) {
        readable.push(self.room.as_fd());
    }
}

impl Waitable for In {
    fn arm(&mut self) -> Result<bool, Error> {
        self.work.clear();
        let shared = lock(&self.shared);
        let must_wait = shared.has_sender && shared.queue.is_empty();
        self.is_armed.store(must_wait, Ordering::Relaxed);
        Ok(must_wait)
    }

    fn disarm(&mut self) {
        self.is_armed.store(false, Ordering::Relaxed);
    }

    fn poll_fds<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>, _: &mut Vec<BorrowedFd<'a>>) {
        readable.push(self.work.as_fd());
    }
}

impl Drop for Out {
    /// Lets frames arrive that were committed.
    fn drop(&mut self) {
        let _ = self.flush();
        lock(&self.shared).has_sender = false;
        self.work.wake();
    }
}

impl Drop for In {
    fn drop(&mut self) {
        lock(&self.shared).has_receiver = false;
        self.room.wake();
    }
}
