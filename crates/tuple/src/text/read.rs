//! Reader of values from their text forms.
//!
//! What [`super::print()`] writes is read back. Blanks and tabs around tokens are skipped; strings
//! may stand in single or double quotes; a timestamp may lack its machine. What exceeds a bound is
//! dropped. Nesting is that of the type, so no text can make it deep.

use super::number::{NumberFault, ScanNumber};
use super::{ExpectedInput, ValueParseError, unquote_bytes, unquote_units};
use crate::{EnumType, List, Map, RString, Set, Timestamp, TupleType, Type, UString, Value};

/// A place in a text.
#[derive(Clone, Debug)]
pub struct TextReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Reads a value in its serialised form from the start of what is left of a text.
///
/// # Errors
/// At the first place that does not fit the type; the reader stands there or before.
///
/// # Example
/// ```
/// use thalweg_tuple::text::{TextReader, read};
/// use thalweg_tuple::{Type, Value};
///
/// let mut reader = TextReader::new(b"12, 13");
/// assert_eq!(read(&mut reader, &Type::Int32), Ok(Value::Int32(12)));
/// assert_eq!(reader.rest(), b", 13");
/// assert!(read(&mut reader, &Type::Int32).is_err());
/// ```
pub fn read(reader: &mut TextReader<'_>, ty: &Type) -> Result<Value, ValueParseError> {
    reader.skip_blanks();
    Ok(match ty {
        Type::Boolean => Value::Boolean(reader.boolean()?),
        Type::Int8 => Value::Int8(reader.number(ty)?),
        Type::Int16 => Value::Int16(reader.number(ty)?),
        Type::Int32 => Value::Int32(reader.number(ty)?),
        Type::Int64 => Value::Int64(reader.number(ty)?),
        Type::Uint8 => Value::Uint8(reader.number(ty)?),
        Type::Uint16 => Value::Uint16(reader.number(ty)?),
        Type::Uint32 => Value::Uint32(reader.number(ty)?),
        Type::Uint64 => Value::Uint64(reader.number(ty)?),
        Type::Float32 => Value::Float32(reader.number(ty)?),
        Type::Float64 => Value::Float64(reader.number(ty)?),
        Type::Decimal32 => Value::Decimal32(reader.number(ty)?),
        Type::Decimal64 => Value::Decimal64(reader.number(ty)?),
        Type::Decimal128 => Value::Decimal128(reader.number(ty)?),
        Type::Complex32 => {
            let [re, im] = reader.complex(&Type::Float32)?;
            Value::Complex32(re, im)
        }
        Type::Complex64 => {
            let [re, im] = reader.complex(&Type::Float64)?;
            Value::Complex64(re, im)
        }
        Type::Timestamp => Value::Timestamp(reader.timestamp()?),
        Type::RString => Value::RString(RString(reader.string(ty)?)),
        Type::BoundedRString(n) => {
            let mut bytes = reader.string(ty)?;
            bytes.truncate(*n as usize);
            Value::RString(RString(bytes))
        }
        Type::UString => Value::UString(UString(reader.units(ty)?)),
        Type::Blob => Value::Blob(reader.hex_pairs()?.collect()),
        Type::Xml(_) => {
            let (literal, mut bytes) = (reader.xml(ty)?, Vec::new());
            unquote_bytes(literal, &mut bytes);
            Value::Xml(RString(bytes))
        }
        Type::Enum(e) => Value::Enum(reader.enumerator(e, ty)?),
        _ => read_composite(reader, ty)?,
    })
}

/// The value of a whole text: what a cast from a string to the type gives. Strings and xml are the
/// text as it stands; other types have their serialised form, with blanks around allowed.
///
/// # Errors
/// If the text is not a value of the type, or more than one.
///
/// # Example
/// ```
/// use thalweg_tuple::text::parse_whole;
/// use thalweg_tuple::{Type, Value};
///
/// assert_eq!(parse_whole(b"1.5", &Type::Float64), Ok(Value::Float64(1.5)));
/// assert!(parse_whole(b"1.5 apples", &Type::Float64).is_err());
/// ```
pub fn parse_whole(text: &[u8], ty: &Type) -> Result<Value, ValueParseError> {
    match ty {
        Type::RString => Ok(Value::RString(text.into())),
        Type::BoundedRString(n) => Ok(Value::RString(text[..text.len().min(*n as usize)].into())),
        Type::UString => Ok(Value::UString(UString::from_utf8_lossy(text))),
        Type::Xml(_) => Ok(Value::Xml(text.into())),
        _ => {
            let start = text.len() - text.trim_ascii_start().len();
            let mut reader = TextReader::new_at(text, start);
            let value = read(&mut reader, ty)?;
            if reader.rest().trim_ascii_start().is_empty() {
                Ok(value)
            } else {
                Err(reader.error(ExpectedInput::EndOfText))
            }
        }
    }
}

fn read_composite(reader: &mut TextReader<'_>, ty: &Type) -> Result<Value, ValueParseError> {
    let within = |len: usize, bound: &Option<u32>| bound.is_none_or(|n| len < n as usize);
    match ty {
        Type::List(element, bound) => {
            let mut list = List::new_for(element);
            reader.sequence(b'[', b']', |reader| {
                let value = read(reader, element)?;
                if within(list.len(), bound) {
                    list.push(value);
                }
                Ok(())
            })?;
            Ok(Value::List(list))
        }
        Type::Set(element, bound) => {
            let mut set = Set::new();
            reader.sequence(b'{', b'}', |reader| {
                let value = read(reader, element)?;
                if within(set.len(), bound) {
                    set.insert(value);
                }
                Ok(())
            })?;
            Ok(Value::Set(set))
        }
        Type::Map(kv, bound) => {
            let mut map = Map::new();
            reader.sequence(b'{', b'}', |reader| {
                let key = read(reader, &kv.0)?;
                reader.expect(b':')?;
                let value = read(reader, &kv.1)?;
                if within(map.len(), bound) || map.contains(&key) {
                    map.insert(key, value);
                }
                Ok(())
            })?;
            Ok(Value::Map(map))
        }
        Type::Tuple(t) => {
            let mut values = Vec::with_capacity(t.attributes.len());
            reader.tuple(t, |reader, at| {
                values.push(read(reader, &t.attributes[at].ty)?);
                Ok(())
            })?;
            Ok(Value::Tuple(values.into()))
        }
        Type::Optional(t) => Ok(Value::Optional(if reader.accept_null() {
            None
        } else {
            Some(Box::new(read(reader, t)?))
        })),
        _ => Err(reader.error(ExpectedInput::Value(ty.clone()))),
    }
}

impl<'a> TextReader<'a> {
    /// A reader at the start of a text.
    pub fn new(bytes: &'a [u8]) -> TextReader<'a> {
        TextReader { bytes, at: 0 }
    }

    /// A reader at some offset of a text, which may be its end.
    #[inline]
    pub fn new_at(bytes: &'a [u8], at: usize) -> TextReader<'a> {
        TextReader {
            bytes,
            at: at.min(bytes.len()),
        }
    }

    /// Bytes before its place.
    #[inline]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Text that has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The next byte, which stays unread.
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips blanks and tabs.
    #[inline]
    pub fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Skips blanks, and then this byte.
    ///
    /// # Errors
    /// If something else stands there.
    pub fn expect(&mut self, byte: u8) -> Result<(), ValueParseError> {
        if self.accept(byte) {
            Ok(())
        } else {
            Err(self.error(ExpectedInput::Byte(byte)))
        }
    }

    /// Skips blanks, and this byte if it stands there.
    pub fn accept(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// The error of not finding something here.
    #[cold]
    pub fn error(&self, expected: ExpectedInput) -> ValueParseError {
        ValueParseError {
            offset: self.at,
            expected,
        }
    }

    /// A number of the type, which is one of numbers.
    #[inline]
    pub(super) fn number<T: ScanNumber>(&mut self, ty: &Type) -> Result<T, ValueParseError> {
        match T::scan(self.rest()) {
            Ok((number, len)) => {
                self.at += len;
                Ok(number)
            }
            Err(NumberFault::Syntax) => Err(self.error(ExpectedInput::Value(ty.clone()))),
            Err(NumberFault::Range) => Err(self.error(ExpectedInput::InRange(ty.clone()))),
        }
    }

    #[inline]
    pub(super) fn boolean(&mut self) -> Result<bool, ValueParseError> {
        let value = match self.peek_word() {
            b"true" => true,
            b"false" => false,
            _ => return Err(self.error(ExpectedInput::Value(Type::Boolean))),
        };
        self.at += if value { 4 } else { 5 };
        Ok(value)
    }

    /// Skips `null`, if it stands here.
    pub(super) fn accept_null(&mut self) -> bool {
        self.skip_blanks();
        let found = self.peek_word() == b"null";
        self.at += if found { 4 } else { 0 };
        found
    }

    pub(super) fn enumerator(&mut self, e: &EnumType, ty: &Type) -> Result<u32, ValueParseError> {
        let word = self.peek_word();
        match e.names.iter().position(|name| name.as_bytes() == word) {
            Some(ordinal) => {
                self.at += word.len();
                Ok(ordinal as u32)
            }
            None => Err(self.error(ExpectedInput::Value(ty.clone()))),
        }
    }

    pub(super) fn complex<T: ScanNumber>(
        &mut self,
        part: &Type,
    ) -> Result<[T; 2], ValueParseError> {
        self.expect(b'(')?;
        let re = self.number_between_blanks(part)?;
        self.expect(b',')?;
        let im = self.number_between_blanks(part)?;
        self.expect(b')')?;
        Ok([re, im])
    }

    pub(super) fn timestamp(&mut self) -> Result<Timestamp, ValueParseError> {
        self.expect(b'(')?;
        let seconds = self.number_between_blanks(&Type::Int64)?;
        self.expect(b',')?;
        let nanos = self.number_between_blanks(&Type::Uint32)?;
        let machine = if self.accept(b',') {
            self.number_between_blanks(&Type::Int32)?
        } else {
            0
        };
        self.expect(b')')?;
        Ok(Timestamp {
            seconds,
            nanos,
            machine,
        })
    }

    fn number_between_blanks<T: ScanNumber>(&mut self, ty: &Type) -> Result<T, ValueParseError> {
        self.skip_blanks();
        self.number(ty)
    }

    /// Reads a quoted string; the result is the text between the quotes, with its escapes.
    #[inline]
    pub(super) fn literal(&mut self, ty: &Type) -> Result<&'a [u8], ValueParseError> {
        let quote = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => quote,
            _ => return Err(self.error(ExpectedInput::Value(ty.clone()))),
        };
        let start = self.at + 1;
        let mut at = start;
        while let Some(found) = memchr::memchr2(quote, b'\\', &self.bytes[at..]) {
            at += found;
            if self.bytes[at] == quote {
                self.at = at + 1;
                return Ok(&self.bytes[start..at]);
            }
            at = (at + 2).min(self.bytes.len());
        }
        Err(self.error(ExpectedInput::Quote(quote)))
    }

    pub(super) fn string(&mut self, ty: &Type) -> Result<Vec<u8>, ValueParseError> {
        let literal = self.literal(ty)?;
        let mut bytes = Vec::with_capacity(literal.len());
        unquote_bytes(literal, &mut bytes);
        Ok(bytes)
    }

    pub(super) fn units(&mut self, ty: &Type) -> Result<Vec<u16>, ValueParseError> {
        let literal = self.literal(ty)?;
        let mut units = Vec::with_capacity(literal.len());
        unquote_units(literal, &mut units);
        Ok(units)
    }

    /// Reads a quoted string that an `x` may follow; the result is the text between the quotes.
    pub(super) fn xml(&mut self, ty: &Type) -> Result<&'a [u8], ValueParseError> {
        let literal = self.literal(ty)?;
        self.at += usize::from(self.peek() == Some(b'x'));
        Ok(literal)
    }

    /// The bytes of a blob.
    pub(super) fn hex_pairs(
        &mut self,
    ) -> Result<impl Iterator<Item = u8> + use<'a>, ValueParseError> {
        let digits = self
            .rest()
            .iter()
            .take_while(|b| b.is_ascii_hexdigit())
            .count();
        let pairs = &self.rest()[..digits];
        self.at += digits;
        if !digits.is_multiple_of(2) {
            return Err(self.error(ExpectedInput::Value(Type::Blob)));
        }
        let value = |digit: u8| char::from(digit).to_digit(16).unwrap_or(0) as u8;
        Ok(pairs
            .chunks_exact(2)
            .map(move |pair| value(pair[0]) << 4 | value(pair[1])))
    }

    /// `{name=value,...}`; the callback reads the value of the attribute of an index.
    pub(super) fn tuple(
        &mut self,
        t: &TupleType,
        mut value: impl FnMut(&mut TextReader<'a>, usize) -> Result<(), ValueParseError>,
    ) -> Result<(), ValueParseError> {
        self.expect(b'{')?;
        for (at, attribute) in t.attributes.iter().enumerate() {
            if at > 0 {
                self.expect(b',')?;
            }
            self.skip_blanks();
            if self.peek_word() != attribute.name.as_bytes() {
                return Err(self.error(ExpectedInput::Attribute(attribute.name.clone())));
            }
            self.at += attribute.name.len();
            self.expect(b'=')?;
            value(self, at)?;
        }
        self.expect(b'}')
    }

    /// Elements with commas between and brackets around.
    fn sequence(
        &mut self,
        open: u8,
        close: u8,
        mut element: impl FnMut(&mut TextReader<'a>) -> Result<(), ValueParseError>,
    ) -> Result<(), ValueParseError> {
        self.expect(open)?;
        // A blob may be of no characters, so an element is looked for only where no end stands.
        if self.accept(close) {
            return Ok(());
        }
        loop {
            element(self)?;
            if self.accept(close) {
                return Ok(());
            }
            if !self.accept(b',') {
                return Err(self.error(ExpectedInput::Either(b',', close)));
            }
        }
    }

    /// The identifier that stands here, or nothing.
    fn peek_word(&self) -> &'a [u8] {
        let rest = self.rest();
        let len = rest
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        &rest[..len]
    }
}
