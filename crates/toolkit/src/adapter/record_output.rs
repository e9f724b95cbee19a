//! Files that sinks write: buffered, encoded and compressed.
//!
//! `/dev/stdout` is not opened: it is the PE's standard output, shared with `println` and with
//! other sinks, so that lines neither mix nor overwrite each other, and stand in the order in which
//! they were written. `/dev/stderr` is likewise shared with messages.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use bzip2::write::BzEncoder;
use eval::{Fault, Services};
use flate2::write::{GzEncoder, ZlibEncoder};
use runtime::{StopSignal, retry_interrupted};
use rustix::io::Errno;

use super::compression::Compression;
use super::peer_writer::PeerWriter;
use super::stop_waiter::{NONBLOCK, StopWaiter};
use crate::charset::{Charset, CharsetEncoder};

/// Number of bytes that are collected before a write.
const BUFFER_BYTES: usize = 64 * 1024;

/// File names that mean standard output.
const STDOUT: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// File names that mean standard error.
const STDERR: [&str; 3] = ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"];

/// A file that is open for writing, or a standard stream.
pub struct RecordOutput {
    path: PathBuf,
    encoder: Option<CharsetEncoder>,
    target: RecordOutputTarget,
    /// Number of bytes put so far, before compression.
    bytes: u64,
}

enum RecordOutputTarget {
    /// Standard output of the PE, which has its own buffer.
    StandardOutput(Vec<u8>),
    /// Standard error, which has no buffer.
    StandardError(Vec<u8>),
    /// Any other file, with its buffer.
    Buffer(Arc<WriteBuffer>),
}

/// Bytes that wait to be written, and their file. The operator shares it with the thread that
/// writes out bytes that have waited for a second.
pub struct WriteBuffer(Mutex<WriteBufferState>);

struct WriteBufferState {
    /// `None` after the file was closed.
    writer: Option<CompressingWriter>,
    buffer: Vec<u8>,
    /// Whether bytes were put since the last flush.
    is_dirty: bool,
    /// Error of the flushing thread, which the next call returns.
    error: Option<io::Error>,
}

/// A file or a socket.
type BoxedWriter = Box<dyn Write + Send>;

enum CompressingWriter {
    Plain(BoxedWriter),
    Zlib(ZlibEncoder<BoxedWriter>),
    Gzip(GzEncoder<BoxedWriter>),
    Bzip2(BzEncoder<BoxedWriter>),
}

impl CompressingWriter {
    fn new(file: BoxedWriter, compression: Option<Compression>) -> CompressingWriter {
        match compression {
            None => CompressingWriter::Plain(file),
            Some(Compression::Zlib) => {
                CompressingWriter::Zlib(ZlibEncoder::new(file, compression_level()))
            }
            Some(Compression::Gzip) => {
                CompressingWriter::Gzip(GzEncoder::new(file, compression_level()))
            }
            Some(Compression::Bzip2) => {
                CompressingWriter::Bzip2(BzEncoder::new(file, bzip2::Compression::default()))
            }
        }
    }

    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            CompressingWriter::Plain(file) => file,
            CompressingWriter::Zlib(file) => file,
            CompressingWriter::Gzip(file) => file,
            CompressingWriter::Bzip2(file) => file,
        }
    }

    /// Ends what is compressed, and closes the file.
    fn finish(self) -> io::Result<()> {
        match self {
            CompressingWriter::Plain(_) => Ok(()),
            CompressingWriter::Zlib(file) => file.finish().map(drop),
            CompressingWriter::Gzip(file) => file.finish().map(drop),
            CompressingWriter::Bzip2(file) => file.finish().map(drop),
        }
    }
}

/// Why a write failed.
#[derive(Debug)]
pub enum WriteError {
    /// The error of the system.
    System(io::Error),
    /// The fault of standard output.
    StandardOutput(Fault),
}

impl std::fmt::Display for WriteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WriteError::System(error) => error.fmt(f),
            WriteError::StandardOutput(fault) => fault.message().fmt(f),
        }
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> WriteError {
        WriteError::System(error)
    }
}

impl RecordOutput {
    /// Creates a file, or opens it to write behind what it holds.
    ///
    /// # Errors
    /// The error of the system. A pipe without a reader gives an error too, see [`is_unread`].
    pub fn open(
        path: &Path,
        append: bool,
        compression: Option<Compression>,
        encoding: Option<Charset>,
        stop: &StopSignal,
    ) -> io::Result<RecordOutput> {
        let begun =
            retry_interrupted(|| std::fs::metadata(path)).is_ok_and(|found| found.len() > 0);
        let encoder = match append && begun {
            true => CharsetEncoder::without_mark,
            false => CharsetEncoder::new,
        };
        let to = match compression {
            None if is_one_of(path, STDOUT) => RecordOutputTarget::StandardOutput(Vec::new()),
            None if is_one_of(path, STDERR) => RecordOutputTarget::StandardError(Vec::new()),
            _ => {
                let file: BoxedWriter = match () {
                    () if is_one_of(path, STDOUT) => duplicate_stream(io::stdout())?,
                    () if is_one_of(path, STDERR) => duplicate_stream(io::stderr())?,
                    () => open_file(path, append, stop)?,
                };
                RecordOutputTarget::Buffer(WriteBuffer::new(CompressingWriter::new(
                    file,
                    compression,
                )))
            }
        };
        Ok(RecordOutput {
            path: path.to_owned(),
            encoder: encoding.map(encoder),
            target: to,
            bytes: 0,
        })
    }

    /// Writes to a connection.
    pub fn from_peer(
        peer: PeerWriter,
        compression: Option<Compression>,
        encoding: Option<Charset>,
    ) -> RecordOutput {
        RecordOutput {
            path: PathBuf::new(),
            encoder: encoding.map(CharsetEncoder::new),
            target: RecordOutputTarget::Buffer(WriteBuffer::new(CompressingWriter::new(
                Box::new(peer),
                compression,
            ))),
            bytes: 0,
        }
    }

    /// Path of the open file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of bytes put so far, before compression.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The buffer of the file; `None` for standard streams.
    pub fn buffer(&self) -> Option<&Arc<WriteBuffer>> {
        match &self.target {
            RecordOutputTarget::Buffer(buffer) => Some(buffer),
            _ => None,
        }
    }

    /// Writes a record. Once a write has failed, records that were not written yet are lost;
    /// earlier ones are safe.
    ///
    /// # Errors
    /// The error of the system, which may concern earlier records.
    pub fn put(&mut self, record: &[u8], services: &mut dyn Services) -> Result<(), WriteError> {
        self.bytes += record.len() as u64;
        match &mut self.target {
            RecordOutputTarget::StandardOutput(text) => {
                let text = encoded(&mut self.encoder, record, text);
                services
                    .print(text, false)
                    .map_err(WriteError::StandardOutput)
            }
            RecordOutputTarget::StandardError(text) => {
                let text = encoded(&mut self.encoder, record, text);
                services.print_error(text).map_err(WriteError::System)
            }
            RecordOutputTarget::Buffer(buffer) => Ok(buffer.put(record, &mut self.encoder)?),
        }
    }

    /// Writes all bytes out. Without new bytes nothing is done, because the end of a block of a
    /// compressed file costs bytes.
    ///
    /// # Errors
    /// The error of the system.
    pub fn flush(&mut self, services: &mut dyn Services) -> Result<(), WriteError> {
        match &self.target {
            RecordOutputTarget::StandardOutput(_) => {
                services.flush().map_err(WriteError::StandardOutput)
            }
            RecordOutputTarget::StandardError(_) => Ok(()),
            RecordOutputTarget::Buffer(buffer) => Ok(buffer.lock().flush()?),
        }
    }

    /// Writes what is buffered and closes the output.
    ///
    /// # Errors
    /// The error of the system.
    pub fn close(self, services: &mut dyn Services) -> Result<PathBuf, WriteError> {
        match self.target {
            RecordOutputTarget::StandardOutput(_) => {
                services.flush().map_err(WriteError::StandardOutput)?
            }
            RecordOutputTarget::StandardError(_) => {}
            RecordOutputTarget::Buffer(buffer) => buffer.lock().close()?,
        }
        Ok(self.path)
    }
}

/// A record as it is written; `text` is memory for it.
fn encoded<'a>(
    encoder: &mut Option<CharsetEncoder>,
    record: &'a [u8],
    text: &'a mut Vec<u8>,
) -> &'a [u8] {
    let Some(encoder) = encoder else {
        return record;
    };
    text.clear();
    encoder.encode(record, text);
    text
}

impl WriteBuffer {
    fn new(target: CompressingWriter) -> Arc<WriteBuffer> {
        Arc::new(WriteBuffer(Mutex::new(WriteBufferState {
            writer: Some(target),
            buffer: Vec::with_capacity(BUFFER_BYTES),
            is_dirty: false,
            error: None,
        })))
    }

    #[inline]
    fn put(&self, record: &[u8], encoder: &mut Option<CharsetEncoder>) -> io::Result<()> {
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

    /// Locks the buffer for the operator. While the thread writes to a full pipe, the operator
    /// waits as if it wrote itself.
    fn lock(&self) -> MutexGuard<'_, WriteBufferState> {
        match self.0.try_lock() {
            Ok(pending) => pending,
            Err(TryLockError::Poisoned(pending)) => pending.into_inner(),
            Err(TryLockError::WouldBlock) => {
                runtime::while_asleep(|| self.0.lock().unwrap_or_else(PoisonError::into_inner))
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

impl WriteBufferState {
    #[inline]
    fn take_error(&mut self) -> io::Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    fn write(&mut self) -> io::Result<()> {
        let stream = self.writer.as_mut().map(CompressingWriter::as_write);
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
        let stream = self.writer.as_mut().map(CompressingWriter::as_write);
        stream.map_or(Ok(()), |stream| stream.flush())
    }

    fn close(&mut self) -> io::Result<()> {
        self.take_error()?;
        self.write()?;
        self.is_dirty = false;
        self.writer.take().map_or(Ok(()), CompressingWriter::finish)
    }
}

/// Opens a file for writing.
fn open_file(path: &Path, append: bool, stop: &StopSignal) -> io::Result<BoxedWriter> {
    let mut options = OpenOptions::new();
    options
        .create(true)
        .write(true)
        .append(append)
        .truncate(!append)
        .custom_flags(NONBLOCK);
    let file = options.open(path)?;
    Ok(match retry_interrupted(|| file.metadata())?.is_file() {
        true => Box::new(UninterruptedFile(file)),
        false => Box::new(PeerWriter::from_pipe(file, &StopWaiter::new(stop)?)),
    })
}

/// A standard stream of the process, wherever it leads.
fn duplicate_stream(stream: impl AsFd) -> io::Result<BoxedWriter> {
    let file = File::from(stream.as_fd().try_clone_to_owned()?);
    Ok(Box::new(UninterruptedFile(file)))
}

/// A file on a disk. It repeats interrupted writes, which encoders take for failed ones.
struct UninterruptedFile(File);

impl Write for UninterruptedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        retry_interrupted(|| self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn is_one_of(path: &Path, names: [&str; 3]) -> bool {
    names.iter().any(|name| path == Path::new(name))
}

/// Whether a file was not opened because it is a pipe without a reader.
pub fn is_unread(path: &Path, error: &io::Error) -> bool {
    let is_unread = error.raw_os_error() == Some(Errno::NXIO.raw_os_error());
    is_unread
        && retry_interrupted(|| std::fs::metadata(path))
            .is_ok_and(|found| found.file_type().is_fifo())
}

fn compression_level() -> flate2::Compression {
    flate2::Compression::default()
}

#[cfg(test)]
mod tests {
    use eval::NoServices;

    use super::*;

    #[test]
    fn what_the_thread_cannot_write_is_the_error_of_the_next_call() {
        let full = Path::new("/dev/full");
        let open = || RecordOutput::open(full, true, None, None, &StopSignal::default()).unwrap();
        let is_full = |error| match error {
            WriteError::System(error) => error.kind() == io::ErrorKind::StorageFull,
            WriteError::StandardOutput(_) => false,
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
        let utf_16 = Charset::from_name("UTF-16").unwrap();
        for _ in 0..2 {
            let mut output =
                RecordOutput::open(&path, true, None, Some(utf_16), &StopSignal::default())
                    .unwrap();
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
        let output = RecordOutput::open(
            Path::new("/dev/null"),
            true,
            None,
            None,
            &StopSignal::default(),
        );
        let output = output.unwrap();
        let buffer = output.buffer().unwrap();
        let used = buffer.lock();
        assert!(!buffer.write_out());
        drop(used);
        assert!(buffer.write_out());
    }
}
