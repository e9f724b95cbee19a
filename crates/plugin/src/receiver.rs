//! The receiving end of a library: bytes that have come, and their release.

use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};

use crate::abi::{ReceiverObject, SENTENCE_BYTES, STATUS_LOST, STATUS_OK, Sentence};
use crate::calls::{CallNotes, EndFunction};
use crate::error::PluginError;
use crate::sender::{BLOCK_ALIGN, armed};
use crate::table::Table;
use crate::waits::Waits;

/// A receiving end. It can be moved between threads.
pub struct LibraryReceiver {
    table: &'static Table,
    object: NonNull<ReceiverObject>,
    waits: Waits,
    /// Memory for the sentence of a poll that fails; only its first byte is set for each poll.
    sentence: Box<Sentence>,
    calls: CallNotes,
}

/// Bytes that have come, and whether they are the last.
#[derive(Debug)]
pub struct ShownBytes<'a> {
    /// Bytes of blocks, from an address that is a multiple of 8. They may end within a block.
    pub bytes: &'a [u8],
    /// How the end of the stream was noticed, if no bytes come behind these.
    pub end: Option<PluginError>,
    table: &'static Table,
}

impl ShownBytes<'_> {
    /// The error that these bytes are none that a sender has written; `what` completes the sentence
    /// "poll ...".
    #[cold]
    pub fn broken(&self, what: impl std::fmt::Display) -> PluginError {
        self.table.broken("poll", what)
    }
}

// SAFETY: by the header, an end may move between threads; its object is used by nobody else.
unsafe impl Send for LibraryReceiver {}

impl LibraryReceiver {
    /// The end of an edge that `accept` has made. `object` is the library's, and only this end uses
    /// it.
    pub(crate) fn new(
        table: &'static Table,
        object: NonNull<ReceiverObject>,
        edge: &str,
    ) -> LibraryReceiver {
        LibraryReceiver {
            table,
            object,
            waits: Waits::new(),
            sentence: Box::new([0; SENTENCE_BYTES]),
            calls: CallNotes::new(&table.file, edge),
        }
    }

    /// Whether the bytes that polls show end with a block, as the library says.
    pub fn polls_whole_blocks(&self) -> bool {
        self.table.polls_whole_blocks
    }

    /// The error that polled bytes are none that a sender has written; `what` completes the
    /// sentence "poll ...".
    #[cold]
    pub fn broken(&self, what: impl std::fmt::Display) -> PluginError {
        self.table.broken("poll", what)
    }

    /// Bytes that have come, behind the first `skip` bytes that were not released.
    ///
    /// # Errors
    /// An error of the library. The loss of the sender is none, see [`ShownBytes::end`].
    pub fn poll(&mut self, skip: u64) -> Result<ShownBytes<'_>, PluginError> {
        self.sentence[0] = 0;
        let (mut bytes, mut len) = (ptr::null(), 0);
        let (object, sentence) = (self.object.as_ptr(), &mut *self.sentence);
        let call = self.calls.enter(EndFunction::Poll);
        // SAFETY: the object is the library's and open; the other pointers are valid for writes.
        let status =
            unsafe { (self.table.functions.poll)(object, skip, &mut bytes, &mut len, sentence) };
        drop(call);
        let end = match status {
            STATUS_OK => None,
            status => Some(self.table.error("poll", status, &self.sentence)),
        };
        if let Some(error) = end.as_ref().filter(|_| status != STATUS_LOST) {
            return Err(error.clone());
        }
        if len == 0 {
            return Ok(self.shown(&[], end));
        }
        if len > isize::MAX as u64 {
            return Err(self.table.broken("poll", format!("shows {len} bytes")));
        }
        if bytes.is_null() {
            return Err(self.table.broken("poll", "shows bytes at a null address"));
        }
        if !bytes.addr().is_multiple_of(BLOCK_ALIGN as usize) {
            let what = "shows bytes at an address that is no multiple of 8";
            return Err(self.table.broken("poll", what));
        }
        // SAFETY: by the header, these bytes are there and stay as they are until they are
        // released, which needs the end that the slice borrows.
        let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), len as usize) };
        Ok(self.shown(bytes, end))
    }

    fn shown<'a>(&self, bytes: &'a [u8], end: Option<PluginError>) -> ShownBytes<'a> {
        let table = self.table;
        ShownBytes { bytes, end, table }
    }

    /// Gives back the first `bytes` bytes that were shown.
    pub fn release(&mut self, bytes: u64) {
        let _call = self.calls.enter(EndFunction::Release);
        // SAFETY: the object is the library's and open; nobody borrows the bytes, as this needs the
        // end alone.
        unsafe { (self.table.functions.release)(self.object.as_ptr(), bytes) };
    }

    /// Announces a sleep until bytes come. `false`: there are some, or the sender is gone.
    ///
    /// # Errors
    /// An error of the library.
    pub fn arm(&mut self) -> Result<bool, PluginError> {
        let mut sentence = [0; SENTENCE_BYTES];
        self.waits.clear();
        let (object, waits) = (self.object.as_ptr(), self.waits.fields());
        let _call = self.calls.enter(EndFunction::ArmReceiver);
        // SAFETY: the object is the library's and open; the other pointers are valid for writes.
        let status = unsafe { (self.table.functions.arm_receiver)(object, waits, &mut sentence) };
        armed(
            self.table,
            "arm_receiver",
            status,
            &sentence,
            &mut self.waits,
        )
    }

    /// Takes the announcement back.
    pub fn disarm(&mut self) {
        self.waits.clear();
        let _call = self.calls.enter(EndFunction::DisarmReceiver);
        // SAFETY: the object is the library's and open.
        unsafe { (self.table.functions.disarm_receiver)(self.object.as_ptr()) };
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

impl Drop for LibraryReceiver {
    fn drop(&mut self) {
        let _call = self.calls.enter(EndFunction::CloseReceiver);
        // SAFETY: the object is the library's and open, and nothing uses it after this.
        unsafe { (self.table.functions.close_receiver)(self.object.as_ptr()) };
    }
}
