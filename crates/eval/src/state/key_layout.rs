//! Keys of a table: tuples as words, so that equal keys are equal words.
//!
//! | type | in the key |
//! | --- | --- |
//! | boolean, integers, enum | its slot as in a flat tuple |
//! | floats, complex numbers | its slot; one zero, one NaN |
//! | decimals | its slot; no zeros at the end of a coefficient, one zero, one NaN |
//! | timestamp | its slot; machine 0 |
//! | tuple | its attributes |
//! | rstring | 16 bytes: uint32 length, then all if it is up to 12 bytes, else 4 and its place |
//! | others | its bytes ([`encode_key_value`]), as an rstring |
//!
//! The slots lie as in the flat tuple of a schema of such types; what is between them is 0.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use tuple::decimal::codec::{DECIMAL32, DECIMAL64, DECIMAL128, DecimalFormat, UnpackedDecimal};
use tuple::{Decimal32, Decimal64, Decimal128, Layout, Timestamp, TupleRef, TupleType, Type};

use super::key_bytes::encode_key_value;
use super::key_strings::KeyStrings;
use super::scalar_slot::is_scalar;

/// Bytes of a string that lie in the key itself.
const INLINE_BYTES: usize = 12;

/// Factor that mixes the words of a hash: odd, and its bits have no pattern.
pub const HASH_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Seed of all hashes: another number in each process, so that nobody can choose keys whose
/// hashes are equal.
static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());

/// Seed of all hashes in this process.
pub fn hash_seed() -> u64 {
    *SEED
}

/// How keys of one type become words.
#[derive(Debug)]
pub struct KeyLayout {
    parts: Vec<KeyPart>,
    /// Whether each part is an attribute of the tuple.
    is_flat: bool,
    /// Words of a key.
    pub(super) words: usize,
    /// The first of the two words of each string.
    strings: Vec<usize>,
}

/// One slot of a key.
#[derive(Debug)]
struct KeyPart {
    ty: Type,
    /// Offset of the slot in the tuple that the key is taken from.
    from: usize,
    /// Offset of the slot in the key.
    to: usize,
}

/// A key: its words, its hash, and the strings that do not lie in it.
#[derive(Clone, Debug, Default)]
pub struct TableKey {
    /// In place of the places of long strings, 0.
    pub(super) words: Vec<u64>,
    pub(super) hash: u32,
    /// First word of each long string, and where its bytes are in `text`.
    long: Vec<(usize, Range<usize>)>,
    text: Vec<u8>,
    scratch: Vec<u8>,
}

impl KeyLayout {
    /// The layout of keys that the first `count` attributes of tuples are.
    pub fn new(tuples: &Layout, count: usize) -> KeyLayout {
        let mut parts = Vec::new();
        for at in 0..count {
            let (from, ty) = tuples.attribute(at);
            add_parts(ty, from, &mut parts);
        }
        let slots = parts.iter().map(|part| ("", slot_type(&part.ty)));
        let layout = Layout::new(&Arc::new(TupleType::new(slots)));
        for (part, &offset) in parts.iter_mut().zip(&layout.offsets) {
            part.to = offset as usize;
        }
        let strings = parts.iter().filter(|part| is_string(&part.ty));
        KeyLayout {
            strings: strings.map(|part| part.to / 8).collect(),
            is_flat: (0..count).all(|at| !matches!(tuples.attribute(at).1, Type::Tuple(_))),
            words: layout.size as usize / 8,
            parts,
        }
    }

    /// Makes `key` the key of a tuple.
    pub fn encode(&self, tuple: TupleRef<'_>, key: &mut TableKey) {
        key.words.clear();
        key.words.resize(self.words, 0);
        key.long.clear();
        key.text.clear();
        self.parts.iter().for_each(|part| key.put(part, tuple));
        key.hash = self.hash(&key.words, key.long_strings());
    }

    /// Makes `key` a key of integers, given its words.
    pub(super) fn take_words(&self, words: &[u64], key: &mut TableKey) {
        key.words.clear();
        key.words.extend_from_slice(words);
        key.long.clear();
        key.hash = self.hash(words, std::iter::empty());
    }

    /// The first byte of each part, if all are integers and none is a tuple's.
    pub(super) fn integers(&self) -> Option<Vec<u32>> {
        let is_integer =
            |ty: &Type| ty.is_integral() || matches!(ty, Type::Boolean | Type::Enum(_));
        let integers = self.parts.iter().all(|part| is_integer(&part.ty));
        (integers && self.is_flat).then(|| self.parts.iter().map(|part| part.to as u32).collect())
    }

    /// Hash of a key, given its words and its long strings in order.
    pub(super) fn hash<'s>(&self, words: &[u64], mut long: impl Iterator<Item = &'s [u8]>) -> u32 {
        let mut hash = hash_seed();
        let mut at = 0;
        for &string in &self.strings {
            hash = words[at..=string].iter().copied().fold(hash, mix);
            at = string + 2;
            if string_len(words[string]) <= INLINE_BYTES {
                hash = mix(hash, words[string + 1]);
            } else if let Some(text) = long.next() {
                hash = mix_bytes(hash, text);
            }
        }
        hash = words[at..].iter().copied().fold(hash, mix);
        (hash >> 32) as u32
    }

    /// Whether the words of an entry begin with a key.
    pub(super) fn has_key(&self, entry: &[u64], strings: &KeyStrings, key: &TableKey) -> bool {
        let entry = &entry[..self.words];
        let mut at = 0;
        for (string, text) in &key.long {
            // Behind the length come the first bytes, then the place of all.
            if entry[at..=*string] != key.words[at..=*string] {
                return false;
            }
            if *strings.get(entry[string + 1], text.len()) != key.text[text.clone()] {
                return false;
            }
            at = string + 2;
        }
        let rest = entry[at..].iter().zip(&key.words[at..]);
        rest.into_iter().all(|(a, b)| a == b)
    }

    /// First word and length of each string that does not lie in a key.
    pub(super) fn long_strings(&self, words: &[u64]) -> impl Iterator<Item = (usize, usize)> {
        let lengths = self.strings.iter().map(|&at| (at, string_len(words[at])));
        lengths.filter(|&(_, len)| len > INLINE_BYTES)
    }
}

impl TableKey {
    /// First word and bytes of each long string.
    pub(super) fn long(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let long = self.long.iter();
        long.map(|(word, range)| (*word, &self.text[range.clone()]))
    }

    fn long_strings(&self) -> impl Iterator<Item = &[u8]> {
        self.long().map(|(_, text)| text)
    }

    fn put(&mut self, part: &KeyPart, tuple: TupleRef<'_>) {
        let (from, to) = (part.from, part.to);
        match part.ty {
            Type::Boolean | Type::Int8 | Type::Uint8 => self.put_raw::<1>(tuple, from, to),
            Type::Int16 | Type::Uint16 => self.put_raw::<2>(tuple, from, to),
            Type::Int32 | Type::Uint32 | Type::Enum(_) => self.put_raw::<4>(tuple, from, to),
            Type::Int64 | Type::Uint64 => self.put_raw::<8>(tuple, from, to),
            Type::Float32 => self.put_bytes(to, &float32_key(tuple.f32_at(from))),
            Type::Float64 => self.put_bytes(to, &float64_key(tuple.f64_at(from))),
            Type::Complex32 => [0, 4].into_iter().for_each(|half| {
                self.put_bytes(to + half, &float32_key(tuple.f32_at(from + half)));
            }),
            Type::Complex64 => [0, 8].into_iter().for_each(|half| {
                self.put_bytes(to + half, &float64_key(tuple.f64_at(from + half)));
            }),
            Type::Decimal32 => {
                let number = tuple.pod_at::<Decimal32>(from).unpack();
                let number = Decimal32::pack(decimal_key(number, DECIMAL32));
                self.put_bytes(to, &number.0.to_ne_bytes());
            }
            Type::Decimal64 => {
                let number = tuple.pod_at::<Decimal64>(from).unpack();
                let number = Decimal64::pack(decimal_key(number, DECIMAL64));
                self.put_bytes(to, &number.0.to_ne_bytes());
            }
            Type::Decimal128 => {
                let number = tuple.pod_at::<Decimal128>(from).unpack();
                let number = Decimal128::pack(decimal_key(number, DECIMAL128));
                self.put_bytes(to, bytemuck::bytes_of(&number.0));
            }
            Type::Timestamp => {
                let machine = 0;
                let time = tuple.pod_at::<Timestamp>(from);
                self.put_bytes(to, bytemuck::bytes_of(&Timestamp { machine, ..time }));
            }
            Type::RString | Type::BoundedRString(_) => {
                self.put_string(to, tuple.text_at(from, &part.ty));
            }
            ref ty => {
                let mut bytes = std::mem::take(&mut self.scratch);
                bytes.clear();
                encode_key_value(&tuple.value_at(from, ty), &mut bytes);
                self.put_string(to, &bytes);
                self.scratch = bytes;
            }
        }
    }

    fn put_raw<const N: usize>(&mut self, tuple: TupleRef<'_>, from: usize, to: usize) {
        self.put_bytes(to, &tuple.bytes()[from..from + N]);
    }

    fn put_bytes(&mut self, to: usize, bytes: &[u8]) {
        let words: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        words[to..to + bytes.len()].copy_from_slice(bytes);
    }

    fn put_string(&mut self, to: usize, bytes: &[u8]) {
        self.put_bytes(to, &(bytes.len() as u32).to_ne_bytes());
        if bytes.len() <= INLINE_BYTES {
            return self.put_bytes(to + 4, bytes);
        }
        self.put_bytes(to + 4, &bytes[..4]);
        let begin = self.text.len();
        self.text.extend_from_slice(bytes);
        self.long.push((to / 8, begin..self.text.len()));
    }
}

/// Adds the slots of a value to those of a key; nested tuples lie flat.
fn add_parts(ty: &Type, from: usize, parts: &mut Vec<KeyPart>) {
    let Type::Tuple(tuple) = ty else {
        let ty = ty.clone();
        return parts.push(KeyPart { ty, from, to: 0 });
    };
    let layout = Layout::new(tuple);
    for (at, &offset) in layout.offsets.iter().enumerate() {
        add_parts(layout.attribute(at).1, from + offset as usize, parts);
    }
}

/// Whether values of a type are strings in a key.
fn is_string(ty: &Type) -> bool {
    !is_scalar(ty)
}

/// The type of a slot in a key: for a string, one that takes as much memory.
fn slot_type(ty: &Type) -> Type {
    if is_string(ty) {
        Type::Complex64
    } else {
        ty.clone()
    }
}

/// Length of the string whose first word this is.
fn string_len(word: u64) -> usize {
    let [a, b, c, d, ..] = word.to_ne_bytes();
    u32::from_ne_bytes([a, b, c, d]) as usize
}

fn float64_key(x: f64) -> [u8; 8] {
    let x = if x.is_nan() { f64::NAN } else { x + 0.0 };
    x.to_ne_bytes()
}

fn float32_key(x: f32) -> [u8; 4] {
    let x = if x.is_nan() { f32::NAN } else { x + 0.0 };
    x.to_ne_bytes()
}

/// The one of all decimals equal to a number that a key has.
fn decimal_key(number: UnpackedDecimal, format: DecimalFormat) -> UnpackedDecimal {
    match number {
        UnpackedDecimal::Nan { .. } => UnpackedDecimal::Nan { negative: false },
        UnpackedDecimal::Finite { coefficient: 0, .. } => UnpackedDecimal::ZERO,
        UnpackedDecimal::Finite {
            negative,
            mut coefficient,
            mut exponent,
        } => {
            while coefficient % 10 == 0 && exponent < format.exponent_max {
                coefficient /= 10;
                exponent += 1;
            }
            UnpackedDecimal::Finite {
                negative,
                coefficient,
                exponent,
            }
        }
        infinite => infinite,
    }
}

fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word) * u128::from(HASH_MULTIPLIER);
    product as u64 ^ (product >> 64) as u64
}

fn mix_bytes(hash: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words
        .iter()
        .fold(hash, |hash, word| mix(hash, u64::from_ne_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(hash, u64::from_ne_bytes(last))
}
