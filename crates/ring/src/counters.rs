//! The counters file: numbers that one process writes and any other of the same user looks at.
//!
//! It is in no folder: whoever looks opens it among the descriptors of the process that writes it,
//! `/proc/PID/fd`, where it has the name [`NAME`]. So it goes with its process, however that ends.
//!
//! ```text
//!   0         8             12          16             24       32      64         64 + 8 n
//!   +---------+-------------+-----------+--------------+--------+-------+----------+----------+
//!   | magic   | version u32 | slots u32 | legend bytes | beat   | 0     | n slots  | legend   |
//!   +---------+-------------+-----------+--------------+--------+-------+----------+----------+
//! ```
//! Native byte order. A slot is an unsigned number of 8 bytes; what each one means the legend says,
//! which is text that only its writer and its readers know. The beat is a time that the writer sets
//! when it has written its slots.
//!
//! # Threads
//! Every slot is an atomic of its own: a reader sees each number whole, and all that were written
//! before the beat that it has seen. The writer waits for nobody and never learns that it is read.
//!
//! # Invariants
//! A file keeps its length (it is sealed) and its legend. Whoever opens it while it is being made
//! finds that it is none yet: its magic is written last. Its writer holds an exclusive lock on it
//! as long as it lives; so one that is found in a process that only looks, when its writer has
//! ended, is none any more.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FlockOperation, MemfdFlags, flock};

use crate::mapped_memory::{MappedMemory, create_sealed_file, is_sealed};

/// What the descriptor of a file leads to in `/proc/PID/fd`.
pub const PROC_LINK_TARGET: &str = "/memfd:thalweg-counters (deleted)";

/// The name that the system makes that of.
const COUNTERS_MEMFD_NAME: &str = "thalweg-counters";

const MAGIC: u64 = u64::from_le_bytes(*b"THALCNTS");
const VERSION: u32 = 1;

/// Where the parts of the head lie, in bytes.
const VERSION_AT: u64 = 8;
const SLOTS_AT: u64 = 12;
const LEGEND_AT: u64 = 16;

/// Where the beat lies, in words.
const HEARTBEAT_WORD: usize = 3;

/// Where the slots begin, in words.
const FIRST_SLOT_WORD: usize = 8;

/// Bytes before the slots.
const HEAD_BYTES: usize = FIRST_SLOT_WORD * WORD_BYTES;

const WORD_BYTES: usize = size_of::<u64>();

/// The most slots, and the most bytes of a legend: more is no file of ours.
const SLOTS_MAX: usize = 1 << 24;
const LEGEND_BYTES_MAX: usize = 1 << 28;

/// The writer's side of a file, which is there as long as this.
pub struct CountersWriter {
    mapped: MappedCounters,
    _file: File,
}

/// The reader's side of a file.
pub struct CountersReader {
    mapped: MappedCounters,
    legend: String,
}

/// The mapped file.
struct MappedCounters {
    memory: MappedMemory,
    slots: usize,
}

impl CountersWriter {
    /// Makes a file.
    ///
    /// # Errors
    /// The system has no memory or no descriptor left; too many slots.
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

    /// Writes a slot.
    ///
    /// # Panics
    /// If there is no such slot.
    pub fn set(&self, slot: usize, value: u64) {
        assert!(slot < self.mapped.slots, "slot {slot}");
        self.mapped.as_atomics()[FIRST_SLOT_WORD + slot].store(value, Ordering::Relaxed);
    }

    /// All slots are of this time.
    pub fn set_heartbeat(&self, time: u64) {
        self.mapped.as_atomics()[HEARTBEAT_WORD].store(time, Ordering::Release);
    }
}

impl CountersReader {
    /// Opens a file: `/proc/PID/fd/N`.
    ///
    /// # Errors
    /// It cannot be opened, it is no counters file of this version, or its writer has ended.
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

    /// What the slots mean.
    pub fn legend(&self) -> &str {
        &self.legend
    }

    /// The numbers as they are now, and the last beat; 0: there was none yet.
    pub fn read(&self) -> (u64, Vec<u64>) {
        let words = self.mapped.as_atomics();
        let beat = words[HEARTBEAT_WORD].load(Ordering::Acquire);
        let slots = words[FIRST_SLOT_WORD..].iter();
        (
            beat,
            slots.map(|slot| slot.load(Ordering::Relaxed)).collect(),
        )
    }
}

impl MappedCounters {
    /// The words of a file that has so many bytes.
    fn map(file: &File, slots: usize, bytes: usize) -> io::Result<MappedCounters> {
        let memory = MappedMemory::map(file.as_fd(), bytes, bytes)?;
        debug_assert!(memory.bytes() >= HEAD_BYTES + slots * WORD_BYTES);
        Ok(MappedCounters { memory, slots })
    }

    /// The head and the slots.
    fn as_atomics(&self) -> &[AtomicU64] {
        let words = self.memory.base().cast::<AtomicU64>().as_ptr();
        // SAFETY: the mapping begins at a page, is at least so long (checked when it was made),
        // lives as long as `self`, and this process reads and writes it only as atomics.
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

    /// A file with these bytes.
    fn foreign_file(bytes: &[u8]) -> File {
        let file =
            File::from(create_sealed_file("foreign", bytes.len(), MemfdFlags::empty()).unwrap());
        file.write_all_at(bytes, 0).unwrap();
        flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        file
    }

    #[test]
    fn a_view_sees_what_the_board_has() {
        let board = CountersWriter::create(3, "a b ü").unwrap();
        let path = path(&board._file);
        assert_eq!(fs::read_link(&path).unwrap(), Path::new(PROC_LINK_TARGET));
        let view = CountersReader::open(&path).unwrap();
        assert_eq!((view.legend(), view.read()), ("a b ü", (0, vec![0, 0, 0])));
        board.set(0, 7);
        board.set(2, u64::MAX);
        board.set_heartbeat(99);
        assert_eq!(view.read(), (99, vec![7, 0, u64::MAX]));
        drop(board);
        assert_eq!(view.read().0, 99, "it is seen as long as somebody looks");
    }

    #[test]
    fn a_file_without_its_writer_is_none() {
        let board = CountersWriter::create(1, "").unwrap();
        let kept = File::open(path(&board._file)).unwrap();
        assert!(
            CountersReader::open(&path(&kept)).is_ok(),
            "it is the writer's"
        );
        drop(board);
        let refused = CountersReader::open(&path(&kept))
            .err()
            .unwrap()
            .to_string();
        assert_eq!(refused, "the counters of somebody who has ended");
    }

    #[test]
    fn what_is_no_counters_file_is_refused() {
        let board = CountersWriter::create(2, "legend").unwrap();
        let good = fs::read(path(&board._file)).unwrap();
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
