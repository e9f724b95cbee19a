//! How the ranks of a job reach the launcher of rank 0, and how both sides prove who they are.
//!
//! A rank connects three times and sends a handshake each time; the launcher answers. Both sides
//! know the secrets from the contact alone, which goes over the medium of the ranks.
//!
//! ```text
//!   handshake   0        8                 24       28       32
//!               +--------+-----------------+--------+--------+
//!               | magic  | token, 16 bytes | rank   | kind   |   native byte order
//!               +--------+-----------------+--------+--------+
//!   answer      16 bytes
//! ```

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::bundle::random_token;
use crate::error::Error;

/// First word of a handshake: `ranks` and the version of the protocol.
const MAGIC: u64 = u64::from_be_bytes(*b"ranks\0\0\x01");

/// Bytes of a rank's handshake.
pub const HANDSHAKE_BYTES: usize = 32;

/// Bytes of the launcher's answer to a handshake.
pub const ANSWER_BYTES: usize = 16;

/// Where the launcher listens, and the secrets of the connections.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct RankContact {
    /// Version of the launcher's program.
    pub version: String,
    /// Abstract name of its Unix socket, which processes of its host alone reach.
    pub unix_name: String,
    /// Addresses at which other hosts reach it; empty if all ranks are on its host.
    pub addresses: Vec<SocketAddr>,
    /// Secret that a rank has to show.
    token: [u8; 16],
    /// Secret that the launcher has to answer.
    pub answer: [u8; ANSWER_BYTES],
    /// Number of ranks of the job.
    pub rank_count: u32,
}

/// Use of a connection between a rank and the launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankSocketKind {
    /// Messages between the launcher and the PE.
    Control,
    /// Standard output of the PE.
    Output,
    /// Standard error of the PE.
    Errors,
}

/// The first bytes of a rank on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankHandshake {
    /// Number of the rank.
    pub rank: u32,
    /// Use of the connection.
    pub kind: RankSocketKind,
}

impl RankSocketKind {
    /// The kinds, in the order of their numbers.
    pub const ALL: [RankSocketKind; 3] = [
        RankSocketKind::Control,
        RankSocketKind::Output,
        RankSocketKind::Errors,
    ];
}

impl RankContact {
    /// A contact with new secrets.
    ///
    /// # Errors
    /// [`Error::System`] if the system has no random numbers.
    pub fn new(rank_count: u32) -> Result<RankContact, Error> {
        let name = random_token()?.map(|byte| format!("{byte:02x}")).concat();
        Ok(RankContact {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            unix_name: format!("thalweg-ranks-{name}"),
            addresses: Vec::new(),
            token: random_token()?,
            answer: random_token()?,
            rank_count,
        })
    }

    /// Encodes the first bytes of a rank.
    pub fn encode_handshake(&self, handshake: RankHandshake) -> [u8; HANDSHAKE_BYTES] {
        let mut bytes = [0; HANDSHAKE_BYTES];
        let kind = RankSocketKind::ALL
            .iter()
            .position(|k| *k == handshake.kind);
        bytes[..8].copy_from_slice(&MAGIC.to_ne_bytes());
        bytes[8..24].copy_from_slice(&self.token);
        bytes[24..28].copy_from_slice(&handshake.rank.to_ne_bytes());
        bytes[28..].copy_from_slice(&(kind.unwrap_or_default() as u32).to_ne_bytes());
        bytes
    }

    /// Decodes the first bytes of a rank; `None` if they are of no rank of this job.
    pub fn decode_handshake(&self, bytes: &[u8; HANDSHAKE_BYTES]) -> Option<RankHandshake> {
        let word = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|i| bytes[at + i]));
        // All bytes are compared, so that the time says nothing about the token.
        let wrong = bytes[8..24].iter().zip(&self.token);
        let wrong = wrong.fold(0, |wrong, (one, other)| wrong | (one ^ other));
        if bytes[..8] != MAGIC.to_ne_bytes() || wrong != 0 {
            return None;
        }
        let rank = Some(word(24)).filter(|rank| (1..self.rank_count).contains(rank))?;
        let kind = *RankSocketKind::ALL.get(word(28) as usize)?;
        Some(RankHandshake { rank, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handshake_is_of_this_job_and_of_one_of_its_other_ranks() {
        let contact = RankContact::new(3).unwrap();
        for kind in RankSocketKind::ALL {
            let handshake = RankHandshake { rank: 2, kind };
            let bytes = contact.encode_handshake(handshake);
            assert_eq!(contact.decode_handshake(&bytes), Some(handshake));
            for at in 0..28 {
                let mut changed = bytes;
                changed[at] ^= 0x41;
                assert_eq!(contact.decode_handshake(&changed), None, "byte {at}");
            }
        }
        let kind = RankSocketKind::Control;
        for rank in [0, 3] {
            let bytes = contact.encode_handshake(RankHandshake { rank, kind });
            assert_eq!(contact.decode_handshake(&bytes), None, "rank {rank}");
        }
        let other = RankContact::new(3).unwrap();
        let bytes = other.encode_handshake(RankHandshake { rank: 1, kind });
        assert_eq!(contact.decode_handshake(&bytes), None);
    }
}
