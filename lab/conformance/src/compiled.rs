//! Compiled code on an edge whose medium grants room: it writes frames in place, and leaves frames
//! without room to the sending end.
#![expect(
    unsafe_code,
    reason = "compiled code is; and a broken medium grants what it may not"
)]

use ring::grant::{END_OFFSET, GrantAddresses, HEAD_OFFSET};
use transport::SendingEnd;

use crate::child::{TestFailure, TestOutcome};
use crate::rig::Sender;
use crate::script::fill;

/// A sending end and the addresses of its grant.
pub struct Compiled {
    /// The sending end itself.
    pub sender: Sender,
    /// Number of frames that were written in place.
    pub granted: u64,
    grant: GrantAddresses,
    payload: Vec<u8>,
}

impl Compiled {
    /// For an edge between operators; the grant is requested once.
    pub fn new(mut sender: Sender) -> Result<Compiled, TestFailure> {
        let grant = sender.out.grant().ok_or("there is no grant")?;
        Ok(Compiled {
            sender,
            granted: 0,
            grant,
            payload: Vec::new(),
        })
    }

    /// Addresses that the compiled code was made with.
    pub fn addresses(&self) -> [usize; 3] {
        addresses(self.grant)
    }

    /// Writes the next frame in place. `false`: the grant has no room.
    pub fn put(&mut self) -> bool {
        let is_asleep = self.put_silently();
        if is_asleep == Some(true) {
            self.sender.out.wake_receivers();
        }
        is_asleep.is_some()
    }

    /// Writes the next frame in place, without telling the end. `Some(true)`: the end must be told.
    pub fn put_silently(&mut self) -> Option<bool> {
        let (script, number) = (self.sender.script(), self.sender.sent);
        assert_eq!(script.flags(number), 0, "compiled code sets no flags");
        self.payload.resize(script.len(number), 0);
        fill(number, &mut self.payload);
        // SAFETY: this value owns the end, so it lives, and this is its thread.
        let is_asleep = unsafe { self.grant.try_write(script.kind(number), &self.payload) }?;
        self.sender.sent += 1;
        self.granted += 1;
        Some(is_asleep)
    }

    /// Writes the next frame in place if the grant has room, else by a claim. `false`: there is no
    /// room at all.
    pub fn put_or_claim(&mut self) -> Result<bool, TestFailure> {
        if self.put() {
            return Ok(true);
        }
        self.sender.try_put()
    }

    /// Writes `count` frames, asleep while there is no room.
    pub fn put_asleep(&mut self, count: u64) -> TestOutcome {
        let until = self.sender.sent + count;
        while self.sender.sent < until {
            if !self.put_or_claim()? {
                self.sender.sleep()?;
            }
        }
        Ok(())
    }
}

/// Addresses in a grant.
pub fn addresses(grant: GrantAddresses) -> [usize; 3] {
    [grant.grant(), grant.committed(), grant.asleep()]
}

/// Grants an end the room up to the wrap of a ring of `ring_bytes` bytes, although it holds
/// unreleased frames.
pub fn grant_over_frames(out: &mut dyn SendingEnd, ring_bytes: usize) {
    let Some(grant) = out.grant() else { return };
    let words = std::ptr::with_exposed_provenance_mut::<u64>(grant.grant());
    let bytes = ring_bytes as u64;
    // SAFETY: the words live as long as the end, and this is its thread. The room ends with the
    // ring.
    unsafe {
        let until = words.byte_add(END_OFFSET as usize);
        let head = *words.byte_add(HEAD_OFFSET as usize);
        if *until > head {
            *until = head.next_multiple_of(bytes);
        }
    }
}
