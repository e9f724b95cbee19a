//! Decompression of zlib data, up to the last byte of one stream.
//!
//! ```text
//!   78 9c  blocks ...  checksum (4 bytes) | 78 9c  blocks ...  checksum | ...
//! ```
//! As with gzip and bzip2, several compressed data may stand one behind the other, as a FileSink
//! that appends leaves them; and each of them has to end: what lacks its checksum, or a part of it,
//! is damaged, as is what has a wrong one.

use std::io::{self, Read};

use flate2::{Decompress, FlushDecompress, Status};

/// Number of bytes that one read asks for.
const READ_BYTES: usize = 32 * 1024;

/// Decompresses bytes as they come.
pub struct Inflater {
    stream: Decompress,
    /// The last byte of the data at hand has yet to come. The first data have to come; others may.
    is_inside: bool,
}

impl Default for Inflater {
    fn default() -> Inflater {
        Inflater {
            stream: Decompress::new(true),
            is_inside: true,
        }
    }
}

impl Inflater {
    /// Decompresses into a buffer; returns the number of bytes consumed and produced. If both are
    /// 0, more input is needed.
    ///
    /// # Errors
    /// If the data are damaged.
    pub fn step(&mut self, bytes: &[u8], room: &mut [u8]) -> io::Result<(usize, usize)> {
        if !self.is_inside {
            if bytes.is_empty() {
                return Ok((0, 0));
            }
            self.stream.reset(true);
            self.is_inside = true;
        }
        let (taken, made) = (self.stream.total_in(), self.stream.total_out());
        let status = self.stream.decompress(bytes, room, FlushDecompress::None);
        let status = status.map_err(|_| damaged("the zlib data are damaged"))?;
        self.is_inside = status != Status::StreamEnd;
        let taken = (self.stream.total_in() - taken) as usize;
        Ok((taken, (self.stream.total_out() - made) as usize))
    }

    /// Decompresses all of some bytes, behind what a buffer holds.
    ///
    /// # Errors
    /// If the data are damaged.
    pub fn inflate(&mut self, mut bytes: &[u8], plain: &mut Vec<u8>) -> io::Result<()> {
        loop {
            let before = plain.len();
            plain.resize(before + READ_BYTES, 0);
            let step = self.step(bytes, &mut plain[before..]);
            plain.truncate(before + step.as_ref().map_or(0, |(_, made)| *made));
            let (taken, made) = step?;
            bytes = &bytes[taken..];
            if taken == 0 && made == 0 {
                return Ok(());
            }
        }
    }

    /// Checks that the compressed data have ended where the input ends.
    ///
    /// # Errors
    /// If the data end too early.
    pub fn finish(&self) -> io::Result<()> {
        match self.is_inside {
            true => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the zlib data end too early",
            )),
            false => Ok(()),
        }
    }
}

/// Decompresses what it reads.
pub struct ZlibReader<R> {
    bytes: R,
    inflater: Inflater,
    /// Compressed bytes that were read; used up to `at`.
    buffer: Vec<u8>,
    at: usize,
}

impl<R: Read> ZlibReader<R> {
    /// A reader of the decompressed form of some bytes.
    pub fn new(bytes: R) -> ZlibReader<R> {
        ZlibReader {
            bytes,
            inflater: Inflater::default(),
            buffer: Vec::new(),
            at: 0,
        }
    }

    /// Reads more compressed bytes; how many.
    fn fill(&mut self) -> io::Result<usize> {
        self.at = 0;
        self.buffer.resize(READ_BYTES, 0);
        let read = self.bytes.read(&mut self.buffer);
        self.buffer.truncate(*read.as_ref().unwrap_or(&0));
        read
    }
}

impl<R: Read> Read for ZlibReader<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if room.is_empty() {
            return Ok(0);
        }
        loop {
            let (taken, made) = self.inflater.step(&self.buffer[self.at..], room)?;
            self.at += taken;
            if made > 0 {
                return Ok(made);
            }
            if taken == 0 && self.fill()? == 0 {
                return self.inflater.finish().map(|()| 0);
            }
        }
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
