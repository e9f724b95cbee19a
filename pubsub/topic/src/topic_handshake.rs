//! The handshake of a topic: the one message on a topic's socket, from a publisher to a subscriber.
//!
//! ```text
//!    0  magic      u64
//!    8  version    u32   of this message and of the topic's rules
//!   12  is_in      u32   1: admitted, the ring's descriptor comes with it; 0: there is no room
//!   16  reader     u32   number of the ring's reader for this subscriber
//!   20  receivers  u32   most subscribers of the publisher
//! ```
//! Numbers have the native byte order. Other packets on the socket only wake the other end.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

const MAGIC: u64 = u64::from_le_bytes(*b"THALTOPC");
const VERSION: u32 = 1;
const HANDSHAKE_BYTES: usize = 24;

/// Handshake that a publisher sends to a subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TopicHandshake {
    /// Number of the subscriber's reader; `None`: there is no room.
    pub(crate) reader: Option<u32>,
    /// Most subscribers of the publisher.
    pub(crate) receivers: u32,
}

/// Result of looking for a handshake.
#[derive(Debug)]
pub(crate) enum TopicHandshakeOutcome {
    /// No handshake has come yet.
    Pending,
    /// The publisher is gone.
    Closed,
    /// The subscriber is admitted.
    Admitted {
        /// Number of the subscriber's reader.
        reader: u32,
        /// Descriptor of the ring.
        ring: OwnedFd,
    },
    /// The publisher serves as many subscribers as it may.
    Full {
        /// Most subscribers of the publisher.
        receivers: u32,
    },
    /// The message is no handshake; the text says why.
    Invalid(String),
}

impl TopicHandshake {
    fn to_bytes(self) -> [u8; HANDSHAKE_BYTES] {
        let mut bytes = [0; HANDSHAKE_BYTES];
        bytes[..8].copy_from_slice(&MAGIC.to_ne_bytes());
        let is_in = u32::from(self.reader.is_some());
        let words = [VERSION, is_in, self.reader.unwrap_or(0), self.receivers];
        for (room, word) in bytes[8..].chunks_exact_mut(4).zip(words) {
            room.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<TopicHandshake, String> {
        let magic = bytes.first_chunk().map(|magic| u64::from_ne_bytes(*magic));
        if bytes.len() != HANDSHAKE_BYTES || magic != Some(MAGIC) {
            return Err(format!("a welcome of {} bytes that is none", bytes.len()));
        }
        let (words, _) = bytes[8..].as_chunks::<4>();
        let word = |at: usize| u32::from_ne_bytes(words[at]);
        if word(0) != VERSION {
            let theirs = word(0);
            return Err(format!("it has version {theirs}, this program {VERSION}"));
        }
        Ok(TopicHandshake {
            reader: (word(1) == 1).then_some(word(2)),
            receivers: word(3),
        })
    }
}

/// Sends a handshake, with the ring's descriptor if the subscriber is admitted.
pub(crate) fn send(
    socket: &OwnedFd,
    handshake: TopicHandshake,
    ring: &OwnedFd,
) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds = [ring.as_fd()];
    if handshake.reader.is_some() {
        control.push(SendAncillaryMessage::ScmRights(&fds));
    }
    let bytes = handshake.to_bytes();
    let bytes = [IoSlice::new(&bytes)];
    retry_on_intr(|| sendmsg(socket, &bytes, &mut control, SendFlags::NOSIGNAL)).map(drop)
}

/// Looks for a handshake, without waiting.
pub(crate) fn try_receive(socket: &OwnedFd) -> Result<TopicHandshakeOutcome, Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut bytes = [0; HANDSHAKE_BYTES + 1];
    let mut room = [IoSliceMut::new(&mut bytes)];
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let received = match retry_on_intr(|| recvmsg(socket, &mut room, &mut control, flags)) {
        Ok(received) => received.bytes,
        Err(Errno::AGAIN) => return Ok(TopicHandshakeOutcome::Pending),
        Err(Errno::CONNRESET) => return Ok(TopicHandshakeOutcome::Closed),
        Err(error) => return Err(error),
    };
    if received == 0 {
        return Ok(TopicHandshakeOutcome::Closed);
    }
    let fds = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    let ring = fds.flatten().next();
    Ok(
        match (TopicHandshake::from_bytes(&bytes[..received]), ring) {
            (Err(why), _) => TopicHandshakeOutcome::Invalid(why),
            (Ok(handshake), ring) => match (handshake.reader, ring) {
                (None, _) => TopicHandshakeOutcome::Full {
                    receivers: handshake.receivers,
                },
                (Some(reader), Some(ring)) => TopicHandshakeOutcome::Admitted { reader, ring },
                (Some(_), None) => {
                    TopicHandshakeOutcome::Invalid("a welcome without a ring".to_owned())
                }
            },
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_welcome_is_read_as_it_was_written_and_nothing_else_is_one() {
        for reader in [None, Some(0), Some(63)] {
            let handshake = TopicHandshake {
                reader,
                receivers: 64,
            };
            let bytes = handshake.to_bytes();
            assert_eq!(TopicHandshake::from_bytes(&bytes), Ok(handshake));
            for len in 0..HANDSHAKE_BYTES {
                assert!(
                    TopicHandshake::from_bytes(&bytes[..len]).is_err(),
                    "{len} bytes"
                );
            }
            for at in 0..12 {
                let mut changed = bytes;
                changed[at] ^= 1;
                assert!(TopicHandshake::from_bytes(&changed).is_err(), "byte {at}");
            }
        }
    }
}
