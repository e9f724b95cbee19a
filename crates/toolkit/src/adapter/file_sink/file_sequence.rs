//! The sequence of files that a FileSink writes: opened, closed, named, moved.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use eval::{Fault, FaultKind, Services};
use jiff::Zoned;
use runtime::{FlushBuffer, StopSignal};

use crate::adapter::compression::Compression;
use crate::adapter::file_name;
use crate::adapter::record_output::{RecordOutput, WriteBuffer, WriteError, is_unread};
use crate::charset::Charset;

/// Reaction to a failed write: the parameter `writeFailureAction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteFailureAction {
    /// The failure is counted.
    Ignore,
    /// The failure is counted and traced.
    Log,
    /// The failure ends the program.
    Terminate,
}

/// The files that a sink writes one after the other; at most one is open.
pub struct FileSequence {
    pub data_directory: String,
    pub append: bool,
    pub compression: Option<Compression>,
    pub encoding: Option<Charset>,
    pub move_to: Option<PathBuf>,
    pub write_failure_action: WriteFailureAction,
    pub open: Option<RecordOutput>,
    /// The buffer of the open file, for the thread that flushes.
    pub open_buffer: Arc<OpenFileBuffer>,
    /// Number of the next file.
    pub next_id: u64,
    /// Ends waits for a reader of a pipe when a shutdown was requested.
    pub stop: StopSignal,
    /// Whether the message that a pipe has no reader was logged already.
    pub is_unread_reported: bool,
}

/// The buffer of the file that is open at the moment. `flush` counts the tuples since it last
/// wrote, whatever is written out besides.
#[derive(Default)]
pub struct OpenFileBuffer(Mutex<Option<Arc<WriteBuffer>>>);

impl OpenFileBuffer {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<WriteBuffer>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, buffer: Option<&Arc<WriteBuffer>>) {
        *self.lock() = buffer.cloned();
    }
}

impl FlushBuffer for OpenFileBuffer {
    fn write_out(&self) -> bool {
        let open = self.lock().clone();
        open.is_none_or(|buffer| buffer.write_out())
    }
}

/// Pause between attempts to open a pipe without a reader; the system has no event for that.
const PIPE_PAUSE: Duration = Duration::from_millis(10);

impl FileSequence {
    /// Opens the next file of a name with modifiers. For a pipe, it waits until the pipe has a
    /// reader; if a shutdown ends the wait, no file is open.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(&mut self, name: &str, services: &mut dyn Services) -> Result<(), Fault> {
        while !self.try_open(name, services)? {
            if services.is_shutdown() {
                self.report_unread(name, services);
                break;
            }
            services.block(PIPE_PAUSE.as_secs_f64());
        }
        Ok(())
    }

    /// Opens the next file of a name with modifiers; `false` if it is a pipe without a reader.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn try_open(&mut self, name: &str, services: &mut dyn Services) -> Result<bool, Fault> {
        let name = file_name::expand_modifiers(name, self.next_id, Zoned::now)?;
        let path = file_name::resolve_path(&self.data_directory, &name);
        let (append, compression) = (self.append, self.compression);
        match RecordOutput::open(&path, append, compression, self.encoding, &self.stop) {
            Ok(output) => {
                self.next_id += 1;
                services.add_to_metric("nFilesOpened", 1);
                self.open_buffer.set(output.buffer());
                self.open = Some(output);
                Ok(true)
            }
            Err(error) if is_unread(&path, &error) => Ok(false),
            Err(error) => {
                let message = format!("cannot open {} for writing: {error}", path.display());
                Err(Fault::new(FaultKind::System, message))
            }
        }
    }

    /// Logs once that the pipe of this name has no reader.
    fn report_unread(&mut self, name: &str, services: &mut dyn Services) {
        if !std::mem::replace(&mut self.is_unread_reported, true) {
            let message =
                format!("nobody has opened the pipe {name} for reading: nothing is written");
            services.log(eval::TraceLevel::Warn, &message, "FileSink");
        }
    }

    /// Writes a record to the open file.
    ///
    /// # Errors
    /// If a write fails and `writeFailureAction` ends the program.
    pub fn put(&mut self, record: &[u8], services: &mut dyn Services) -> Result<(), Fault> {
        let Some(output) = &mut self.open else {
            // A pipe without a reader.
            services.add_to_metric("nTupleWriteErrors", 1);
            return Ok(());
        };
        let written = output.put(record, services);
        self.check_write(written, services)
    }

    /// Flushes the open file.
    ///
    /// # Errors
    /// If a write fails and `writeFailureAction` ends the program.
    pub fn flush(&mut self, services: &mut dyn Services) -> Result<(), Fault> {
        let Some(output) = &mut self.open else {
            return Ok(());
        };
        let written = output.flush(services);
        self.check_write(written, services)
    }

    /// Closes the open file and moves it; its absolute path.
    ///
    /// # Errors
    /// If a write fails and `writeFailureAction` ends the program, or if the file cannot be moved.
    pub fn close(&mut self, services: &mut dyn Services) -> Result<Option<PathBuf>, Fault> {
        let Some(output) = self.open.take() else {
            return Ok(None);
        };
        self.open_buffer.set(None);
        let path = output.path().to_owned();
        if let Err(error) = output.close(services) {
            self.handle_write_error(&path, error, services)?;
        }
        let path = match &self.move_to {
            Some(folder) => file_name::move_into(&path, folder)?,
            None => path,
        };
        Ok(Some(std::path::absolute(&path).unwrap_or(path)))
    }

    fn check_write(
        &mut self,
        written: Result<(), WriteError>,
        services: &mut dyn Services,
    ) -> Result<(), Fault> {
        let Err(error) = written else {
            return Ok(());
        };
        let path = self.open.as_ref().map(|output| output.path().to_owned());
        self.handle_write_error(&path.unwrap_or_default(), error, services)
    }

    #[cold]
    fn handle_write_error(
        &self,
        path: &Path,
        error: WriteError,
        services: &mut dyn Services,
    ) -> Result<(), Fault> {
        let error = match error {
            // Standard output has no reader any more: further tuples would be lost.
            WriteError::StandardOutput(fault) => return Err(fault),
            WriteError::System(error) => error,
        };
        services.add_to_metric("nTupleWriteErrors", 1);
        let message = format!("cannot write to {}: {error}", path.display());
        match self.write_failure_action {
            WriteFailureAction::Ignore => Ok(()),
            WriteFailureAction::Log => {
                services.log(eval::TraceLevel::Error, &message, "FileSink");
                Ok(())
            }
            WriteFailureAction::Terminate => Err(Fault::new(FaultKind::System, message)),
        }
    }
}
