//! Making rings: how large, for how many, over which memory.

use std::io;

use crate::mapped_memory::MappedMemory;
use crate::memory_barrier::MemoryBarrier;
use crate::reader::Reader;
use crate::segment::{CAPACITY_MAX, CAPACITY_MIN, READERS_MAX, RingSegment, data_offset};
use crate::writer::Writer;

/// How large a ring is, and for how many readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingShape {
    /// Bytes of frames that it holds; rounded up to a power of two.
    pub bytes: usize,
    /// From 1 to [`READERS_MAX`].
    pub readers: u32,
}

impl RingShape {
    /// Bytes of frames, rounded up.
    pub(crate) fn capacity(self) -> io::Result<usize> {
        if !(1..=READERS_MAX).contains(&self.readers) {
            let why = format!(
                "a ring has 1 to {READERS_MAX} readers, not {}",
                self.readers
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        if self.bytes > CAPACITY_MAX {
            let why = format!(
                "a ring has at most {CAPACITY_MAX} bytes, not {}",
                self.bytes
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        Ok(self.bytes.next_power_of_two().max(CAPACITY_MIN))
    }
}

/// A ring between threads: its writer, and its readers in the order of their numbers.
///
/// # Errors
/// A shape that cannot be, or no memory.
pub fn private_ring(shape: RingShape) -> io::Result<(Writer, Vec<Reader>)> {
    let capacity = shape.capacity()?;
    let data = data_offset(shape.readers);
    let memory = MappedMemory::private(data + capacity, data)?;
    let barrier = MemoryBarrier::within_process();
    let segment = RingSegment::create(memory, capacity, shape.readers, barrier)?;
    let readers = (0..shape.readers).map(|number| Reader::new(segment.clone(), number, 0));
    let readers = readers.collect();
    Ok((Writer::new(segment), readers))
}
