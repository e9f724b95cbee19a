//! Calls and numbers of the system, of Linux on x86-64 and aarch64, as this library has no crates.

use std::ffi::{c_char, c_int, c_long, c_void};

pub const PROT_NONE: c_int = 0;
pub const PROT_READ_WRITE: c_int = 3;
pub const MAP_SHARED: c_int = 1;
pub const MAP_PRIVATE: c_int = 2;
pub const MAP_FIXED: c_int = 0x10;
pub const MAP_ANONYMOUS: c_int = 0x20;
pub const MFD_CLOEXEC_SEALING: u32 = 3;
pub const CLOEXEC: c_int = 0x8_0000;
pub const NONBLOCK: c_int = 0x800;
pub const F_DUPFD_CLOEXEC: c_int = 1030;
pub const F_ADD_SEALS: c_int = 1033;
pub const F_GET_SEALS: c_int = 1034;
/// The seals against shrinking and growing.
pub const SEALS: c_int = 2 | 4;
pub const CLOCK_MONOTONIC: c_int = 1;
pub const SEEK_END: c_int = 2;
pub const SYS_MEMBARRIER: c_long = if cfg!(target_arch = "x86_64") {
    324
} else {
    283
};
pub const GLOBAL_EXPEDITED: c_int = 2;
pub const REGISTER_GLOBAL_EXPEDITED: c_int = 4;

#[repr(C)]
pub struct PollFd {
    pub fd: c_int,
    pub events: i16,
    pub revents: i16,
}

#[repr(C)]
pub struct TimeSpec {
    pub seconds: i64,
    pub nanoseconds: i64,
}

unsafe extern "C" {
    pub fn mmap(
        at: *mut c_void,
        len: usize,
        prot: c_int,
        flags: c_int,
        fd: c_int,
        from: i64,
    ) -> *mut c_void;
    pub fn munmap(at: *mut c_void, len: usize) -> c_int;
    pub fn memfd_create(name: *const c_char, flags: u32) -> c_int;
    pub fn eventfd(count: u32, flags: c_int) -> c_int;
    pub fn pipe2(ends: *mut c_int, flags: c_int) -> c_int;
    pub fn ftruncate(fd: c_int, len: i64) -> c_int;
    pub fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64;
    pub fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    pub fn close(fd: c_int) -> c_int;
    pub fn poll(fds: *mut PollFd, count: u64, timeout: c_int) -> c_int;
    pub fn read(fd: c_int, bytes: *mut c_void, len: usize) -> isize;
    pub fn write(fd: c_int, bytes: *const c_void, len: usize) -> isize;
    pub fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int;
    pub fn syscall(number: c_long, ...) -> c_long;
}
