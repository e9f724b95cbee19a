//! Failpoints: places inside the calls of a ring at which a test may kill the process, in debug
//! builds only.
//!
//! Between two writes to a ring's memory, the other side may find the memory in that state for
//! ever. So there is a point after each write, in the order in which they happen:
//!
//! ```text
//!   commit               HeaderWritten  HeadMoved  Committed
//!   commit at grant's end
//!     [PadWritten  PadMarked]  HeaderWritten  FrameMarked  HeadMoved  Committed  Published
//!   grant                GrantHeaderWritten  GrantPayloadWritten  GrantHeadMoved  GrantCommitted
//!   release              Released  [SleepingWriterTaken]
//!   sleep                WriterArmed, ReaderArmed, ReaderDisarmed  [SleepersTaken]
//! ```
//! # Cost
//! None in release builds, which have no failpoints. In debug builds a look at one word.

/// A place in a call of a ring, named by the word that has just been written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Failpoint {
    /// Header of a frame that is not committed yet.
    HeaderWritten,
    /// The writer's own index of committed frames, but not yet the ring's.
    HeadMoved,
    /// The ring's index of committed frames: readers can see the frame.
    Committed,
    /// Header of the padding at the ring's end, before a frame that begins at the wrap.
    PadWritten,
    /// Marks of the parts of the ring that the padding ends.
    PadMarked,
    /// Marks of the parts of the ring that an uncommitted frame ends.
    FrameMarked,
    /// The ring's index of whole batches.
    Published,
    /// Announcements of sleeping readers were taken, and the readers are not woken yet.
    SleepersTaken,
    /// Announcement that the writer sleeps.
    WriterArmed,
    /// Like [`Failpoint::HeaderWritten`], by way of a grant.
    GrantHeaderWritten,
    /// Payload of an uncommitted frame, by way of a grant.
    GrantPayloadWritten,
    /// Like [`Failpoint::HeadMoved`], by way of a grant.
    GrantHeadMoved,
    /// Like [`Failpoint::Committed`], by way of a grant.
    GrantCommitted,
    /// Index up to which a reader has released.
    Released,
    /// The announcement of a sleeping writer was taken, and the writer is not woken yet.
    SleepingWriterTaken,
    /// Announcement that a reader sleeps.
    ReaderArmed,
    /// The reader's announcement was taken back: it is awake.
    ReaderDisarmed,
}

/// Failpoints that a sending end passes.
pub const SENDER_POINTS: [Failpoint; 13] = [
    Failpoint::HeaderWritten,
    Failpoint::HeadMoved,
    Failpoint::Committed,
    Failpoint::PadWritten,
    Failpoint::PadMarked,
    Failpoint::FrameMarked,
    Failpoint::Published,
    Failpoint::SleepersTaken,
    Failpoint::WriterArmed,
    Failpoint::GrantHeaderWritten,
    Failpoint::GrantPayloadWritten,
    Failpoint::GrantHeadMoved,
    Failpoint::GrantCommitted,
];

/// Failpoints that a receiving end passes.
pub const RECEIVER_POINTS: [Failpoint; 4] = [
    Failpoint::Released,
    Failpoint::SleepingWriterTaken,
    Failpoint::ReaderArmed,
    Failpoint::ReaderDisarmed,
];

// Each failpoint is in one of the two lists.
const _: () =
    assert!(SENDER_POINTS.len() + RECEIVER_POINTS.len() == Failpoint::ReaderDisarmed as usize + 1);

#[cfg(all(debug_assertions, not(loom)))]
static HOOK: std::sync::OnceLock<fn(Failpoint)> = std::sync::OnceLock::new();

/// Has `hook` called at each failpoint that this process passes from now on. Only the first hook
/// counts. `false`: a hook was set before, or this build has no failpoints.
pub fn set_hook(hook: fn(Failpoint)) -> bool {
    #[cfg(all(debug_assertions, not(loom)))]
    return HOOK.set(hook).is_ok();
    #[cfg(not(all(debug_assertions, not(loom))))]
    {
        let _ = hook;
        false
    }
}

/// Calls the hook, if one is set.
#[inline(always)]
pub(crate) fn hit(point: Failpoint) {
    #[cfg(all(debug_assertions, not(loom)))]
    if let Some(hook) = HOOK.get() {
        hook(point);
    }
    #[cfg(not(all(debug_assertions, not(loom))))]
    let _ = point;
}
