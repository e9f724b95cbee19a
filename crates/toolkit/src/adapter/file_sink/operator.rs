//! The operator instance of FileSink.

use std::sync::Arc;
use std::time::{Duration, Instant};

use eval::{Fault, FaultKind};
use graph::PortIndex;
use runtime::abi::Projection;
use runtime::{BuildContext, EvaluationInputs, Operator, Outlet, TimerId};
use tuple::text::RecordWriter;
use tuple::{Layout, Punctuation, RString, TupleBuf, TupleRef, Value};

use super::file_sequence::{FileSequence, WriteFailureAction};
use crate::adapter::compression::Compression;
use crate::adapter::delay_field::DelayField;
use crate::adapter::record_format::writer;
use crate::adapter::{file_name, record_input};

/// Condition under which a file is closed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CloseMode {
    Never,
    Punct,
    Count(u64),
    Size(u64),
    Time(Duration),
    Dynamic,
}

struct FileSink {
    files: FileSequence,
    name: Projection,
    name_buffer: TupleBuf,
    /// The name, unless it depends on the tuple.
    fixed_name: Option<String>,
    /// Name of the open file, for `closeMode : dynamic`.
    open_name: String,
    writer: Box<dyn RecordWriter>,
    record: Vec<u8>,
    close_mode: CloseMode,
    flush_every: u64,
    flush_on_punctuation: bool,
    write_punctuations: bool,
    /// Tuples in the open file.
    tuples: u64,
    unflushed: u64,
    opened_at: Instant,
    delays: DelayField,
    /// Layout of the port that reports closed files.
    report: Option<(Arc<Layout>, TupleBuf)>,
}

/// Builds the operator instance of an invocation. A file whose name is known is opened at once,
/// unless it is a pipe without a reader.
pub fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let close_mode = close_mode(build)?;
    if let CloseMode::Time(period) = close_mode {
        build.add_timer(period.as_secs_f64());
    }
    let files = file_sequence(build)?;
    let fixed_name = match build.param_exprs("file") {
        Some([expr]) if !expr.reads_input() => Some(file_name::rstring_text(build.evaluate(expr)?)),
        _ => None,
    };
    let name = build
        .param_projection("file")?
        .expect("the model asks for it");
    let report = build
        .outputs
        .first()
        .map(|layout| (layout.clone(), TupleBuf::default()));
    let mut sink = FileSink {
        files,
        name,
        name_buffer: TupleBuf::default(),
        fixed_name,
        open_name: String::new(),
        writer: writer(build)?,
        record: Vec::new(),
        close_mode,
        flush_every: build.integer("flush")?.unwrap_or(0) as u64,
        flush_on_punctuation: build.flag("flushOnPunctuation", true)?,
        write_punctuations: build.flag("writePunctuations", false)?,
        tuples: 0,
        unflushed: 0,
        opened_at: Instant::now(),
        delays: DelayField::new(build)?,
        report,
    };
    if sink.flush_every != 1 {
        build.set_flush_buffer(sink.files.open_buffer.clone());
    }
    let is_dry_run = build.services.property("dryRun").is_some();
    if let (Some(name), true) = (&sink.fixed_name, close_mode != CloseMode::Dynamic)
        && !is_dry_run
    {
        // A pipe may get its reader later.
        sink.files.try_open(name, build.services)?;
    }
    Ok(Box::new(sink))
}

fn file_sequence(build: &mut BuildContext<'_>) -> Result<FileSequence, Fault> {
    let data_directory = build.services.data_directory()?;
    let encoding = build.value("encoding")?.map(file_name::rstring_text);
    let move_to = build
        .value("moveFileToDirectory")?
        .map(file_name::rstring_text);
    Ok(FileSequence {
        append: build.flag("append", false)?,
        compression: Compression::from_literal(build.literal("compression"))?,
        encoding: record_input::encoding(encoding.as_deref())?,
        move_to: move_to.map(|folder| file_name::resolve_path(&data_directory, &folder)),
        write_failure_action: match build.literal("writeFailureAction") {
            Some("ignore") => WriteFailureAction::Ignore,
            Some("log") => WriteFailureAction::Log,
            _ => WriteFailureAction::Terminate,
        },
        data_directory,
        open: None,
        open_buffer: Arc::default(),
        next_id: 0,
        stop: build.stop_signal(),
        is_unread_reported: false,
    })
}

fn close_mode(build: &mut BuildContext<'_>) -> Result<CloseMode, Fault> {
    Ok(match build.literal("closeMode") {
        Some("punct") => CloseMode::Punct,
        Some("dynamic") => CloseMode::Dynamic,
        Some("count") => CloseMode::Count(at_least_one(build, "tuplesPerFile")?),
        Some("size") => CloseMode::Size(at_least_one(build, "bytesPerFile")?),
        Some("time") => CloseMode::Time(close_period(build)?),
        _ => CloseMode::Never,
    })
}

fn at_least_one(build: &mut BuildContext<'_>, param: &str) -> Result<u64, Fault> {
    let given = build.integer(param)?;
    let number = given.and_then(|number| u64::try_from(number).ok());
    number.filter(|&number| number > 0).ok_or_else(|| {
        let message = format!("`{param}` is a number from 1");
        Fault::new(FaultKind::Limit, message)
    })
}

fn close_period(build: &mut BuildContext<'_>) -> Result<Duration, Fault> {
    let given = build.number("timePerFile")?;
    let period = given.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    period.filter(|period| !period.is_zero()).ok_or_else(|| {
        let message = "`timePerFile` is a number of seconds above 0";
        Fault::new(FaultKind::Limit, message)
    })
}

impl Operator for FileSink {
    fn process(
        &mut self,
        _port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.open_for(tuple, out)?;
        self.record.clear();
        let delay = self.delays.next_delay();
        self.writer.write(tuple, delay, &mut self.record);
        self.files.put(&self.record, out.services())?;
        self.tuples += 1;
        self.unflushed += 1;
        if self.flush_every > 0 && self.unflushed >= self.flush_every {
            self.write_out(out)?;
        }
        let done = match self.close_mode {
            CloseMode::Count(n) => self.tuples >= n,
            CloseMode::Size(n) => self.files.open.as_ref().is_some_and(|f| f.bytes() >= n),
            _ => false,
        };
        if done { self.close(out) } else { Ok(()) }
    }

    fn process_window_marker(
        &mut self,
        _port: PortIndex,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.write_marker(Punctuation::Window, out)
    }

    fn process_final_marker(
        &mut self,
        _port: PortIndex,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.open_unread(out)?;
        self.write_marker(Punctuation::Final, out)?;
        self.close(out)
    }

    fn on_timer(&mut self, _timer: TimerId, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.close_if_expired(out)
    }

    /// The PE ends, perhaps before the final marker: what was accepted is written.
    fn close(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.files.close(out.services()).map(drop)
    }
}

impl FileSink {
    /// Makes sure that the file of a tuple is open.
    fn open_for(&mut self, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.close_if_expired(out)?;
        if let (Some(name), false) = (&self.fixed_name, self.close_mode == CloseMode::Dynamic) {
            if self.files.open.is_none() {
                self.files.open(name, out.services())?;
                self.opened_at = Instant::now();
            }
            return Ok(());
        }
        let inputs = [Some(tuple)];
        self.name
            .write(&EvaluationInputs::new(&inputs), out, &mut self.name_buffer)?;
        let name = file_name::rstring_text(self.name_buffer.as_ref().get(&self.name.layout, 0));
        if self.files.open.is_some() && name == self.open_name {
            return Ok(());
        }
        self.close(out)?;
        self.files.open(&name, out.services())?;
        self.opened_at = Instant::now();
        self.open_name = name;
        Ok(())
    }

    /// Opens a pipe that had no reader when the program began. No tuple was written, but a reader
    /// must see the end of the pipe.
    fn open_unread(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        match &self.fixed_name {
            Some(name) if self.files.next_id == 0 && self.close_mode != CloseMode::Dynamic => {
                self.files.open(name, out.services())
            }
            _ => Ok(()),
        }
    }

    fn close_if_expired(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        match self.close_mode {
            CloseMode::Time(period) if self.opened_at.elapsed() >= period => self.close(out),
            _ => Ok(()),
        }
    }

    fn write_marker(&mut self, mark: Punctuation, out: &mut dyn Outlet) -> Result<(), Fault> {
        if self.files.open.is_none() {
            return Ok(());
        }
        if self.write_punctuations {
            self.record.clear();
            self.writer.punctuate(mark, &mut self.record);
            self.files.put(&self.record, out.services())?;
        }
        if self.close_mode == CloseMode::Punct {
            return self.close(out);
        }
        if self.flush_on_punctuation {
            self.write_out(out)
        } else {
            Ok(())
        }
    }

    fn write_out(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.unflushed = 0;
        self.files.flush(out.services())
    }

    /// Closes the open file, if there is one, and reports it.
    fn close(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.tuples = 0;
        self.unflushed = 0;
        let Some(path) = self.files.close(out.services())? else {
            return Ok(());
        };
        let Some((layout, buffer)) = &mut self.report else {
            return Ok(());
        };
        buffer.begin(layout);
        let name = RString::from(path.to_string_lossy().as_ref());
        buffer.set(layout, 0, &Value::RString(name));
        out.submit(PortIndex(0), buffer.as_ref())
    }
}
