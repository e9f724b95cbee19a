//! The check of what a sender has sent: a message of mode `channel`, a record of mode `write`.

use ring::frame::{FrameHeader, HEADER_BYTES, frame_bytes};

/// Checks that frames add up to the bytes of their message or record.
///
/// # Errors
/// A text that says what is wrong with it.
pub(super) fn check_frames(mut bytes: &[u8]) -> Result<(), String> {
    if bytes.is_empty() {
        return Err("it is empty".to_owned());
    }
    while let Some(word) = bytes.first_chunk::<HEADER_BYTES>() {
        let word = u64::from_ne_bytes(*word);
        let header = FrameHeader::try_from_word(word);
        let header = header.ok_or_else(|| format!("{word:#x} is no header of a frame"))?;
        let frame = frame_bytes(header.len as usize);
        bytes = bytes.get(frame..).ok_or_else(|| {
            let rest = bytes.len();
            format!("a frame of {frame} bytes begins {rest} bytes before its end")
        })?;
    }
    match bytes.len() {
        0 => Ok(()),
        rest => Err(format!("{rest} bytes are left behind its last frame")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_add_up_to_their_message() {
        let header = |len, kind| FrameHeader {
            len,
            kind,
            flags: 0,
        };
        let words = |words: &[u64]| {
            words
                .iter()
                .flat_map(|w| w.to_ne_bytes())
                .collect::<Vec<u8>>()
        };
        let (empty, nine) = (header(0, 3).to_word(), header(9, 1).to_word());
        for right in [&[empty][..], &[nine, 1, 2], &[nine, 1, 2, empty, empty]] {
            assert_eq!(check_frames(&words(right)), Ok(()));
        }
        let refusal = |bytes: &[u8]| check_frames(bytes).unwrap_err();
        assert_eq!(refusal(&[]), "it is empty");
        assert_eq!(
            refusal(&words(&[empty, nine, 1])),
            "a frame of 24 bytes begins 16 bytes before its end"
        );
        assert_eq!(
            refusal(&words(&[u64::MAX])),
            "0xffffffffffffffff is no header of a frame"
        );
        assert_eq!(
            refusal(&words(&[empty, empty])[..12]),
            "4 bytes are left behind its last frame"
        );
    }
}
