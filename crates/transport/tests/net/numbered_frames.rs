//! Numbered frames: what a sender writes and a receiver checks, on edges of a few kilobytes.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use transport::{Batching, EdgeSpec, Error, Medium, ReceivingEnd, SendingEnd, media};

/// Longest time that any step may take; longer means that it is broken, not slow.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Bytes of an edge's ring.
pub const RING_BYTES: usize = 64 * 1024;

/// Description of a new edge.
pub fn spec(receivers: u32) -> EdgeSpec {
    static LINK: AtomicU32 = AtomicU32::new(1);
    EdgeSpec {
        name: "Trades.0".into(),
        edge: LINK.fetch_add(1, Ordering::Relaxed),
        receiver_count: receivers,
        ring_bytes: RING_BYTES,
        batching: Batching::default(),
        token: *b"sixteen secret b",
        listen: Ipv4Addr::LOCALHOST.into(),
    }
}

/// The medium of this name.
pub fn medium(name: &str) -> &'static dyn Medium {
    media::find(name).expect("a medium of that name")
}

/// Retries until there is an answer.
pub fn until<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = attempt() {
            return answer;
        }
        assert!(start.elapsed() < PATIENCE, "in {PATIENCE:?} never: {what}");
        std::thread::yield_now();
    }
}

/// Payload bytes of the frame of this number.
fn len(number: u64) -> usize {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 53) as usize
}

/// Commits the frame of this number. `false`: there is no room.
pub fn put(out: &mut dyn SendingEnd, number: u64) -> Result<bool, Error> {
    let Some(room) = out.claim(len(number))? else {
        return Ok(false);
    };
    room.fill(number as u8);
    if let Some(word) = room.first_chunk_mut() {
        *word = number.to_le_bytes();
    }
    out.commit(1, 0, len(number));
    Ok(true)
}

/// Takes the frames that have come, which must be those from this number on. Returns the number of
/// the next.
pub fn take(end: &mut dyn ReceivingEnd, mut number: u64) -> Result<u64, Error> {
    for frame in end.poll()? {
        assert_eq!(
            frame.bytes.len(),
            len(number),
            "the length of frame {number}"
        );
        let (word, rest) = match frame.bytes.split_first_chunk() {
            Some((word, rest)) => (u64::from_le_bytes(*word), rest),
            None => (number, frame.bytes),
        };
        assert_eq!(word, number, "the number of a frame");
        let is_right = rest.iter().all(|byte| *byte == number as u8);
        assert!(is_right, "frame {number} is torn");
        number += 1;
    }
    end.release();
    Ok(number)
}
