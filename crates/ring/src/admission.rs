//! Readers that come and go while a ring is written: who is waited for, decided on another thread
//! than the writer's.
//!
//! A ring with an [`ReaderAdmission`] begins without readers, and its writer waits for nobody. A
//! reader that is let in gets everything from then on:
//!
//! ```text
//!   lets in                                  writes
//!     its cursor: the last commit              store committed
//!     store live: wait for it                  light()
//!     heavy()                                  load live: up to where is there room?
//!     its cursor: the last commit, again
//! ```
//! When the writer looks for room, it finds the reader waited for, or it had not been when the
//! heavy barrier passed; but then the commit before that look is seen behind the barrier, and what
//! was granted with the look ends a whole ring behind that commit at most. In both cases nothing
//! from the second cursor on is written over before the reader has released it.
//!
//! # Cost
//! A load where the writer looks for room anyway, and nothing for rings without one.

use std::io;
use std::sync::Arc;

use crate::live_readers::LiveReaders;
use crate::reader::Reader;
use crate::segment::RingSegment;
use crate::sync::{AtomicU64, Ordering};
use crate::writer::Writer;

/// Says who is waited for. There is one for a ring; it can be moved between threads.
pub struct ReaderAdmission {
    segment: RingSegment,
    live_readers: LiveReaders,
}

impl Writer {
    /// From now on only those are waited for that are let in; whoever has joined is not, any more.
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
    /// Readers that the ring may have at once.
    pub fn readers(&self) -> u32 {
        self.segment.readers()
    }

    /// Lets somebody in as the reader of this number: what is committed from now on is kept until
    /// it has released it. It can [`crate::join`] then. Whoever was this reader before is gone and
    /// touches the ring no more.
    ///
    /// # Errors
    /// There is no such reader, it is in already, or the system refuses the barrier.
    pub fn admit(&mut self, reader: u32) -> io::Result<()> {
        if reader >= self.readers() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let bit = 1 << reader;
        if self.live_readers.load(Ordering::Relaxed) & bit != 0 {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.reset_reader(reader);
        self.move_cursor_to_committed(reader);
        self.live_readers.fetch_or(bit, Ordering::Release); // [admission]
        if !self.segment.barrier().heavy() {
            self.dismiss(reader);
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.move_cursor_to_committed(reader);
        Ok(())
    }

    /// The same for a thread of this process, with the reading end.
    ///
    /// # Errors
    /// As [`ReaderAdmission::admit`].
    pub fn admit_in_process(&mut self, reader: u32) -> io::Result<Reader> {
        self.admit(reader)?;
        let cursor = self.segment.cursor(reader);
        cursor.is_taken.store(1, Ordering::Relaxed);
        let start = cursor.released.load(Ordering::Relaxed);
        Ok(Reader::new(self.segment.clone(), reader, start))
    }

    /// A reader that is gone is no longer waited for.
    pub fn dismiss(&mut self, reader: u32) {
        if reader < self.readers() {
            self.live_readers
                .fetch_and(!(1 << reader), Ordering::Release);
        }
    }

    /// How many are waited for.
    pub fn live_reader_count(&self) -> u32 {
        self.live_readers.load(Ordering::Relaxed).count_ones()
    }

    /// Takes back what the last reader of this number has left behind.
    fn reset_reader(&self, reader: u32) {
        let sleepers = &self.segment.control().reader_status.0;
        sleepers.asleep.fetch_and(!(1 << reader), Ordering::Relaxed);
        sleepers.gone.fetch_and(!(1 << reader), Ordering::Relaxed);
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
