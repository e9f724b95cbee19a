//! Rings between processes: a segment that can be reached only through its descriptor.
//!
//! The memory has no name. Only a process that is given the descriptor can join; when the last
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

/// Creates a ring between processes: its writer, and the descriptor with which readers
/// [`join`](join_ring).
///
/// # Errors
/// The shape is out of bounds (see [`RingShape`]), or there is no memory.
///
/// # Example
/// The reader of this example joins from the same process; usually another process is passed the
/// descriptor:
/// ```
/// use std::os::fd::AsFd;
/// use thalweg_ring::{RingShape, join_ring, shared_ring};
///
/// let (mut writer, descriptor) = shared_ring(RingShape { bytes: 4096, readers: 1 })?;
/// let mut reader = join_ring(descriptor.as_fd(), 0)?;
/// writer.claim(5).expect("room").copy_from_slice(b"hello");
/// writer.commit(1, 0, 5);
/// assert_eq!(reader.poll().map(|frame| frame.bytes).collect::<Vec<_>>(), [b"hello"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn shared_ring(shape: RingShape) -> io::Result<(Writer, OwnedFd)> {
    shared_ring_with_pages(shape, PagePolicy::Auto)
}

/// Creates a ring between processes on pages of the caller's choice.
///
/// # Errors
/// Like [`shared_ring`]; and with [`PagePolicy::Huge`], there are no huge pages.
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

/// Joins a ring of another process as reader number `reader`: from the beginning, or from the point
/// where a [`ReaderAdmission`](crate::ReaderAdmission) has admitted it. No memory is mapped before
/// the file has been checked to be a segment.
///
/// # Errors
/// The file is no segment of this version, has no such reader, or the reader has joined before.
pub fn join_ring(fd: BorrowedFd<'_>, reader: u32) -> Result<Reader, JoinError> {
    let bytes = check_file(fd)?;
    let header = read_header(fd)?;
    let barrier = check_header(&header, bytes)?;
    if reader >= header.readers {
        let readers = header.readers;
        return Err(JoinError::NoSuchReader { reader, readers });
    }
    if !barrier.register() {
        return Err(JoinError::NoMemoryBarrier);
    }
    let (data, capacity) = (header.data_offset as usize, header.capacity as usize);
    let memory = MappedMemory::map(fd, bytes, data)?;
    let segment = RingSegment::from_memory(memory, data, capacity, header.readers, barrier)?;
    let (is_free, is_taken) = (Ordering::Relaxed, Ordering::Relaxed);
    let taken = &segment.cursor(reader).is_taken;
    if taken.compare_exchange(0, 1, is_taken, is_free).is_err() {
        return Err(JoinError::ReaderTaken { reader });
    }
    let start = read_start_index(&segment, reader)?;
    Ok(Reader::new(segment, reader, start))
}

/// Index where the reader begins: its cursor, which must be within a ring of the last commit.
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

/// Checks that a file is sealed and returns its length in bytes.
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

fn check_header(header: &SegmentHeader, bytes: usize) -> Result<MemoryBarrier, JoinError> {
    if header.magic != MAGIC {
        return Err(JoinError::InvalidMagic(header.magic));
    }
    if header.version != VERSION {
        return Err(JoinError::UnsupportedVersion(header.version));
    }
    let (readers, capacity) = (header.readers, header.capacity);
    let most = CAPACITY_MAX as u64;
    let is_sound = (1..=READERS_MAX).contains(&readers)
        && capacity.is_power_of_two()
        && (CAPACITY_MIN as u64..=most).contains(&capacity)
        && header.data_offset == data_offset(readers) as u64
        && header.data_offset + capacity <= bytes as u64;
    let barrier = MemoryBarrier::from_number(header.barrier).filter(|_| is_sound);
    barrier.ok_or_else(|| {
        JoinError::InvalidHeader(format!(
            "{readers} readers, {capacity} bytes from {} on, barrier {}",
            header.data_offset, header.barrier
        ))
    })
}

/// The reason why a ring cannot be joined.
#[derive(Debug)]
pub enum JoinError {
    /// The file is not sealed: a process could shorten it while it is mapped.
    NotSealed,
    /// The file is too short or too long for a segment.
    InvalidSize {
        /// Length of the file.
        bytes: i64,
    },
    /// The file begins with this word, which is not that of a segment.
    InvalidMagic(u64),
    /// The segment has this version, which this program does not read.
    UnsupportedVersion(u32),
    /// The numbers of the header do not fit together; the text lists them.
    InvalidHeader(String),
    /// The ring has fewer readers than that.
    NoSuchReader {
        /// Number of the reader that tried to join.
        reader: u32,
        /// Number of readers of the ring.
        readers: u32,
    },
    /// A reader has joined under this number before.
    ReaderTaken {
        /// Number of the reader that tried to join.
        reader: u32,
    },
    /// The writer relies on `membarrier`, which this process may not call.
    NoMemoryBarrier,
    /// The system refused a call.
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
