//! The sending end of a library: room for blocks, and their commits.

use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};

use ring::grant::GrantAddresses;

use crate::abi::{SENTENCE_BYTES, STATUS_AGAIN, STATUS_LOST, STATUS_OK, SenderObject, Sentence};
use crate::calls::{CallNotes, EndFunction};
use crate::error::PluginError;
use crate::runs::{CommittedBytes, SenderRuns};
use crate::table::Table;
use crate::waits::Waits;

/// Alignment of blocks, in bytes, and a factor of their sizes.
pub const BLOCK_ALIGN: u64 = 8;

/// Most bytes of room that a library gives at once: far above the largest ring.
const ROOM_BYTES_MAX: u64 = 1 << 40;

/// A sending end. It can be moved between threads.
pub struct LibrarySender {
    table: &'static Table,
    object: NonNull<SenderObject>,
    block_bytes_max: u64,
    /// Runs of blocks; `None`: each block is claimed and committed by calls.
    runs: Option<SenderRuns>,
    /// Bytes of the last claim, until it is committed; 0: there is none.
    claimed_bytes: u64,
    /// The room of the last claim, if it is not in a run.
    claimed_room: NonNull<u8>,
    waits: Waits,
    /// Memory for the sentence of a claim that fails; only its first byte is set for each claim.
    sentence: Box<Sentence>,
    calls: CallNotes,
}

// SAFETY: by the header, an end may move between threads; the pointers in it are used by nobody
// else.
unsafe impl Send for LibrarySender {}

impl LibrarySender {
    /// The end of an edge that `open` has made. `object` is the library's, and only this end uses
    /// it.
    pub(crate) fn new(
        table: &'static Table,
        object: NonNull<SenderObject>,
        block_bytes_max: u64,
        edge: &str,
    ) -> LibrarySender {
        LibrarySender {
            table,
            object,
            block_bytes_max,
            runs: None,
            claimed_bytes: 0,
            claimed_room: NonNull::dangling(),
            waits: Waits::new(),
            sentence: Box::new([0; SENTENCE_BYTES]),
            calls: CallNotes::new(&table.file, edge),
        }
    }

    /// Bytes of the largest block, a multiple of 8.
    pub fn block_bytes_max(&self) -> u64 {
        self.block_bytes_max
    }

    /// Asks the library for runs of blocks, before any other call of the end.
    ///
    /// # Errors
    /// The library gives words that cannot be.
    pub(crate) fn begin_runs(&mut self) -> Result<(), PluginError> {
        self.runs = SenderRuns::new(self.table, self.object)?;
        Ok(())
    }

    /// Claims room for a block of `bytes` bytes, a multiple of 8 from 8 on, in the run that the
    /// library has given. `false`: there is none at hand, and [`LibrarySender::claim`] has to ask
    /// the library, which also has to learn of a claim that was not committed.
    #[inline(always)]
    pub fn claim_at_hand(&mut self, bytes: u64) -> bool {
        let Some(runs) = &mut self.runs else {
            return false;
        };
        if self.claimed_bytes != 0 || runs.grant.room(bytes).is_none() {
            return false;
        }
        self.claimed_bytes = bytes;
        true
    }

    /// Claims room for a block of `bytes` bytes by a call, which [`LibrarySender::claimed`] then
    /// gives. `false`: there is no room now.
    ///
    /// # Errors
    /// [`PluginError::Lost`] when no receiver is left, or an error of the library.
    ///
    /// # Panics
    /// If `bytes` is no multiple of 8 from 8 to [`LibrarySender::block_bytes_max`].
    pub fn claim(&mut self, bytes: u64) -> Result<bool, PluginError> {
        let is_block = bytes >= BLOCK_ALIGN && bytes <= self.block_bytes_max;
        assert!(
            is_block && bytes.is_multiple_of(BLOCK_ALIGN),
            "no block: {bytes} bytes"
        );
        self.tell_committed();
        self.claimed_bytes = 0;
        self.sentence[0] = 0;
        let (object, sentence) = (self.object.as_ptr(), &mut *self.sentence);
        let (mut room, mut room_bytes) = (ptr::null_mut(), bytes);
        let (name, status) = match &mut self.runs {
            None => {
                let _call = self.calls.enter(EndFunction::Claim);
                let claim = self.table.functions.claim;
                // SAFETY: the object is the library's and open; the other pointers are valid for
                // writes.
                ("claim", unsafe {
                    claim(object, bytes, &mut room, sentence)
                })
            }
            Some(runs) => {
                runs.grant.limit(0);
                let _call = self.calls.enter(EndFunction::ClaimRun);
                let (claim_run, more) = (runs.functions.claim_run, &mut room_bytes);
                // SAFETY: as above.
                let status = unsafe { claim_run(object, bytes, &mut room, more, sentence) };
                ("claim_run", status)
            }
        };
        match status {
            STATUS_OK => {}
            STATUS_AGAIN => return Ok(false),
            status => return Err(self.table.error(name, status, &self.sentence)),
        }
        let broken = |what: &str| Err(self.table.broken(name, what));
        let Some(room) = NonNull::new(room.cast::<u8>()) else {
            return broken("gives room at a null address");
        };
        if !room.addr().get().is_multiple_of(BLOCK_ALIGN as usize) {
            return broken("gives room at an address that is no multiple of 8");
        }
        let is_run = room_bytes.is_multiple_of(BLOCK_ALIGN) && room_bytes <= ROOM_BYTES_MAX;
        if room_bytes < bytes || !is_run {
            let what = format!("gives {room_bytes} bytes of room for a block of {bytes}");
            return broken(&what);
        }
        match &mut self.runs {
            None => self.claimed_room = room,
            // SAFETY: by the header, the room has these bytes at an address that is a multiple of
            // 8, and they are this end's until the next `claim_run`, `arm_sender` or
            // `close_sender`, before which the grant is shortened to nothing.
            Some(runs) => unsafe { runs.grant.renew(room, room_bytes) },
        }
        self.claimed_bytes = bytes;
        Ok(true)
    }

    /// The room of the last claim, at an address that is a multiple of 8; `None` without a claim.
    #[inline(always)]
    pub fn claimed(&mut self) -> Option<&mut [u8]> {
        match (self.claimed_bytes, &mut self.runs) {
            (0, _) => None,
            (bytes, Some(runs)) => runs.grant.room(bytes),
            // SAFETY: by the header, the room has these bytes, and they are the claim's until the
            // next call of this end, which needs the end that the slice borrows.
            (bytes, None) => Some(unsafe {
                std::slice::from_raw_parts_mut(self.claimed_room.as_ptr(), bytes as usize)
            }),
        }
    }

    /// Writes `header` into the first 8 bytes of the claim and commits its first `bytes` bytes.
    ///
    /// # Panics
    /// If that many bytes were not claimed, or `bytes` is no multiple of 8 from 8 on.
    #[inline(always)]
    pub fn commit(&mut self, header: u64, bytes: u64) {
        let claimed = std::mem::take(&mut self.claimed_bytes);
        let is_block = bytes >= BLOCK_ALIGN && bytes.is_multiple_of(BLOCK_ALIGN);
        assert!(
            is_block && bytes <= claimed,
            "commit of {bytes} bytes of a block of {claimed}"
        );
        match &mut self.runs {
            Some(runs) => {
                if runs.grant.commit(header, bytes) {
                    self.wake_receivers();
                }
            }
            None => {
                // SAFETY: the claim has at least 8 bytes at an address that is a multiple of 8.
                unsafe { self.claimed_room.cast::<u64>().write(header) };
                self.call_commit(bytes);
            }
        }
    }

    fn call_commit(&self, bytes: u64) {
        let _call = self.calls.enter(EndFunction::Commit);
        // SAFETY: the object is the library's and open, and blocks of these bytes were written into
        // room that it has given.
        unsafe { (self.table.functions.commit)(self.object.as_ptr(), bytes) };
    }

    /// Tells the library of the blocks of its run that it does not know of.
    fn tell_committed(&self) {
        let untold = self.runs.as_ref().map_or(0, SenderRuns::take_untold);
        if untold > 0 {
            self.call_commit(untold);
        }
    }

    /// Wakes the receivers that sleep, after a block of a run.
    #[cold]
    pub fn wake_receivers(&mut self) {
        if let Some(runs) = &self.runs {
            let _call = self.calls.enter(EndFunction::Wake);
            // SAFETY: the object is the library's and open.
            unsafe { (runs.functions.wake)(self.object.as_ptr()) };
        }
    }

    /// Addresses by which compiled code writes blocks into a run; `None`: the end has no runs.
    pub fn grant(&self) -> Option<GrantAddresses> {
        let runs = self.runs.as_ref();
        runs.map(|runs| runs.grant.addresses())
    }

    /// Shortens the run to at most `bytes` bytes more.
    pub fn limit_grant(&mut self, bytes: u64) {
        if let Some(runs) = &mut self.runs {
            runs.grant.limit(bytes);
        }
    }

    /// Bytes of all blocks of runs, for other threads; `None`: the end has no runs.
    pub fn committed_bytes(&self) -> Option<&CommittedBytes> {
        self.runs.as_ref().map(SenderRuns::committed_bytes)
    }

    /// Gets committed blocks out. `false`: some are still here.
    ///
    /// # Errors
    /// An error of the library; lost receivers are none.
    pub fn flush(&mut self) -> Result<bool, PluginError> {
        let mut sentence = [0; SENTENCE_BYTES];
        self.tell_committed();
        let _call = self.calls.enter(EndFunction::Flush);
        // SAFETY: the object is the library's and open; the sentence is valid for writes.
        let status = unsafe { (self.table.functions.flush)(self.object.as_ptr(), &mut sentence) };
        match status {
            STATUS_OK | STATUS_LOST => Ok(true),
            STATUS_AGAIN => Ok(false),
            status => Err(self.table.error("flush", status, &sentence)),
        }
    }

    /// Bytes of blocks that the slowest living receiver has not released.
    pub fn queued_bytes(&self) -> u64 {
        self.tell_committed();
        let _call = self.calls.enter(EndFunction::Queued);
        // SAFETY: the object is the library's and open; one thread at a time has this end, which is
        // not `Sync`.
        unsafe { (self.table.functions.queued)(self.object.as_ptr()) }
    }

    /// A bit for each receiver that is gone.
    pub fn lost_receivers(&self) -> u64 {
        self.tell_committed();
        let _call = self.calls.enter(EndFunction::Lost);
        // SAFETY: as for `queued_bytes`.
        unsafe { (self.table.functions.lost)(self.object.as_ptr()) }
    }

    /// Announces a sleep until a claim of `bytes` bytes has room. `false`: it has room now, or the
    /// last receiver is gone.
    ///
    /// # Errors
    /// An error of the library.
    pub fn arm(&mut self, bytes: u64) -> Result<bool, PluginError> {
        let mut sentence = [0; SENTENCE_BYTES];
        self.tell_committed();
        self.limit_grant(0);
        self.claimed_bytes = 0;
        self.waits.clear();
        let (object, waits) = (self.object.as_ptr(), self.waits.fields());
        let _call = self.calls.enter(EndFunction::ArmSender);
        // SAFETY: the object is the library's and open; the other pointers are valid for writes.
        let status =
            unsafe { (self.table.functions.arm_sender)(object, bytes, waits, &mut sentence) };
        armed(self.table, "arm_sender", status, &sentence, &mut self.waits)
    }

    /// Takes the announcement back.
    pub fn disarm(&mut self) {
        self.waits.clear();
        let _call = self.calls.enter(EndFunction::DisarmSender);
        // SAFETY: the object is the library's and open.
        unsafe { (self.table.functions.disarm_sender)(self.object.as_ptr()) };
    }

    /// Adds the descriptors of an armed end to those that a thread polls.
    pub fn poll_fds<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        self.waits.add_to(readable, writable);
    }
}

/// Whether a thread may sleep after a call that arms has returned `status`.
pub fn armed(
    table: &Table,
    function: &str,
    status: i32,
    sentence: &crate::abi::Sentence,
    waits: &mut Waits,
) -> Result<bool, PluginError> {
    match status {
        STATUS_OK => {
            let checked = waits.check();
            checked.map_err(|what| table.broken(function, what))?;
            Ok(true)
        }
        STATUS_AGAIN | STATUS_LOST => {
            waits.clear();
            Ok(false)
        }
        status => {
            waits.clear();
            Err(table.error(function, status, sentence))
        }
    }
}

impl Drop for LibrarySender {
    fn drop(&mut self) {
        self.tell_committed();
        if let Some(runs) = self.runs.take() {
            runs.committed_bytes().close();
        }
        let _call = self.calls.enter(EndFunction::CloseSender);
        // SAFETY: the object is the library's and open, and nothing uses it after this.
        unsafe { (self.table.functions.close_sender)(self.object.as_ptr()) };
    }
}
