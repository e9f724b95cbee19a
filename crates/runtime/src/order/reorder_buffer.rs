//! The reorder buffer: items of one stream that wait for their turn.

use std::collections::VecDeque;

use ring::frame::Frame;
use transport::Error;
use transport::fragment::FragmentAssembler;

use super::order_position;
use super::position_frames::{decode_position, open_sealed, refused_error};
use crate::edge::frame_kind;

/// Tuples and markers of a stream, with their positions. Has memory for a usual poll of the medium
/// from the beginning, and keeps what it grows to.
#[derive(Default)]
pub(crate) struct ReorderBuffer {
    items: VecDeque<ReorderItem>,
    /// Number of items that were removed, which is the number of the first one that is left.
    popped: u64,
    /// The origin of all items with a position, while they have one.
    only_origin: Option<u64>,
    /// By origin: the numbers of its items, in order. Only kept for streams of several origins.
    items_by_origin: Vec<(u64, VecDeque<u64>)>,
    /// Positions and payloads: words of items that are there, and of some that were removed.
    words: Vec<u64>,
    /// Number of words that were dropped before these. Items count from the first word that there
    /// ever was.
    words_dropped: usize,
    assembly: FragmentAssembler,
    /// Position for the item that is pushed next; empty if no frame has brought one.
    next_position: Vec<u64>,
    /// Position of the last progress or precedence frame.
    last_progress: Vec<u64>,
}

/// A tuple, marker or note that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReorderItem {
    pub kind: ReorderItemKind,
    /// Words of the position: the first one, and their number.
    position: (usize, usize),
    /// The first word of the payload, and its bytes.
    payload: (usize, usize),
}

impl ReorderItem {
    /// Whether it is a tuple or marker with a position, and no note.
    fn has_position(&self) -> bool {
        let is_note = matches!(
            self.kind,
            ReorderItemKind::Precedence | ReorderItemKind::Stamp
        );
        self.position.1 > 0 && !is_note
    }
}

/// Kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReorderItemKind {
    Tuple,
    Window,
    /// A watermark, whose instant is the payload.
    Watermark,
    Final,
    /// End of the stream without a final marker.
    Abandoned,
    /// A precedence: items behind it stand behind its position.
    Precedence,
    /// A stamp: the time at which the item behind it was at hand, in place of a position.
    Stamp,
}

/// Meaning of a frame that was pushed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReorderPush {
    /// An item, or a piece of one.
    Item,
    /// The position of the item that the next frames bring.
    Position,
    /// Progress: nothing at or before [`ReorderBuffer::last_progress`] follows.
    Progress,
    /// Progress, and items that follow stand behind that position.
    Precedence,
}

/// Items, and words of them, that a poll of a full ring usually brings.
const POLL_ITEMS: usize = 1 << 11;
const POLL_WORDS: usize = 1 << 14;

/// Number of words of removed items above which a buffer that still has items is compacted, if they
/// are the larger part: fewer are not worth the copy.
const DEAD_WORDS_MIN: usize = 1 << 12;

impl ReorderBuffer {
    /// An empty buffer with room for a usual poll.
    pub fn new() -> ReorderBuffer {
        ReorderBuffer {
            items: VecDeque::with_capacity(POLL_ITEMS),
            words: Vec::with_capacity(POLL_WORDS),
            next_position: order_position::new_position(),
            last_progress: order_position::new_position(),
            ..ReorderBuffer::default()
        }
    }

    /// Declares an origin that the stream carries, with room for its items.
    pub fn expect_origin(&mut self, origin: u64) {
        match self.only_origin {
            None if self.items_by_origin.is_empty() => self.only_origin = Some(origin),
            _ => {
                self.tell_origins_apart();
                let numbers = VecDeque::with_capacity(POLL_ITEMS);
                self.items_by_origin.push((origin, numbers));
            }
        }
    }

    /// Begins to keep the numbers of each origin's items, for there are several origins.
    #[cold]
    fn tell_origins_apart(&mut self) {
        let Some(origin) = self.only_origin.take() else {
            return;
        };
        let mut numbers = VecDeque::with_capacity(POLL_ITEMS);
        let all = (self.popped..).zip(&self.items);
        let own = all.filter(|(_, item)| item.has_position());
        numbers.extend(own.map(|(number, _)| number));
        self.items_by_origin.push((origin, numbers));
    }

    /// Adds a frame with its order position.
    ///
    /// # Errors
    /// The frame is no part of a stream with positions.
    pub fn push_frame(&mut self, frame: Frame<'_>) -> Result<ReorderPush, Error> {
        let what = match frame.kind {
            frame_kind::TUPLE => ReorderItemKind::Tuple,
            frame_kind::POSITIONED_TUPLE if !self.assembly.is_partial() => {
                let (payload, position) = open_sealed(frame.bytes)?;
                self.next_position.clear();
                let at = self.words_end();
                self.words
                    .extend(position.iter().map(|number| u64::from_le_bytes(*number)));
                self.push_item_at(ReorderItemKind::Tuple, at, payload);
                return Ok(ReorderPush::Item);
            }
            _ if self.assembly.is_partial() => {
                return Err(refused_error("a marker came inside of a tuple"));
            }
            frame_kind::POSITION => {
                decode_position(frame.bytes, &mut self.next_position)?;
                return Ok(ReorderPush::Position);
            }
            frame_kind::PROGRESS => {
                decode_position(frame.bytes, &mut self.last_progress)?;
                return Ok(ReorderPush::Progress);
            }
            frame_kind::PRECEDENCE => {
                decode_position(frame.bytes, &mut self.last_progress)?;
                return Ok(ReorderPush::Precedence);
            }
            frame_kind::WATERMARK => {
                if frame_kind::decode_watermark(frame.bytes).is_none() {
                    return Err(refused_error("a watermark is no instant"));
                }
                self.push_item(ReorderItemKind::Watermark, frame.bytes);
                return Ok(ReorderPush::Item);
            }
            frame_kind::WINDOW => ReorderItemKind::Window,
            frame_kind::FINAL => ReorderItemKind::Final,
            frame_kind::ABANDONED => ReorderItemKind::Abandoned,
            kind => {
                let message = format!("a frame is of kind {kind}, which means nothing");
                return Err(refused_error(&message));
            }
        };
        let mut assembly = std::mem::take(&mut self.assembly);
        match what {
            ReorderItemKind::Tuple => {
                if let Some(payload) = assembly.add_fragment(frame.flags, frame.bytes)? {
                    self.push_item(what, payload);
                }
            }
            _ => self.push_item(what, &[]),
        }
        self.assembly = assembly;
        Ok(ReorderPush::Item)
    }

    /// Position of the last progress or precedence frame.
    pub fn last_progress(&self) -> &[u64] {
        &self.last_progress
    }

    /// Adds the last precedence as an item, behind the items that came before it.
    pub fn push_precedence(&mut self) {
        let at = (self.words_end(), self.last_progress.len());
        self.words.extend(&self.last_progress);
        self.items.push_back(ReorderItem {
            kind: ReorderItemKind::Precedence,
            position: at,
            payload: (self.words_end(), 0),
        });
    }

    /// Adds a stamp, before the item that it belongs to.
    pub fn push_stamp(&mut self, sent_ns: u64) {
        let at = (self.words_end(), 1);
        self.words.push(sent_ns);
        self.items.push_back(ReorderItem {
            kind: ReorderItemKind::Stamp,
            position: at,
            payload: (self.words_end(), 0),
        });
    }

    fn push_item(&mut self, what: ReorderItemKind, payload: &[u8]) {
        let at = self.words_end();
        self.words.append(&mut self.next_position);
        self.push_item_at(what, at, payload);
    }

    /// Adds an item whose position is in the words already, from `begin` on.
    fn push_item_at(&mut self, what: ReorderItemKind, begin: usize, payload: &[u8]) {
        let position = (begin, self.words_end() - begin);
        if let Some(&origin) = self.words.get(begin - self.words_dropped) {
            self.add_to_origin(origin);
        }
        let at = self.words_end();
        let (whole, rest) = payload.as_chunks();
        self.words
            .extend(whole.iter().map(|word| u64::from_ne_bytes(*word)));
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.words.push(u64::from_ne_bytes(word));
        }
        self.items.push_back(ReorderItem {
            kind: what,
            position,
            payload: (at, payload.len()),
        });
    }

    /// Notes the origin of the item that is pushed next.
    #[inline]
    fn add_to_origin(&mut self, origin: u64) {
        if self.only_origin != Some(origin) {
            self.add_to_other_origin(origin);
        }
    }

    #[cold]
    fn add_to_other_origin(&mut self, origin: u64) {
        if self.only_origin.is_none() && self.items_by_origin.is_empty() {
            self.only_origin = Some(origin);
            return;
        }
        self.tell_origins_apart();
        let number = self.popped + self.items.len() as u64;
        let mut known = self.items_by_origin.iter_mut();
        match known.find(|(known, _)| *known == origin) {
            Some((_, numbers)) => numbers.push_back(number),
            None => self
                .items_by_origin
                .push((origin, VecDeque::from([number]))),
        }
    }

    /// Whether nothing waits, not even a part of a tuple.
    pub fn holds_nothing(&self) -> bool {
        self.items.is_empty() && !self.assembly.is_partial()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Bytes of the items that wait.
    pub fn bytes(&self) -> usize {
        (self.words.len() - self.dead_words()) * 8
    }

    /// Index of the first word of the item that is pushed next.
    fn words_end(&self) -> usize {
        self.words_dropped + self.words.len()
    }

    /// Number of words before those of the first item.
    fn dead_words(&self) -> usize {
        let first = self.items.front();
        first.map_or(self.words.len(), |item| {
            item.position.0 - self.words_dropped
        })
    }

    /// Whether the last item ends the stream, so that the medium's end may be closed by now.
    pub fn is_complete(&self) -> bool {
        let last = self.items.back();
        last.is_some_and(|item| {
            matches!(
                item.kind,
                ReorderItemKind::Final | ReorderItemKind::Abandoned
            )
        })
    }

    /// The first item that waits.
    pub fn first(&self) -> Option<ReorderItem> {
        self.items.front().copied()
    }

    /// Position of the first item of an origin, and whether that is the first of all.
    pub fn first_of_origin(&self, origin: u64) -> Option<(&[u64], bool)> {
        let at = match self.only_origin {
            Some(only) if only == origin => {
                self.items.iter().position(ReorderItem::has_position)?
            }
            Some(_) => return None,
            None => {
                let mut known = self.items_by_origin.iter();
                let (_, numbers) = known.find(|(known, _)| *known == origin)?;
                (numbers.front()? - self.popped) as usize
            }
        };
        Some((self.position(self.items[at]), at == 0))
    }

    /// Position of an item; empty if it has none.
    pub fn position(&self, item: ReorderItem) -> &[u64] {
        let (begin, len) = item.position;
        &self.words[begin - self.words_dropped..][..len]
    }

    /// Payload of an item; it begins at a multiple of 8 bytes.
    pub fn payload(&self, item: ReorderItem) -> &[u8] {
        let (begin, len) = item.payload;
        let bytes: &[u8] = bytemuck::cast_slice(&self.words[begin - self.words_dropped..]);
        &bytes[..len]
    }

    /// Removes the first item.
    pub fn pop(&mut self) {
        let Some(item) = self.items.pop_front() else {
            return;
        };
        if self.only_origin.is_none() && item.has_position() {
            let origin = self.position(item)[0];
            let mut known = self.items_by_origin.iter_mut();
            if let Some((_, numbers)) = known.find(|(known, _)| *known == origin) {
                numbers.pop_front();
            }
        }
        self.popped += 1;
        self.reclaim_words();
    }

    /// Drops the words of removed items when no item is left, or when these words are the larger
    /// part and more than [`DEAD_WORDS_MIN`].
    fn reclaim_words(&mut self) {
        let dead = self.dead_words();
        let is_worth_it =
            self.items.is_empty() || dead > DEAD_WORDS_MIN && 2 * dead > self.words.len();
        if is_worth_it {
            self.words.drain(..dead);
            self.words_dropped += dead;
        }
    }
}

#[cfg(test)]
mod tests {
    use transport::fragment::{FIRST, LAST, WHOLE};

    use super::super::position_frames::{
        POSITION_LEN_MAX, encode_position, seal_tuple, sealed_bytes,
    };
    use super::*;

    fn frame(kind: u8, flags: u8, bytes: &[u8]) -> Frame<'_> {
        Frame { kind, flags, bytes }
    }

    fn at(position: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode_position(position, &mut bytes);
        bytes
    }

    /// A stream that is never all taken holds no more than what waits, and little memory besides.
    #[test]
    fn what_is_done_with_is_given_back() {
        let mut buffer = ReorderBuffer::default();
        for number in 0..100_000u64 {
            buffer
                .push_frame(frame(frame_kind::POSITION, WHOLE, &at(&[7, number])))
                .unwrap();
            let payload = number.to_le_bytes();
            buffer
                .push_frame(frame(frame_kind::TUPLE, WHOLE, &payload))
                .unwrap();
            assert!(buffer.bytes() <= 2 * 24, "{number}: {}", buffer.bytes());
            if number == 0 {
                continue;
            }
            let first = buffer.first().unwrap();
            assert_eq!(buffer.position(first), [7, number - 1]);
            assert_eq!(buffer.payload(first), (number - 1).to_le_bytes());
            buffer.pop();
        }
        assert!(
            buffer.words.len() < 4 * DEAD_WORDS_MIN,
            "{}",
            buffer.words.len()
        );
    }

    #[test]
    fn items_come_out_with_their_positions_and_payloads() {
        let mut buffer = ReorderBuffer::default();
        let position = at(&[7, 4]);
        assert_eq!(
            buffer
                .push_frame(frame(frame_kind::POSITION, WHOLE, &position))
                .unwrap(),
            ReorderPush::Position
        );
        buffer
            .push_frame(frame(frame_kind::TUPLE, FIRST, b"0123456789abcdef"))
            .unwrap();
        assert!(buffer.is_empty());
        buffer
            .push_frame(frame(frame_kind::TUPLE, LAST, b"xyz"))
            .unwrap();
        buffer
            .push_frame(frame(frame_kind::WINDOW, WHOLE, b""))
            .unwrap();
        let first = buffer.first().unwrap();
        assert_eq!(
            (first.kind, buffer.position(first)),
            (ReorderItemKind::Tuple, &[7, 4][..])
        );
        assert_eq!(buffer.payload(first), b"0123456789abcdefxyz");
        assert_eq!(buffer.first_of_origin(7), Some((&[7, 4][..], true)));
        buffer.pop();
        let second = buffer.first().unwrap();
        assert_eq!(
            (second.kind, buffer.position(second)),
            (ReorderItemKind::Window, &[][..])
        );
        assert_eq!(buffer.first_of_origin(7), None);
    }

    #[test]
    fn the_first_of_each_origin_is_known() {
        let mut buffer = ReorderBuffer::default();
        for position in [[7, 4], [9, 1], [7, 5], [9, 2]] {
            let mut sealed = Vec::new();
            seal_tuple(b"", &at(&position), &mut sealed);
            buffer
                .push_frame(frame(frame_kind::POSITIONED_TUPLE, WHOLE, &sealed))
                .unwrap();
        }
        let mark = at(&[9, 1, 5]);
        let took = buffer
            .push_frame(frame(frame_kind::PRECEDENCE, WHOLE, &mark))
            .unwrap();
        assert_eq!(
            (took, buffer.last_progress()),
            (ReorderPush::Precedence, &[9, 1, 5][..])
        );
        buffer.push_precedence();
        let firsts = |buffer: &ReorderBuffer| {
            let first = |origin| {
                buffer
                    .first_of_origin(origin)
                    .map(|(position, is_first)| (position[1], is_first))
            };
            (first(7), first(9))
        };
        let expected = [
            (Some((4, true)), Some((1, false))),
            (Some((5, false)), Some((1, true))),
            (Some((5, true)), Some((2, false))),
            (None, Some((2, true))),
            // A precedence is left, which is no item of an origin.
            (None, None),
        ];
        for expected in expected {
            assert_eq!(firsts(&buffer), expected);
            buffer.pop();
        }
        assert!(buffer.is_empty());
    }

    #[test]
    fn a_tuple_and_its_position_are_one_frame() {
        for payload in [&b""[..], b"1", b"12345678", b"0123456789abc"] {
            let (mut sealed, mut buffer) = (Vec::new(), ReorderBuffer::default());
            seal_tuple(payload, &at(&[7, 4, 0]), &mut sealed);
            assert_eq!(sealed.len(), sealed_bytes(payload.len(), 24));
            assert_eq!(
                buffer
                    .push_frame(frame(frame_kind::POSITIONED_TUPLE, WHOLE, &sealed))
                    .unwrap(),
                ReorderPush::Item
            );
            let item = buffer.first().unwrap();
            assert_eq!(
                (buffer.payload(item), buffer.position(item)),
                (payload, &[7, 4, 0][..])
            );
            for end in 0..sealed.len() {
                // Whatever it is, it is within the bytes.
                let _ = ReorderBuffer::default().push_frame(frame(
                    frame_kind::POSITIONED_TUPLE,
                    WHOLE,
                    &sealed[..end],
                ));
            }
        }
        let mut buffer = ReorderBuffer::default();
        for bytes in [&b""[..], b"1234567", &[0; 8], &[255; 64]] {
            assert!(
                buffer
                    .push_frame(frame(frame_kind::POSITIONED_TUPLE, WHOLE, bytes))
                    .is_err()
            );
        }
    }

    #[test]
    fn what_is_no_position_is_refused() {
        let mut buffer = ReorderBuffer::default();
        for bytes in [&b""[..], b"1234567", &vec![0; 8 * (POSITION_LEN_MAX + 1)]] {
            assert!(
                buffer
                    .push_frame(frame(frame_kind::POSITION, WHOLE, bytes))
                    .is_err()
            );
            assert!(
                buffer
                    .push_frame(frame(frame_kind::PROGRESS, WHOLE, bytes))
                    .is_err()
            );
            assert!(
                buffer
                    .push_frame(frame(frame_kind::PRECEDENCE, WHOLE, bytes))
                    .is_err()
            );
        }
        assert!(buffer.push_frame(frame(99, WHOLE, b"")).is_err());
        buffer
            .push_frame(frame(frame_kind::TUPLE, FIRST, b"12345678"))
            .unwrap();
        assert!(
            buffer
                .push_frame(frame(frame_kind::FINAL, WHOLE, b""))
                .is_err()
        );
    }
}
