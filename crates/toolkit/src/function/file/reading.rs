//! Functions that read from open files.
//!
//! Once reading has met the end of a file, nothing more is read until `fseek`, `rewind` or
//! `clearerr`.

use std::io::Error;

use eval::{NativeCall, NativeFn};
use rustix::io::Errno;
use tuple::text::{ExpectedInput, TextReader, bin, read};
use tuple::{List, Type, Value};

use super::open_file::{END_OF_FILE, OpenFile, with_file};
use crate::function::arguments::{NativeArguments, NativeResult, VOID, rstring};
use crate::function::entry::file;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    file(
        "stateful rstring freadToken(uint64 file, mutable int32 err)",
        "The next characters between blanks or line ends; empty and -1 in `err` at the end of the \
         file.",
        |c| {
            let token = with_file(c.uint64(0), token);
            return_text(c, token)
        },
    ),
    file(
        "stateful rstring freadLine(uint64 file, mutable int32 err)",
        "The next line without its line feed, also if it is the last and has none; empty and -1 in \
         `err` at the end of the file.",
        |c| {
            let line = with_file(c.uint64(0), line);
            return_text(c, line)
        },
    ),
    file(
        "<any T> stateful void freadTxt(mutable T res, uint64 file, mutable int32 err)",
        "Reads a value as SPL writes it, blanks and line ends before it skipped. Text that is no \
         such value is EIO in `err` and stays unread.",
        |c| {
            let ty = c.arg_type(0).clone();
            let value = with_file(c.uint64(1), |stream| {
                value(stream, |bytes| from_text(bytes, &ty))
            });
            return_value(c, value)
        },
    ),
    file(
        "<any T> stateful void freadBin(mutable T res, uint64 file, mutable int32 err)",
        "Reads a value in the binary form of the file formats. Bytes that are no such value are \
         EIO in `err` and stay unread.",
        |c| {
            let ty = c.arg_type(0).clone();
            let value = with_file(c.uint64(1), |stream| {
                value(stream, |bytes| from_bytes(bytes, &ty))
            });
            return_value(c, value)
        },
    ),
    file(
        "stateful uint64 fread(mutable list<uint8> res, uint64 file, uint64 length, mutable int32 \
         err)",
        "Sets `res` to at most `length` bytes and gives their number; 0 and -1 in `err` at the end \
         of the file.",
        |c| {
            let length = usize::try_from(c.uint64(2))
                .unwrap_or(usize::MAX)
                .min(c.capacity(0));
            let bytes = with_file(c.uint64(1), |stream| bytes(stream, length));
            let count = bytes.as_ref().map_or(0, |b| b.as_ref().map_or(0, Vec::len));
            let read = set_error(c, bytes);
            if let Some(read) = read {
                *c.list_mut(0) = List::Uint8(read);
            }
            Ok(Value::Uint64(count as u64))
        },
    ),
    file(
        "stateful void freadfile(mutable blob res, uint64 file, mutable int32 err)",
        "Sets `res` to all bytes from the position in the file up to its end.",
        |c| {
            let bytes = with_file(c.uint64(1), |stream| {
                while stream.fill()? {}
                let all = stream.unread().len();
                Ok(Some(stream.consume(all)))
            });
            if let Some(bytes) = set_error(c, bytes) {
                *c.blob_mut(0) = bytes;
            }
            Ok(VOID)
        },
    ),
];

/// Sets `err`, the last argument, to the error or to the end (`None`) of the file.
fn set_error<T>(c: &mut NativeCall<'_>, result: Result<Option<T>, i32>) -> Option<T> {
    let last = c.args.len() - 1;
    c.set_int32(
        last,
        match &result {
            Ok(Some(_)) => 0,
            Ok(None) => END_OF_FILE,
            Err(number) => *number,
        },
    );
    result.ok().flatten()
}

fn return_text(c: &mut NativeCall<'_>, text: Result<Option<Vec<u8>>, i32>) -> NativeResult {
    Ok(rstring(set_error(c, text).unwrap_or_default()))
}

fn return_value(c: &mut NativeCall<'_>, value: Result<Option<Value>, i32>) -> NativeResult {
    if let Some(value) = set_error(c, value) {
        *c.arg_mut(0) = value;
    }
    Ok(VOID)
}

/// The number of unread bytes before the first that is wanted, reading on until it comes or the
/// file ends.
fn bytes_before(stream: &mut OpenFile, wanted: impl Fn(&u8) -> bool) -> Result<usize, Error> {
    let mut seen = 0;
    loop {
        match stream.unread()[seen..].iter().position(&wanted) {
            Some(more) => return Ok(seen + more),
            None => seen = stream.unread().len(),
        }
        if stream.is_at_end || !stream.fill()? {
            return Ok(seen);
        }
    }
}

fn token(stream: &mut OpenFile) -> Result<Option<Vec<u8>>, Error> {
    if stream.is_at_end && stream.unread().is_empty() {
        return Ok(None);
    }
    let blank = |b: &u8| b.is_ascii_whitespace() || *b == 0x0B;
    let blanks = bytes_before(stream, |b| !blank(b))?;
    stream.consume(blanks);
    let length = bytes_before(stream, blank)?;
    let token = stream.consume(length);
    Ok((!token.is_empty()).then_some(token))
}

fn line(stream: &mut OpenFile) -> Result<Option<Vec<u8>>, Error> {
    if stream.is_at_end && stream.unread().is_empty() {
        return Ok(None);
    }
    let length = bytes_before(stream, |b| *b == b'\n')?;
    let terminated = stream.unread().len() > length;
    let line = stream.consume(length);
    if terminated {
        stream.consume(1);
    }
    Ok((terminated || !line.is_empty()).then_some(line))
}

fn bytes(stream: &mut OpenFile, length: usize) -> Result<Option<Vec<u8>>, Error> {
    while stream.unread().len() < length && !stream.is_at_end {
        stream.fill()?;
    }
    let bytes = stream.consume(length.min(stream.unread().len()));
    Ok((length == 0 || !bytes.is_empty()).then_some(bytes))
}

/// Result of an attempt to read a value from the bytes that are there.
enum ReadAttempt {
    /// A value, and how many bytes it took.
    Read(Value, usize),
    /// More bytes might complete it, or go on with it.
    Incomplete,
    /// The bytes are no such value.
    Invalid,
}

/// Reads a value by attempts on more and more bytes. `None` if the file ends before it begins.
fn value(
    stream: &mut OpenFile,
    attempt: impl Fn(&[u8]) -> ReadAttempt,
) -> Result<Option<Value>, Error> {
    loop {
        match attempt(stream.unread()) {
            ReadAttempt::Read(value, length)
                if length < stream.unread().len() || stream.is_at_end =>
            {
                stream.consume(length);
                return Ok(Some(value));
            }
            ReadAttempt::Invalid => return Err(Errno::IO.into()),
            _ if !stream.is_at_end => drop(stream.fill()?),
            _ if stream.unread().iter().all(u8::is_ascii_whitespace) => return Ok(None),
            _ => return Err(Errno::IO.into()),
        }
    }
}

fn from_text(bytes: &[u8], ty: &Type) -> ReadAttempt {
    let blanks = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let mut reader = TextReader::new_at(bytes, blanks);
    match read(&mut reader, ty) {
        Ok(value) => ReadAttempt::Read(value, reader.offset()),
        // Further bytes may correct an error in the last line, or close a string.
        Err(e) if matches!(e.expected, ExpectedInput::Quote(_)) => ReadAttempt::Incomplete,
        Err(e) if !bytes[e.offset.min(bytes.len())..].contains(&b'\n') => ReadAttempt::Incomplete,
        Err(_) => ReadAttempt::Invalid,
    }
}

fn from_bytes(bytes: &[u8], ty: &Type) -> ReadAttempt {
    match bin::read_value(bytes, ty) {
        Ok((value, length)) => ReadAttempt::Read(value, length),
        Err(e) if e.expected == ExpectedInput::Bytes => ReadAttempt::Incomplete,
        Err(_) => ReadAttempt::Invalid,
    }
}
