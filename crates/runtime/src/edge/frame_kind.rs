//! What the frames of a stream mean: their kinds. Flags are those of [`transport::fragment`].

use tuple::EventTime;

/// A tuple, or a piece of one.
pub(crate) const TUPLE: u8 = 1;

/// A window marker; no payload.
pub(crate) const WINDOW: u8 = 2;

/// The final marker; no payload, and nothing comes after it.
pub(crate) const FINAL: u8 = 3;

/// The stream has no final marker, and nothing comes after it either; no payload. Behind loops; and
/// within a PE that has failed: another one notices that the sender is lost.
pub(crate) const ABANDONED: u8 = 4;

/// When the tuple that follows was at hand, in nanoseconds of the monotonic clock: 8 bytes, little
/// endian. See [`super::latency`].
pub(crate) const STAMP: u8 = 5;

/// The place of the tuple or marker behind it: numbers of 8 bytes, see [`super::order`].
pub(crate) const POSITION: u8 = 6;

/// A tuple with its place behind it: see [`super::stash::seal`].
pub(crate) const POSITIONED_TUPLE: u8 = 7;

/// Nothing at or before the place in its payload comes any more.
pub(crate) const PROGRESS: u8 = 8;

/// The same; and what comes behind it stands behind that place, though it is of other origins.
pub(crate) const PRECEDENCE: u8 = 9;

/// A watermark: see [`encode_watermark`].
pub(crate) const WATERMARK: u8 = 10;

/// A watermark as it is sent: nanoseconds since the epoch, 16 bytes, least byte first.
pub(crate) fn encode_watermark(at: EventTime) -> [u8; 16] {
    at.0.to_le_bytes()
}

/// What was sent so; `None`: nothing was.
pub(crate) fn decode_watermark(bytes: &[u8]) -> Option<EventTime> {
    bytes
        .try_into()
        .ok()
        .map(i128::from_le_bytes)
        .map(EventTime)
}

// It fills rings: nobody sends it.
const _: () = assert!(TUPLE != ring::frame::PAD && WINDOW != ring::frame::PAD);
