//! Buffer pools of mode `channel`: equal buffers in registered memory, which messages use in turn.
//!
//! Message n of a connection lies in buffer n modulo the number of buffers, on both sides: messages
//! are sent, and received, in the order of their numbers.

use std::ops::Range;

use fabric::{LocalSlice, ProviderLimits, RegionId, RemoteMemory};

use super::CHANNEL_MODE;
use super::greeting::{RdmaAcceptance, RdmaRequest};
use crate::{EdgeSpec, Error};

/// Most buffers of a pool: enough that messages are on their way while credit comes back, and few
/// enough that each is large.
const BUFFERS_MAX: usize = 32;

/// Fewest bytes of a buffer, unless the ring of the edge's description has fewer than four times as
/// many: most tuples then cross in one piece.
const BUFFER_BYTES_MIN: usize = 8192;

/// Number and size of the buffers of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PoolShape {
    /// Number of buffers, at least 1.
    pub(super) buffers: usize,
    /// Bytes of a buffer: a multiple of 8.
    pub(super) buffer_bytes: usize,
}

impl PoolShape {
    /// The pool of either side of an edge: together the buffers have at most as many bytes as the
    /// edge's ring, which is `ring_bytes`, and a provider takes all of them as receive buffers.
    pub(super) fn new(ring_bytes: usize, limits: &ProviderLimits) -> PoolShape {
        let buffer_bytes = (ring_bytes / BUFFERS_MAX).max(BUFFER_BYTES_MIN.min(ring_bytes / 4));
        let buffer_bytes = buffer_bytes.min(limits.message_bytes_max) / 8 * 8;
        let buffers = (ring_bytes / buffer_bytes.max(8)).min(limits.receive_depth);
        PoolShape {
            buffers: buffers.clamp(1, BUFFERS_MAX),
            buffer_bytes,
        }
    }

    /// Bytes of all buffers.
    pub(super) fn bytes(self) -> usize {
        self.buffers * self.buffer_bytes
    }

    /// The first bytes of the buffer of a message.
    pub(super) fn range(self, message: u64, bytes: usize) -> Range<usize> {
        let start = (message % self.buffers as u64) as usize * self.buffer_bytes;
        start..start + bytes
    }

    /// The first bytes of the buffer of a message, as operations name them.
    pub(super) fn slice(self, region: RegionId, message: u64, bytes: usize) -> LocalSlice {
        let range = self.range(message, bytes);
        LocalSlice { region, range }
    }

    /// The request of a receiver with a pool of this shape.
    pub(super) fn request(self, spec: &EdgeSpec, receiver: u32) -> RdmaRequest {
        RdmaRequest {
            mode: CHANNEL_MODE,
            edge: spec.edge,
            receiver,
            token: spec.token,
            ring: RemoteMemory {
                address: 0,
                key: self.buffers as u64,
                bytes: self.buffer_bytes as u64,
            },
        }
    }

    /// The pool that a request tells of, with at most as many buffers as this one.
    ///
    /// # Errors
    /// The receiver has buffers of another size, or none.
    pub(super) fn of_request(self, request: &RdmaRequest) -> Result<PoolShape, Error> {
        self.joined(request.ring.key, request.ring.bytes)
    }

    /// The acceptance by a sender that uses a receiver's pool of this shape.
    pub(super) fn acceptance(self) -> RdmaAcceptance {
        RdmaAcceptance {
            mode: CHANNEL_MODE,
            position: self.buffers as u64,
            salt: 0,
            credit: RemoteMemory {
                address: 0,
                key: 0,
                bytes: 0,
            },
            ring_bytes: self.buffer_bytes as u64,
        }
    }

    /// The part of this pool that a sender uses, as its acceptance says.
    ///
    /// # Errors
    /// The sender has buffers of another size, or uses none.
    pub(super) fn of_acceptance(self, bytes: &[u8]) -> Result<PoolShape, Error> {
        let read = RdmaAcceptance::read(bytes, CHANNEL_MODE)?;
        self.joined(read.position, read.ring_bytes)
    }

    fn joined(self, buffers: u64, buffer_bytes: u64) -> Result<PoolShape, Error> {
        if buffers == 0 || buffer_bytes != self.buffer_bytes as u64 {
            return Err(Error::Refused(format!(
                "the other side has {buffers} buffers of {buffer_bytes} bytes, this side {} of {}",
                self.buffers, self.buffer_bytes
            )));
        }
        let buffers = buffers.min(self.buffers as u64) as usize;
        Ok(PoolShape { buffers, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(receive_depth: usize) -> ProviderLimits {
        ProviderLimits {
            provider: String::new(),
            device: String::new(),
            inline_bytes_max: 0,
            message_bytes_max: 1 << 30,
            transmit_depth: 16,
            receive_depth,
            immediate_bytes: 0,
            immediate_uses_receive: false,
        }
    }

    #[test]
    fn buffers_have_at_most_the_bytes_of_the_ring() {
        let shape = |ring_bytes, depth| {
            let shape = PoolShape::new(ring_bytes, &limits(depth));
            (shape.buffers, shape.buffer_bytes)
        };
        assert_eq!(shape(4096, 1000), (4, 1024));
        assert_eq!(shape(64 << 10, 1000), (8, 8192));
        assert_eq!(shape(1 << 20, 1000), (32, 32 << 10));
        assert_eq!(shape(1 << 20, 5), (5, 32 << 10));
        assert_eq!(shape(5000, 1000), (4, 1248));
        for ring_bytes in (4096..1 << 20).step_by(1000) {
            let shape = PoolShape::new(ring_bytes, &limits(1000));
            assert!(
                shape.bytes() <= ring_bytes && shape.buffers >= 4,
                "{shape:?}"
            );
        }
    }

    #[test]
    fn two_sides_use_the_smaller_pool() {
        let (small, large) = (
            PoolShape::new(1 << 20, &limits(5)),
            PoolShape::new(1 << 20, &limits(9)),
        );
        let acceptance = large.joined(5, 32 << 10).unwrap().acceptance();
        assert_eq!(small.of_acceptance(&acceptance.to_bytes()).unwrap(), small);
        assert!(large.joined(5, 4096).is_err());
        assert!(large.joined(0, 32 << 10).is_err());
    }
}
