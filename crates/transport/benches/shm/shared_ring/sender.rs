//! The sending end: the functions of the table for it.

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use crate::abi::{
    EdgeFields, RunWordsFields, STATUS_AGAIN, STATUS_LOST, STATUS_OK, STATUS_SYSTEM, SenderObject,
    Sentence, TicketFields, WaitsFields,
};
use crate::edge_end::{EdgeEnd, PAGE, PARTS, heavy_barrier, say, wait_for};
use crate::system;

const BATCH_BYTES: u64 = 32 * 1024;
const BLOCK_PARTS: u64 = 4;

struct Sender {
    end: EdgeEnd,
    head: u64,
    offset: u64,
    published: u64,
    released: u64,
    batch: u64,
    is_claimed: bool,
}

pub unsafe extern "C" fn open(
    edge: *const EdgeFields,
    sender: *mut *mut SenderObject,
    block_bytes_max: *mut u64,
    tickets: *mut TicketFields,
    sentence: *mut Sentence,
) -> c_int {
    let limit = unsafe { (*edge).ring_bytes };
    let (mut life, name): (_, &CStr) = ([-1; 2], c"thalweg shared_ring_rust");
    let flags = system::CLOEXEC | system::NONBLOCK;
    let end = unsafe {
        let memory = system::memfd_create(name.as_ptr(), system::MFD_CLOEXEC_SEALING);
        let events = [system::eventfd(0, flags), system::eventfd(0, flags)];
        system::pipe2(life.as_mut_ptr(), flags);
        let theirs = events.map(|fd| system::fcntl(fd, system::F_DUPFD_CLOEXEC, 3));
        let bytes = (PAGE + limit.next_multiple_of(PAGE)) as i64;
        let fds = [
            memory, life[0], life[1], events[0], events[1], theirs[0], theirs[1],
        ];
        let is_made = fds.iter().all(|fd| *fd >= 0)
            && system::ftruncate(memory, bytes) == 0
            && system::fcntl(memory, system::F_ADD_SEALS, system::SEALS) == 0;
        let end = match is_made {
            true => EdgeEnd::map(memory, limit, [life[1], events[0], events[1]]),
            false => None,
        };
        let Some(end) = end else {
            for fd in fds {
                system::close(fd);
            }
            return say(
                STATUS_SYSTEM,
                sentence,
                "cannot make a ring in shared memory",
            );
        };
        let ticket = &mut *tickets;
        ticket.byte_count = 8;
        ticket.bytes[..8].copy_from_slice(&limit.to_ne_bytes());
        ticket.fd_count = 4;
        ticket.fds = [memory, life[0], theirs[0], theirs[1]];
        end
    };
    let fences = u32::from(!end.has_barrier);
    end.at().fences.0.sender.store(fences, SeqCst);
    let made = Box::new(Sender {
        end,
        head: 0,
        offset: 0,
        published: 0,
        released: 0,
        batch: (limit / 4 / 8 * 8).min(BATCH_BYTES),
        is_claimed: false,
    });
    unsafe {
        *block_bytes_max = limit / BLOCK_PARTS / 8 * 8;
        *sender = Box::into_raw(made).cast();
    }
    STATUS_OK
}

impl Sender {
    #[inline]
    fn has_room(&mut self, bytes: u64) -> bool {
        if self.head + bytes - self.released <= self.end.limit {
            return true;
        }
        let released = self.end.at().released.0.load(Acquire);
        if released < self.released || released > self.head {
            return false;
        }
        self.released = released;
        self.head + bytes - released <= self.end.limit
    }

    #[inline]
    fn publish(&mut self) {
        self.end.at().published.0.store(self.head, Release);
        self.published = self.head;
    }

    fn mark_parts(&self, from: u64, to: u64) {
        for part in from / self.end.part + 1..=to / self.end.part {
            let marks = &self.end.at().marks.0;
            marks[(part % PARTS) as usize].store(to, Relaxed);
        }
    }
}

#[inline]
unsafe fn sender<'a>(object: *mut SenderObject) -> &'a mut Sender {
    unsafe { &mut *object.cast::<Sender>() }
}

pub unsafe extern "C" fn claim(
    object: *mut SenderObject,
    bytes: u64,
    room: *mut *mut c_void,
    sentence: *mut Sentence,
) -> c_int {
    let s = unsafe { sender(object) };
    let has = s.has_room(bytes);
    if (s.is_claimed || !has || s.end.is_lost) && s.end.look_sometimes() {
        return unsafe { say(STATUS_LOST, sentence, "the ring has no receiver") };
    }
    s.is_claimed = true;
    s.end.at().committed.0.block_bytes.store(bytes, Relaxed);
    unsafe { *room = s.end.ring.add(s.offset as usize).cast() };
    if has { STATUS_OK } else { STATUS_AGAIN }
}

pub unsafe extern "C" fn commit(object: *mut SenderObject, bytes: u64) {
    let s = unsafe { sender(object) };
    s.is_claimed = false;
    s.mark_parts(s.head, s.head + bytes);
    s.head += bytes;
    s.offset += bytes;
    if s.offset >= s.end.mapped {
        s.offset -= s.end.mapped;
    }
    s.end.at().committed.0.committed.store(s.head, Release);
    if s.head - s.published >= s.batch {
        s.publish();
    }
    s.end.wake(&s.end.at().receiver_sleeps.0);
}

pub unsafe extern "C" fn run_words(object: *mut SenderObject, words: *mut RunWordsFields) -> c_int {
    let s = unsafe { sender(object) };
    let at = s.end.at();
    unsafe {
        (*words).committed = at.committed.0.committed.as_ptr();
        (*words).sleeps = at.receiver_sleeps.0.as_ptr();
    }
    if s.end.has_barrier {
        STATUS_OK
    } else {
        STATUS_AGAIN
    }
}

pub unsafe extern "C" fn claim_run(
    object: *mut SenderObject,
    bytes: u64,
    room: *mut *mut c_void,
    room_bytes: *mut u64,
    sentence: *mut Sentence,
) -> c_int {
    let s = unsafe { sender(object) };
    let end = s.published + s.batch;
    if s.head + bytes > end && s.head + s.batch / 4 >= end {
        s.publish();
    }
    let status = unsafe { claim(object, bytes, room, sentence) };
    if status != STATUS_OK {
        return status;
    }
    let s = unsafe { sender(object) };
    let most = s.released + s.end.limit - s.head;
    let run = (s.published + s.batch - s.head).min(most);
    unsafe { *room_bytes = run.max(bytes) };
    STATUS_OK
}

pub unsafe extern "C" fn wake(object: *mut SenderObject) {
    let s = unsafe { sender(object) };
    s.end.wake(&s.end.at().receiver_sleeps.0);
}

pub unsafe extern "C" fn flush(object: *mut SenderObject, _sentence: *mut Sentence) -> c_int {
    unsafe { sender(object) }.publish();
    STATUS_OK
}

pub unsafe extern "C" fn queued(object: *mut SenderObject) -> u64 {
    let s = unsafe { sender(object) };
    if s.end.look_sometimes() {
        return 0;
    }
    s.has_room(s.end.limit);
    s.head - s.released
}

pub unsafe extern "C" fn lost(object: *mut SenderObject) -> u64 {
    u64::from(unsafe { sender(object) }.end.look_sometimes())
}

pub unsafe extern "C" fn arm_sender(
    object: *mut SenderObject,
    bytes: u64,
    waits: *mut WaitsFields,
    _sentence: *mut Sentence,
) -> c_int {
    let s = unsafe { sender(object) };
    s.publish();
    s.end.at().sender_sleeps.0.store(1, SeqCst);
    let is_safe = heavy_barrier(&s.end.at().fences.0.receiver);
    if !is_safe || s.has_room(bytes) || s.end.look() {
        return STATUS_AGAIN;
    }
    unsafe { wait_for(waits, &s.end) };
    STATUS_OK
}

pub unsafe extern "C" fn disarm_sender(object: *mut SenderObject) {
    let s = unsafe { sender(object) };
    s.end.at().sender_sleeps.0.store(0, SeqCst);
    s.end.drain();
}

pub unsafe extern "C" fn close_sender(object: *mut SenderObject) {
    let mut s = unsafe { Box::from_raw(object.cast::<Sender>()) };
    unsafe { s.end.unmap() };
}
