//! The shared memory of an endpoint of the provider `shm`: its name in the system, and its lock.
//!
//! ```text
//!   /dev/shm/PID:N:N   0        4       24
//!                      version  owner   lock
//! ```
//! A peer that posts something, and the owner when it looks for that, hold the lock of the owner's
//! memory: a spin lock, on which the other waits for ever if its holder is killed. So once the
//! socket beside two endpoints has ended, the locks of both memories are opened. That is right
//! whoever holds them: an endpoint has one peer, so besides the peer that is gone only this process
//! takes them, by one thread at a time. What the holder has left half done is nothing that others
//! see: the provider counts a command last.
//!
//! The memory is found by its name in the system's shared memory, which stays behind when both
//! sides are killed. So the name is removed as soon as both have mapped it.
//!
//! Place and meaning of these words are those of libfabric 1.17, whose memory has version 4. They
//! are checked, and other versions are refused.

use std::ffi::c_void;
use std::fs::{self, File, OpenOptions};
use std::path::PathBuf;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::mm::{MapFlags, ProtFlags};

use crate::error::FabricError;

/// Begin of the names of the provider's endpoints.
const NAME_PREFIX: &str = "fi_shm://";

/// Version of the memory, in its first byte.
const REGION_VERSION: u8 = 4;

/// Place of the lock.
const LOCK_OFFSET: usize = 24;

/// Bytes that are mapped: a page, which has the head of the memory.
const MAPPED_BYTES: usize = 4096;

/// The head of an endpoint's shared memory.
pub(crate) struct ShmRegion {
    head: NonNull<u8>,
    file: PathBuf,
}

// SAFETY: a mapping is an address range of the process, not of a thread.
unsafe impl Send for ShmRegion {}

impl ShmRegion {
    /// Maps the head of the memory of the endpoint with a name.
    ///
    /// # Errors
    /// The name is none of the provider's, or the memory is not here or not one that is known.
    pub(crate) fn open(name: &[u8]) -> Result<ShmRegion, FabricError> {
        let file = file(name)?;
        let unknown = |why: String| {
            let file = file.display();
            FabricError::System(format!("shared memory {file} of an endpoint: {why}"))
        };
        let opened = OpenOptions::new().read(true).write(true).open(&file);
        let head = map_head(&opened.map_err(|error| unknown(error.to_string()))?);
        let head = head.map_err(|error| unknown(error.to_string()))?;
        let region = ShmRegion { head, file };
        // SAFETY: the head is mapped; other threads and processes do not change the version.
        let version = unsafe { ptr::read_volatile(head.as_ptr()) };
        if version != REGION_VERSION {
            let file = region.file.display();
            return Err(FabricError::NoProvider(format!(
                "{file} has version {version}: the provider shm can be used with libfabric 1.17, \
                 whose shared memory has version {REGION_VERSION}"
            )));
        }
        Ok(region)
    }

    /// Opens the lock, once the peer that shares the memory is gone.
    pub(super) fn open_lock(&self) {
        // SAFETY: the word is in the mapped head and aligned; all users of the lock change it by
        // atomic instructions.
        let lock = unsafe { AtomicI32::from_ptr(self.head.as_ptr().add(LOCK_OFFSET).cast()) };
        lock.store(open_lock_value(), Ordering::SeqCst);
    }

    /// Removes the name from the system: who has mapped the memory keeps it.
    pub(crate) fn remove_name(&self) {
        let _ = fs::remove_file(&self.file);
    }
}

impl Drop for ShmRegion {
    fn drop(&mut self) {
        let head = self.head.as_ptr().cast::<c_void>();
        // SAFETY: the page was mapped by `map_head`, and nothing refers to it any more.
        let unmapped = unsafe { rustix::mm::munmap(head, MAPPED_BYTES) };
        debug_assert!(unmapped.is_ok(), "{unmapped:?}");
    }
}

fn map_head(file: &File) -> std::io::Result<NonNull<u8>> {
    if file.metadata()?.len() < MAPPED_BYTES as u64 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address that the system chooses; the file has its bytes.
    let head = unsafe {
        let (shared, nowhere) = (MapFlags::SHARED, ptr::null_mut());
        rustix::mm::mmap(nowhere, MAPPED_BYTES, protection, shared, file, 0)?
    };
    NonNull::new(head.cast()).ok_or_else(|| std::io::ErrorKind::OutOfMemory.into())
}

/// File of the memory of the endpoint with a name: nothing but numbers and colons, for the name may
/// be a peer's.
fn file(name: &[u8]) -> Result<PathBuf, FabricError> {
    let text = std::str::from_utf8(name).unwrap_or_default();
    let text = text.trim_end_matches('\0');
    let file = text.strip_prefix(NAME_PREFIX).unwrap_or_default();
    let is_known = |c: char| c.is_ascii_digit() || c == ':';
    if file.is_empty() || !file.chars().all(is_known) {
        return Err(FabricError::System(format!(
            "`{}` is no name of an endpoint of the provider shm",
            text.escape_default()
        )));
    }
    Ok(PathBuf::from("/dev/shm").join(file))
}

/// Value of a spin lock that nobody holds, which differs between kinds of processors.
fn open_lock_value() -> i32 {
    let mut lock = 0;
    // SAFETY: the lock is a local variable, which no other thread knows.
    unsafe { libc::pthread_spin_init(&raw mut lock, libc::PTHREAD_PROCESS_SHARED) };
    lock
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nowhere_else() {
        let path = |name: &str| file(name.as_bytes()).map_err(drop);
        assert_eq!(path("fi_shm://17:0:3\0"), Ok("/dev/shm/17:0:3".into()));
        for name in [
            "fi_shm://../etc",
            "fi_shm://",
            "17:0:3",
            "fi_shm://a",
            "fi_shm://1:\0:2",
        ] {
            assert_eq!(path(name), Err(()), "{name}");
        }
    }

    #[test]
    fn a_lock_that_is_held_is_opened() {
        let name = format!("{}:7777:1", std::process::id());
        let file = PathBuf::from("/dev/shm").join(&name);
        let mut bytes = vec![0; MAPPED_BYTES];
        bytes[0] = REGION_VERSION;
        // A lock that is held has another value than an open one.
        let held = !open_lock_value();
        bytes[LOCK_OFFSET..LOCK_OFFSET + 4].copy_from_slice(&held.to_ne_bytes());
        fs::write(&file, &bytes).unwrap();
        let region = ShmRegion::open(format!("{NAME_PREFIX}{name}\0").as_bytes()).unwrap();
        region.open_lock();
        let word = fs::read(&file).unwrap()[LOCK_OFFSET..LOCK_OFFSET + 4].to_vec();
        assert_eq!(word, open_lock_value().to_ne_bytes());
        region.remove_name();
        assert!(!file.exists());
    }
}
