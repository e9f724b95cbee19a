//! Positions as bytes: in frames of their own, and behind the payload of a tuple.

use transport::Error;

/// Most numbers of a position. No sender makes more, so a longer one is a broken frame.
pub(crate) const POSITION_LEN_MAX: usize = 1 << 12;

/// Writes a position as it is sent: its numbers, 8 bytes each, little endian.
pub(crate) fn encode_position(position: &[u64], bytes: &mut Vec<u8>) {
    bytes.clear();
    for number in position {
        bytes.extend(number.to_le_bytes());
    }
}

/// Writes a tuple with its position, as they are sent in one frame.
///
/// ```text
///   payload | up to 7 bytes | numbers of 8 bytes | how many, and those up to 7: 4 bytes each
/// ```
pub(crate) fn seal_tuple(payload: &[u8], position: &[u8], bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.extend(payload);
    bytes.resize(payload.len().next_multiple_of(8), 0);
    let filled = bytes.len() - payload.len();
    bytes.extend(position);
    bytes.extend((position.len() as u32 / 8).to_le_bytes());
    bytes.extend((filled as u32).to_le_bytes());
}

/// Bytes of a sealed tuple whose payload and position have these lengths.
pub(crate) fn sealed_bytes(payload: usize, position: usize) -> usize {
    payload.next_multiple_of(8) + position + 8
}

/// The payload of a sealed tuple, and the numbers of its position.
///
/// # Errors
/// The bytes do not end as [`seal_tuple`] ends them.
pub(crate) fn open_sealed(bytes: &[u8]) -> Result<(&[u8], &[[u8; 8]]), Error> {
    let opened = bytes.split_last_chunk::<8>().and_then(|(rest, word)| {
        let word = u64::from_le_bytes(*word);
        let (count, filled) = (word as u32 as usize, (word >> 32) as usize);
        let (payload, numbers) = rest.split_at_checked(rest.len().checked_sub(count * 8)?)?;
        let payload = payload.get(..payload.len().checked_sub(filled)?)?;
        (1..=POSITION_LEN_MAX)
            .contains(&count)
            .then_some((payload, numbers.as_chunks().0))
    });
    opened.ok_or_else(|| refused_error("a tuple has no position behind it"))
}

/// Reads a position as [`encode_position`] writes it.
///
/// # Errors
/// The bytes are no position.
pub(crate) fn decode_position(bytes: &[u8], position: &mut Vec<u64>) -> Result<(), Error> {
    let (numbers, rest) = bytes.as_chunks();
    if !rest.is_empty() || numbers.is_empty() || numbers.len() > POSITION_LEN_MAX {
        let message = format!("a position of {} bytes is none", bytes.len());
        return Err(refused_error(&message));
    }
    position.clear();
    position.extend(numbers.iter().map(|number| u64::from_le_bytes(*number)));
    Ok(())
}

/// The error of a frame that no sender of this version makes.
pub(crate) fn refused_error(what: &str) -> Error {
    Error::Refused(what.to_owned())
}
