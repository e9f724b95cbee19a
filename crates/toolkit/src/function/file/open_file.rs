//! Open files, and the numbers by which programs refer to them.
//!
//! Reading is buffered; writing is not: what a program has written is in the file, whatever ends
//! it.
//!
//! # Threads
//! Several operators may share a file. The table is locked for a look-up, a file for one operation.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Error, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

/// Value of `err` at the end of a file.
pub(super) const END_OF_FILE: i32 = -1;

/// Number of bytes that one read asks for.
const CHUNK_BYTES: usize = 64 * 1024;

/// A file that the program has opened, with the bytes read ahead.
#[derive(Debug)]
pub(super) struct OpenFile {
    file: File,
    /// Bytes that were read from the file; the first `consumed_bytes` of them have been given out.
    input: Vec<u8>,
    consumed_bytes: usize,
    /// Whether reading has met the end.
    pub(super) is_at_end: bool,
}

impl OpenFile {
    pub(super) fn new(file: File) -> OpenFile {
        OpenFile {
            file,
            input: Vec::new(),
            consumed_bytes: 0,
            is_at_end: false,
        }
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Bytes that were read and not consumed yet.
    pub(super) fn unread(&self) -> &[u8] {
        &self.input[self.consumed_bytes..]
    }

    /// Takes bytes that were read.
    pub(super) fn consume(&mut self, bytes: usize) -> Vec<u8> {
        let taken = self.unread()[..bytes].to_vec();
        self.consumed_bytes += bytes;
        taken
    }

    /// Reads more; false, and the file is marked as ended, if there is no more.
    pub(super) fn fill(&mut self) -> Result<bool, Error> {
        self.input.drain(..self.consumed_bytes);
        self.consumed_bytes = 0;
        let had = self.input.len();
        self.input.resize(had + CHUNK_BYTES, 0);
        let read = loop {
            match self.file.read(&mut self.input[had..]) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.input.truncate(had + *read.as_ref().unwrap_or(&0));
        let more = read? > 0;
        self.is_at_end |= !more;
        Ok(more)
    }

    /// Writes at the place up to which the program has read or written.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if !self.unread().is_empty() {
            self.seek(SeekFrom::Current(0))?;
        }
        self.file.write_all(bytes)
    }

    pub(super) fn position(&mut self) -> Result<i64, Error> {
        let unread = self.unread().len() as i64;
        Ok(self.file.stream_position()? as i64 - unread)
    }

    pub(super) fn seek(&mut self, to: SeekFrom) -> Result<(), Error> {
        let to = match to {
            SeekFrom::Current(by) => SeekFrom::Current(by - self.unread().len() as i64),
            other => other,
        };
        self.file.seek(to)?;
        self.input.clear();
        self.consumed_bytes = 0;
        self.is_at_end = false;
        Ok(())
    }
}

#[derive(Default)]
struct FileTable {
    last: u64,
    open: HashMap<u64, Arc<Mutex<OpenFile>>>,
}

static FILE_TABLE: LazyLock<Mutex<FileTable>> = LazyLock::new(Mutex::default);

/// A lock whose holder panicked guards nothing that could be half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of a file that was opened; never 0, never the same again.
pub(super) fn register(file: File) -> u64 {
    let mut table = lock(&FILE_TABLE);
    table.last += 1;
    let number = table.last;
    table
        .open
        .insert(number, Arc::new(Mutex::new(OpenFile::new(file))));
    number
}

/// Runs an operation on the file of a number; an error number if there is none or it fails.
pub(super) fn with_file<T>(
    number: u64,
    operation: impl FnOnce(&mut OpenFile) -> Result<T, Error>,
) -> Result<T, i32> {
    let stream = lock(&FILE_TABLE).open.get(&number).cloned();
    let stream = stream.ok_or(Errno::BADF.raw_os_error())?;
    operation(&mut lock(&stream)).map_err(|e| error_number(&e))
}

/// Forgets a file, which closes it when the operations on it are over.
pub(super) fn close(number: u64) -> Result<(), i32> {
    let removed = lock(&FILE_TABLE).open.remove(&number);
    removed.map(drop).ok_or(Errno::BADF.raw_os_error())
}

/// The number of an error; EIO for those that do not come from the operating system.
pub(super) fn error_number(error: &Error) -> i32 {
    error.raw_os_error().unwrap_or(Errno::IO.raw_os_error())
}
