//! Runs: room of a library for many blocks, which are committed without a call for each.
//!
//! ```text
//!          told            head                     end
//!   -------+---------------+------------------------+------
//!   commit | committed by  | room for whole blocks  |
//!   -------+---------------+------------------------+------
//!            the word alone
//! ```
//! Each block moves `head`, and is stored in the library's word `committed`, which receivers look
//! at. The library's own count follows when it is called next: a commit of all bytes from `told` to
//! `head`.

use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ring::external_grant::ExternalGrant;

use crate::abi::{RunWordsFields, STATUS_AGAIN, STATUS_OK, SenderObject};
use crate::error::PluginError;
use crate::table::{RunFunctions, Table};

/// The runs of a sending end.
pub struct SenderRuns {
    pub grant: ExternalGrant,
    pub functions: RunFunctions,
    /// Index up to which the library was told of blocks by commits.
    told: Cell<u64>,
    committed_bytes: CommittedBytes,
}

/// The bytes that a sender has committed in runs, which any thread may read.
#[derive(Clone)]
pub struct CommittedBytes(Arc<Mutex<CommittedWord>>);

/// The word where the number is, as long as the sender is open, and its last value.
struct CommittedWord {
    word: Option<NonNull<AtomicU64>>,
    last: u64,
}

// SAFETY: the word is atomic, and is there as long as it stands here: see `CommittedBytes::close`.
unsafe impl Send for CommittedWord {}

impl SenderRuns {
    /// The runs of a sender that `open` has made; `None`: it has none.
    ///
    /// # Errors
    /// The library gives words that cannot be.
    pub fn new(
        table: &Table,
        object: NonNull<SenderObject>,
    ) -> Result<Option<SenderRuns>, PluginError> {
        let Some(functions) = table.runs else {
            return Ok(None);
        };
        let mut words = RunWordsFields {
            committed: ptr::null_mut(),
            sleeps: ptr::null(),
        };
        // SAFETY: the object is the library's and open; the words are valid for writes.
        let status = unsafe { (functions.run_words)(object.as_ptr(), &mut words) };
        let broken = |what: String| Err(table.broken("run_words", what));
        match status {
            STATUS_OK => {}
            STATUS_AGAIN => return Ok(None),
            status => return broken(format!("returns {status}, which is none of its statuses")),
        }
        let committed = NonNull::new(words.committed.cast::<AtomicU64>());
        let sleeps = NonNull::new(words.sleeps.cast_mut().cast::<AtomicU64>());
        let (Some(committed), Some(sleeps)) = (committed, sleeps) else {
            return broken("gives a word at a null address".to_owned());
        };
        if !(committed.is_aligned() && sleeps.is_aligned()) || committed == sleeps {
            let what = "gives words that are not two, at addresses that are multiples of 8";
            return broken(what.to_owned());
        }
        // SAFETY: by the header, the word is there as long as the sender is open.
        let begin = unsafe { committed.as_ref() }.load(Ordering::Relaxed);
        if begin != 0 {
            return broken(format!("gives a word `committed` that is {begin}, not 0"));
        }
        // SAFETY: by the header, both words are there as long as the sender is open, and this is
        // dropped before.
        let grant = unsafe { ExternalGrant::new(committed, sleeps) };
        Ok(Some(SenderRuns {
            grant,
            functions,
            told: Cell::new(0),
            committed_bytes: CommittedBytes(Arc::new(Mutex::new(CommittedWord {
                word: Some(committed),
                last: 0,
            }))),
        }))
    }

    /// Takes the bytes of blocks that the library was not told of.
    pub fn take_untold(&self) -> u64 {
        let head = self.grant.head();
        head - self.told.replace(head)
    }

    /// Bytes of all blocks that were committed, for other threads.
    pub fn committed_bytes(&self) -> &CommittedBytes {
        &self.committed_bytes
    }
}

impl CommittedBytes {
    /// Bytes of all blocks that were committed.
    pub fn get(&self) -> u64 {
        let mut committed = self.lock();
        if let Some(word) = committed.word {
            // SAFETY: by the header, the word is there as long as the sender is open, which it is
            // until `close`.
            committed.last = unsafe { word.as_ref() }.load(Ordering::Relaxed);
        }
        committed.last
    }

    /// Reads the word for the last time: the sender is about to be closed.
    pub(crate) fn close(&self) {
        self.get();
        self.lock().word = None;
    }

    fn lock(&self) -> MutexGuard<'_, CommittedWord> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
