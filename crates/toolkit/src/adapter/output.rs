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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

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
    encoder: Option<Encoder>,
    to: To,
    /// Bytes that were put, before compression.
    bytes: u64,
}

enum To {
    /// The PE's standard output, which has a buffer of its own.
    Standard(Vec<u8>),
    /// Standard error, which has none.
    Error(Vec<u8>),
    /// All others, with the buffer.
    Buffer(Arc<Buffer>),
}

/// What is held back, and where it goes: shared by the operator and the thread that writes out what
/// has been held for a second.
pub struct Buffer(Mutex<Pending>);

struct Pending {
    /// `None`: it is closed.
    target: Option<Target>,
    buffer: Vec<u8>,
    /// Bytes were put that are not flushed.
    is_dirty: bool,
    /// Why the thread could not write. The next call returns it.
    error: Option<io::Error>,
}

/// A file or a socket.
type Sink = Box<dyn Write + Send>;

enum Target {
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

    fn stream(&mut self) -> &mut dyn Write {
        match self {
            Target::Plain(file) => file,
            Target::Zlib(file) => file,
            Target::Gzip(file) => file,
            Target::Bzip2(file) => file,
        }
    }

    /// Ends what is compressed, and closes the file.
    fn finish(self) -> io::Result<()> {
        match self {
            Target::Plain(_) => Ok(()),
            Target::Zlib(file) => file.finish().map(drop),
            Target::Gzip(file) => file.finish().map(drop),
            Target::Bzip2(file) => file.finish().map(drop),
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
        let begun = uninterrupted(|| std::fs::metadata(path)).is_ok_and(|found| found.len() > 0);
        let encoder = match append && begun {
            true => Encoder::continued,
            false => Encoder::new,
        };
        let to = match compression {
            None if is_one_of(path, STDOUT) => To::Standard(Vec::new()),
            None if is_one_of(path, STDERR) => To::Error(Vec::new()),
            _ => {
                let file: Sink = match () {
                    () if is_one_of(path, STDOUT) => shared(io::stdout())?,
                    () if is_one_of(path, STDERR) => shared(io::stderr())?,
                    () => file(path, append, stop)?,
                };
                To::Buffer(Buffer::over(Target::over(file, compression)))
            }
        };
        Ok(Output {
            path: path.to_owned(),
            encoder: encoding.map(encoder),
            to,
            bytes: 0,
        })
    }

    /// Writes to a connection.
    pub fn over(peer: Peer, compression: Option<Compression>, encoding: Option<Charset>) -> Output {
        Output {
            path: PathBuf::new(),
            encoder: encoding.map(Encoder::new),
            to: To::Buffer(Buffer::over(Target::over(Box::new(peer), compression))),
            bytes: 0,
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

    /// What holds bytes back, unless nothing does.
    pub fn buffer(&self) -> Option<&Arc<Buffer>> {
        match &self.to {
            To::Buffer(buffer) => Some(buffer),
            _ => None,
        }
    }

    /// Puts a record. Once a write has failed the records that were not written yet are gone; those
    /// before are safe.
    ///
    /// # Errors
    /// What the system says, perhaps of records before.
    pub fn put(&mut self, record: &[u8], services: &mut dyn Services) -> Result<(), WriteError> {
        self.bytes += record.len() as u64;
        match &mut self.to {
            To::Standard(text) => {
                let text = encoded(&mut self.encoder, record, text);
                services.print(text, false).map_err(WriteError::Standard)
            }
            To::Error(text) => {
                let text = encoded(&mut self.encoder, record, text);
                services.print_error(text).map_err(WriteError::System)
            }
            To::Buffer(buffer) => Ok(buffer.put(record, &mut self.encoder)?),
        }
    }

    /// Hands everything to the system. What was flushed is not flushed again, for it costs bytes to end
    /// a block of a compressed file.
    ///
    /// # Errors
    /// What the system says.
    pub fn flush(&mut self, services: &mut dyn Services) -> Result<(), WriteError> {
        match &self.to {
            To::Standard(_) => services.flush().map_err(WriteError::Standard),
            To::Error(_) => Ok(()),
            To::Buffer(buffer) => Ok(buffer.lock().flush()?),
        }
    }

    /// Flushes and closes.
    ///
    /// # Errors
    /// What the system says.
    pub fn close(self, services: &mut dyn Services) -> Result<PathBuf, WriteError> {
        match self.to {
            To::Standard(_) => services.flush().map_err(WriteError::Standard)?,
            To::Error(_) => {}
            To::Buffer(buffer) => buffer.lock().close()?,
        }
        Ok(self.path)
    }
}

/// A record as it is written; `text` is memory for it.
fn encoded<'a>(encoder: &mut Option<Encoder>, record: &'a [u8], text: &'a mut Vec<u8>) -> &'a [u8] {
    let Some(encoder) = encoder else {
        return record;
    };
    text.clear();
    encoder.encode(record, text);
    text
}

impl Buffer {
    fn over(target: Target) -> Arc<Buffer> {
        Arc::new(Buffer(Mutex::new(Pending {
            target: Some(target),
            buffer: Vec::with_capacity(BUFFER_BYTES),
            is_dirty: false,
            error: None,
        })))
    }

    #[inline]
    fn put(&self, record: &[u8], encoder: &mut Option<Encoder>) -> io::Result<()> {
        let mut pending = self.lock();
        pending.take_error()?;
        match encoder {
            None => pending.buffer.extend_from_slice(record),
            Some(encoder) => encoder.encode(record, &mut pending.buffer),
        }
        pending.is_dirty = true;
        if pending.buffer.len() >= BUFFER_BYTES {
            pending.write()?;
        }
        Ok(())
    }

    /// For the operator. While the thread writes to a pipe that is full, the operator waits as if it
    /// wrote itself.
    fn lock(&self) -> MutexGuard<'_, Pending> {
        match self.0.try_lock() {
            Ok(pending) => pending,
            Err(TryLockError::Poisoned(pending)) => pending.into_inner(),
            Err(TryLockError::WouldBlock) => {
                runtime::about_to_sleep();
                self.0.lock().unwrap_or_else(PoisonError::into_inner)
            }
        }
    }

    /// Writes out what is held; `false`: it is in use.
    pub fn write_out(&self) -> bool {
        let mut pending = match self.0.try_lock() {
            Ok(pending) => pending,
            Err(TryLockError::Poisoned(pending)) => pending.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        if pending.error.is_none()
            && let Err(error) = pending.flush()
        {
            pending.error = Some(error);
        }
        true
    }
}

impl Pending {
    #[inline]
    fn take_error(&mut self) -> io::Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    fn write(&mut self) -> io::Result<()> {
        let stream = self.target.as_mut().map(Target::stream);
        let written = stream.map_or(Ok(()), |stream| stream.write_all(&self.buffer));
        self.buffer.clear();
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.take_error()?;
        if !std::mem::take(&mut self.is_dirty) {
            return Ok(());
        }
        self.write()?;
        let stream = self.target.as_mut().map(Target::stream);
        stream.map_or(Ok(()), |stream| stream.flush())
    }

    fn close(&mut self) -> io::Result<()> {
        self.take_error()?;
        self.write()?;
        self.is_dirty = false;
        self.target.take().map_or(Ok(()), Target::finish)
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

fn is_one_of(path: &Path, names: [&str; 3]) -> bool {
    names.iter().any(|name| path == Path::new(name))
}

/// Whether a file was not opened because it is a pipe that nobody reads.
pub fn is_unread(path: &Path, error: &io::Error) -> bool {
    let is_unread = error.raw_os_error() == Some(Errno::NXIO.raw_os_error());
    is_unread
        && uninterrupted(|| std::fs::metadata(path)).is_ok_and(|found| found.file_type().is_fifo())
}

fn level() -> flate2::Compression {
    flate2::Compression::default()
}

#[cfg(test)]
mod tests {
    use graph::NoServices;

    use super::*;

    #[test]
    fn what_the_thread_cannot_write_is_the_error_of_the_next_call() {
        let full = Path::new("/dev/full");
        let open = || Output::open(full, true, None, None, &Stop::default()).unwrap();
        let is_full = |error| match error {
            WriteError::System(error) => error.kind() == io::ErrorKind::StorageFull,
            WriteError::Standard(_) => false,
        };
        let mut output = open();
        output.put(b"lost", &mut NoServices::default()).unwrap();
        assert!(output.buffer().unwrap().write_out());
        assert!(is_full(
            output
                .put(b"not put", &mut NoServices::default())
                .unwrap_err()
        ));
        output.flush(&mut NoServices::default()).unwrap();
        let mut output = open();
        output.put(b"lost", &mut NoServices::default()).unwrap();
        assert!(output.buffer().unwrap().write_out());
        assert!(is_full(
            output.close(&mut NoServices::default()).unwrap_err()
        ));
    }

    #[test]
    fn a_file_has_one_byte_order_mark() {
        let path = std::env::temp_dir().join(format!("thalweg-mark-{}", std::process::id()));
        let utf_16 = Charset::named("UTF-16").unwrap();
        for _ in 0..2 {
            let mut output =
                Output::open(&path, true, None, Some(utf_16), &Stop::default()).unwrap();
            output.put(b"a", &mut NoServices::default()).unwrap();
            output.close(&mut NoServices::default()).unwrap();
        }
        let written = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(utf_16.decode(&written), b"aa");
        assert_eq!(written.len(), 6);
    }

    #[test]
    fn the_thread_leaves_a_buffer_in_use_alone() {
        let output = Output::open(Path::new("/dev/null"), true, None, None, &Stop::default());
        let output = output.unwrap();
        let buffer = output.buffer().unwrap();
        let used = buffer.lock();
        assert!(!buffer.write_out());
        drop(used);
        assert!(buffer.write_out());
    }
}
