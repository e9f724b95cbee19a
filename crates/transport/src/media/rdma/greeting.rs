//! The bytes that the two sides of a connection send with its request and its acceptance: at most
//! 55, which every provider carries: `verbs` the fewest, 56 and one of them for their number.
//!
//! ```text
//!   request: receiver to sender            acceptance: sender to receiver
//!   0   magic "tlgR"         4 bytes       0   magic "tlgR"           4 bytes
//!   4   version              u16           4   version                u16
//!   6   mode                 u16           6   mode                   u16
//!   8   edge                 u32           8   position of the start  u64
//!   12  receiver             u32           16  salt                   u64
//!   16  token                16 bytes      24  address of the credit  u64
//!   32  address of the ring  u64           32  key of the credit      u64
//!   40  key of the ring      u64           40  bytes of the ring      u64
//!   48  bytes of the ring    u56           48
//!   55
//! ```
//! In mode `channel` a request has the number and the bytes of the receive buffers in place of key
//! and bytes of the ring, an acceptance the number of those that are used in place of the position
//! and the bytes of a buffer in place of the ring's; other words are 0.
//!
//! In mode `batch` a request has, in place of the ring's bytes, the lowest 32 bits of the position
//! at which the receiver goes on, and 24 bits of a random number of the receiving end, by which a
//! second end with the same ticket is known.
//!
//! Numbers are little endian. Frames cross as they lie in memory, so both hosts must be little
//! endian or both big endian: the magic is in the byte order of its host, and shows it.

use fabric::RemoteMemory;

use super::record::CREDIT_BYTES;
use crate::media::tcp_edge::handshake::{array_at, is_equal_constant_time, u16_at, u32_at, u64_at};
use crate::{EdgeSpec, Error};

const MAGIC: u32 = u32::from_le_bytes(*b"tlgR");
const VERSION: u16 = 2;

/// Bytes of a request.
pub(super) const REQUEST_BYTES: usize = 55;

/// Bits of a receiving end's number that a request in mode `batch` has room for.
const INSTANCE_MASK: u64 = (1 << 24) - 1;

/// Bytes of an acceptance.
pub(super) const ACCEPTANCE_BYTES: usize = 48;

/// Request of a receiver: who it is, and where its ring lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RdmaRequest {
    pub(super) mode: u16,
    pub(super) edge: u32,
    pub(super) receiver: u32,
    pub(super) token: [u8; 16],
    pub(super) ring: RemoteMemory,
}

/// Answer of a sender: where the stream begins, and where credit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RdmaAcceptance {
    pub(super) mode: u16,
    pub(super) position: u64,
    pub(super) salt: u64,
    pub(super) credit: RemoteMemory,
    pub(super) ring_bytes: u64,
}

impl RdmaRequest {
    pub(super) fn to_bytes(self) -> [u8; REQUEST_BYTES] {
        let mut bytes = [0; REQUEST_BYTES];
        bytes[..4].copy_from_slice(&MAGIC.to_ne_bytes());
        bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
        bytes[6..8].copy_from_slice(&self.mode.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.edge.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.receiver.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.token);
        bytes[32..40].copy_from_slice(&self.ring.address.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.ring.key.to_le_bytes());
        bytes[48..].copy_from_slice(&self.ring.bytes.to_le_bytes()[..7]);
        bytes
    }

    /// Reads the request of a stranger, who may have sent anything.
    ///
    /// # Errors
    /// The bytes are not those of a receiver of this edge and job; the text says why.
    pub(super) fn read(bytes: &[u8], mode: u16, spec: &EdgeSpec) -> Result<RdmaRequest, Error> {
        let Some(bytes) = bytes.first_chunk::<REQUEST_BYTES>() else {
            return Err(Error::Refused(format!(
                "a request of {} bytes: this version sends {REQUEST_BYTES}",
                bytes.len()
            )));
        };
        check_head(bytes, mode)?;
        let request = RdmaRequest {
            mode,
            edge: u32_at(bytes, 8),
            receiver: u32_at(bytes, 12),
            token: array_at(bytes, 16),
            ring: RemoteMemory {
                address: u64_at(bytes, 32),
                key: u64_at(bytes, 40),
                bytes: u64_at(&bytes[47..], 0) >> 8,
            },
        };
        if !is_equal_constant_time(&request.token, &spec.token) {
            return Err(Error::Refused(
                "the token is not that of this job".to_owned(),
            ));
        }
        if request.edge != spec.edge || request.receiver >= spec.receiver_count {
            return Err(Error::Refused(format!(
                "receiver {} of edge {} is not one of edge {}",
                request.receiver, request.edge, spec.edge
            )));
        }
        Ok(request)
    }
}

impl RdmaRequest {
    /// In mode `batch`: the lowest bits of the position, and the number of the receiving end.
    pub(super) fn place(&self) -> (u32, u32) {
        (self.ring.bytes as u32, (self.ring.bytes >> 32) as u32)
    }

    /// The word of a request in mode `batch` that [`RdmaRequest::place`] reads.
    pub(super) fn place_word(position: u64, instance: u64) -> u64 {
        u64::from(position as u32) | (instance & INSTANCE_MASK) << 32
    }
}

impl RdmaAcceptance {
    pub(super) fn to_bytes(self) -> [u8; ACCEPTANCE_BYTES] {
        let mut bytes = [0; ACCEPTANCE_BYTES];
        bytes[..4].copy_from_slice(&MAGIC.to_ne_bytes());
        bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
        bytes[6..8].copy_from_slice(&self.mode.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.position.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.salt.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.credit.address.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.credit.key.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.ring_bytes.to_le_bytes());
        bytes
    }

    /// Reads what a sender has accepted with.
    ///
    /// # Errors
    /// The sender is of another version or mode.
    pub(super) fn read(bytes: &[u8], mode: u16) -> Result<RdmaAcceptance, Error> {
        let Some(bytes) = bytes.first_chunk::<ACCEPTANCE_BYTES>() else {
            return Err(Error::Refused(format!(
                "an answer of {} bytes: this version has {ACCEPTANCE_BYTES}",
                bytes.len()
            )));
        };
        check_head(bytes, mode)?;
        Ok(RdmaAcceptance {
            mode,
            position: u64_at(bytes, 8),
            salt: u64_at(bytes, 16),
            credit: RemoteMemory {
                address: u64_at(bytes, 24),
                key: u64_at(bytes, 32),
                bytes: CREDIT_BYTES as u64,
            },
            ring_bytes: u64_at(bytes, 40),
        })
    }
}

fn check_head(bytes: &[u8], mode: u16) -> Result<(), Error> {
    let magic = u32::from_ne_bytes(array_at(bytes, 0));
    if magic == MAGIC.swap_bytes() {
        let why = "the other host has another byte order";
        return Err(Error::Refused(why.to_owned()));
    }
    if magic != MAGIC {
        return Err(Error::Refused(
            "the first bytes are not those of an edge".to_owned(),
        ));
    }
    let (version, theirs) = (u16_at(bytes, 4), u16_at(bytes, 6));
    if version != VERSION {
        return Err(Error::Refused(format!(
            "the other side has version {version}, this is version {VERSION}"
        )));
    }
    if theirs != mode {
        return Err(Error::Refused(format!(
            "the other side has mode {theirs}, this side {mode}"
        )));
    }
    Ok(())
}
