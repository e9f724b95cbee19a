//! Reader of the bin format: records, flat tuples and single values.

use std::sync::Arc;

use super::steps::BinSteps;
use crate::layout::{ElementLayout, MapEntryLayout, slot};
use crate::text::read_flat::put_each_unit;
use crate::text::record::{ReadStep, Record, RecordError, RecordReader, chosen_attributes};
use crate::text::unquote::each_unit;
use crate::text::{ExpectedInput, ReadOptions, ValueParseError};
use crate::{
    Decimal32, Decimal64, Decimal128, EnumType, Layout, Punctuation, Timestamp, TupleBuf, Type,
    Value,
};

/// Elements that take no bytes (tuples without attributes) are believed up to this number, so that
/// a length alone cannot cost time and memory.
const EMPTY_ELEMENTS_MAX: usize = 1 << 16;

/// Bytes that alignment adds to a piece of tail at most.
const PADDING_BYTES_MAX: usize = 16;

/// Reads records of the bin format.
#[derive(Debug)]
pub struct BinReader {
    layout: Arc<Layout>,
    attributes: Vec<usize>,
    steps: BinSteps,
    has_delay: bool,
    punctuations: bool,
    record_bytes_max: usize,
    /// Number of the next record, from 1.
    number: u64,
}

/// Why bytes are no value.
pub(super) enum BinFault {
    /// The bytes end within the value.
    Short,
    Unexpected(ExpectedInput),
}

impl BinReader {
    /// A reader into tuples of a layout.
    pub fn new(layout: Arc<Layout>, options: ReadOptions) -> BinReader {
        let attributes = chosen_attributes(&layout, &options.attributes);
        BinReader {
            steps: BinSteps::new(&layout, attributes.iter().copied()),
            layout,
            attributes,
            has_delay: options.has_delay,
            punctuations: options.punctuations,
            record_bytes_max: options.record_bytes_max,
            number: 1,
        }
    }

    fn read_item(
        &self,
        source: &mut BinCursor<'_>,
        out: &mut TupleBuf,
        reading: &mut Option<usize>,
    ) -> Result<Record, BinFault> {
        if self.punctuations {
            match source.byte()? {
                0 => {}
                1 => return Ok(Record::Punctuation(Punctuation::Window)),
                2 => return Ok(Record::Punctuation(Punctuation::Final)),
                _ => return Err(source.unexpected(ExpectedInput::Marker)),
            }
        }
        let delay = if self.has_delay {
            f64::from_be_bytes(source.take()?)
        } else {
            0.0
        };
        out.begin(&self.layout);
        let read = self.steps.read(source, out);
        read.map_err(|(at, fault)| {
            *reading = Some(self.attributes[at]);
            fault
        })?;
        Ok(Record::Tuple { delay })
    }

    fn reject(&self, attribute: Option<usize>, at: usize, expected: ExpectedInput) -> Record {
        let name = attribute.map(|at| self.layout.schema.attributes[at].name.clone());
        let (line, column) = (self.number, at + 1);
        Record::Rejected(Box::new(RecordError {
            attribute,
            name,
            line,
            column,
            text: Vec::new(),
            expected,
            begins_in: None,
        }))
    }
}

impl RecordReader for BinReader {
    /// Reads the next item. After a fault nothing says where the next item begins: all bytes are
    /// consumed.
    fn read(&mut self, bytes: &[u8], at_end: bool, out: &mut TupleBuf) -> ReadStep {
        if bytes.is_empty() {
            let record = if at_end {
                Record::End
            } else {
                Record::NeedMore
            };
            return ReadStep {
                consumed: 0,
                record,
            };
        }
        let (mut source, mut attribute) = (BinCursor { bytes, at: 0 }, None);
        let item = self.read_item(&mut source, out, &mut attribute);
        let expected = match item {
            Ok(record) => {
                self.number += 1;
                return ReadStep {
                    consumed: source.at,
                    record,
                };
            }
            Err(BinFault::Short) if at_end => ExpectedInput::Bytes,
            Err(BinFault::Short) if bytes.len() > self.record_bytes_max => {
                ExpectedInput::ShorterRecord(self.record_bytes_max)
            }
            Err(BinFault::Short) => {
                return ReadStep {
                    consumed: 0,
                    record: Record::NeedMore,
                };
            }
            Err(BinFault::Unexpected(expected)) => expected,
        };
        let record = self.reject(attribute, source.at, expected);
        self.number += 1;
        ReadStep {
            consumed: bytes.len(),
            record,
        }
    }

    fn restart(&mut self) {
        self.number = 1;
    }
}

impl BinSteps {
    /// Reads the attributes of a tuple from all of some bytes, by the steps of all attributes.
    ///
    /// # Errors
    /// If the bytes end within it ([`ExpectedInput::Bytes`]), go on behind it
    /// ([`ExpectedInput::EndOfText`]), or are none of the schema.
    #[inline]
    pub fn read_whole(
        &self,
        bytes: &[u8],
        layout: &Layout,
        out: &mut TupleBuf,
    ) -> Result<(), ValueParseError> {
        out.begin(layout);
        let mut source = BinCursor { bytes, at: 0 };
        let read = self.read(&mut source, out);
        source.end(read.map_err(|(_, fault)| fault))
    }
}

/// Reads the attributes of a tuple from all of some bytes, slot by slot.
/// [`BinSteps::read_whole`] does it faster for many tuples.
///
/// # Errors
/// If the bytes end within it, go on behind it, or are none of the schema.
pub fn decode_tuple(
    bytes: &[u8],
    layout: &Layout,
    out: &mut TupleBuf,
) -> Result<(), ValueParseError> {
    out.begin(layout);
    let mut source = BinCursor { bytes, at: 0 };
    let mut attributes = layout.offsets.iter().zip(&layout.schema.attributes);
    let read = attributes.try_for_each(|(&at, a)| source.slot(&a.ty, out, at as usize));
    source.end(read)
}

/// Reads one value from the start of some bytes; returns it and how many it took.
///
/// # Errors
/// If the bytes end within it ([`ExpectedInput::Bytes`]) or are none of the type.
pub fn read_value(bytes: &[u8], ty: &Type) -> Result<(Value, usize), ValueParseError> {
    let mut buf = TupleBuf::default();
    buf.ensure_tail(slot(ty).0 as usize, 8);
    let mut source = BinCursor { bytes, at: 0 };
    match source.slot(ty, &mut buf, 0) {
        Ok(()) => Ok((buf.as_ref().value_at(0, ty), source.at)),
        Err(BinFault::Short) => Err(ValueParseError {
            offset: source.at,
            expected: ExpectedInput::Bytes,
        }),
        Err(BinFault::Unexpected(expected)) => Err(ValueParseError {
            offset: source.at,
            expected,
        }),
    }
}

pub(super) struct BinCursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BinCursor<'a> {
    /// The outcome of reading what is to be all of the bytes.
    fn end(&self, read: Result<(), BinFault>) -> Result<(), ValueParseError> {
        let offset = self.at;
        let expected = match read {
            Ok(()) if offset == self.bytes.len() => return Ok(()),
            Ok(()) => ExpectedInput::EndOfText,
            Err(BinFault::Short) => ExpectedInput::Bytes,
            Err(BinFault::Unexpected(expected)) => expected,
        };
        Err(ValueParseError { offset, expected })
    }

    /// Reads a value into a slot that is its default.
    pub(super) fn slot(
        &mut self,
        ty: &Type,
        out: &mut TupleBuf,
        at: usize,
    ) -> Result<(), BinFault> {
        match ty {
            Type::Boolean => {
                let flag = self.flag(ty)?;
                out.put_scalar(at, flag);
            }
            Type::Int8 | Type::Uint8 => out.put_scalar(at, self.byte()?),
            Type::Int16 | Type::Uint16 => out.put_scalar(at, u16::from_be_bytes(self.take()?)),
            Type::Int32 | Type::Uint32 | Type::Float32 => {
                out.put_scalar(at, u32::from_be_bytes(self.take()?));
            }
            Type::Int64 | Type::Uint64 | Type::Float64 => {
                out.put_scalar(at, u64::from_be_bytes(self.take()?));
            }
            Type::Decimal32 => out.put_scalar(at, Decimal32::from_le_bytes(self.take()?)),
            Type::Decimal64 => out.put_scalar(at, Decimal64::from_le_bytes(self.take()?)),
            Type::Decimal128 => out.put_scalar(at, Decimal128::from_le_bytes(self.take()?)),
            Type::Complex32 => {
                self.slot(&Type::Float32, out, at)?;
                self.slot(&Type::Float32, out, at + 4)?;
            }
            Type::Complex64 => {
                self.slot(&Type::Float64, out, at)?;
                self.slot(&Type::Float64, out, at + 8)?;
            }
            Type::Timestamp => out.put_scalar(at, self.timestamp()?),
            Type::Enum(e) => out.put_scalar(at, self.ordinal(e, ty)?),
            Type::RString | Type::Blob | Type::Xml(_) => self.text(out, at)?,
            Type::BoundedRString(_) => {
                let bytes = self.string()?;
                self.check_tail_budget(out, bytes.len())?;
                out.put_text(at, ty, bytes);
            }
            Type::UString => {
                let bytes = self.string()?;
                // No byte becomes more than one unit.
                self.check_tail_budget(out, bytes.len().saturating_mul(2))?;
                put_each_unit(out, at, |sink| each_unit_of(bytes, sink));
            }
            _ => self.composite(ty, out, at)?,
        }
        Ok(())
    }

    /// Reads a string into an rstring, blob or xml slot.
    #[inline]
    pub(super) fn text(&mut self, out: &mut TupleBuf, at: usize) -> Result<(), BinFault> {
        let bytes = self.string()?;
        self.check_tail_budget(out, bytes.len())?;
        out.put_bytes_within(at, self.bytes, self.at - bytes.len()..self.at);
        Ok(())
    }

    /// Takes numbers of a width in bytes. If the bytes end before that, goes to the first number
    /// that is not whole and returns how many there are before it.
    #[inline]
    pub(super) fn words(
        &mut self,
        width: usize,
        count: usize,
    ) -> Result<&'a [u8], (usize, BinFault)> {
        let rest = &self.bytes[self.at..];
        match rest.get(..width * count) {
            Some(words) => {
                self.at += words.len();
                Ok(words)
            }
            None => {
                let whole = rest.len() / width;
                self.at += whole * width;
                Err((whole, BinFault::Short))
            }
        }
    }

    fn composite(&mut self, ty: &Type, out: &mut TupleBuf, at: usize) -> Result<(), BinFault> {
        match ty {
            Type::List(t, _) => {
                self.elements(ty, out, at, |source, out, at| source.slot(t, out, at))
            }
            Type::Set(t, _) => {
                self.elements(ty, out, at, |source, out, at| source.slot(t, out, at))?;
                self.drop_duplicates(ty, out, at)
            }
            Type::Map(kv, _) => {
                let value = MapEntryLayout::for_map(kv).value as usize;
                self.elements(ty, out, at, |source, out, at| {
                    source.slot(&kv.0, out, at)?;
                    source.slot(&kv.1, out, at + value)
                })?;
                self.drop_duplicates(ty, out, at)
            }
            Type::Tuple(t) => {
                let mut end = 0u32;
                for attribute in &t.attributes {
                    let (size, align) = slot(&attribute.ty);
                    let offset = end.next_multiple_of(align);
                    end = offset + size;
                    self.slot(&attribute.ty, out, at + offset as usize)?;
                }
                Ok(())
            }
            Type::Optional(t) => {
                if self.flag(ty)? {
                    let inner = out.put_present(at, t);
                    self.slot(t, out, inner)?;
                }
                Ok(())
            }
            _ => Err(self.unexpected(ExpectedInput::Value(ty.clone()))),
        }
    }

    /// Reads a length and that number of elements; elements beyond a bound are read and dropped.
    fn elements(
        &mut self,
        ty: &Type,
        out: &mut TupleBuf,
        at: usize,
        read: impl Fn(&mut Self, &mut TupleBuf, usize) -> Result<(), BinFault>,
    ) -> Result<(), BinFault> {
        let len = self.length()?;
        let elements = ElementLayout::for_collection(ty)
            .ok_or_else(|| self.unexpected(ExpectedInput::Value(ty.clone())))?;
        let least = element_bytes_min(ty);
        if least == 0 && len > EMPTY_ELEMENTS_MAX {
            return Err(self.unexpected(ExpectedInput::Value(ty.clone())));
        }
        if len.saturating_mul(least) > self.bytes.len() - self.at {
            return Err(BinFault::Short);
        }
        let bound = match ty {
            Type::List(_, n) | Type::Set(_, n) | Type::Map(_, n) => n.unwrap_or(u32::MAX),
            _ => u32::MAX,
        };
        let kept = len.min(bound as usize);
        let stride = elements.stride as usize;
        self.check_tail_budget(out, kept.saturating_mul(stride))?;
        let (data, kept) = out.put_elements(at, elements, kept);
        (0..kept).try_for_each(|index| read(self, out, data + index * stride))?;
        let mut scratch = TupleBuf::default();
        for _ in kept..len {
            scratch.reset();
            let at = scratch.ensure_tail(stride, 8);
            read(self, &mut scratch, at)?;
        }
        Ok(())
    }

    /// A set or map holds a key once, whatever the bytes say; the last value of a key counts.
    fn drop_duplicates(&self, ty: &Type, out: &mut TupleBuf, at: usize) -> Result<(), BinFault> {
        let value = out.as_ref().value_at(at, ty);
        let len = match &value {
            Value::Set(set) => set.len(),
            Value::Map(map) => map.len(),
            _ => return Ok(()),
        };
        if len < out.as_ref().len_at(at, ty) {
            // It takes no more than what is there already.
            self.check_tail_budget(out, out.len())?;
            out.put_value(at, ty, &value);
        }
        Ok(())
    }

    /// Whether the tuple may grow by `bytes`: a few input bytes can stand for many.
    fn check_tail_budget(&self, out: &TupleBuf, bytes: usize) -> Result<(), BinFault> {
        let most = u32::MAX as usize - PADDING_BYTES_MAX;
        if out.len().saturating_add(bytes) <= most {
            Ok(())
        } else {
            Err(self.unexpected(ExpectedInput::ShorterRecord(most)))
        }
    }

    fn timestamp(&mut self) -> Result<Timestamp, BinFault> {
        Ok(Timestamp {
            seconds: i64::from_be_bytes(self.take()?),
            nanos: u32::from_be_bytes(self.take()?),
            machine: i32::from_be_bytes(self.take()?),
        })
    }

    fn ordinal(&mut self, e: &EnumType, ty: &Type) -> Result<u32, BinFault> {
        let ordinal = u32::from_be_bytes(self.take()?);
        if (ordinal as usize) < e.names.len() {
            Ok(ordinal)
        } else {
            Err(self.unexpected(ExpectedInput::Value(ty.clone())))
        }
    }

    fn flag(&mut self, ty: &Type) -> Result<bool, BinFault> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.unexpected(ExpectedInput::Value(ty.clone()))),
        }
    }

    fn string(&mut self) -> Result<&'a [u8], BinFault> {
        let len = self.length()?;
        let bytes = self.bytes[self.at..].get(..len).ok_or(BinFault::Short)?;
        self.at += len;
        Ok(bytes)
    }

    fn length(&mut self) -> Result<usize, BinFault> {
        match self.byte()? {
            len @ ..0x80 => Ok(usize::from(len)),
            _ => Ok(u32::from_be_bytes(self.take()?) as usize),
        }
    }

    fn byte(&mut self) -> Result<u8, BinFault> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], BinFault> {
        let bytes = self.bytes[self.at..].first_chunk().ok_or(BinFault::Short)?;
        self.at += N;
        Ok(*bytes)
    }

    fn unexpected(&self, expected: ExpectedInput) -> BinFault {
        BinFault::Unexpected(expected)
    }
}

/// The fewest bytes that an element of a collection takes.
fn element_bytes_min(ty: &Type) -> usize {
    match ty {
        Type::List(t, _) | Type::Set(t, _) => value_bytes_min(t),
        Type::Map(kv, _) => value_bytes_min(&kv.0) + value_bytes_min(&kv.1),
        _ => 0,
    }
}

/// The fewest bytes that a value takes: at least 1, but for tuples without attributes.
pub(in crate::text) fn value_bytes_min(ty: &Type) -> usize {
    match ty {
        Type::Tuple(t) => t.attributes.iter().map(|a| value_bytes_min(&a.ty)).sum(),
        _ => 1,
    }
}

/// Hands out UTF-8 with lone surrogates as three bytes; what is neither becomes U+FFFD.
fn each_unit_of(mut bytes: &[u8], sink: &mut dyn FnMut(u16)) {
    while let Some(at) = bytes
        .windows(3)
        .position(|w| w[0] == 0xED && (0xA0..0xC0).contains(&w[1]) && (0x80..0xC0).contains(&w[2]))
    {
        each_unit(&bytes[..at], &mut *sink);
        let bits = |byte: u8| u16::from(byte & 0x3F);
        sink(0xD000 | bits(bytes[at + 1]) << 6 | bits(bytes[at + 2]));
        bytes = &bytes[at + 3..];
    }
    each_unit(bytes, sink);
}
