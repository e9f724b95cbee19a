//! The counters file: numbers that one process writes and any other process of its user reads.
//!
//! The file is in no folder: a reader opens it among the descriptors of the process that writes it,
//! `/proc/PID/fd`, where it has the name [`PROC_LINK_TARGET`]. So it vanishes with its process,
//! however that ends.
//!
//! ```text
//!   0         8             12          16             24       32      64         64 + 8 n
//!   +---------+-------------+-----------+--------------+--------+-------+----------+----------+
//!   | magic   | version u32 | slots u32 | legend bytes | beat   | 0     | n slots  | legend   |
//!   +---------+-------------+-----------+--------------+--------+-------+----------+----------+
//! ```
//! Numbers have the native byte order. A slot is an unsigned number of 8 bytes. The legend is a
//! text that says what each slot means; only the writer and the readers know its syntax. The
//! heartbeat is a time that the writer sets when it has written its slots.
//!
//! # Threads
//! Every slot is an atomic of its own: a reader sees each number whole, and all numbers that were
//! written before the heartbeat that it has read. The writer waits for no reader and never learns
//! of one.
//!
//! # Invariants
//! A file keeps its length (it is sealed) and its legend. The magic is written last, so a process
//! that opens an unfinished file sees that it is none yet. The writer holds an exclusive lock on
//! the file as long as it lives, so a file that a reader keeps open after its writer has ended is
//! not taken for a live one.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FlockOperation, MemfdFlags, flock};

use crate::mapped_memory::{MappedMemory, create_sealed_file, is_sealed};

/// Target of the link in `/proc/PID/fd` whose descriptor is a counters file.
pub const PROC_LINK_TARGET: &str = "/memfd:thalweg-counters (deleted)";

/// Name given to the system, from which it makes [`PROC_LINK_TARGET`].
const COUNTERS_MEMFD_NAME: &str = "thalweg-counters";

const MAGIC: u64 = u64::from_le_bytes(*b"THALCNTS");
const VERSION: u32 = 1;

/// Offset in bytes of the version.
const VERSION_AT: u64 = 8;
/// Offset in bytes of the number of slots.
const SLOTS_AT: u64 = 12;
/// Offset in bytes of the legend's length.
const LEGEND_AT: u64 = 16;

/// Offset in words of the heartbeat.
const HEARTBEAT_WORD: usize = 3;

/// Offset in words of the first slot.
const FIRST_SLOT_WORD: usize = 8;

/// Bytes of the file before the slots.
const HEAD_BYTES: usize = FIRST_SLOT_WORD * WORD_BYTES;

const WORD_BYTES: usize = size_of::<u64>();

/// Most slots of a file; a file with more is refused.
const SLOTS_MAX: usize = 1 << 24;
/// Most bytes of a legend; a file with more is refused.
const LEGEND_BYTES_MAX: usize = 1 << 28;

/// The writer of a counters file, which exists as long as this value.
///
/// # Example
/// ```
/// use thalweg_ring::counters::{CountersReader, CountersWriter, PROC_LINK_TARGET};
///
/// let writer = CountersWriter::create(2, "sent received")?;
/// writer.set(0, 42);
/// writer.set_heartbeat(1);
/// for entry in std::fs::read_dir("/proc/self/fd")? {
///     let path = entry?.path();
///     if std::fs::read_link(&path).is_ok_and(|to| to.as_os_str() == PROC_LINK_TARGET) {
///         let reader = CountersReader::open(&path)?;
///         assert_eq!((reader.legend(), reader.read().1), ("sent received", vec![42, 0]));
///     }
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct CountersWriter {
    mapped: MappedCounters,
    _file: File,
}

/// A reader of the counters file of any process.
pub struct CountersReader {
    mapped: MappedCounters,
    legend: String,
}

/// Mapped memory of a counters file.
struct MappedCounters {
    memory: MappedMemory,
    slots: usize,
}

impl CountersWriter {
    /// Creates a counters file of this process with `slots` slots, all 0.
    ///
    /// # Errors
    /// The system has no memory or no descriptor left, or there are too many slots or too long a
    /// legend.
    pub fn create(slots: usize, legend: &str) -> io::Result<CountersWriter> {
        if slots > SLOTS_MAX || legend.len() > LEGEND_BYTES_MAX {
            let what = format!("{slots} counters and {} bytes of legend", legend.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let bytes = HEAD_BYTES + slots * WORD_BYTES + legend.len();
        let file = File::from(create_sealed_file(
            COUNTERS_MEMFD_NAME,
            bytes,
            MemfdFlags::empty(),
        )?);
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        file.write_all_at(&VERSION.to_ne_bytes(), VERSION_AT)?;
        file.write_all_at(&(slots as u32).to_ne_bytes(), SLOTS_AT)?;
        file.write_all_at(&(legend.len() as u64).to_ne_bytes(), LEGEND_AT)?;
        file.write_all_at(legend.as_bytes(), (bytes - legend.len()) as u64)?;
        file.write_all_at(&MAGIC.to_ne_bytes(), 0)?;
        let words = MappedCounters::map(&file, slots, bytes)?;
        Ok(CountersWriter {
            mapped: words,
            _file: file,
        })
    }

    /// Stores `value` in a slot.
    ///
    /// # Panics
    /// If there is no such slot.
    pub fn set(&self, slot: usize, value: u64) {
        assert!(slot < self.mapped.slots, "slot {slot}");
        self.mapped.as_atomics()[FIRST_SLOT_WORD + slot].store(value, Ordering::Relaxed);
    }

    /// Stores the heartbeat, the time at which all slots were written. Its unit is the caller's.
    pub fn set_heartbeat(&self, time: u64) {
        self.mapped.as_atomics()[HEARTBEAT_WORD].store(time, Ordering::Release);
    }
}

impl CountersReader {
    /// Opens the counters file at a path `/proc/PID/fd/N`.
    ///
    /// # Errors
    /// The file cannot be opened, is no counters file of this version, or its writer has ended.
    pub fn open(path: &Path) -> io::Result<CountersReader> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if !is_sealed(file.as_fd()) {
            return Err(invalid_file("a file that somebody can cut off"));
        }
        let mut head = [0; HEAD_BYTES];
        file.read_exact_at(&mut head, 0)?;
        let bytes = |at: u64| head.as_slice().split_at(at as usize).1;
        let number = |at| bytes(at).first_chunk().map(|b| u64::from_ne_bytes(*b));
        let half = |at| bytes(at).first_chunk().map(|b| u32::from_ne_bytes(*b));
        if number(0) != Some(MAGIC) || half(VERSION_AT) != Some(VERSION) {
            return Err(invalid_file("no counters file of this version"));
        }
        if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
            return Err(invalid_file("the counters of somebody who has ended"));
        }
        let slots = half(SLOTS_AT).unwrap_or_default() as usize;
        let legend_bytes = number(LEGEND_AT).map(usize::try_from);
        let legend_bytes = legend_bytes.and_then(Result::ok).unwrap_or(usize::MAX);
        if slots > SLOTS_MAX || legend_bytes > LEGEND_BYTES_MAX {
            return Err(invalid_file("a counters file that is too large"));
        }
        let bytes = HEAD_BYTES + slots * WORD_BYTES + legend_bytes;
        if file.metadata()?.len() != bytes as u64 {
            return Err(invalid_file("a counters file that is cut off"));
        }
        let mut legend = vec![0; legend_bytes];
        file.read_exact_at(&mut legend, (bytes - legend_bytes) as u64)?;
        let legend =
            String::from_utf8(legend).map_err(|_| invalid_file("a legend that is no text"))?;
        let words = MappedCounters::map(&file, slots, bytes)?;
        Ok(CountersReader {
            mapped: words,
            legend,
        })
    }

    /// Text that says what the slots mean, as given to [`CountersWriter::create`].
    pub fn legend(&self) -> &str {
        &self.legend
    }

    /// The last heartbeat, 0 if there was none yet, and the values of all slots now.
    pub fn read(&self) -> (u64, Vec<u64>) {
        let words = self.mapped.as_atomics();
        let heartbeat = words[HEARTBEAT_WORD].load(Ordering::Acquire);
        let slots = words[FIRST_SLOT_WORD..].iter();
        (
            heartbeat,
            slots.map(|slot| slot.load(Ordering::Relaxed)).collect(),
        )
    }
}

impl MappedCounters {
    /// Maps the words of a file of `bytes` bytes.
    fn map(file: &File, slots: usize, bytes: usize) -> io::Result<MappedCounters> {
        let memory = MappedMemory::map(file.as_fd(), bytes, bytes)?;
        debug_assert!(memory.bytes() >= HEAD_BYTES + slots * WORD_BYTES);
        Ok(MappedCounters { memory, slots })
    }

    /// Words before the slots, and the slots.
    fn as_atomics(&self) -> &[AtomicU64] {
        let words = self.memory.base().cast::<AtomicU64>().as_ptr();
        // SAFETY: the mapping begins at a page, is at least that long (checked when it was made),
        // lives as long as `self`, and this process accesses it only by atomics.
        unsafe { std::slice::from_raw_parts(words, FIRST_SLOT_WORD + self.slots) }
    }
}

fn invalid_file(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

const _: () = assert!(HEAD_BYTES == 64 && size_of::<AtomicU64>() == WORD_BYTES);
const _: () = assert!(
    HEARTBEAT_WORD * WORD_BYTES == LEGEND_AT as usize + 8 && HEARTBEAT_WORD < FIRST_SLOT_WORD
);

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsRawFd;
    use std::path::PathBuf;

    use super::*;

    fn path(file: &File) -> PathBuf {
        format!("/proc/self/fd/{}", file.as_raw_fd()).into()
    }

    /// A locked and sealed file with these bytes.
    fn foreign_file(bytes: &[u8]) -> File {
        let file =
            File::from(create_sealed_file("foreign", bytes.len(), MemfdFlags::empty()).unwrap());
        file.write_all_at(bytes, 0).unwrap();
        flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        file
    }

    #[test]
    fn a_view_sees_what_the_board_has() {
        let writer = CountersWriter::create(3, "a b ü").unwrap();
        let path = path(&writer._file);
        assert_eq!(fs::read_link(&path).unwrap(), Path::new(PROC_LINK_TARGET));
        let reader = CountersReader::open(&path).unwrap();
        assert_eq!(
            (reader.legend(), reader.read()),
            ("a b ü", (0, vec![0, 0, 0]))
        );
        writer.set(0, 7);
        writer.set(2, u64::MAX);
        writer.set_heartbeat(99);
        assert_eq!(reader.read(), (99, vec![7, 0, u64::MAX]));
        drop(writer);
        assert_eq!(reader.read().0, 99, "it is seen as long as somebody looks");
    }

    #[test]
    fn a_file_without_its_writer_is_none() {
        let writer = CountersWriter::create(1, "").unwrap();
        let kept = File::open(path(&writer._file)).unwrap();
        assert!(
            CountersReader::open(&path(&kept)).is_ok(),
            "it is the writer's"
        );
        drop(writer);
        let refused = CountersReader::open(&path(&kept))
            .err()
            .unwrap()
            .to_string();
        assert_eq!(refused, "the counters of somebody who has ended");
    }

    #[test]
    fn what_is_no_counters_file_is_refused() {
        let writer = CountersWriter::create(2, "legend").unwrap();
        let good = fs::read(path(&writer._file)).unwrap();
        let refused = |bytes: &[u8]| CountersReader::open(&path(&foreign_file(bytes))).is_err();
        assert!(!refused(&good));
        for len in 1..good.len() {
            assert!(refused(&good[..len]), "{len} bytes");
        }
        for at in 0..24 {
            let mut bytes = good.clone();
            bytes[at] ^= 0x40;
            assert!(refused(&bytes), "byte {at}");
        }
        let last = good.len() - 1;
        assert!(refused(&[&good[..last], &[0xff]].concat()), "no text");
        let unsealed = rustix::fs::memfd_create("unsealed", MemfdFlags::CLOEXEC).unwrap();
        let unsealed = File::from(unsealed);
        unsealed.write_all_at(&good, 0).unwrap();
        assert!(
            CountersReader::open(&path(&unsealed)).is_err(),
            "not sealed"
        );
    }

    #[test]
    fn too_many_slots_are_refused() {
        assert!(CountersWriter::create(SLOTS_MAX + 1, "").is_err());
    }
}
