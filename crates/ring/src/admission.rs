//! Admission of readers: readers join and leave while a ring is written, decided on a thread other
//! than the writer's.
//!
//! A ring with a [`ReaderAdmission`] begins without readers, and its writer waits for none. A
//! reader that is admitted gets every frame from then on:
//!
//! ```text
//!   admission thread                         writer
//!     reader's cursor = committed              store committed
//!     store live set, with the reader          light barrier
//!     heavy barrier                            load live set: how far is there room?
//!     reader's cursor = committed, again
//! ```
//! When the writer looks for room, it either sees the reader in the live set, or it looked before
//! the heavy barrier passed. In the second case the commit before that look is visible after the
//! barrier, and the room granted by the look ends at most one whole ring behind that commit. In
//! both cases the writer overwrites nothing from the second cursor on before the reader has
//! released it.
//!
//! # Cost
//! One load where the writer looks for room anyway, and nothing for rings without an admission.

use std::io;
use std::sync::Arc;

use crate::live_readers::LiveReaders;
use crate::reader::Reader;
use crate::segment::RingSegment;
use crate::sync::{AtomicU64, Ordering};
use crate::writer::Writer;

/// Decides which readers the writer of a ring waits for. There is at most one for each ring, and it
/// can be moved between threads.
///
/// # Example
/// ```
/// use thalweg_ring::{RingShape, private_ring};
///
/// let (mut writer, _) = private_ring(RingShape { bytes: 4096, readers: 2 })?;
/// let mut admission = writer.start_admission();
/// writer.claim(5).expect("no reader holds it up").copy_from_slice(b"early");
/// writer.commit(1, 0, 5);
/// let mut reader = admission.admit_in_process(0)?;
/// writer.claim(4).expect("room").copy_from_slice(b"late");
/// writer.commit(1, 0, 4);
/// assert_eq!(reader.poll().map(|frame| frame.bytes).collect::<Vec<_>>(), [b"late"]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct ReaderAdmission {
    segment: RingSegment,
    live_readers: LiveReaders,
}

impl Writer {
    /// Starts admission: from now on the writer waits only for readers that were admitted, and for
    /// earlier readers of this process until they are dropped. Earlier readers that have joined
    /// with [`crate::join_ring`] are not waited for any more.
    pub fn start_admission(&mut self) -> ReaderAdmission {
        let live = Arc::new(AtomicU64::new(0));
        self.set_live_readers(Arc::clone(&live));
        ReaderAdmission {
            segment: self.segment().clone(),
            live_readers: live,
        }
    }
}

impl ReaderAdmission {
    /// Most readers that the ring may have at once; their numbers are 0 to `readers() - 1`.
    pub fn readers(&self) -> u32 {
        self.segment.readers()
    }

    /// Admits a reader under this number: frames committed from now on are kept until it has
    /// released them. A process can then [`crate::join_ring`] as this reader. A process that had
    /// joined under the number before must not touch the ring any more.
    ///
    /// # Errors
    /// The reader does not exist, is admitted already or still exists in this process, or the
    /// system refuses the memory barrier.
    pub fn admit(&mut self, reader: u32) -> io::Result<()> {
        self.admit_reader(reader, false)
    }

    /// Admits a reader of this process and returns its reading end.
    ///
    /// # Errors
    /// Like [`ReaderAdmission::admit`].
    pub fn admit_in_process(&mut self, reader: u32) -> io::Result<Reader> {
        self.admit_reader(reader, true)?;
        let cursor = self.segment.cursor(reader);
        cursor.is_taken.store(1, Ordering::Relaxed);
        let start = cursor.released.load(Ordering::Relaxed);
        Ok(Reader::new(self.segment.clone(), reader, start))
    }

    /// Removes a reader from the live set: the writer does not wait for it any more, unless it is a
    /// reader of this process that still exists (see [`Writer::dismiss`]). A sleeping writer is not
    /// woken.
    pub fn dismiss(&mut self, reader: u32) {
        if reader < self.readers() {
            self.live_readers
                .fetch_and(!(1 << reader), Ordering::Release);
        }
    }

    /// Number of readers that are admitted.
    pub fn live_reader_count(&self) -> u32 {
        self.live_readers.load(Ordering::Relaxed).count_ones()
    }

    /// Makes the writer wait for a reader, which begins at the last commit. The writer waits for a
    /// reader in this process until it is dropped, for another one until it is dismissed.
    fn admit_reader(&self, reader: u32, is_in_process: bool) -> io::Result<()> {
        if reader >= self.readers() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let bit = 1 << reader;
        let in_process = self.segment.readers_in_process();
        if (self.live_readers.load(Ordering::Relaxed) | in_process.numbers()) & bit != 0 {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.reset_reader(reader);
        self.move_cursor_to_committed(reader);
        let bit_in_process = if is_in_process { bit } else { 0 };
        in_process.add(bit_in_process);
        self.live_readers.fetch_or(bit, Ordering::Release); // [admission]
        if !self.segment.barrier().heavy() {
            self.live_readers.fetch_and(!bit, Ordering::Release);
            in_process.stop_awaiting(bit_in_process);
            in_process.free_numbers(bit_in_process);
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.move_cursor_to_committed(reader);
        Ok(())
    }

    /// Clears the status bits that the last reader of this number has left.
    fn reset_reader(&self, reader: u32) {
        let status = &self.segment.control().reader_status.0;
        status.asleep.fetch_and(!(1 << reader), Ordering::Relaxed);
        status.gone.fetch_and(!(1 << reader), Ordering::Relaxed);
        let taken = &self.segment.cursor(reader).is_taken;
        taken.store(0, Ordering::Relaxed);
    }

    fn move_cursor_to_committed(&self, reader: u32) {
        let committed = self.segment.control().committed.0.load(Ordering::Acquire); // [frames]
        let cursor = self.segment.cursor(reader);
        cursor.released.store(committed, Ordering::Release); // [room]
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{RingShape, private_ring};

    fn ring(bytes: usize, readers: u32) -> (Writer, ReaderAdmission) {
        let (mut writer, _) = private_ring(RingShape { bytes, readers }).expect("memory");
        let admission = writer.start_admission();
        (writer, admission)
    }

    fn put(writer: &mut Writer, word: u64) -> bool {
        let Some(room) = writer.claim(8) else {
            return false;
        };
        room.copy_from_slice(&word.to_ne_bytes());
        writer.commit(1, 0, 8);
        true
    }

    fn take(reader: &mut Reader) -> Vec<u64> {
        let mut words = Vec::new();
        while reader.has_more() {
            let batch = reader.poll();
            words.extend(batch.map(|frame| u64::from_ne_bytes(frame.bytes.try_into().unwrap())));
            reader.release();
        }
        words
    }

    #[test]
    fn nobody_is_waited_for_at_first_and_who_comes_gets_what_follows() {
        let (mut writer, mut admission) = ring(256, 2);
        assert!((0..100).all(|word| put(&mut writer, word)));
        let mut first = admission.admit_in_process(0).expect("a place");
        assert!((100..110).all(|word| put(&mut writer, word)));
        let mut second = admission.admit_in_process(1).expect("a place");
        assert_eq!(take(&mut second), [] as [u64; 0]);
        assert!((110..116).all(|word| put(&mut writer, word)));
        assert!(!put(&mut writer, 116), "the first holds all of the ring");
        assert_eq!(take(&mut first), Vec::from_iter(100..116));
        assert_eq!(take(&mut second), Vec::from_iter(110..116));
        assert_eq!(admission.live_reader_count(), 2);
    }

    #[test]
    fn a_place_is_given_anew_after_its_reader_has_gone() {
        let (mut writer, mut admission) = ring(256, 1);
        let lost = admission.admit_in_process(0).expect("a place");
        assert!(admission.admit_in_process(0).is_err(), "it is taken");
        assert!(
            admission.admit_in_process(1).is_err(),
            "there is no such place"
        );
        while put(&mut writer, 0) {}
        drop(lost);
        assert_eq!(writer.gone_readers(), 1);
        assert!(
            !put(&mut writer, 0),
            "it is waited for until somebody says so"
        );
        admission.dismiss(0);
        assert!((1..50).all(|word| put(&mut writer, word)));
        let mut found = admission.admit_in_process(0).expect("the place");
        assert_eq!(writer.gone_readers(), 0);
        assert!(put(&mut writer, 50));
        assert_eq!(take(&mut found), [50]);
    }

    #[test]
    fn a_place_is_not_given_away_under_a_reader_of_this_process() {
        let (mut writer, mut admission) = ring(64, 1);
        let mut reader = admission.admit_in_process(0).expect("a place");
        while put(&mut writer, 1) {}
        let frames = reader.poll();
        admission.dismiss(0);
        assert!(!put(&mut writer, 2), "the reader may still look");
        assert!(admission.admit(0).is_err(), "two readers, one cursor");
        assert!(frames.into_iter().all(|frame| frame.bytes[0] == 1));
        drop(reader);
        assert!(put(&mut writer, 2));
        assert!(admission.admit_in_process(0).is_ok());
    }

    /// The writer has not looked for room since the dismissal: its first announcement still names
    /// the reader, and is refused.
    #[test]
    fn a_sleeping_writer_does_not_wait_for_a_reader_dismissed_before() {
        let (mut writer, mut admission) = ring(64, 2);
        admission.admit(0).expect("a place");
        let mut staying = admission.admit_in_process(1).expect("a place");
        while put(&mut writer, 1) {}
        admission.dismiss(0);
        assert!(!writer.arm(8), "it must not wait for the dismissed reader");
        assert!(writer.arm(8), "the other holds all of the ring");
        assert_eq!(take(&mut staying).len(), 4);
        assert!(staying.take_sleeping_writer());
    }

    /// Dismisses the reader while the writer arms itself, between announcement and last look.
    #[cfg(debug_assertions)]
    #[test]
    fn a_sleeping_writer_does_not_wait_for_a_reader_dismissed_meanwhile() {
        use std::cell::RefCell;

        use crate::failpoints::{Failpoint, set_hook};

        thread_local! {
            static ADMISSION: RefCell<Option<ReaderAdmission>> = const { RefCell::new(None) };
        }
        fn dismiss_first(point: Failpoint) {
            if point == Failpoint::WriterArmed {
                let admission = ADMISSION.with_borrow_mut(Option::take);
                admission.into_iter().for_each(|mut all| all.dismiss(0));
            }
        }

        let (mut writer, mut admission) = ring(64, 2);
        admission.admit(0).expect("a place");
        let mut staying = admission.admit_in_process(1).expect("a place");
        while put(&mut writer, 1) {}
        ADMISSION.set(Some(admission));
        assert!(set_hook(dismiss_first), "no other test sets one");
        assert!(!writer.arm(8), "it must not wait for the dismissed reader");
        assert!(ADMISSION.take().is_none(), "the hook has run");
        assert!(writer.arm(8), "the other holds all of the ring");
        assert_eq!(take(&mut staying).len(), 4);
        assert!(staying.take_sleeping_writer());
    }

    /// The cursor of a reader of another process goes back while the writer sleeps.
    #[test]
    fn a_broken_cursor_does_not_keep_a_sleeping_writer_from_its_fault() {
        let (mut writer, mut admission) = ring(64, 2);
        let mut sound = admission.admit_in_process(0).expect("a place");
        assert!((0..20).all(|word| put(&mut writer, word) && take(&mut sound) == [word]));
        admission.admit(1).expect("a place");
        while put(&mut writer, 1) {}
        assert!(writer.arm(8));
        let broken = &admission.segment.cursor(1).released;
        broken.store(0, Ordering::Relaxed);
        assert_eq!(take(&mut sound).len(), 4);
        assert!(sound.take_sleeping_writer(), "it finds the fault");
        assert!(!put(&mut writer, 1));
        let fault = writer.fault().expect("a cursor that cannot be");
        assert!(matches!(fault, crate::RingFault::Cursor { reader: 1, .. }));
    }

    #[test]
    fn whoever_breaks_the_ring_holds_up_nobody_once_dismissed() {
        let (mut writer, mut admission) = ring(256, 2);
        let mut sound = admission.admit_in_process(0).expect("a place");
        admission.admit(1).expect("a place");
        let broken = &admission.segment.cursor(1).released;
        broken.store(8 << 20, Ordering::Relaxed);
        while put(&mut writer, 0) {}
        assert_eq!(take(&mut sound).len(), 16);
        assert!(!put(&mut writer, 1));
        let fault = writer.fault().expect("a cursor that cannot be");
        assert!(matches!(fault, crate::RingFault::Cursor { reader: 1, .. }));
        writer.dismiss(1);
        assert_eq!(writer.fault(), None);
        assert_eq!(admission.live_reader_count(), 1);
        assert!(put(&mut writer, 1));
        assert_eq!(take(&mut sound), [1]);
    }
}
