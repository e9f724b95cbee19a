//! Points inside of the calls at which a process may die: for tests, in debug builds alone.
//!
//! Between two writes to a ring's memory the other side may find it as it is then, for ever. So
//! there is a point after each of them, in the order in which they happen:
//!
//! ```text
//!   commit     HeaderWritten  HeadMoved  Committed
//!   the last   [PadWritten  PadMarked]  HeaderWritten  FrameMarked  HeadMoved  Committed  Published
//!   a grant    GrantHeaderWritten  GrantPayloadWritten  GrantHeadMoved  GrantCommitted
//!   release    Released  [WriterFound]
//!   sleep      WriterArmed, ReaderArmed, ReaderDisarmed  [SleepersFound]
//! ```
//! # Cost
//! None in release builds: there is nothing. In debug builds a look at a word.

/// What has just been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Failpoint {
    /// The header of a frame that nobody knows of.
    HeaderWritten,
    /// Our own count of what is committed, but not the ring's.
    HeadMoved,
    /// The ring's count: the frame is there.
    Committed,
    /// The header of what fills the ring's end before a frame that goes behind the wrap.
    PadWritten,
    /// And the marks of the parts that it ends.
    PadMarked,
    /// The marks of the parts that a frame ends, which nobody knows of.
    FrameMarked,
    /// The index of whole batches.
    Published,
    /// That readers sleep was taken back, and they are not woken yet.
    SleepersTaken,
    /// That the writer sleeps.
    WriterArmed,
    /// As [`Failpoint::HeaderWritten`], by way of a grant.
    GrantHeaderWritten,
    /// The payload of a frame that nobody knows of.
    GrantPayloadWritten,
    /// As [`Failpoint::HeadMoved`], by way of a grant.
    GrantHeadMoved,
    /// As [`Failpoint::Committed`], by way of a grant.
    GrantCommitted,
    /// How far a reader has released.
    Released,
    /// That the writer sleeps was taken back, and it is not woken yet.
    SleepingWriterTaken,
    /// That a reader sleeps.
    ReaderArmed,
    /// That it does not.
    ReaderDisarmed,
}

/// Those that a sending end passes.
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

/// Those that a receiving end passes.
pub const RECEIVER_POINTS: [Failpoint; 4] = [
    Failpoint::Released,
    Failpoint::SleepingWriterTaken,
    Failpoint::ReaderArmed,
    Failpoint::ReaderDisarmed,
];

// Each is among them.
const _: () =
    assert!(SENDER_POINTS.len() + RECEIVER_POINTS.len() == Failpoint::ReaderDisarmed as usize + 1);

#[cfg(all(debug_assertions, not(loom)))]
static HOOK: std::sync::OnceLock<fn(Failpoint)> = std::sync::OnceLock::new();

/// Calls a function at each point that this process passes from now on, the first one that is
/// given; `false`: this build passes none.
pub fn set_hook(passes: fn(Failpoint)) -> bool {
    #[cfg(all(debug_assertions, not(loom)))]
    return HOOK.set(passes).is_ok();
    #[cfg(not(all(debug_assertions, not(loom))))]
    {
        let _ = passes;
        false
    }
}

/// A point is passed.
#[inline(always)]
pub(crate) fn hit(point: Failpoint) {
    #[cfg(all(debug_assertions, not(loom)))]
    if let Some(passes) = HOOK.get() {
        passes(point);
    }
    #[cfg(not(all(debug_assertions, not(loom))))]
    let _ = point;
}
