//! UTF-16 and UTF-32, in both byte orders.

/// The byte order that a mark at the beginning states, and what follows the mark.
pub fn split_byte_order_mark(bytes: &[u8], width: usize, big: bool) -> (bool, &[u8]) {
    for order in [false, true] {
        if bytes.starts_with(&encode_wide(['\u{FEFF}'].into_iter(), width, order)) {
            return (order, &bytes[width..]);
        }
    }
    (big, bytes)
}

/// The text of whole units.
pub fn decode_wide(bytes: &[u8], width: usize, big: bool) -> String {
    let whole = bytes.chunks_exact(width);
    let cut_off = !whole.remainder().is_empty();
    let units = whole.map(|unit| {
        let digit = |n: u32, b: &u8| n << 8 | u32::from(*b);
        if big {
            unit.iter().fold(0, digit)
        } else {
            unit.iter().rev().fold(0, digit)
        }
    });
    let mut text: String = match width {
        2 => char::decode_utf16(units.map(|u| u as u16))
            .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect(),
        _ => units
            .map(|u| char::from_u32(u).unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect(),
    };
    if cut_off {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text
}

/// The units of a text.
pub fn encode_wide(chars: impl Iterator<Item = char>, width: usize, big: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |unit: u32| {
        let all = unit.to_le_bytes();
        if big {
            bytes.extend(all[..width].iter().rev());
        } else {
            bytes.extend_from_slice(&all[..width]);
        }
    };
    for c in chars {
        match width {
            2 => c
                .encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|&unit| put(unit.into())),
            _ => put(c.into()),
        }
    }
    bytes
}

/// Whether the last unit of UTF-16 is the first of a pair.
pub fn ends_within_pair(bytes: &[u8], big: bool) -> bool {
    let high = match bytes {
        [.., high, _] if big => high,
        [.., _, high] if !big => high,
        _ => return false,
    };
    (0xD8..0xDC).contains(high)
}
