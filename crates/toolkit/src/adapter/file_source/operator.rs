//! The operator instance of FileSource: the files that it reads, and its reaction to the end of
//! each.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use eval::{Fault, FaultKind, TraceLevel};
use graph::PortIndex;
use runtime::{BuildContext, Operator, Outlet, Source};
use tuple::{Layout, Punctuation, RString, TupleBuf, TupleRef, Value};

use crate::adapter::file_name;
use crate::adapter::input_origin::InputOrigin;
use crate::adapter::record_input::RecordInput;
use crate::adapter::stop_waiter::StopWaiter;
use crate::adapter::tuple_reader::{ReadEnd, TupleReader};

/// Stands for errors that the system did not number: input/output error.
const EIO: i32 = 5;

/// The operator instance. With an input port, tuples name the files; without, it reads one file on
/// its own thread.
struct FileSource {
    files: Option<FileSourceReader>,
    input: Option<Arc<Layout>>,
}

/// Reads the files of a FileSource, one after the other.
struct FileSourceReader {
    tuple_reader: TupleReader,
    data_directory: String,
    /// The only file, if there is no input port.
    file: Option<String>,
    init_delay: f64,
    ignore_open_errors: bool,
    delete: bool,
    move_to: Option<PathBuf>,
    /// Markers come from the file itself.
    punctuated: bool,
    /// Layout of the port that reports how files ended.
    report: Option<(Arc<Layout>, TupleBuf)>,
    stop_waiter: StopWaiter,
}

/// Builds the operator instance of an invocation.
pub fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let data_directory = build.services.data_directory()?;
    let file = build.value("file")?.map(file_name::rstring_text);
    if file.is_none() && build.inputs.is_empty() {
        return Err(Fault::new(
            FaultKind::Limit,
            "FileSource needs the parameter file, or an input port that names files",
        ));
    }
    let move_to = build
        .value("moveFileToDirectory")?
        .map(file_name::rstring_text);
    let stop_waiter = StopWaiter::new(&build.stop_signal()).map_err(|error| {
        let message = format!("cannot make a descriptor to wait on: {error}");
        Fault::new(FaultKind::System, message)
    })?;
    let report = build
        .outputs
        .get(1)
        .map(|layout| (layout.clone(), TupleBuf::default()));
    let files = FileSourceReader {
        tuple_reader: tuple_reader(build)?,
        file,
        init_delay: build.number("initDelay")?.unwrap_or(0.0),
        ignore_open_errors: build.flag("ignoreOpenErrors", false)?,
        delete: build.flag("deleteFile", false)?,
        move_to: move_to.map(|folder| file_name::resolve_path(&data_directory, &folder)),
        punctuated: build.flag("readPunctuations", false)?,
        data_directory,
        report,
        stop_waiter,
    };
    Ok(Box::new(FileSource {
        files: Some(files),
        input: build.inputs.first().cloned(),
    }))
}

fn tuple_reader(build: &mut BuildContext<'_>) -> Result<TupleReader, Fault> {
    let mut reading = TupleReader::new(build, "FileSource")?;
    reading.hot = build.flag("hotFile", false)?;
    Ok(reading)
}

impl Operator for FileSource {
    fn process(
        &mut self,
        _port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let (Some(files), Some(layout)) = (&mut self.files, &self.input) else {
            return Ok(());
        };
        let name = file_name::rstring_text(tuple.get(layout, 0));
        files.read(&name, out)
    }

    fn take_source(&mut self) -> Option<Box<dyn Source>> {
        if self.input.is_some() {
            return None;
        }
        Some(Box::new(self.files.take()?))
    }
}

impl Source for FileSourceReader {
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        if self.init_delay > 0.0 {
            out.services().block(self.init_delay);
        }
        let Some(file) = self.file.clone() else {
            return Ok(());
        };
        self.read(&file, out)
    }
}

impl FileSourceReader {
    /// Reads one file and does what follows; then, if it was a hot one, the file that has taken its
    /// place.
    fn read(&mut self, name: &str, out: &mut dyn Outlet) -> Result<(), Fault> {
        let path = file_name::resolve_path(&self.data_directory, name);
        let mut next = match self.open(&path) {
            Ok(input) => Some(input),
            Err(error) => return self.handle_open_error(&path, &error, out),
        };
        while let Some(input) = next {
            next = self.read_one(name, &path, input, out)?;
        }
        Ok(())
    }

    fn open(&self, path: &Path) -> io::Result<RecordInput> {
        let TupleReader {
            compression,
            encoding,
            ..
        } = self.tuple_reader;
        RecordInput::open(path, compression, encoding, &self.stop_waiter)
    }

    /// Reads an open file to its end, and returns its successor if another file has taken its name.
    fn read_one(
        &mut self,
        name: &str,
        path: &Path,
        mut input: RecordInput,
        out: &mut dyn Outlet,
    ) -> Result<Option<RecordInput>, Fault> {
        out.services().add_to_metric("nFilesOpened", 1);
        let origin = InputOrigin {
            name: name.to_owned(),
            display_name: path.display().to_string(),
            ..InputOrigin::default()
        };
        let ended = self.tuple_reader.read(&mut input, &origin, out)?;
        let next = match ended {
            ReadEnd::Replaced => input.into_next(),
            ReadEnd::EndOfInput | ReadEnd::FinalMarker | ReadEnd::Shutdown => None,
        };
        match ended {
            ReadEnd::Shutdown => return Ok(None),
            // Bytes behind a final marker are not read: nothing may be submitted after it.
            ReadEnd::FinalMarker => out.submit_punctuation(PortIndex(0), Punctuation::Final)?,
            ReadEnd::EndOfInput | ReadEnd::Replaced if !self.punctuated => {
                out.submit_punctuation(PortIndex(0), Punctuation::Window)?;
            }
            ReadEnd::EndOfInput | ReadEnd::Replaced => {}
        }
        self.delete_or_move(path)?;
        self.report(path, 0, out)?;
        Ok(next)
    }

    fn handle_open_error(
        &mut self,
        path: &Path,
        error: &io::Error,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let message = format!("cannot open {} for reading: {error}", path.display());
        self.report(path, error.raw_os_error().unwrap_or(EIO), out)?;
        if !self.ignore_open_errors {
            return Err(Fault::new(FaultKind::System, message));
        }
        out.services()
            .log(TraceLevel::Error, &message, "FileSource");
        Ok(())
    }

    /// Deletes or moves a file that has been read.
    fn delete_or_move(&self, path: &Path) -> Result<(), Fault> {
        let failure = |what: &str, error: io::Error| {
            Fault::new(
                FaultKind::System,
                format!("cannot {what} {}: {error}", path.display()),
            )
        };
        if self.delete {
            return fs::remove_file(path).map_err(|error| failure("delete", error));
        }
        let Some(folder) = &self.move_to else {
            return Ok(());
        };
        file_name::move_into(path, folder).map(drop)
    }

    /// Reports on the second output port: the file and 0, or the number of the error.
    fn report(&mut self, path: &Path, error: i32, out: &mut dyn Outlet) -> Result<(), Fault> {
        let Some((layout, buffer)) = &mut self.report else {
            return Ok(());
        };
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        buffer.begin(layout);
        for (at, attribute) in layout.schema.attributes.iter().enumerate() {
            let value = if attribute.ty.is_rstring() {
                Value::RString(RString::from(path.to_string_lossy().as_ref()))
            } else {
                Value::Int32(error)
            };
            buffer.set(layout, at, &value);
        }
        out.submit(PortIndex(1), buffer.as_ref())
    }
}
