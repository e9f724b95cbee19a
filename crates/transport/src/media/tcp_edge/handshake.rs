//! The handshake of edges over sockets: the first bytes of a receiver, and the sender's reply.
//!
//! ```text
//!   handshake: receiver to sender, little endian but for the byte order mark
//!   0   magic, "thalweg" and a line feed, 8 bytes
//!   8   version              u16
//!   10  framing protocol     u16
//!   12  byte order mark      u32, in the byte order of the receiver
//!   16  edge                 u32
//!   20  receiver             u32
//!   24  token                16 bytes
//!   40  instance             u64
//!   48  position             u64
//!   56  connection purpose   u16
//!   58  liveness port        u16
//!   60  zeros, 4 bytes
//!   64
//!
//!   reply: sender to receiver, little endian
//!   0   magic, 8 bytes
//!   8   verdict              u16: 1 accepted, 2 refused
//!   10  bytes of the reason  u16
//!   12  bytes of a payload at most, u32
//!   16  position             u64
//!   24  bytes of the ring    u64
//!   32  reason of a refusal, UTF-8, at most 224 bytes
//!   256
//! ```
//! Both have a fixed length, so nothing is allocated for a connection that has not shown the token.
//! The byte order mark makes both sides agree on the byte order, because frames are sent as they
//! lie in memory.
//!
//! # Why two connections
//! A receiver makes one connection for credit and then one for frames. On the one for frames it
//! sends nothing after its handshake: when a process dies, the system delivers the bytes that the
//! process had written to a socket, unless that socket holds received bytes that were not read.
//! Then it discards both.

use std::hash::{BuildHasher, RandomState};

use crate::EdgeSpec;

/// Bytes of a handshake, see the module's table.
pub(crate) const HANDSHAKE_BYTES: usize = 64;

/// Bytes of a reply, see the module's table.
pub(crate) const REPLY_BYTES: usize = 256;

const MAGIC: [u8; 8] = *b"thalweg\n";
const VERSION: u16 = 2;
const BYTE_ORDER_MARK: u32 = 0x0403_0201;
const VERDICT_ACCEPTED: u16 = 1;
const VERDICT_REFUSED: u16 = 2;
const REPLY_HEAD_BYTES: usize = 32;

/// Framing of the bytes that follow the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FramingProtocol {
    /// Frames, one after the other.
    Tcp = 1,
    /// Batches of frames, each with a header that has its position.
    Rum = 2,
    /// Batches like those of `Rum`, striped over several rails in any order.
    RumRails = 3,
    /// Like `RumRails`, a frame a batch, and lost with its last connection.
    TcpRails = 4,
}

/// Purpose of one of the two connections of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionPurpose {
    /// Carries frames to the receiver.
    Frames = 1,
    /// Carries credit to the sender.
    Credit = 2,
}

/// First bytes of a receiver: its edge, its number and the purpose of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handshake {
    pub(crate) protocol: FramingProtocol,
    pub(crate) edge: u32,
    pub(crate) receiver: u32,
    pub(crate) token: [u8; 16],
    /// Random number of the receiving end, which it keeps when it connects again.
    pub(crate) instance: u64,
    /// Stream position that the receiver expects next.
    pub(crate) position: u64,
    pub(crate) purpose: ConnectionPurpose,
    /// Port where the receiver answers liveness probes; 0: none.
    pub(crate) liveness_port: u16,
}

/// Properties of an edge that a handshake must match.
#[derive(Clone, Debug)]
pub(crate) struct HandshakeTerms {
    pub(crate) protocol: FramingProtocol,
    pub(crate) edge: u32,
    pub(crate) receiver_count: u32,
    pub(crate) token: [u8; 16],
}

/// Answer of a sender to a handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HandshakeVerdict {
    /// The receiver is connected and frames follow.
    Accepted(HandshakeReply),
    /// The connection is closed; the reason is one sentence.
    Refused(String),
}

/// Properties of an accepted connection that the receiver has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HandshakeReply {
    /// Stream position of the first frame.
    pub(crate) position: u64,
    /// Most bytes of a payload.
    pub(crate) payload_bytes_max: u32,
    /// Most bytes that may be sent and not yet released.
    pub(crate) ring_bytes: u64,
}

impl HandshakeTerms {
    /// The terms of an edge whose frames have this framing.
    pub(crate) fn new(protocol: FramingProtocol, spec: &EdgeSpec) -> HandshakeTerms {
        HandshakeTerms {
            protocol,
            edge: spec.edge,
            receiver_count: spec.receiver_count,
            token: spec.token,
        }
    }
}

/// Chooses the number of a receiving end, at random: see [`Handshake::instance`].
pub(crate) fn random_instance() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

impl Handshake {
    /// Encodes the handshake, see the module's table.
    pub(crate) fn to_bytes(self) -> [u8; HANDSHAKE_BYTES] {
        let mut bytes = [0; HANDSHAKE_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[10..12].copy_from_slice(&(self.protocol as u16).to_le_bytes());
        bytes[12..16].copy_from_slice(&BYTE_ORDER_MARK.to_ne_bytes());
        bytes[16..20].copy_from_slice(&self.edge.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.receiver.to_le_bytes());
        bytes[24..40].copy_from_slice(&self.token);
        bytes[40..48].copy_from_slice(&self.instance.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.position.to_le_bytes());
        bytes[56..58].copy_from_slice(&(self.purpose as u16).to_le_bytes());
        bytes[58..60].copy_from_slice(&self.liveness_port.to_le_bytes());
        bytes
    }

    /// Checks the bytes of a handshake received so far. `None`: more must come.
    ///
    /// # Errors
    /// The reason for a refusal, as the reply says it.
    pub(crate) fn parse(bytes: &[u8], terms: &HandshakeTerms) -> Result<Option<Handshake>, String> {
        let magic = bytes.len().min(MAGIC.len());
        if bytes[..magic] != MAGIC[..magic] {
            return Err("this port is for receivers of a Thalweg stream only".to_owned());
        }
        let Some(bytes) = bytes.first_chunk::<HANDSHAKE_BYTES>() else {
            return Ok(None);
        };
        check_build(bytes, terms.protocol)?;
        let handshake = Handshake {
            protocol: terms.protocol,
            edge: u32_at(bytes, 16),
            receiver: u32_at(bytes, 20),
            token: array_at(bytes, 24),
            instance: u64_at(bytes, 40),
            position: u64_at(bytes, 48),
            purpose: ConnectionPurpose::from_number(u16_at(bytes, 56))?,
            liveness_port: u16_at(bytes, 58),
        };
        handshake.check(terms)?;
        Ok(Some(handshake))
    }

    fn check(&self, terms: &HandshakeTerms) -> Result<(), String> {
        if !is_equal_constant_time(&self.token, &terms.token) {
            return Err("the job's token is missing: the receiver is of another job".to_owned());
        }
        if self.edge != terms.edge {
            return Err(format!(
                "this is link {}, the receiver is of link {}",
                terms.edge, self.edge
            ));
        }
        if self.receiver >= terms.receiver_count {
            return Err(format!(
                "there is no receiver {}: the link has {}, and the first is 0",
                self.receiver, terms.receiver_count
            ));
        }
        Ok(())
    }
}

impl ConnectionPurpose {
    fn from_number(number: u16) -> Result<ConnectionPurpose, String> {
        match number {
            1 => Ok(ConnectionPurpose::Frames),
            2 => Ok(ConnectionPurpose::Credit),
            _ => Err(format!("{number} is no purpose of a connection")),
        }
    }
}

/// Checks version, byte order and framing, which do not depend on the job.
fn check_build(bytes: &[u8; HANDSHAKE_BYTES], protocol: FramingProtocol) -> Result<(), String> {
    let version = u16_at(bytes, 8);
    if version != VERSION {
        return Err(format!(
            "the receiver speaks version {version}, this is version {VERSION}: \
             run the same Thalweg on both sides"
        ));
    }
    if u32::from_ne_bytes(array_at(bytes, 12)) != BYTE_ORDER_MARK {
        let why = "the receiver has another byte order: use the codec `normal`";
        return Err(why.to_owned());
    }
    if u16_at(bytes, 10) != protocol as u16 {
        return Err("the receiver speaks another protocol over TCP".to_owned());
    }
    Ok(())
}

/// Compares tokens in a time that does not depend on where they differ.
pub(in crate::media) fn is_equal_constant_time(left: &[u8; 16], right: &[u8; 16]) -> bool {
    let differences = left.iter().zip(right).map(|(left, right)| left ^ right);
    differences.fold(0, |all, one| all | one) == 0
}

impl HandshakeVerdict {
    /// Encodes the reply, see the module's table.
    pub(crate) fn to_bytes(&self) -> [u8; REPLY_BYTES] {
        let mut bytes = [0; REPLY_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        match self {
            HandshakeVerdict::Accepted(reply) => {
                bytes[8..10].copy_from_slice(&VERDICT_ACCEPTED.to_le_bytes());
                bytes[12..16].copy_from_slice(&reply.payload_bytes_max.to_le_bytes());
                bytes[16..24].copy_from_slice(&reply.position.to_le_bytes());
                bytes[24..32].copy_from_slice(&reply.ring_bytes.to_le_bytes());
            }
            HandshakeVerdict::Refused(why) => {
                let len = why.len().min(REPLY_BYTES - REPLY_HEAD_BYTES);
                bytes[8..10].copy_from_slice(&VERDICT_REFUSED.to_le_bytes());
                bytes[10..12].copy_from_slice(&(len as u16).to_le_bytes());
                bytes[REPLY_HEAD_BYTES..REPLY_HEAD_BYTES + len]
                    .copy_from_slice(&why.as_bytes()[..len]);
            }
        }
        bytes
    }

    /// Decodes the reply of a listener.
    ///
    /// # Errors
    /// The process that answered is no sender of a stream.
    pub(crate) fn from_bytes(bytes: &[u8; REPLY_BYTES]) -> Result<HandshakeVerdict, String> {
        match u16_at(bytes, 8) {
            _ if bytes[..8] != MAGIC => {}
            VERDICT_ACCEPTED => {
                return Ok(HandshakeVerdict::Accepted(HandshakeReply {
                    position: u64_at(bytes, 16),
                    payload_bytes_max: u32_at(bytes, 12),
                    ring_bytes: u64_at(bytes, 24),
                }));
            }
            VERDICT_REFUSED => {
                let text = &bytes[REPLY_HEAD_BYTES..];
                let len = usize::from(u16_at(bytes, 10)).min(text.len());
                let why = String::from_utf8_lossy(&text[..len]);
                return Ok(HandshakeVerdict::Refused(why.into_owned()));
            }
            _ => {}
        }
        Err("whoever listens there is not the sender of a Thalweg stream".to_owned())
    }
}

/// The bytes at a place, which must be there.
pub(in crate::media) fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

/// The little-endian number at a place that the bytes have.
pub(in crate::media) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, at))
}

/// The little-endian number at a place that the bytes have.
pub(in crate::media) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

/// The little-endian number at a place that the bytes have.
pub(in crate::media) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: HandshakeTerms = HandshakeTerms {
        protocol: FramingProtocol::Tcp,
        edge: 7,
        receiver_count: 3,
        token: *b"sixteen secret b",
    };

    fn handshake() -> Handshake {
        Handshake {
            protocol: FramingProtocol::Tcp,
            edge: 7,
            receiver: 2,
            token: TERMS.token,
            instance: 99,
            position: 1 << 40,
            purpose: ConnectionPurpose::Frames,
            liveness_port: 4711,
        }
    }

    fn refusal(handshake: Handshake) -> String {
        Handshake::parse(&handshake.to_bytes(), &TERMS).expect_err("refused")
    }

    #[test]
    fn a_hello_comes_out_as_it_went_in() {
        let bytes = handshake().to_bytes();
        assert_eq!(Handshake::parse(&bytes, &TERMS), Ok(Some(handshake())));
        for len in 0..bytes.len() {
            assert_eq!(Handshake::parse(&bytes[..len], &TERMS), Ok(None), "{len}");
        }
    }

    #[test]
    fn whatever_differs_is_said() {
        let link = refusal(Handshake {
            edge: 8,
            ..handshake()
        });
        assert_eq!(link, "this is link 7, the receiver is of link 8");
        let receiver = refusal(Handshake {
            receiver: 3,
            ..handshake()
        });
        assert!(receiver.starts_with("there is no receiver 3"), "{receiver}");
        for at in 0..16 {
            let mut token = TERMS.token;
            token[at] ^= 1;
            let why = refusal(Handshake {
                token,
                ..handshake()
            });
            assert!(why.contains("token"), "{why}");
        }
    }

    #[test]
    fn strangers_are_refused_by_their_first_bytes() {
        assert!(Handshake::parse(b"G", &TERMS).is_err());
        assert!(Handshake::parse(b"thalwag", &TERMS).is_err());
        let places = [
            (8, "version"),
            (12, "byte order"),
            (0, "receivers"),
            (56, "purpose"),
        ];
        for (at, word) in places {
            let mut bytes = handshake().to_bytes();
            bytes[at] ^= 0x10;
            let why = Handshake::parse(&bytes, &TERMS).expect_err("refused");
            assert!(why.contains(word), "{why}");
        }
    }

    #[test]
    fn answers_come_out_as_they_went_in() {
        let reply = HandshakeVerdict::Accepted(HandshakeReply {
            position: 5,
            payload_bytes_max: 6,
            ring_bytes: 7,
        });
        let refused = HandshakeVerdict::Refused("no".to_owned());
        for verdict in [reply, refused] {
            assert_eq!(
                HandshakeVerdict::from_bytes(&verdict.to_bytes()),
                Ok(verdict)
            );
        }
        let long = HandshakeVerdict::Refused("long ".repeat(100));
        let cut = HandshakeVerdict::from_bytes(&long.to_bytes());
        assert!(matches!(cut, Ok(HandshakeVerdict::Refused(why)) if why.len() == 224));
        assert!(HandshakeVerdict::from_bytes(&[b'x'; REPLY_BYTES]).is_err());
    }
}
