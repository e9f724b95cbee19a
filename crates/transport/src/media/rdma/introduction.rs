//! The introduction that a receiver in mode `batch` writes beside its credit when a connection is
//! made: who it is, and where its process answers probes ([`crate::media::rum::liveness`]).
//!
//! ```text
//!   0         16          24                 40      48      56
//!   +---------+-----------+------------------+-------+-------+
//!   | credit  | instance  | address, as IPv6 | port  | mark  |
//!   +---------+-----------+------------------+-------+-------+
//! ```
//! The mark follows from the words before it and the salt of the sender, so a write that is half
//! there when the connection breaks is not believed.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use super::record::{CREDIT_BYTES, RecordMarks};

/// Words of an introduction.
pub(super) const INTRODUCTION_WORDS: usize = 5;

/// Bytes of the memory for credit, with an introduction.
pub(super) const CREDIT_MEMORY_BYTES: usize = CREDIT_BYTES + 8 * INTRODUCTION_WORDS;

/// A receiving end, as it introduces itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Introduction {
    /// Random number of the receiving end.
    pub(super) instance: u64,
    /// Where its process answers probes; `None`: nowhere.
    pub(super) liveness: Option<SocketAddr>,
}

impl Introduction {
    pub(super) fn to_words(self, marks: RecordMarks) -> [u64; INTRODUCTION_WORDS] {
        let (ip, port) = match self.liveness {
            Some(SocketAddr::V4(v4)) => (v4.ip().to_ipv6_mapped(), v4.port()),
            Some(SocketAddr::V6(v6)) => (*v6.ip(), v6.port()),
            None => (Ipv6Addr::UNSPECIFIED, 0),
        };
        let ip = u128::from(ip);
        let words = [
            self.instance,
            ip as u64,
            (ip >> 64) as u64,
            u64::from(port),
            0,
        ];
        let mark = marks.seal(&words[..4]);
        [words[0], words[1], words[2], words[3], mark]
    }

    /// Reads an introduction; `None`: it is not there, or not whole.
    pub(super) fn read(
        words: [u64; INTRODUCTION_WORDS],
        marks: RecordMarks,
    ) -> Option<Introduction> {
        if marks.seal(&words[..4]) != words[4] {
            return None;
        }
        let ip = Ipv6Addr::from(u128::from(words[1]) | u128::from(words[2]) << 64);
        let port = u16::try_from(words[3]).ok()?;
        let address = SocketAddr::new(IpAddr::from(ip).to_canonical(), port);
        Some(Introduction {
            instance: words[0],
            liveness: (port != 0).then_some(address),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_introduction_is_read_as_it_was_written() {
        let marks = RecordMarks::new(77);
        for liveness in [
            None,
            Some("10.0.0.1:4000".parse().expect("an address")),
            Some("[fd00::1]:65535".parse().expect("an address")),
        ] {
            let introduction = Introduction {
                instance: u64::MAX - 5,
                liveness,
            };
            let words = introduction.to_words(marks);
            assert_eq!(Introduction::read(words, marks), Some(introduction));
            for word in 0..INTRODUCTION_WORDS {
                let mut torn = words;
                torn[word] ^= 0x100;
                assert_eq!(Introduction::read(torn, marks), None, "word {word}");
            }
            assert_eq!(Introduction::read(words, RecordMarks::new(78)), None);
        }
    }

    #[test]
    fn memory_that_nobody_wrote_is_none() {
        assert_eq!(
            Introduction::read([0; INTRODUCTION_WORDS], RecordMarks::new(9)),
            None
        );
    }
}
