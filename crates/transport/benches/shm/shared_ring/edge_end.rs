//! Parts of both ends of the ring: the mapping, the descriptors, the barriers, and waking.

use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64, compiler_fence, fence};

use crate::abi::{Sentence, WaitsFields};
use crate::system;

pub const PAGE: u64 = 4096;
pub const PARTS: u64 = 8;
const LOOK_NS: u64 = 10_000_000;
const CALLS_PER_CLOCK: u32 = 64;

/// A value on cache lines of its own.
#[repr(C, align(128))]
pub struct Line<T>(pub T);

#[repr(C)]
pub struct Committed {
    pub committed: AtomicU64,
    pub block_bytes: AtomicU64,
}

#[repr(C)]
pub struct Fences {
    pub sender: AtomicU32,
    pub receiver: AtomicU32,
}

#[repr(C)]
pub struct Indexes {
    pub committed: Line<Committed>,
    pub marks: Line<[AtomicU64; PARTS as usize]>,
    pub published: Line<AtomicU64>,
    pub released: Line<AtomicU64>,
    pub receiver_sleeps: Line<AtomicU64>,
    pub sender_sleeps: Line<AtomicU64>,
    pub fences: Line<Fences>,
}

const _: () = assert!(size_of::<Indexes>() as u64 <= PAGE);

pub struct EdgeEnd {
    pub at: *mut Indexes,
    pub ring: *mut u8,
    pub limit: u64,
    pub mapped: u64,
    pub part: u64,
    pub has_barrier: bool,
    pub life: c_int,
    pub own_event: c_int,
    pub their_event: c_int,
    pub is_lost: bool,
    pub look_ns: u64,
    pub calls: u32,
}

pub unsafe fn say(status: c_int, sentence: *mut Sentence, words: &str) -> c_int {
    let sentence = unsafe { &mut *sentence };
    let len = words.len().min(sentence.len() - 1);
    sentence[..len].copy_from_slice(&words.as_bytes()[..len]);
    sentence[len] = 0;
    status
}

impl EdgeEnd {
    pub unsafe fn map(memory: c_int, limit: u64, fds: [c_int; 3]) -> Option<EdgeEnd> {
        let bytes = limit.next_multiple_of(PAGE);
        let whole = (PAGE + 2 * bytes) as usize;
        let anonymous = system::MAP_PRIVATE | system::MAP_ANONYMOUS;
        let shared = system::MAP_SHARED | system::MAP_FIXED;
        let failed = ptr::without_provenance_mut(usize::MAX);
        unsafe {
            let base = system::mmap(ptr::null_mut(), whole, system::PROT_NONE, anonymous, -1, 0);
            if base == failed {
                return None;
            }
            let ring = base.cast::<u8>().add(PAGE as usize);
            let second = ring.add(bytes as usize).cast();
            let (first_bytes, access) = ((PAGE + bytes) as usize, system::PROT_READ_WRITE);
            if system::mmap(base, first_bytes, access, shared, memory, 0) == failed
                || system::mmap(second, bytes as usize, access, shared, memory, PAGE as i64)
                    == failed
            {
                system::munmap(base, whole);
                return None;
            }
            let register = system::REGISTER_GLOBAL_EXPEDITED;
            let has_barrier = system::syscall(system::SYS_MEMBARRIER, register, 0, 0) == 0;
            let [life, own_event, their_event] = fds;
            Some(EdgeEnd {
                at: base.cast(),
                ring,
                limit,
                mapped: bytes,
                part: limit / PARTS,
                has_barrier,
                life,
                own_event,
                their_event,
                is_lost: false,
                look_ns: 0,
                calls: 0,
            })
        }
    }

    #[inline]
    pub fn at(&self) -> &Indexes {
        unsafe { &*self.at }
    }

    pub unsafe fn unmap(&mut self) {
        unsafe {
            system::munmap(self.at.cast(), (PAGE + 2 * self.mapped) as usize);
            for fd in [self.life, self.own_event, self.their_event] {
                system::close(fd);
            }
        }
    }

    #[inline]
    pub fn wake(&self, sleeps: &AtomicU64) {
        compiler_fence(SeqCst);
        if !self.has_barrier {
            fence(SeqCst);
        }
        if sleeps.load(Relaxed) != 0 && sleeps.swap(0, SeqCst) != 0 {
            let one = 1_u64;
            unsafe { system::write(self.their_event, (&raw const one).cast(), 8) };
        }
    }

    pub fn look(&mut self) -> bool {
        let mut life = system::PollFd {
            fd: self.life,
            events: 0,
            revents: 0,
        };
        self.is_lost |= unsafe { system::poll(&mut life, 1, 0) } > 0;
        self.is_lost
    }

    pub fn look_sometimes(&mut self) -> bool {
        self.calls += 1;
        if !self.is_lost && self.calls < CALLS_PER_CLOCK {
            return false;
        }
        self.calls = 0;
        let mut now = system::TimeSpec {
            seconds: 0,
            nanoseconds: 0,
        };
        let clock = system::CLOCK_MONOTONIC;
        if self.is_lost || unsafe { system::clock_gettime(clock, &mut now) } != 0 {
            return self.look();
        }
        let ns = now.seconds as u64 * 1_000_000_000 + now.nanoseconds as u64;
        if ns - self.look_ns < LOOK_NS {
            return false;
        }
        self.look_ns = ns;
        self.look()
    }

    pub fn drain(&self) {
        let mut count = 0_u64;
        unsafe { system::read(self.own_event, (&raw mut count).cast(), 8) };
    }
}

pub fn heavy_barrier(other_fences: &AtomicU32) -> bool {
    fence(SeqCst);
    other_fences.load(Relaxed) != 0
        || unsafe { system::syscall(system::SYS_MEMBARRIER, system::GLOBAL_EXPEDITED, 0, 0) == 0 }
}

pub unsafe fn wait_for(waits: *mut WaitsFields, end: &EdgeEnd) {
    let waits = unsafe { &mut *waits };
    waits.readable_count = 2;
    waits.readable[0] = end.own_event;
    waits.readable[1] = end.life;
}
