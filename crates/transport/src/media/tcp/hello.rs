//! The handshake of media over TCP: what a receiver says first, and what the sender answers.
//!
//! ```text
//!   hello: receiver to sender, little endian but for `order`
//!   0       8         10         12      16     20         24      40         48         56    58         60  64
//!   +-------+---------+----------+-------+------+----------+-------+----------+----------+-----+----------+---+
//!   | magic | version | protocol | order | link | receiver | token | instance | position | way | lifeline | 0 |
//!   |       | u16     | u16      | u32   | u32  | u32      | [16]  | u64      | u64      | u16 | u16      |   |
//!   +-------+---------+----------+-------+------+----------+-------+----------+----------+-----+----------+---+
//!   answer: sender to receiver
//!   0        8         10       12              16                 24        32            256
//!   +--------+---------+--------+---------------+------------------+---------+-------------+
//!   | magic  | verdict | words  | frame bytes   | position         | ring    | what is     |
//!   |        | u16     | u16    | at most, u32  |                  | bytes   | wrong, UTF-8|
//!   +--------+---------+--------+---------------+------------------+---------+-------------+
//! ```
//! Both are of fixed length, so nothing is allocated for somebody who has not shown the token.
//! `order` is written in the byte order of the receiver: frames lie as they lay in memory.
//!
//! # Why two connections
//! A receiver makes one for credit and then one for frames. On the one for frames it says nothing
//! after its hello: when a process dies, the system delivers what it had written to a socket, unless
//! something has come on that socket that was not read. Then it throws both away.

/// Bytes of a hello.
pub(crate) const HELLO_BYTES: usize = 64;

/// Bytes of an answer.
pub(crate) const ANSWER_BYTES: usize = 256;

const MAGIC: [u8; 8] = *b"thalweg\n";
const VERSION: u16 = 2;
const ORDER: u32 = 0x0403_0201;
const WELCOME: u16 = 1;
const REFUSED: u16 = 2;
const ANSWER_HEAD: usize = 32;

/// How frames follow each other after the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Frame after frame.
    Tcp = 1,
    /// Batches with positions.
    Rum = 2,
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Frames to the receiver.
    Frames = 1,
    /// Credit to the sender.
    Credit = 2,
}

/// Who connects, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) protocol: Protocol,
    pub(crate) link: u32,
    pub(crate) receiver: u32,
    pub(crate) token: [u8; 16],
    /// Which end it is: a ticket makes one, which may connect again.
    pub(crate) instance: u64,
    /// The position that it expects next.
    pub(crate) position: u64,
    pub(crate) way: Way,
    /// The port that shows that it is alive; 0: it has none.
    pub(crate) lifeline: u16,
}

/// Whom a sender lets in.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) protocol: Protocol,
    pub(crate) link: u32,
    pub(crate) receivers: u32,
    pub(crate) token: [u8; 16],
}

/// What the sender says to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Frames follow.
    Welcome(Welcome),
    /// The connection is closed: what was wrong, in one sentence.
    Refused(String),
}

/// What a receiver has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Welcome {
    /// Where the frames begin.
    pub(crate) position: u64,
    /// Bytes of a payload at most.
    pub(crate) frame_bytes_max: u32,
    /// Bytes under way at most.
    pub(crate) ring_bytes: u64,
}

impl Hello {
    /// As it goes over the wire.
    pub(crate) fn to_bytes(self) -> [u8; HELLO_BYTES] {
        let mut bytes = [0; HELLO_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[10..12].copy_from_slice(&(self.protocol as u16).to_le_bytes());
        bytes[12..16].copy_from_slice(&ORDER.to_ne_bytes());
        bytes[16..20].copy_from_slice(&self.link.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.receiver.to_le_bytes());
        bytes[24..40].copy_from_slice(&self.token);
        bytes[40..48].copy_from_slice(&self.instance.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.position.to_le_bytes());
        bytes[56..58].copy_from_slice(&(self.way as u16).to_le_bytes());
        bytes[58..60].copy_from_slice(&self.lifeline.to_le_bytes());
        bytes
    }

    /// Checks what has come of a hello so far. `None`: not all of it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(bytes: &[u8], terms: &Terms) -> Result<Option<Hello>, String> {
        let magic = bytes.len().min(MAGIC.len());
        if bytes[..magic] != MAGIC[..magic] {
            return Err("this port is for receivers of a Thalweg stream only".to_owned());
        }
        let Some(bytes) = bytes.first_chunk::<HELLO_BYTES>() else {
            return Ok(None);
        };
        check_build(bytes, terms.protocol)?;
        let hello = Hello {
            protocol: terms.protocol,
            link: u32_at(bytes, 16),
            receiver: u32_at(bytes, 20),
            token: array_at(bytes, 24),
            instance: u64_at(bytes, 40),
            position: u64_at(bytes, 48),
            way: Way::from_number(u16_at(bytes, 56))?,
            lifeline: u16_at(bytes, 58),
        };
        hello.check(terms)?;
        Ok(Some(hello))
    }

    fn check(&self, terms: &Terms) -> Result<(), String> {
        if !is_same(&self.token, &terms.token) {
            return Err("the job's token is missing: the receiver is of another job".to_owned());
        }
        if self.link != terms.link {
            return Err(format!(
                "this is link {}, the receiver is of link {}",
                terms.link, self.link
            ));
        }
        if self.receiver >= terms.receivers {
            return Err(format!(
                "there is no receiver {}: the link has {}, and the first is 0",
                self.receiver, terms.receivers
            ));
        }
        Ok(())
    }
}

impl Way {
    fn from_number(number: u16) -> Result<Way, String> {
        match number {
            1 => Ok(Way::Frames),
            2 => Ok(Way::Credit),
            _ => Err(format!("{number} is no purpose of a connection")),
        }
    }
}

/// What does not depend on the job.
fn check_build(bytes: &[u8; HELLO_BYTES], protocol: Protocol) -> Result<(), String> {
    let version = u16_at(bytes, 8);
    if version != VERSION {
        return Err(format!(
            "the receiver speaks version {version}, this is version {VERSION}: \
             run the same Thalweg on both sides"
        ));
    }
    if u32::from_ne_bytes(array_at(bytes, 12)) != ORDER {
        let why = "the receiver has another byte order: use the codec `normal`";
        return Err(why.to_owned());
    }
    if u16_at(bytes, 10) != protocol as u16 {
        return Err("the receiver speaks another protocol over TCP".to_owned());
    }
    Ok(())
}

/// Takes the same time whatever differs.
fn is_same(left: &[u8; 16], right: &[u8; 16]) -> bool {
    let differences = left.iter().zip(right).map(|(left, right)| left ^ right);
    differences.fold(0, |all, one| all | one) == 0
}

impl Answer {
    /// As it goes over the wire.
    pub(crate) fn to_bytes(&self) -> [u8; ANSWER_BYTES] {
        let mut bytes = [0; ANSWER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        match self {
            Answer::Welcome(welcome) => {
                bytes[8..10].copy_from_slice(&WELCOME.to_le_bytes());
                bytes[12..16].copy_from_slice(&welcome.frame_bytes_max.to_le_bytes());
                bytes[16..24].copy_from_slice(&welcome.position.to_le_bytes());
                bytes[24..32].copy_from_slice(&welcome.ring_bytes.to_le_bytes());
            }
            Answer::Refused(why) => {
                let len = why.len().min(ANSWER_BYTES - ANSWER_HEAD);
                bytes[8..10].copy_from_slice(&REFUSED.to_le_bytes());
                bytes[10..12].copy_from_slice(&(len as u16).to_le_bytes());
                bytes[ANSWER_HEAD..ANSWER_HEAD + len].copy_from_slice(&why.as_bytes()[..len]);
            }
        }
        bytes
    }

    /// From the wire.
    ///
    /// # Errors
    /// Whoever answered is no sender of a stream.
    pub(crate) fn from_bytes(bytes: &[u8; ANSWER_BYTES]) -> Result<Answer, String> {
        match u16_at(bytes, 8) {
            _ if bytes[..8] != MAGIC => {}
            WELCOME => {
                return Ok(Answer::Welcome(Welcome {
                    position: u64_at(bytes, 16),
                    frame_bytes_max: u32_at(bytes, 12),
                    ring_bytes: u64_at(bytes, 24),
                }));
            }
            REFUSED => {
                let text = &bytes[ANSWER_HEAD..];
                let len = usize::from(u16_at(bytes, 10)).min(text.len());
                let why = String::from_utf8_lossy(&text[..len]);
                return Ok(Answer::Refused(why.into_owned()));
            }
            _ => {}
        }
        Err("whoever listens there is not the sender of a Thalweg stream".to_owned())
    }
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, at))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: Terms = Terms {
        protocol: Protocol::Tcp,
        link: 7,
        receivers: 3,
        token: *b"sixteen secret b",
    };

    fn hello() -> Hello {
        Hello {
            protocol: Protocol::Tcp,
            link: 7,
            receiver: 2,
            token: TERMS.token,
            instance: 99,
            position: 1 << 40,
            way: Way::Frames,
            lifeline: 4711,
        }
    }

    fn refusal(hello: Hello) -> String {
        Hello::parse(&hello.to_bytes(), &TERMS).expect_err("refused")
    }

    #[test]
    fn a_hello_comes_out_as_it_went_in() {
        let bytes = hello().to_bytes();
        assert_eq!(Hello::parse(&bytes, &TERMS), Ok(Some(hello())));
        for len in 0..bytes.len() {
            assert_eq!(Hello::parse(&bytes[..len], &TERMS), Ok(None), "{len}");
        }
    }

    #[test]
    fn whatever_differs_is_said() {
        let link = refusal(Hello { link: 8, ..hello() });
        assert_eq!(link, "this is link 7, the receiver is of link 8");
        let receiver = refusal(Hello {
            receiver: 3,
            ..hello()
        });
        assert!(receiver.starts_with("there is no receiver 3"), "{receiver}");
        for at in 0..16 {
            let mut token = TERMS.token;
            token[at] ^= 1;
            let why = refusal(Hello { token, ..hello() });
            assert!(why.contains("token"), "{why}");
        }
    }

    #[test]
    fn strangers_are_refused_by_their_first_bytes() {
        assert!(Hello::parse(b"G", &TERMS).is_err());
        assert!(Hello::parse(b"thalwag", &TERMS).is_err());
        let places = [
            (8, "version"),
            (12, "byte order"),
            (0, "receivers"),
            (56, "purpose"),
        ];
        for (at, word) in places {
            let mut bytes = hello().to_bytes();
            bytes[at] ^= 0x10;
            let why = Hello::parse(&bytes, &TERMS).expect_err("refused");
            assert!(why.contains(word), "{why}");
        }
    }

    #[test]
    fn answers_come_out_as_they_went_in() {
        let welcome = Answer::Welcome(Welcome {
            position: 5,
            frame_bytes_max: 6,
            ring_bytes: 7,
        });
        let refused = Answer::Refused("no".to_owned());
        for answer in [welcome, refused] {
            assert_eq!(Answer::from_bytes(&answer.to_bytes()), Ok(answer));
        }
        let long = Answer::Refused("long ".repeat(100));
        let cut = Answer::from_bytes(&long.to_bytes());
        assert!(matches!(cut, Ok(Answer::Refused(why)) if why.len() == 224));
        assert!(Answer::from_bytes(&[b'x'; ANSWER_BYTES]).is_err());
    }
}
