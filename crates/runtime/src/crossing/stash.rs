//! What has come by one stream and waits for its turn.

use std::collections::VecDeque;

use ring::frame::Frame;
use transport::Error;
use transport::fragment::Assembly;

use super::{order, wire};

/// Tuples and markers of a stream, with their places. Has memory for what a poll of the medium usually
/// brings from the beginning, and keeps what it grows to.
#[derive(Default)]
pub(super) struct Stash {
    items: VecDeque<Item>,
    /// Items that are done with: the number of the first one that is not.
    popped: u64,
    /// By origin: the numbers of what waits of it.
    waiting: Vec<(u64, VecDeque<u64>)>,
    /// Places, and payloads: words of items that are there, and some of items that are done with.
    words: Vec<u64>,
    /// Words that were before those. Items count from the first word that there ever was.
    gone: usize,
    assembly: Assembly,
    /// Of the item that comes next.
    place: Vec<u64>,
    /// Of the last mark.
    mark: Vec<u64>,
}

/// Something that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub what: What,
    /// Words of the place.
    place: (usize, usize),
    /// The first word of the payload, and its bytes.
    payload: (usize, usize),
}

/// A tuple or a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Tuple,
    Window,
    /// With its instant as payload.
    Watermark,
    Final,
    /// The stream ends without a marker.
    Abandoned,
    /// What is behind it stands behind its place.
    Behind,
    /// When what is behind it was at hand: a time, in place of a place.
    Stamp,
}

/// What a frame was.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Took {
    /// An item, or a piece of one.
    Item,
    /// The place of the next item.
    Place,
    /// A mark: nothing at or before [`Stash::mark`] comes any more.
    Reached,
    /// The same, and what comes stands behind that.
    Behind,
}

/// What a poll usually brings: items, and words of them.
const POLL_ITEMS: usize = 1 << 11;
const POLL_WORDS: usize = 1 << 14;

/// So many words of items that are done with do not matter.
const DEAD_WORDS: usize = 1 << 12;

/// A place has at most so many numbers: more come from nobody.
const NUMBERS_MAX: usize = 1 << 12;

impl Stash {
    /// An empty one.
    pub fn new() -> Stash {
        Stash {
            items: VecDeque::with_capacity(POLL_ITEMS),
            words: Vec::with_capacity(POLL_WORDS),
            place: order::room(),
            mark: order::room(),
            ..Stash::default()
        }
    }

    /// The stream comes by the order of an origin.
    pub fn expect(&mut self, origin: u64) {
        let numbers = VecDeque::with_capacity(POLL_ITEMS);
        self.waiting.push((origin, numbers));
    }

    /// Takes a frame.
    pub fn take(&mut self, frame: Frame<'_>) -> Result<Took, Error> {
        let what = match frame.kind {
            wire::TUPLE => What::Tuple,
            wire::PLACED if !self.assembly.is_begun() => {
                let (payload, place) = open(frame.bytes)?;
                self.place.clear();
                self.place.extend(place);
                self.push(What::Tuple, payload);
                return Ok(Took::Item);
            }
            _ if self.assembly.is_begun() => {
                return Err(refused("a marker came inside of a tuple"));
            }
            wire::AT => {
                read(frame.bytes, &mut self.place)?;
                return Ok(Took::Place);
            }
            wire::REACHED => {
                read(frame.bytes, &mut self.mark)?;
                return Ok(Took::Reached);
            }
            wire::BEHIND => {
                read(frame.bytes, &mut self.mark)?;
                return Ok(Took::Behind);
            }
            wire::WATERMARK => {
                if wire::read_watermark(frame.bytes).is_none() {
                    return Err(refused("a watermark is no instant"));
                }
                self.push(What::Watermark, frame.bytes);
                return Ok(Took::Item);
            }
            wire::WINDOW => What::Window,
            wire::FINAL => What::Final,
            wire::ABANDONED => What::Abandoned,
            kind => {
                let message = format!("a frame is of kind {kind}, which means nothing");
                return Err(refused(&message));
            }
        };
        let mut assembly = std::mem::take(&mut self.assembly);
        match what {
            What::Tuple => {
                if let Some(payload) = assembly.take(frame.flags, frame.bytes)? {
                    self.push(what, payload);
                }
            }
            _ => self.push(what, &[]),
        }
        self.assembly = assembly;
        Ok(Took::Item)
    }

    /// The place of the last mark.
    pub fn mark(&self) -> &[u64] {
        &self.mark
    }

    /// The last mark waits behind what came before it.
    pub fn push_mark(&mut self) {
        let at = (self.end(), self.mark.len());
        self.words.extend(&self.mark);
        self.items.push_back(Item {
            what: What::Behind,
            place: at,
            payload: (self.end(), 0),
        });
    }

    /// A stamp waits with what comes behind it.
    pub fn push_stamp(&mut self, sent_ns: u64) {
        let at = (self.end(), 1);
        self.words.push(sent_ns);
        self.items.push_back(Item {
            what: What::Stamp,
            place: at,
            payload: (self.end(), 0),
        });
    }

    fn push(&mut self, what: What, payload: &[u8]) {
        let at = (self.end(), self.place.len());
        if let Some(&origin) = self.place.first() {
            let number = self.popped + self.items.len() as u64;
            self.waits(origin, number);
        }
        self.words.append(&mut self.place);
        let begin = self.words.len();
        self.words.resize(begin + payload.len().div_ceil(8), 0);
        let words: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words[begin..]);
        words[..payload.len()].copy_from_slice(payload);
        self.items.push_back(Item {
            what,
            place: at,
            payload: (self.gone + begin, payload.len()),
        });
    }

    fn waits(&mut self, origin: u64, number: u64) {
        let mut known = self.waiting.iter_mut();
        match known.find(|(known, _)| *known == origin) {
            Some((_, numbers)) => numbers.push_back(number),
            None => self.waiting.push((origin, VecDeque::from([number]))),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Bytes of what waits.
    pub fn bytes(&self) -> usize {
        (self.words.len() - self.dead()) * 8
    }

    /// Where the next item's words begin.
    fn end(&self) -> usize {
        self.gone + self.words.len()
    }

    /// Words before those of the first item.
    fn dead(&self) -> usize {
        let first = self.items.front();
        first.map_or(self.words.len(), |item| item.place.0 - self.gone)
    }

    /// Whether the stream ends with what has come: its end may be closed by now.
    pub fn is_whole(&self) -> bool {
        let last = self.items.back();
        last.is_some_and(|item| matches!(item.what, What::Final | What::Abandoned))
    }

    /// What comes next.
    pub fn first(&self) -> Option<Item> {
        self.items.front().copied()
    }

    /// The place of the first item that an origin has begun, and whether that is the first of all.
    pub fn first_of(&self, origin: u64) -> Option<(&[u64], bool)> {
        let mut known = self.waiting.iter();
        let (_, numbers) = known.find(|(known, _)| *known == origin)?;
        let at = (numbers.front()? - self.popped) as usize;
        Some((self.place(self.items[at]), at == 0))
    }

    /// Where an item stands; empty: nowhere.
    pub fn place(&self, item: Item) -> &[u64] {
        let (begin, len) = item.place;
        &self.words[begin - self.gone..][..len]
    }

    /// The payload of a tuple; it begins at a multiple of 8.
    pub fn payload(&self, item: Item) -> &[u8] {
        let (begin, len) = item.payload;
        let bytes: &[u8] = bytemuck::cast_slice(&self.words[begin - self.gone..]);
        &bytes[..len]
    }

    /// The first item is done with.
    pub fn pop(&mut self) {
        let Some(item) = self.items.pop_front() else {
            return;
        };
        let origin = self.place(item).first().copied();
        let origin = origin.filter(|_| !matches!(item.what, What::Behind | What::Stamp));
        let mut known = self.waiting.iter_mut();
        if let Some((_, numbers)) = known.find(|(known, _)| Some(*known) == origin) {
            numbers.pop_front();
        }
        self.popped += 1;
        self.give_back();
    }

    /// Forgets the words of items that are done with, when they are most of all.
    fn give_back(&mut self) {
        let dead = self.dead();
        let is_worth_it = self.items.is_empty() || dead > DEAD_WORDS && 2 * dead > self.words.len();
        if is_worth_it {
            self.words.drain(..dead);
            self.gone += dead;
        }
    }
}

/// A place as it is sent: its numbers, least byte first.
pub(super) fn encode(place: &[u64], bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.extend(place.iter().flat_map(|number| number.to_le_bytes()));
}

/// A tuple with its place, as they are sent in one frame.
/// ```text
///   payload | up to 7 bytes | numbers of 8 bytes | how many, and those up to 7: 4 bytes each
/// ```
pub(super) fn seal(payload: &[u8], place: &[u8], bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.extend(payload);
    bytes.resize(payload.len().next_multiple_of(8), 0);
    let filled = bytes.len() - payload.len();
    bytes.extend(place);
    bytes.extend((place.len() as u32 / 8).to_le_bytes());
    bytes.extend((filled as u32).to_le_bytes());
}

/// How many bytes that takes.
pub(super) fn sealed_bytes(payload: usize, place: usize) -> usize {
    payload.next_multiple_of(8) + place + 8
}

/// The payload and the numbers in what was sealed.
fn open(bytes: &[u8]) -> Result<(&[u8], impl Iterator<Item = u64>), Error> {
    let opened = bytes.split_last_chunk::<8>().and_then(|(rest, word)| {
        let word = u64::from_le_bytes(*word);
        let (count, filled) = (word as u32 as usize, (word >> 32) as usize);
        let (payload, numbers) = rest.split_at_checked(rest.len().checked_sub(count * 8)?)?;
        let payload = payload.get(..payload.len().checked_sub(filled)?)?;
        (1..=NUMBERS_MAX)
            .contains(&count)
            .then_some((payload, numbers.as_chunks().0))
    });
    let (payload, numbers) = opened.ok_or_else(|| refused("a tuple has no place behind it"))?;
    Ok((
        payload,
        numbers.iter().map(|number| u64::from_le_bytes(*number)),
    ))
}

fn read(bytes: &[u8], place: &mut Vec<u64>) -> Result<(), Error> {
    let (numbers, rest) = bytes.as_chunks();
    if !rest.is_empty() || numbers.is_empty() || numbers.len() > NUMBERS_MAX {
        let message = format!("a place of {} bytes is none", bytes.len());
        return Err(refused(&message));
    }
    place.clear();
    place.extend(numbers.iter().map(|number| u64::from_le_bytes(*number)));
    Ok(())
}

fn refused(what: &str) -> Error {
    Error::Refused(what.to_owned())
}

#[cfg(test)]
mod tests {
    use transport::fragment::{FIRST, LAST, WHOLE};

    use super::*;

    fn frame(kind: u8, flags: u8, bytes: &[u8]) -> Frame<'_> {
        Frame { kind, flags, bytes }
    }

    fn at(place: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(place, &mut bytes);
        bytes
    }

    /// A stream that is never all taken holds no more than what waits, and little memory besides.
    #[test]
    fn what_is_done_with_is_given_back() {
        let mut stash = Stash::default();
        for number in 0..100_000u64 {
            stash.take(frame(wire::AT, WHOLE, &at(&[number]))).unwrap();
            let payload = number.to_le_bytes();
            stash.take(frame(wire::TUPLE, WHOLE, &payload)).unwrap();
            assert!(stash.bytes() <= 2 * 16, "{number}: {}", stash.bytes());
            if number == 0 {
                continue;
            }
            let first = stash.first().unwrap();
            assert_eq!(stash.place(first), [number - 1]);
            assert_eq!(stash.payload(first), (number - 1).to_le_bytes());
            stash.pop();
        }
        assert!(stash.words.len() < 4 * DEAD_WORDS, "{}", stash.words.len());
    }

    #[test]
    fn items_come_out_with_their_places_and_payloads() {
        let mut stash = Stash::default();
        let place = at(&[7, 4]);
        assert_eq!(
            stash.take(frame(wire::AT, WHOLE, &place)).unwrap(),
            Took::Place
        );
        stash
            .take(frame(wire::TUPLE, FIRST, b"0123456789abcdef"))
            .unwrap();
        assert!(stash.is_empty());
        stash.take(frame(wire::TUPLE, LAST, b"xyz")).unwrap();
        stash.take(frame(wire::WINDOW, WHOLE, b"")).unwrap();
        let first = stash.first().unwrap();
        assert_eq!((first.what, stash.place(first)), (What::Tuple, &[7, 4][..]));
        assert_eq!(stash.payload(first), b"0123456789abcdefxyz");
        assert_eq!(stash.first_of(7), Some((&[7, 4][..], true)));
        stash.pop();
        let second = stash.first().unwrap();
        assert_eq!((second.what, stash.place(second)), (What::Window, &[][..]));
        assert_eq!(stash.first_of(7), None);
    }

    #[test]
    fn the_first_of_each_origin_is_known() {
        let mut stash = Stash::default();
        for place in [[7, 4], [9, 1], [7, 5], [9, 2]] {
            let mut sealed = Vec::new();
            seal(b"", &at(&place), &mut sealed);
            stash.take(frame(wire::PLACED, WHOLE, &sealed)).unwrap();
        }
        let mark = at(&[9, 1, 5]);
        let took = stash.take(frame(wire::BEHIND, WHOLE, &mark)).unwrap();
        assert_eq!((took, stash.mark()), (Took::Behind, &[9, 1, 5][..]));
        stash.push_mark();
        let firsts = |stash: &Stash| {
            let first = |origin| {
                stash
                    .first_of(origin)
                    .map(|(place, is_first)| (place[1], is_first))
            };
            (first(7), first(9))
        };
        let expected = [
            (Some((4, true)), Some((1, false))),
            (Some((5, false)), Some((1, true))),
            (Some((5, true)), Some((2, false))),
            (None, Some((2, true))),
            // A mark is nothing that waits.
            (None, None),
        ];
        for expected in expected {
            assert_eq!(firsts(&stash), expected);
            stash.pop();
        }
        assert!(stash.is_empty());
    }

    #[test]
    fn a_tuple_and_its_place_are_one_frame() {
        for payload in [&b""[..], b"1", b"12345678", b"0123456789abc"] {
            let (mut sealed, mut stash) = (Vec::new(), Stash::default());
            seal(payload, &at(&[7, 4, 0]), &mut sealed);
            assert_eq!(sealed.len(), sealed_bytes(payload.len(), 24));
            assert_eq!(
                stash.take(frame(wire::PLACED, WHOLE, &sealed)).unwrap(),
                Took::Item
            );
            let item = stash.first().unwrap();
            assert_eq!(
                (stash.payload(item), stash.place(item)),
                (payload, &[7, 4, 0][..])
            );
            for end in 0..sealed.len() {
                // Whatever it is, it is within the bytes.
                let _ = Stash::default().take(frame(wire::PLACED, WHOLE, &sealed[..end]));
            }
        }
        let mut stash = Stash::default();
        for bytes in [&b""[..], b"1234567", &[0; 8], &[255; 64]] {
            assert!(stash.take(frame(wire::PLACED, WHOLE, bytes)).is_err());
        }
    }

    #[test]
    fn what_is_no_place_is_refused() {
        let mut stash = Stash::default();
        for bytes in [&b""[..], b"1234567", &vec![0; 8 * (NUMBERS_MAX + 1)]] {
            assert!(stash.take(frame(wire::AT, WHOLE, bytes)).is_err());
            assert!(stash.take(frame(wire::REACHED, WHOLE, bytes)).is_err());
            assert!(stash.take(frame(wire::BEHIND, WHOLE, bytes)).is_err());
        }
        assert!(stash.take(frame(99, WHOLE, b"")).is_err());
        stash.take(frame(wire::TUPLE, FIRST, b"12345678")).unwrap();
        assert!(stash.take(frame(wire::FINAL, WHOLE, b"")).is_err());
    }
}
