//! Files as streams of bytes: opened, decompressed, and decoded to UTF-8.

use std::io::{self, Read, Seek};
use std::path::Path;

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8};
use graph::{Fault, FaultKind};

use super::alarm::{Alarm, Watched};
use super::compression::Compression;

/// Bytes that are asked for at once.
const BLOCK_BYTES: usize = 64 * 1024;

/// An open file, or what a decompressor makes of it.
pub struct Input {
    bytes: Bytes,
    decoder: Option<Decoder>,
    /// Bytes as they came, not yet decoded.
    raw: Vec<u8>,
}

/// Where bytes come from.
enum Bytes {
    File(Watched),
    Decompressed(Box<dyn Read + Send>),
}

impl Bytes {
    fn new(file: Watched, compression: Option<Compression>) -> Bytes {
        Bytes::Decompressed(match compression {
            None => return Bytes::File(file),
            Some(Compression::Zlib) => Box::new(flate2::read::ZlibDecoder::new(file)),
            Some(Compression::Gzip) => Box::new(flate2::read::MultiGzDecoder::new(file)),
            Some(Compression::Bzip2) => Box::new(bzip2::read::MultiBzDecoder::new(file)),
        })
    }

    fn reader(&mut self) -> &mut dyn Read {
        match self {
            Bytes::File(file) => file,
            Bytes::Decompressed(bytes) => &mut **bytes,
        }
    }
}

impl Input {
    /// Opens a file. An alarm ends waits for more of it.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(
        path: &Path,
        compression: Option<Compression>,
        encoding: Option<&'static Encoding>,
        alarm: &Alarm,
    ) -> io::Result<Input> {
        Ok(Input {
            bytes: Bytes::new(Watched::open(path, alarm)?, compression),
            decoder: encoding.map(Encoding::new_decoder),
            raw: Vec::new(),
        })
    }

    /// Appends more bytes to a buffer; how many. None is the end, for now.
    ///
    /// # Errors
    /// What the system or the decompressor says.
    pub fn fill(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let Some(decoder) = &mut self.decoder else {
            return read_block(self.bytes.reader(), buffer);
        };
        let before = buffer.len();
        loop {
            self.raw.clear();
            let count = read_block(self.bytes.reader(), &mut self.raw)?;
            decode(decoder, &self.raw, count == 0, buffer);
            // A block may hold no whole character.
            if count == 0 || buffer.len() > before {
                return Ok(buffer.len() - before);
            }
        }
    }

    /// Goes back to the start of a file that has become shorter than what was read of it; whether
    /// it has. A compressed file is never read again.
    ///
    /// # Errors
    /// What the system says.
    pub fn restart_if_shorter(&mut self) -> io::Result<bool> {
        let Bytes::File(Watched { file, .. }) = &mut self.bytes else {
            return Ok(false);
        };
        let is_shorter = file.metadata()?.len() < file.stream_position()?;
        if is_shorter {
            file.rewind()?;
            self.decoder = self.decoder.as_ref().map(|d| d.encoding().new_decoder());
        }
        Ok(is_shorter)
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

fn decode(decoder: &mut Decoder, mut raw: &[u8], last: bool, buffer: &mut Vec<u8>) {
    loop {
        let wanted = decoder
            .max_utf8_buffer_length(raw.len())
            .unwrap_or(raw.len() * 3 + 16);
        let before = buffer.len();
        buffer.resize(before + wanted, 0);
        let (result, read, written, _) = decoder.decode_to_utf8(raw, &mut buffer[before..], last);
        buffer.truncate(before + written);
        raw = &raw[read..];
        if result == CoderResult::InputEmpty {
            return;
        }
    }
}

/// The encoding of a name; `None` for UTF-8, which needs no decoding.
///
/// # Errors
/// If nobody knows the name.
pub fn encoding(name: Option<&str>) -> Result<Option<&'static Encoding>, Fault> {
    let Some(name) = name else { return Ok(None) };
    // iconv's names differ from the labels of the web in little.
    let label = name
        .replace("ISO_8859", "ISO-8859")
        .replace("UTF8", "UTF-8");
    match Encoding::for_label(label.as_bytes()) {
        Some(encoding) => Ok(Some(encoding).filter(|encoding| *encoding != UTF_8)),
        None => Err(Fault::new(
            FaultKind::Limit,
            format!("the encoding {name:?} is not known; UTF-8, ISO-8859-1 and UTF-16LE are some"),
        )),
    }
}
