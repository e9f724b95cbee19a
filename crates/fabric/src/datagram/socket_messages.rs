//! Bytes on the socket beside two endpoints: a request, its answer, and words of one byte.
//!
//! ```text
//!   request   magic "tlgF"  bytes of name u16  bytes of data u16  name  data
//!   answer    'A'           bytes of name u16  bytes of data u16  name  data
//!   refusal   'R'           0 u16             bytes of words u16  words: why, in UTF-8
//!   then      'C' the connection is made, by the side that has asked
//!             'S' this side is about to sleep, 'W' the other side has posted something
//! ```
//! Numbers are little endian. Nothing of a peer is believed here but lengths within their limits.

use std::collections::VecDeque;

const MAGIC: [u8; 4] = *b"tlgF";

/// Most bytes of an endpoint's name: as many as the longest of libfabric's providers.
pub(crate) const NAME_BYTES_MAX: usize = 256;

/// Most bytes of a request's or an answer's data.
const DATA_BYTES_MAX: usize = 256;

/// Word of a side that is about to sleep.
pub(super) const ASLEEP: u8 = b'S';

/// Word that wakes the other side.
pub(super) const WAKE: u8 = b'W';

/// Word of the side that has asked, once it has opened the peer's endpoint.
pub(super) const MADE: u8 = b'C';

/// First byte of a refusal.
const REFUSED: u8 = b'R';

/// First byte of an answer.
const ANSWERED: u8 = b'A';

/// A message of a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SocketMessage {
    /// The peer asks for a connection.
    Request { name: Vec<u8>, data: Vec<u8> },
    /// The peer has accepted.
    Answer { name: Vec<u8>, data: Vec<u8> },
    /// The side that has asked has opened this side's endpoint.
    Made,
    /// The peer has refused, and says why.
    Refused { why: Vec<u8> },
    /// The peer is about to sleep.
    Asleep,
    /// The peer has posted something since this side has told that it sleeps.
    Wake,
}

/// The bytes of a request.
pub(crate) fn request(name: &[u8], data: &[u8]) -> Vec<u8> {
    with_lengths(&MAGIC, name, data)
}

/// The bytes of an answer.
pub(crate) fn answer(name: &[u8], data: &[u8]) -> Vec<u8> {
    with_lengths(&[ANSWERED], name, data)
}

/// The bytes of a refusal.
pub(crate) fn refusal(why: &str) -> Vec<u8> {
    let words = why.as_bytes();
    with_lengths(&[REFUSED], &[], &words[..words.len().min(DATA_BYTES_MAX)])
}

fn with_lengths(head: &[u8], name: &[u8], data: &[u8]) -> Vec<u8> {
    let mut bytes = head.to_vec();
    bytes.extend((name.len() as u16).to_le_bytes());
    bytes.extend((data.len() as u16).to_le_bytes());
    bytes.extend(name);
    bytes.extend(data);
    bytes
}

/// Takes the message that bytes begin with; `None`: some of it is missing. `is_asked` says whether
/// a request comes first.
///
/// # Errors
/// The bytes are none of these; the text says why.
pub(super) fn take_message(
    bytes: &mut VecDeque<u8>,
    is_asked: &mut bool,
) -> Result<Option<SocketMessage>, String> {
    let Some(&first) = bytes.front() else {
        return Ok(None);
    };
    let head = match (*is_asked, first) {
        (true, _) if bytes.iter().zip(MAGIC).any(|(one, other)| *one != other) => {
            return Err("its first bytes are not those of a peer".to_owned());
        }
        (true, _) => MAGIC.len(),
        (false, ANSWERED | REFUSED) => 1,
        (false, word) => {
            bytes.pop_front();
            return take_word(word).map(Some);
        }
    };
    let Some((name, data)) = take_parts(bytes, head)? else {
        return Ok(None);
    };
    Ok(Some(match std::mem::take(is_asked) {
        true => SocketMessage::Request { name, data },
        false if first == REFUSED => SocketMessage::Refused { why: data },
        false => SocketMessage::Answer { name, data },
    }))
}

fn take_word(word: u8) -> Result<SocketMessage, String> {
    match word {
        MADE => Ok(SocketMessage::Made),
        ASLEEP => Ok(SocketMessage::Asleep),
        WAKE => Ok(SocketMessage::Wake),
        _ => Err(format!("{word:#x} is no word of a peer")),
    }
}

/// A name and data.
type Parts = (Vec<u8>, Vec<u8>);

/// Takes a name and data behind a head of `head` bytes; `None`: some bytes are missing.
fn take_parts(bytes: &mut VecDeque<u8>, head: usize) -> Result<Option<Parts>, String> {
    if bytes.len() < head + 4 {
        return Ok(None);
    }
    let len = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let (name, data) = (len(head), len(head + 2));
    if name > NAME_BYTES_MAX || data > DATA_BYTES_MAX {
        return Err(format!(
            "{name} bytes of name and {data} of data are too many"
        ));
    }
    if bytes.len() < head + 4 + name + data {
        return Ok(None);
    }
    bytes.drain(..head + 4);
    let name = bytes.drain(..name).collect();
    Ok(Some((name, bytes.drain(..data).collect())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_were_sent_however_they_come() {
        let (name, data) = (b"fi_shm://1:0:0\0".to_vec(), vec![7; 55]);
        let mut sent = request(&name, &data);
        sent.extend([MADE, ASLEEP, WAKE]);
        sent.extend(answer(&name, &[]));
        sent.extend(refusal("full"));
        let expected = [
            SocketMessage::Request {
                name: name.clone(),
                data,
            },
            SocketMessage::Made,
            SocketMessage::Asleep,
            SocketMessage::Wake,
            SocketMessage::Answer { name, data: vec![] },
            SocketMessage::Refused {
                why: b"full".to_vec(),
            },
        ];
        for pace in 1..=sent.len() {
            let (mut bytes, mut is_asked, mut read) = (VecDeque::new(), true, Vec::new());
            for part in sent.chunks(pace) {
                bytes.extend(part);
                while let Some(message) = take_message(&mut bytes, &mut is_asked).unwrap() {
                    read.push(message);
                }
            }
            assert_eq!(read, expected, "{pace} bytes at a time");
        }
    }

    #[test]
    fn other_bytes_are_refused() {
        let refusal = |bytes: &[u8], mut is_asked| {
            let mut bytes = bytes.iter().copied().collect();
            take_message(&mut bytes, &mut is_asked).unwrap_err()
        };
        assert!(refusal(b"GET /", true).contains("not those of a peer"));
        assert!(refusal(b"tlgF\xff\xff\0\0", true).contains("65535 bytes of name"));
        assert!(refusal(b"x", false).contains("0x78 is no word"));
    }
}
