//! Input files as streams of bytes: opened, decompressed, and converted to UTF-8.

use std::io::{self, Read, Seek};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use eval::Fault;
use runtime::retry_interrupted;

use super::compression::Compression;
use super::rotation::FileRotation;
use super::stop_waiter::{InterruptibleFile, StopWaiter};
use crate::charset::{Charset, CharsetDecoder};

/// Number of bytes that one read asks for.
const BLOCK_BYTES: usize = 64 * 1024;

/// Bytes of a file or connection, decompressed and converted to UTF-8.
pub struct RecordInput {
    bytes: ByteSource,
    decoder: Option<CharsetDecoder>,
    /// Bytes that were read and not converted yet.
    raw: Vec<u8>,
    encoding: Option<Charset>,
    /// Follows the files that take the name of a regular file.
    rotation: Option<FileRotation>,
}

/// Source of the bytes.
enum ByteSource {
    File(InterruptibleFile),
    Decompressed(Box<dyn Read + Send>),
}

impl ByteSource {
    fn new(file: InterruptibleFile, compression: Option<Compression>) -> ByteSource {
        match compression {
            None => ByteSource::File(file),
            Some(compression) => ByteSource::Decompressed(compression.decompressing_reader(file)),
        }
    }

    fn reader(&mut self) -> &mut dyn Read {
        match self {
            ByteSource::File(file) => file,
            ByteSource::Decompressed(bytes) => &mut **bytes,
        }
    }
}

impl RecordInput {
    /// Opens a file. A requested shutdown ends waits for more bytes.
    ///
    /// # Errors
    /// The error of the system.
    pub fn open(
        path: &Path,
        compression: Option<Compression>,
        encoding: Option<Charset>,
        stop_waiter: &StopWaiter,
    ) -> io::Result<RecordInput> {
        let file = InterruptibleFile::open(path, stop_waiter)?;
        let id = file.id()?;
        Ok(RecordInput {
            rotation: id.map(|id| FileRotation::new(path.to_owned(), id, stop_waiter)),
            bytes: ByteSource::new(file, compression),
            decoder: encoding.map(CharsetDecoder::new),
            encoding,
            raw: Vec::new(),
        })
    }

    /// The input from a connection. If a client waits at the listener meanwhile, one read ends
    /// with [`ClientWaits`](super::stop_waiter::ClientWaits); decompressors cannot go on after it,
    /// so compressed connections look for none.
    pub fn from_connection(
        connection: TcpStream,
        listener: Option<Arc<TcpListener>>,
        compression: Option<Compression>,
        encoding: Option<Charset>,
        stop_waiter: &StopWaiter,
    ) -> RecordInput {
        let listener = listener.filter(|_| compression.is_none());
        let file = OwnedFd::from(connection).into();
        let file = InterruptibleFile::from_socket(file, stop_waiter, listener);
        RecordInput {
            bytes: ByteSource::new(file, compression),
            decoder: encoding.map(CharsetDecoder::new),
            encoding,
            raw: Vec::new(),
            rotation: None,
        }
    }

    /// Appends more bytes to a buffer, and returns their number. 0 means the end for now;
    /// [`RecordInput::finish`] ends the text.
    ///
    /// # Errors
    /// The error of the system or the decompressor.
    pub fn fill(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let Some(decoder) = &mut self.decoder else {
            return read_block(self.bytes.reader(), buffer);
        };
        let before = buffer.len();
        loop {
            self.raw.clear();
            let count = read_block(self.bytes.reader(), &mut self.raw)?;
            decoder.decode(&self.raw, buffer);
            // A block may contain no whole character.
            if count == 0 || buffer.len() > before {
                return Ok(buffer.len() - before);
            }
        }
    }

    /// Ends the text: appends the replacement of an incomplete character.
    pub fn finish(&mut self, buffer: &mut Vec<u8>) {
        if let Some(decoder) = &mut self.decoder {
            decoder.finish(buffer);
        }
    }

    /// Goes back to the start of a file that has become shorter than the bytes read from it, and
    /// returns whether it has. A compressed file is never read again.
    ///
    /// # Errors
    /// The error of the system.
    pub fn restart_if_shorter(&mut self) -> io::Result<bool> {
        let ByteSource::File(watched) = &mut self.bytes else {
            return Ok(false);
        };
        if !watched.is_regular() {
            return Ok(false);
        }
        let file = &mut watched.file;
        let is_shorter = retry_interrupted(|| file.metadata())?.len() < file.stream_position()?;
        if is_shorter {
            file.rewind()?;
            if let Some(decoder) = &mut self.decoder {
                decoder.restart();
            }
        }
        Ok(is_shorter)
    }

    /// Whether another regular file has taken its name, and something is in it: who writes has gone
    /// over to that one, and adds nothing more to this one.
    pub fn is_replaced(&mut self) -> bool {
        self.rotation
            .as_mut()
            .is_some_and(FileRotation::is_replaced)
    }

    /// The file that has taken its name. Files that are replaced are not compressed.
    pub fn into_next(self) -> Option<RecordInput> {
        let (file, rotation) = self.rotation?.into_next()?;
        Some(RecordInput {
            bytes: ByteSource::new(file, None),
            decoder: self.encoding.map(CharsetDecoder::new),
            encoding: self.encoding,
            raw: Vec::new(),
            rotation: Some(rotation),
        })
    }
}

fn read_block(bytes: &mut dyn Read, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let before = buffer.len();
    buffer.resize(before + BLOCK_BYTES, 0);
    let read = loop {
        match bytes.read(&mut buffer[before..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other,
        }
    };
    buffer.truncate(before + read.as_ref().copied().unwrap_or(0));
    read
}

/// The encoding of a name; `None` for UTF-8, which needs no decoding.
///
/// # Errors
/// If no character set has this name.
pub fn encoding(name: Option<&str>) -> Result<Option<Charset>, Fault> {
    let charset = name.map(Charset::from_name).transpose()?;
    Ok(charset.filter(|charset| *charset != Charset::Utf8))
}
