//! The sending end of a library: room for blocks, and their commits.

use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};

use crate::abi::{SENTENCE_BYTES, STATUS_AGAIN, STATUS_LOST, STATUS_OK, SenderObject, Sentence};
use crate::calls::{CallNotes, EndFunction};
use crate::error::PluginError;
use crate::table::Table;
use crate::waits::Waits;

/// Alignment of blocks, in bytes, and a factor of their sizes.
pub const BLOCK_ALIGN: u64 = 8;

/// A sending end. It can be moved between threads.
pub struct LibrarySender {
    table: &'static Table,
    object: NonNull<SenderObject>,
    block_bytes_max: u64,
    /// The room of the last claim, until it is committed.
    claimed: Option<(NonNull<u8>, u64)>,
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
            claimed: None,
            waits: Waits::new(),
            sentence: Box::new([0; SENTENCE_BYTES]),
            calls: CallNotes::new(&table.file, edge),
        }
    }

    /// Bytes of the largest block, a multiple of 8.
    pub fn block_bytes_max(&self) -> u64 {
        self.block_bytes_max
    }

    /// Claims room for a block of `bytes` bytes, which [`LibrarySender::claimed`] then gives.
    /// `false`: there is no room now.
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
        self.claimed = None;
        self.sentence[0] = 0;
        let (object, sentence) = (self.object.as_ptr(), &mut *self.sentence);
        let mut room = ptr::null_mut();
        let _call = self.calls.enter(EndFunction::Claim);
        // SAFETY: the object is the library's and open; the other pointers are valid for writes.
        let status = unsafe { (self.table.functions.claim)(object, bytes, &mut room, sentence) };
        match status {
            STATUS_OK => {}
            STATUS_AGAIN => return Ok(false),
            status => return Err(self.table.error("claim", status, &self.sentence)),
        }
        let Some(room) = NonNull::new(room.cast::<u8>()) else {
            return Err(self.table.broken("claim", "gives room at a null address"));
        };
        if !room.addr().get().is_multiple_of(BLOCK_ALIGN as usize) {
            let what = "gives room at an address that is no multiple of 8";
            return Err(self.table.broken("claim", what));
        }
        self.claimed = Some((room, bytes));
        Ok(true)
    }

    /// The room of the last claim, at an address that is a multiple of 8; `None` without a claim.
    pub fn claimed(&mut self) -> Option<&mut [u8]> {
        let (room, bytes) = self.claimed?;
        // SAFETY: by the header, the room has these bytes, and they are the claim's until the next
        // call of this end, which needs the end that the slice borrows.
        Some(unsafe { std::slice::from_raw_parts_mut(room.as_ptr(), bytes as usize) })
    }

    /// Writes `header` into the first 8 bytes of the claim and commits its first `bytes` bytes.
    ///
    /// # Panics
    /// If that many bytes were not claimed, or `bytes` is no multiple of 8 from 8 on.
    pub fn commit(&mut self, header: u64, bytes: u64) {
        let (room, claimed) = self.claimed.take().expect("a commit without a claim");
        let is_block =
            bytes >= BLOCK_ALIGN && bytes <= claimed && bytes.is_multiple_of(BLOCK_ALIGN);
        assert!(is_block, "commit of {bytes} bytes of a block of {claimed}");
        let object = self.object.as_ptr();
        // SAFETY: the claim has at least 8 bytes at an address that is a multiple of 8.
        unsafe { room.cast::<u64>().write(header) };
        let _call = self.calls.enter(EndFunction::Commit);
        // SAFETY: the object is the library's and open, and the claim was its last call.
        unsafe { (self.table.functions.commit)(object, bytes) };
    }

    /// Gets committed blocks out. `false`: some are still here.
    ///
    /// # Errors
    /// An error of the library; lost receivers are none.
    pub fn flush(&mut self) -> Result<bool, PluginError> {
        let mut sentence = [0; SENTENCE_BYTES];
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
        let _call = self.calls.enter(EndFunction::Queued);
        // SAFETY: the object is the library's and open; one thread at a time has this end, which is
        // not `Sync`.
        unsafe { (self.table.functions.queued)(self.object.as_ptr()) }
    }

    /// A bit for each receiver that is gone.
    pub fn lost_receivers(&self) -> u64 {
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
        self.claimed = None;
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
        let _call = self.calls.enter(EndFunction::CloseSender);
        // SAFETY: the object is the library's and open, and nothing uses it after this.
        unsafe { (self.table.functions.close_sender)(self.object.as_ptr()) };
    }
}
