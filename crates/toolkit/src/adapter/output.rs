//! Files that are written: buffered, encoded and compressed.
//!
//! `/dev/stdout` is not opened: it is the PE's standard output, shared with `println` and with other
//! sinks, so that lines neither mix nor overwrite each other, and stand in the order in which they were
//! written. `/dev/stderr` is likewise shared with messages.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use bzip2::write::BzEncoder;
use flate2::write::{GzEncoder, ZlibEncoder};
use graph::{Fault, Services};
use runtime::{Stop, uninterrupted};
use rustix::io::Errno;

use super::alarm::{Alarm, NONBLOCK};
use super::compression::Compression;
use super::peer::Peer;
use crate::charset::{Charset, Encoder};

/// Bytes that are gathered before they are written.
const BUFFER_BYTES: usize = 64 * 1024;

/// The names of standard output.
const STDOUT: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// And of standard error.
const STDERR: [&str; 3] = ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"];

/// An open file.
pub struct Output {
    path: PathBuf,
    target: Target,
    encoder: Option<Encoder>,
    buffer: Vec<u8>,
    /// Bytes that were put, before compression.
    bytes: u64,
    /// Bytes were put that are not flushed.
    is_dirty: bool,
}

/// A file or a socket.
type Sink = Box<dyn Write + Send>;

enum Target {
    /// The PE's standard output, which has a buffer of its own.
    Standard,
    /// Standard error, which has none.
    Error,
    Plain(Sink),
    Zlib(ZlibEncoder<Sink>),
    Gzip(GzEncoder<Sink>),
    Bzip2(BzEncoder<Sink>),
}

impl Target {
    fn over(file: Sink, compression: Option<Compression>) -> Target {
        match compression {
            None => Target::Plain(file),
            Some(Compression::Zlib) => Target::Zlib(ZlibEncoder::new(file, level())),
            Some(Compression::Gzip) => Target::Gzip(GzEncoder::new(file, level())),
            Some(Compression::Bzip2) => {
                Target::Bzip2(BzEncoder::new(file, bzip2::Compression::default()))
            }
        }
    }
}

/// What a failed write says.
#[derive(Debug)]
pub enum WriteError {
    /// The system.
    System(io::Error),
    /// Standard output.
    Standard(Fault),
}

impl std::fmt::Display for WriteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WriteError::System(error) => error.fmt(f),
            WriteError::Standard(fault) => fault.message().fmt(f),
        }
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> WriteError {
        WriteError::System(error)
    }
}

impl Output {
    /// Creates a file, or opens it to write behind what it holds.
    ///
    /// # Errors
    /// What the system says; a pipe that nobody reads yet is not waited for, see [`is_unread`].
    pub fn open(
        path: &Path,
        append: bool,
        compression: Option<Compression>,
        encoding: Option<Charset>,
        stop: &Stop,
    ) -> io::Result<Output> {
        let target = match compression {
            None if is_one_of(path, STDOUT) => Target::Standard,
            None if is_one_of(path, STDERR) => Target::Error,
            _ if is_one_of(path, STDOUT) => Target::over(shared(io::stdout())?, compression),
            _ if is_one_of(path, STDERR) => Target::over(shared(io::stderr())?, compression),
            _ => Target::over(file(path, append, stop)?, compression),
        };
        let buffer = Vec::with_capacity(BUFFER_BYTES);
        Ok(Output {
            path: path.to_owned(),
            target,
            encoder: encoding.map(Encoder::new),
            buffer,
            bytes: 0,
            is_dirty: false,
        })
    }

    /// Writes to a connection.
    pub fn over(peer: Peer, compression: Option<Compression>, encoding: Option<Charset>) -> Output {
        Output {
            path: PathBuf::new(),
            target: Target::over(Box::new(peer), compression),
            encoder: encoding.map(Encoder::new),
            buffer: Vec::with_capacity(BUFFER_BYTES),
            bytes: 0,
            is_dirty: false,
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes put so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Puts a record. Once a write has failed the records that were not written yet are gone; those
    /// before are safe.
    ///
    /// # Errors
    /// What the system says.
    pub fn put(&mut self, record: &[u8], services: &mut dyn Services) -> Result<(), WriteError> {
        self.bytes += record.len() as u64;
        self.is_dirty = true;
        match &mut self.encoder {
            None => self.buffer.extend_from_slice(record),
            Some(encoder) => encoder.encode(record, &mut self.buffer),
        }
        let is_shared = matches!(self.target, Target::Standard | Target::Error);
        if is_shared || self.buffer.len() >= BUFFER_BYTES {
            self.write(services)
        } else {
            Ok(())
        }
    }

    /// Hands everything to the system. What was flushed is not flushed again, for it costs bytes to end
    /// a block of a compressed file.
    ///
    /// # Errors
    /// What the system says.
    pub fn flush(&mut self, services: &mut dyn Services) -> Result<(), WriteError> {
        if !std::mem::take(&mut self.is_dirty) {
            return Ok(());
        }
        self.write(services)?;
        match &mut self.target {
            Target::Standard => services.flush().map_err(WriteError::Standard)?,
            Target::Error => {}
            Target::Plain(file) => file.flush()?,
            Target::Zlib(file) => file.flush()?,
            Target::Gzip(file) => file.flush()?,
            Target::Bzip2(file) => file.flush()?,
        }
        Ok(())
    }

    /// Flushes and closes.
    ///
    /// # Errors
    /// What the system says.
    pub fn close(mut self, services: &mut dyn Services) -> Result<PathBuf, WriteError> {
        self.write(services)?;
        match self.target {
            Target::Standard => services.flush().map_err(WriteError::Standard)?,
            Target::Error | Target::Plain(_) => {}
            Target::Zlib(file) => drop(file.finish()?),
            Target::Gzip(file) => drop(file.finish()?),
            Target::Bzip2(file) => drop(file.finish()?),
        }
        Ok(self.path)
    }

    fn write(&mut self, services: &mut dyn Services) -> Result<(), WriteError> {
        let buffer = &self.buffer;
        let written = match &mut self.target {
            Target::Standard => services.print(buffer, false).map_err(WriteError::Standard),
            Target::Error => services.print_error(buffer).map_err(WriteError::System),
            Target::Plain(file) => file.write_all(buffer).map_err(WriteError::System),
            Target::Zlib(file) => file.write_all(buffer).map_err(WriteError::System),
            Target::Gzip(file) => file.write_all(buffer).map_err(WriteError::System),
            Target::Bzip2(file) => file.write_all(buffer).map_err(WriteError::System),
        };
        self.buffer.clear();
        written
    }
}

/// Opens a file for writing.
fn file(path: &Path, append: bool, stop: &Stop) -> io::Result<Sink> {
    let mut options = OpenOptions::new();
    options
        .create(true)
        .write(true)
        .append(append)
        .truncate(!append)
        .custom_flags(NONBLOCK);
    let file = options.open(path)?;
    Ok(match uninterrupted(|| file.metadata())?.is_file() {
        true => Box::new(Regular(file)),
        false => Box::new(Peer::of_pipe(file, &Alarm::new(stop)?)),
    })
}

/// A standard stream of the process, wherever it leads.
fn shared(stream: impl AsFd) -> io::Result<Sink> {
    let file = File::from(stream.as_fd().try_clone_to_owned()?);
    Ok(Box::new(Regular(file)))
}

/// A file on a disk. Encoders take an interrupted write for one that has failed.
struct Regular(File);

impl Write for Regular {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        uninterrupted(|| self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a path names standard output or standard error.
pub fn is_standard(path: &Path) -> bool {
    is_one_of(path, STDOUT) || is_one_of(path, STDERR)
}

fn is_one_of(path: &Path, names: [&str; 3]) -> bool {
    names.iter().any(|name| path == Path::new(name))
}

/// Whether a file was not opened because it is a pipe that nobody reads.
pub fn is_unread(path: &Path, error: &io::Error) -> bool {
    let is_unread = error.raw_os_error() == Some(Errno::NXIO.raw_os_error());
    is_unread && std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
}

fn level() -> flate2::Compression {
    flate2::Compression::default()
}
