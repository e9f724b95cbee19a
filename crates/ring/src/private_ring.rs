//! Rings between threads of one process, and the shape of a ring: its size and its number of
//! readers.

use std::io;

use crate::mapped_memory::MappedMemory;
use crate::memory_barrier::MemoryBarrier;
use crate::reader::Reader;
use crate::segment::{CAPACITY_MAX, CAPACITY_MIN, READERS_MAX, RingSegment, data_offset};
use crate::writer::Writer;

/// Size of a ring and its number of readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingShape {
    /// Bytes of frames that the ring holds, headers included. Rounded up to a power of two; from
    /// [`CAPACITY_MIN`] to [`CAPACITY_MAX`].
    pub bytes: usize,
    /// Number of readers, from 1 to [`READERS_MAX`].
    pub readers: u32,
}

impl RingShape {
    /// Bytes of frames, rounded up to a power of two.
    ///
    /// # Errors
    /// Too many or no readers, or more bytes than a ring may have.
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

/// Creates a ring between threads of this process: its writer, and its readers in the order of
/// their numbers.
///
/// # Errors
/// The shape is out of bounds (see [`RingShape`]), or there is no memory.
///
/// # Example
/// Every reader gets every frame:
/// ```
/// use thalweg_ring::{RingShape, private_ring};
///
/// let (mut writer, mut readers) = private_ring(RingShape { bytes: 4096, readers: 2 })?;
/// writer.claim(4).expect("room").copy_from_slice(b"tick");
/// writer.commit(1, 0, 4);
/// for reader in &mut readers {
///     assert!(reader.poll().any(|frame| frame.bytes == b"tick"));
///     reader.release();
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn private_ring(shape: RingShape) -> io::Result<(Writer, Vec<Reader>)> {
    let capacity = shape.capacity()?;
    let data = data_offset(shape.readers);
    let memory = MappedMemory::private(data + capacity, data)?;
    let barrier = MemoryBarrier::within_process();
    let segment = RingSegment::create(memory, capacity, shape.readers, barrier)?;
    let all = u64::MAX >> (64 - shape.readers);
    segment.readers_in_process().add(all);
    let readers = (0..shape.readers).map(|number| Reader::new(segment.clone(), number, 0));
    let readers = readers.collect();
    Ok((Writer::new(segment), readers))
}
