//! Calls of libraries that are under way, for whoever asks why a process stands still.
//!
//! Each end has a word, which its thread writes before and after each call of the library, and
//! which any thread may read:
//! ```text
//!   bits 8..    number of calls that have returned
//!   bits 0..8   the function that the thread is in; 0: none
//! ```
//! # Cost
//! A load and two stores of the end's own word for each call.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bits of a word that say which function a thread is in.
const FUNCTION_BITS: u32 = 8;

/// A function of an end.
#[derive(Clone, Copy)]
pub enum EndFunction {
    Claim = 1,
    Commit,
    Flush,
    Queued,
    Lost,
    ArmSender,
    DisarmSender,
    CloseSender,
    Poll,
    Release,
    ArmReceiver,
    DisarmReceiver,
    CloseReceiver,
    ClaimRun,
    Wake,
}

/// Names of the functions in a library's table, from [`EndFunction::Claim`] on.
const NAMES: [&str; EndFunction::Wake as usize] = [
    "claim",
    "commit",
    "flush",
    "queued",
    "lost",
    "arm_sender",
    "disarm_sender",
    "close_sender",
    "poll",
    "release",
    "arm_receiver",
    "disarm_receiver",
    "close_receiver",
    "claim_run",
    "wake",
];

/// A call of a library that a thread was in when this was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryCall {
    /// File of the library.
    pub library: &'static Path,
    /// Name of the edge.
    pub edge: String,
    /// The function, by its name in the library's table.
    pub function: &'static str,
    /// Number of the end in its process.
    pub end: u64,
    /// Number of the call among those of its end: the same number is the same call.
    pub call: u64,
}

/// The calls of libraries that threads of this process are in.
///
/// # Example
/// ```
/// assert!(thalweg_plugin::calls_under_way().is_empty());
/// ```
pub fn calls_under_way() -> Vec<LibraryCall> {
    ends().open.iter().filter_map(|end| end.call()).collect()
}

static ENDS: Mutex<Ends> = Mutex::new(Ends {
    open: Vec::new(),
    next_number: 0,
});

/// The ends of this process that are open.
struct Ends {
    open: Vec<Arc<EndCalls>>,
    next_number: u64,
}

/// The calls of an end.
struct EndCalls {
    number: u64,
    library: &'static Path,
    edge: String,
    /// Written by the end's thread, read by any; nothing else is read by way of it.
    word: AtomicU64,
}

impl EndCalls {
    fn call(&self) -> Option<LibraryCall> {
        let word = self.word.load(Ordering::Relaxed);
        let function = word & ((1 << FUNCTION_BITS) - 1);
        let function = NAMES.get((function as usize).checked_sub(1)?)?;
        Some(LibraryCall {
            library: self.library,
            edge: self.edge.clone(),
            function,
            end: self.number,
            call: word >> FUNCTION_BITS,
        })
    }
}

fn ends() -> MutexGuard<'static, Ends> {
    ENDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes the calls of one end, as long as it is open.
pub struct CallNotes(Arc<EndCalls>);

/// A call of an end. It has returned when this is dropped.
pub struct NotedCall<'a> {
    word: &'a AtomicU64,
    returned: u64,
}

impl CallNotes {
    /// The notes of a new end of an edge.
    pub fn new(library: &'static Path, edge: &str) -> CallNotes {
        let mut ends = ends();
        let calls = Arc::new(EndCalls {
            number: ends.next_number,
            library,
            edge: edge.to_owned(),
            word: AtomicU64::new(0),
        });
        ends.next_number += 1;
        ends.open.push(calls.clone());
        CallNotes(calls)
    }

    /// Notes that the end's thread enters a function.
    #[inline]
    pub fn enter(&self, function: EndFunction) -> NotedCall<'_> {
        let word = &self.0.word;
        // One thread at a time has the end, and no call of it is within another.
        let before = word.load(Ordering::Relaxed);
        word.store(before | function as u64, Ordering::Relaxed);
        NotedCall {
            word,
            returned: before.wrapping_add(1 << FUNCTION_BITS),
        }
    }
}

impl Drop for NotedCall<'_> {
    #[inline]
    fn drop(&mut self) {
        self.word.store(self.returned, Ordering::Relaxed);
    }
}

impl Drop for CallNotes {
    fn drop(&mut self) {
        ends().open.retain(|other| !Arc::ptr_eq(other, &self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The call of the end with these notes.
    fn call(notes: &CallNotes) -> Option<LibraryCall> {
        let mut calls = calls_under_way().into_iter();
        calls.find(|call| call.end == notes.0.number)
    }

    #[test]
    fn a_call_is_seen_while_it_lasts() {
        let notes = CallNotes::new(Path::new("/lib.so"), "Trades.0");
        assert_eq!(call(&notes), None);
        let first = {
            let _call = notes.enter(EndFunction::CloseReceiver);
            let seen = call(&notes).expect("under way");
            assert_eq!((seen.function, &*seen.edge), ("close_receiver", "Trades.0"));
            assert_eq!(call(&notes).as_ref(), Some(&seen), "the same call");
            seen
        };
        assert_eq!(call(&notes), None);
        let _call = notes.enter(EndFunction::Claim);
        let second = call(&notes).expect("under way");
        assert_eq!(second.function, "claim");
        assert_ne!(second.call, first.call);
    }

    #[test]
    fn an_end_that_is_closed_is_forgotten() {
        let notes = CallNotes::new(Path::new("/lib.so"), "Trades.0");
        let number = notes.0.number;
        drop(notes);
        assert!(ends().open.iter().all(|end| end.number != number));
    }
}
