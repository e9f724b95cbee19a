//! Kinds of frames: what each frame of a stream means. Flags are those of [`transport::fragment`].

use tuple::EventTime;

/// A tuple, or a piece of one.
pub(crate) const TUPLE: u8 = 1;

/// A window marker; no payload.
pub(crate) const WINDOW: u8 = 2;

/// The final marker; no payload, and nothing comes after it.
pub(crate) const FINAL: u8 = 3;

/// The stream ends without a final marker, and no frame follows; no payload. Sent behind loops, and
/// within a PE that has failed; other PEs notice that the sender is lost.
pub(crate) const ABANDONED: u8 = 4;

/// A stamp: the time at which the next tuple was at hand, in nanoseconds of the monotonic clock; 8
/// bytes, little endian. See [`crate::counters::latency`].
pub(crate) const STAMP: u8 = 5;

/// The position of the tuple or marker behind it: numbers of 8 bytes, see
/// [`crate::order::thread_order`].
pub(crate) const POSITION: u8 = 6;

/// A tuple with its position behind it: see [`crate::order::position_frames::seal_tuple`].
pub(crate) const POSITIONED_TUPLE: u8 = 7;

/// Progress: no tuple at or before the position in the payload follows.
pub(crate) const PROGRESS: u8 = 8;

/// Progress like [`PROGRESS`]; moreover the tuples behind it stand behind that position, although
/// they are of other origins.
pub(crate) const PRECEDENCE: u8 = 9;

/// A watermark: see [`encode_watermark`].
pub(crate) const WATERMARK: u8 = 10;

/// The payload of a watermark: nanoseconds since the epoch, 16 bytes, little endian.
pub(crate) fn encode_watermark(at: EventTime) -> [u8; 16] {
    at.0.to_le_bytes()
}

/// The watermark in a payload; `None` if the payload is none.
pub(crate) fn decode_watermark(bytes: &[u8]) -> Option<EventTime> {
    bytes
        .try_into()
        .ok()
        .map(i128::from_le_bytes)
        .map(EventTime)
}

// Rings use this kind for padding, so no frame of a stream may have it.
const _: () = assert!(TUPLE != ring::frame::PAD && WINDOW != ring::frame::PAD);
