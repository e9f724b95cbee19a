//! The receiving end: the functions of the table for it.

use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use crate::abi::{
    EdgeFields, ReceiverObject, STATUS_AGAIN, STATUS_LOST, STATUS_OK, STATUS_REFUSED,
    STATUS_SYSTEM, Sentence, TicketFields, WaitsFields,
};
use crate::edge_end::{EdgeEnd, PAGE, PARTS, heavy_barrier, say, wait_for};
use crate::system;

const BATCH_SPINS_MIN: u32 = 4;
const BATCH_SPINS_MAX: u32 = 64;
const SPIN_BYTES: u64 = 32;

struct Receiver {
    end: EdgeEnd,
    released: u64,
    offset: u64,
    known: u64,
    shown: u64,
    spins: u32,
}

pub unsafe extern "C" fn accept(
    edge: *const EdgeFields,
    _receiver: u32,
    ticket: *const TicketFields,
    end: *mut *mut ReceiverObject,
    sentence: *mut Sentence,
) -> c_int {
    let (edge, ticket) = unsafe { (&*edge, &*ticket) };
    let limit = u64::from_ne_bytes(std::array::from_fn(|at| ticket.bytes[at]));
    let [memory, life, their_event, own_event] = ticket.fds;
    let is_ticket = ticket.byte_count == 8 && ticket.fd_count == 4 && limit == edge.ring_bytes;
    let is_whole = unsafe {
        let bytes = system::lseek(memory, 0, system::SEEK_END);
        let seals = system::fcntl(memory, system::F_GET_SEALS);
        bytes >= (PAGE + limit) as i64 && seals & system::SEALS == system::SEALS
    };
    if !is_ticket || !is_whole {
        return unsafe {
            say(
                STATUS_REFUSED,
                sentence,
                "that is no ticket of a shared ring",
            )
        };
    }
    let Some(mapped) = (unsafe { EdgeEnd::map(memory, limit, [life, own_event, their_event]) })
    else {
        return unsafe {
            say(
                STATUS_SYSTEM,
                sentence,
                "cannot map a ring in shared memory",
            )
        };
    };
    let fences = u32::from(!mapped.has_barrier);
    mapped.at().fences.0.receiver.store(fences, SeqCst);
    let made = Box::new(Receiver {
        end: mapped,
        released: 0,
        offset: 0,
        known: 0,
        shown: 0,
        spins: 0,
    });
    unsafe {
        system::close(memory);
        *end = Box::into_raw(made).cast();
    }
    STATUS_OK
}

#[inline]
unsafe fn receiver<'a>(object: *mut ReceiverObject) -> &'a mut Receiver {
    unsafe { &mut *object.cast::<Receiver>() }
}

/// The pause of the C file.
#[inline]
fn spin_pause() {
    #[cfg(target_arch = "x86_64")]
    std::arch::x86_64::_mm_pause();
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("isb")
    };
}

impl Receiver {
    #[inline]
    fn take_index(&mut self, come: u64) -> bool {
        if come > self.known {
            self.known = come;
        }
        self.known - self.released <= self.end.limit
    }

    #[inline]
    fn read_published(&mut self) -> bool {
        let come = self.end.at().published.0.load(Acquire);
        self.take_index(come)
    }

    #[inline]
    fn read_committed(&mut self) -> bool {
        let come = self.end.at().committed.0.committed.load(Acquire);
        self.take_index(come)
    }

    fn next_spins(&self, bytes: u64) -> u32 {
        let block = self.end.at().committed.0.block_bytes.load(Relaxed);
        let worth = SPIN_BYTES * u64::from(self.spins);
        let mut spins = self.spins / 2;
        if self.spins == 0 {
            return 1;
        }
        if bytes > 2 * block && bytes >= worth {
            spins = 2 * self.spins;
        } else if bytes > 2 * block && bytes >= worth / 2 {
            spins = self.spins;
        }
        spins.clamp(BATCH_SPINS_MIN, BATCH_SPINS_MAX)
    }

    fn find_blocks(&mut self) -> bool {
        let from = self.known;
        let mut before = from;
        if self.spins > 0 {
            before = self.end.at().committed.0.committed.load(Relaxed);
        }
        for _ in 0..self.spins {
            if !self.read_published() {
                return false;
            }
            if self.known != from {
                return true;
            }
            spin_pause();
        }
        if !self.read_committed() {
            return false;
        }
        self.spins = match self.known == from {
            true => 0,
            false => self.next_spins(self.known.saturating_sub(before)),
        };
        true
    }

    #[inline]
    fn bytes_to_show(&self, from: u64) -> u64 {
        let come = self.known - from;
        if come <= self.end.part {
            return come;
        }
        let part = from / self.end.part + 1;
        let mark = self.end.at().marks.0[(part % PARTS) as usize].load(Relaxed);
        match mark > from && mark <= self.known {
            true => mark - from,
            false => come,
        }
    }
}

pub unsafe extern "C" fn poll(
    object: *mut ReceiverObject,
    skip: u64,
    bytes: *mut *const c_void,
    len: *mut u64,
    sentence: *mut Sentence,
) -> c_int {
    let r = unsafe { receiver(object) };
    let (from, offset) = (r.released + skip, r.offset + skip);
    let mut is_right = true;
    if r.known == from {
        is_right = r.find_blocks();
    }
    if is_right && (r.known == from || r.end.is_lost) && r.end.look_sometimes() {
        is_right = r.read_committed();
    }
    if !is_right {
        let words = "the sender's index is beyond the ring";
        return unsafe { say(STATUS_SYSTEM, sentence, words) };
    }
    let offset = match offset < r.end.mapped {
        true => offset,
        false => offset - r.end.mapped,
    };
    let shown = r.bytes_to_show(from);
    r.shown = r.shown.max(from + shown);
    unsafe {
        *bytes = r.end.ring.add(offset as usize).cast();
        *len = shown;
    }
    if r.end.is_lost && from + shown == r.known {
        return unsafe { say(STATUS_LOST, sentence, "the ring has no sender") };
    }
    STATUS_OK
}

pub unsafe extern "C" fn release(object: *mut ReceiverObject, bytes: u64) {
    let r = unsafe { receiver(object) };
    r.released += bytes;
    r.offset += bytes;
    if r.offset >= r.end.mapped {
        r.offset -= r.end.mapped;
    }
    r.end.at().released.0.store(r.released, Release);
    r.end.wake(&r.end.at().sender_sleeps.0);
}

pub unsafe extern "C" fn arm_receiver(
    object: *mut ReceiverObject,
    waits: *mut WaitsFields,
    _sentence: *mut Sentence,
) -> c_int {
    let r = unsafe { receiver(object) };
    r.end.at().receiver_sleeps.0.store(1, SeqCst);
    let is_safe = heavy_barrier(&r.end.at().fences.0.sender);
    let has_come = r.end.at().committed.0.committed.load(SeqCst) != r.shown;
    if !is_safe || has_come || r.end.look() {
        return STATUS_AGAIN;
    }
    unsafe { wait_for(waits, &r.end) };
    STATUS_OK
}

pub unsafe extern "C" fn disarm_receiver(object: *mut ReceiverObject) {
    let r = unsafe { receiver(object) };
    r.end.at().receiver_sleeps.0.store(0, SeqCst);
    r.end.drain();
}

pub unsafe extern "C" fn close_receiver(object: *mut ReceiverObject) {
    let mut r = unsafe { Box::from_raw(object.cast::<Receiver>()) };
    unsafe { r.end.unmap() };
}
