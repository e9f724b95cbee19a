//! Layout of a message.
//!
//! ```text
//!    0  flags   u32   1: it carries times; 2: it was due at a time
//!    4  number  u32   counts from 0, separately for the warm-up and the measurement
//!    8  sent    u64   time at which it was sent, in nanoseconds
//!   16  lag     u64   nanoseconds by which it was late
//! ```
//! Numbers have the native byte order. A message without times may be shorter: it is cut off. The
//! rest of a longer one is arbitrary.

use transport::monotonic_ns;

/// Fewest bytes of a message that carries times.
pub const MESSAGE_BYTES_MIN: usize = 24;

const HAS_TIMES: u32 = 1;
const HAS_LAG: u32 = 2;

/// Times that a message carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageTimes {
    pub(crate) sent_ns: u64,
    /// Nanoseconds by which the message was late, if it was due at a time.
    pub(crate) lag_ns: Option<u64>,
}

/// Writes a message with times, which was due at `due_ns`, if at a time at all. The clock is read
/// last. `room` must be long enough.
#[inline]
pub(crate) fn write_plain(room: &mut [u8], number: u64) {
    let words = [0u32.to_ne_bytes(), (number as u32).to_ne_bytes()];
    if let Some(start) = room.first_chunk_mut::<8>() {
        start.copy_from_slice(words.as_flattened());
    }
}

/// Writes a message with times; it was to be sent at `due_ns`, if at a time at all. The clock is
/// read last. The room has to be long enough.
#[inline]
pub(crate) fn write_times(room: &mut [u8], number: u64, due_ns: Option<u64>) {
    let flags = HAS_TIMES | if due_ns.is_some() { HAS_LAG } else { 0 };
    if let Some(start) = room.first_chunk_mut::<MESSAGE_BYTES_MIN>() {
        start[..4].copy_from_slice(&flags.to_ne_bytes());
        start[4..8].copy_from_slice(&(number as u32).to_ne_bytes());
        let sent_ns = monotonic_ns();
        let lag_ns = due_ns.map_or(0, |due| sent_ns.saturating_sub(due));
        start[8..16].copy_from_slice(&sent_ns.to_ne_bytes());
        start[16..].copy_from_slice(&lag_ns.to_ne_bytes());
    }
}

/// The times of a message, if it carries any.
#[inline]
pub(crate) fn read_times(bytes: &[u8]) -> Option<MessageTimes> {
    let start = bytes.first_chunk::<MESSAGE_BYTES_MIN>()?;
    let word = |at: usize| {
        start[at..]
            .first_chunk()
            .map(|word| u64::from_ne_bytes(*word))
    };
    let flags = u32::from_ne_bytes(*start.first_chunk()?);
    if flags & HAS_TIMES == 0 {
        return None;
    }
    let lag_ns = if flags & HAS_LAG != 0 { word(16) } else { None };
    let sent_ns = word(8)?;
    Some(MessageTimes { sent_ns, lag_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_out_as_they_went_in() {
        let mut room = [0xff; 40];
        let before = monotonic_ns();
        write_times(&mut room, 7, Some(before - 1000));
        let MessageTimes { sent_ns, lag_ns } = read_times(&room).expect("times");
        assert!((before..=monotonic_ns()).contains(&sent_ns));
        assert_eq!(lag_ns, Some(sent_ns - before + 1000));
        write_times(&mut room, 8, None);
        assert_eq!(read_times(&room).expect("times").lag_ns, None);
        write_times(&mut room, 8, Some(u64::MAX));
        assert_eq!(
            read_times(&room).expect("times").lag_ns,
            Some(0),
            "early is in time"
        );
    }

    #[test]
    fn a_plain_message_has_none_however_short() {
        for len in 0..40 {
            let mut room = vec![0xff; len];
            write_plain(&mut room, 1);
            assert_eq!(read_times(&room), None, "{len} bytes");
        }
    }
}
