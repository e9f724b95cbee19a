//! Rings between processes: a segment that its descriptor alone leads to.
//!
//! The memory has no name. Whoever is handed the descriptor can join, nobody else; when the last
//! process that has it is gone, so is the segment.

use std::fmt;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::retry_on_intr;

use crate::frame::ALIGN;
use crate::mapped_memory::{MappedMemory, is_sealed};
use crate::memory_barrier::MemoryBarrier;
use crate::page_policy::PagePolicy;
use crate::private_ring::RingShape;
use crate::reader::Reader;
use crate::segment::{
    CAPACITY_MAX, CAPACITY_MIN, MAGIC, READERS_MAX, RingSegment, SegmentHeader, VERSION,
};
use crate::segment::{SEGMENT_HEADER_BYTES, data_offset};
use crate::sync::Ordering;
use crate::writer::Writer;

/// A ring between processes: its writer, and the descriptor with which readers [`join`].
///
/// # Errors
/// A shape that cannot be, or no memory.
pub fn shared_ring(shape: RingShape) -> io::Result<(Writer, OwnedFd)> {
    shared_ring_with_pages(shape, PagePolicy::Auto)
}

/// The same on pages of the user's choice.
///
/// # Errors
/// As [`shared_ring`]; there are no huge pages, where there have to be.
pub fn shared_ring_with_pages(
    shape: RingShape,
    pages: PagePolicy,
) -> io::Result<(Writer, OwnedFd)> {
    let capacity = shape.capacity()?;
    let data = data_offset(shape.readers);
    let (memory, fd) = MappedMemory::shared(data + capacity, data, pages)?;
    let barrier = MemoryBarrier::between_processes();
    let segment = RingSegment::create(memory, capacity, shape.readers, barrier)?;
    Ok((Writer::new(segment), fd))
}

/// Joins a ring of another process, as the reader of this number: from the beginning, or from where
/// it was let in by an [`crate::Admission`]. Nothing of the segment is mapped before it has been
/// found to be one.
///
/// # Errors
/// If it is not a segment of this version, has no such reader, or has it already.
pub fn join_ring(fd: BorrowedFd<'_>, reader: u32) -> Result<Reader, JoinError> {
    let bytes = check_file(fd)?;
    let label = read_header(fd)?;
    let barrier = check_header(&label, bytes)?;
    if reader >= label.readers {
        let readers = label.readers;
        return Err(JoinError::NoSuchReader { reader, readers });
    }
    if !barrier.register() {
        return Err(JoinError::NoMemoryBarrier);
    }
    let (data, capacity) = (label.data_offset as usize, label.capacity as usize);
    let memory = MappedMemory::map(fd, bytes, data)?;
    let segment = RingSegment::from_memory(memory, data, capacity, label.readers, barrier)?;
    let (is_free, is_taken) = (Ordering::Relaxed, Ordering::Relaxed);
    let taken = &segment.cursor(reader).is_taken;
    if taken.compare_exchange(0, 1, is_taken, is_free).is_err() {
        return Err(JoinError::ReaderTaken { reader });
    }
    let start = read_start_index(&segment, reader)?;
    Ok(Reader::new(segment, reader, start))
}

/// Where the reader begins: what it has not released, and nobody has polled yet.
fn read_start_index(segment: &RingSegment, reader: u32) -> Result<u64, JoinError> {
    let start = segment.cursor(reader).released.load(Ordering::Acquire);
    let committed = segment.control().committed.0.load(Ordering::Acquire);
    let kept = committed.wrapping_sub(start);
    if kept > segment.capacity() || !start.is_multiple_of(ALIGN as u64) {
        return Err(JoinError::InvalidHeader(format!(
            "reader {reader} begins at {start} of {committed}"
        )));
    }
    Ok(start)
}

/// The length of a file that cannot change.
fn check_file(fd: BorrowedFd<'_>) -> Result<usize, JoinError> {
    if !is_sealed(fd) {
        return Err(JoinError::NotSealed);
    }
    let bytes = rustix::fs::fstat(fd).map_err(io::Error::from)?.st_size;
    let most = data_offset(READERS_MAX) + 2 * CAPACITY_MAX;
    match usize::try_from(bytes) {
        Ok(bytes) if (SEGMENT_HEADER_BYTES..=most).contains(&bytes) => Ok(bytes),
        _ => Err(JoinError::InvalidSize { bytes }),
    }
}

fn read_header(fd: BorrowedFd<'_>) -> Result<SegmentHeader, JoinError> {
    let mut bytes = [0; SEGMENT_HEADER_BYTES];
    let read = retry_on_intr(|| rustix::io::pread(fd, &mut bytes, 0)).map_err(io::Error::from)?;
    if read < bytes.len() {
        return Err(JoinError::InvalidSize { bytes: read as i64 });
    }
    Ok(SegmentHeader::from_bytes(&bytes))
}

fn check_header(label: &SegmentHeader, bytes: usize) -> Result<MemoryBarrier, JoinError> {
    if label.magic != MAGIC {
        return Err(JoinError::InvalidMagic(label.magic));
    }
    if label.version != VERSION {
        return Err(JoinError::UnsupportedVersion(label.version));
    }
    let (readers, capacity) = (label.readers, label.capacity);
    let most = CAPACITY_MAX as u64;
    let is_sound = (1..=READERS_MAX).contains(&readers)
        && capacity.is_power_of_two()
        && (CAPACITY_MIN as u64..=most).contains(&capacity)
        && label.data_offset == data_offset(readers) as u64
        && label.data_offset + capacity <= bytes as u64;
    let barrier = MemoryBarrier::from_number(label.barrier).filter(|_| is_sound);
    barrier.ok_or_else(|| {
        JoinError::InvalidHeader(format!(
            "{readers} readers, {capacity} bytes from {} on, barrier {}",
            label.data_offset, label.barrier
        ))
    })
}

/// Why a ring cannot be joined.
#[derive(Debug)]
pub enum JoinError {
    /// Somebody could cut the file off while it is mapped.
    NotSealed,
    /// Too short or too long for a segment.
    InvalidSize {
        /// How long it is.
        bytes: i64,
    },
    /// It does not begin as a segment does, but so.
    InvalidMagic(u64),
    /// Of another version: this one.
    UnsupportedVersion(u32),
    /// Numbers that do not fit together.
    InvalidHeader(String),
    /// The ring has fewer readers.
    NoSuchReader {
        /// Who wanted to join.
        reader: u32,
        /// How many there are.
        readers: u32,
    },
    /// Somebody has joined as this reader before.
    ReaderTaken {
        /// Who wanted to join.
        reader: u32,
    },
    /// The writer relies on `membarrier`, which this process cannot have.
    NoMemoryBarrier,
    /// The system refused something.
    System(io::Error),
}

impl From<io::Error> for JoinError {
    fn from(error: io::Error) -> JoinError {
        JoinError::System(error)
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::NotSealed => {
                f.write_str("not a ring: its file is not sealed against shrinking and growing")
            }
            JoinError::InvalidSize { bytes } => {
                write!(f, "not a ring: a file of {bytes} bytes cannot be one")
            }
            JoinError::InvalidMagic(word) => {
                write!(
                    f,
                    "not a ring: it begins with {word:#018x} instead of {MAGIC:#018x}"
                )
            }
            JoinError::UnsupportedVersion(version) => write!(
                f,
                "a ring of version {version}; this program reads version {VERSION}"
            ),
            JoinError::InvalidHeader(numbers) => write!(f, "a broken ring: {numbers}"),
            JoinError::NoSuchReader { reader, readers } => write!(
                f,
                "no reader {reader} in a ring of {readers}; the first is 0"
            ),
            JoinError::ReaderTaken { reader } => write!(f, "reader {reader} has joined already"),
            JoinError::NoMemoryBarrier => f.write_str(
                "the writer relies on membarrier(2), which this process is not allowed to call",
            ),
            JoinError::System(error) => write!(f, "cannot join the ring: {error}"),
        }
    }
}

impl std::error::Error for JoinError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            JoinError::System(error) => Some(error),
            _ => None,
        }
    }
}
