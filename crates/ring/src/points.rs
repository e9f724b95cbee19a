//! Points inside of the calls at which a process may die: for tests, in debug builds alone.
//!
//! Between two writes to a ring's memory the other side may find it as it is then, for ever. So there
//! is a point after each of them, in the order in which they happen:
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
pub enum Point {
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
    SleepersFound,
    /// That the writer sleeps.
    WriterArmed,
    /// As [`Point::HeaderWritten`], by way of a grant.
    GrantHeaderWritten,
    /// The payload of a frame that nobody knows of.
    GrantPayloadWritten,
    /// As [`Point::HeadMoved`], by way of a grant.
    GrantHeadMoved,
    /// As [`Point::Committed`], by way of a grant.
    GrantCommitted,
    /// How far a reader has released.
    Released,
    /// That the writer sleeps was taken back, and it is not woken yet.
    WriterFound,
    /// That a reader sleeps.
    ReaderArmed,
    /// That it does not.
    ReaderDisarmed,
}

/// Those that a sending end passes.
pub const SENDING: [Point; 13] = [
    Point::HeaderWritten,
    Point::HeadMoved,
    Point::Committed,
    Point::PadWritten,
    Point::PadMarked,
    Point::FrameMarked,
    Point::Published,
    Point::SleepersFound,
    Point::WriterArmed,
    Point::GrantHeaderWritten,
    Point::GrantPayloadWritten,
    Point::GrantHeadMoved,
    Point::GrantCommitted,
];

/// Those that a receiving end passes.
pub const RECEIVING: [Point; 4] = [
    Point::Released,
    Point::WriterFound,
    Point::ReaderArmed,
    Point::ReaderDisarmed,
];

// Each is among them.
const _: () = assert!(SENDING.len() + RECEIVING.len() == Point::ReaderDisarmed as usize + 1);

#[cfg(all(debug_assertions, not(loom)))]
static WATCH: std::sync::OnceLock<fn(Point)> = std::sync::OnceLock::new();

/// Calls a function at each point that this process passes from now on, the first one that is given;
/// `false`: this build passes none.
pub fn watch(passes: fn(Point)) -> bool {
    #[cfg(all(debug_assertions, not(loom)))]
    return WATCH.set(passes).is_ok();
    #[cfg(not(all(debug_assertions, not(loom))))]
    {
        let _ = passes;
        false
    }
}

/// A point is passed.
#[inline(always)]
pub(crate) fn pass(point: Point) {
    #[cfg(all(debug_assertions, not(loom)))]
    if let Some(passes) = WATCH.get() {
        passes(point);
    }
    #[cfg(not(all(debug_assertions, not(loom))))]
    let _ = point;
}
