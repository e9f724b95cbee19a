//! One file, from its first byte to its end: records to tuples.

use std::io;
use std::path::Path;
use std::time::Duration;

use encoding_rs::Encoding;
use graph::{Fault, FaultKind, TraceLevel};
use runtime::abi::Projection;
use runtime::{Outlet, Row};
use std::sync::Arc;
use tuple::text::{Record, RecordError, RecordReader};
use tuple::{Layout, Punctuation, RString, TupleBuf, Value};

use crate::adapter::compression::Compression;
use crate::adapter::input::Input;

/// How long a hot file is left alone when it has nothing new.
const HOT_PAUSE: Duration = Duration::from_millis(100);

/// What is done with a record that is no tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsing {
    /// It ends the program.
    Strict,
    /// It is logged, counted and left out.
    Permissive,
    /// It is not looked for.
    Fast,
}

/// A function of the output clause that says something of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// `FileName()`
    FileName,
    /// `TupleNumber()`
    TupleNumber,
    /// `AsIs(expression)`: the n-th value of the projection.
    AsIs(usize),
}

/// What the output clause assigns beside what records hold.
pub struct Assigned {
    pub output: Projection,
    pub results_layout: Arc<Layout>,
    pub results: TupleBuf,
    pub calls: Vec<Said>,
    /// Arguments of `AsIs` calls.
    pub arguments: Projection,
    pub argument_values: TupleBuf,
    /// The attributes that records hold.
    pub read: Vec<usize>,
    pub whole: TupleBuf,
}

/// Reads files.
pub struct Reading {
    pub reader: Box<dyn RecordReader>,
    pub layout: Arc<Layout>,
    pub compression: Option<Compression>,
    pub encoding: Option<&'static Encoding>,
    pub parsing: Parsing,
    pub hot: bool,
    pub assigned: Option<Assigned>,
    pub tuple: TupleBuf,
    pub buffer: Vec<u8>,
}

/// How reading ended.
pub enum Ended {
    /// At the end of the file.
    AtEnd,
    /// At a final marker in the file.
    Final,
    /// By a shutdown.
    Shutdown,
}

impl Reading {
    /// Reads an open file to its end. `name` is what was asked for, `path` where it was found.
    ///
    /// # Errors
    /// A record that is no tuple, with strict parsing; a failed read; what comes from downstream.
    pub fn read(
        &mut self,
        input: &mut Input,
        name: &str,
        path: &Path,
        out: &mut dyn Outlet,
    ) -> Result<Ended, Fault> {
        self.begin();
        let mut start = 0;
        let mut at_end = false;
        let mut number = 0;
        loop {
            let bytes = &self.buffer[start..];
            let step = self.reader.read(bytes, at_end, &mut self.tuple);
            start += step.consumed;
            match step.record {
                Record::Tuple { delay } => {
                    number += 1;
                    self.pause(delay, out);
                    self.submit(name, number, out)?;
                }
                Record::Punctuation(Punctuation::Final) => return Ok(Ended::Final),
                Record::Punctuation(mark) => out.punctuate(0, mark)?,
                Record::Rejected(error) => {
                    number += 1;
                    self.reject(&error, path, out)?;
                }
                Record::NeedMore => {
                    self.buffer.drain(..start);
                    start = 0;
                    at_end = !self.fill(input, path, out)?;
                }
                Record::End => return Ok(Ended::AtEnd),
            }
            if out.services().is_shutdown() {
                return Ok(Ended::Shutdown);
            }
        }
    }

    /// Before the first byte of a file.
    fn begin(&mut self) {
        self.reader.restart();
        self.buffer.clear();
    }

    /// Reads on; false at the end. A hot file ends only with a shutdown: when there is nothing new
    /// it is left alone for a while, and one that has shrunk is read from its start.
    fn fill(
        &mut self,
        input: &mut Input,
        path: &Path,
        out: &mut dyn Outlet,
    ) -> Result<bool, Fault> {
        let failure = |error: io::Error| {
            Fault::new(
                FaultKind::System,
                format!("cannot read {}: {error}", path.display()),
            )
        };
        if input.fill(&mut self.buffer).map_err(failure)? > 0 {
            return Ok(true);
        }
        if !self.hot || out.services().is_shutdown() {
            return Ok(false);
        }
        if input.restart_if_shorter().map_err(failure)? {
            self.begin();
        } else {
            out.services().block(HOT_PAUSE.as_secs_f64());
        }
        Ok(!out.services().is_shutdown())
    }

    fn pause(&self, delay: f64, out: &mut dyn Outlet) {
        if delay > 0.0 {
            out.services().block(delay);
        }
    }

    fn submit(&mut self, name: &str, number: i64, out: &mut dyn Outlet) -> Result<(), Fault> {
        let Some(assigned) = &mut self.assigned else {
            return out.submit(0, self.tuple.as_ref());
        };
        assigned.complete(&self.tuple, &self.layout, name, number, out)?;
        out.submit(0, assigned.whole.as_ref())
    }

    fn reject(&self, error: &RecordError, path: &Path, out: &mut dyn Outlet) -> Result<(), Fault> {
        let message = format!("{}:{error}", path.display());
        if self.parsing == Parsing::Strict {
            return Err(Fault::value(message));
        }
        out.services().count("nInvalidTuples", 1);
        out.services().log(TraceLevel::Warn, &message, "FileSource");
        Ok(())
    }
}

impl Assigned {
    /// Puts together what was read and what is assigned.
    fn complete(
        &mut self,
        read: &TupleBuf,
        layout: &Layout,
        name: &str,
        number: i64,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.arguments
            .write(&Row::default(), out, &mut self.argument_values)?;
        self.results.begin(&self.results_layout);
        for (at, said) in self.calls.iter().enumerate() {
            let value = match said {
                Said::FileName => Value::RString(RString::from(name)),
                Said::TupleNumber => Value::Int64(number),
                Said::AsIs(n) => self
                    .argument_values
                    .as_ref()
                    .get(&self.arguments.layout, *n),
            };
            self.results.set(&self.results_layout, at, &value);
        }
        let row = Row::default().with(self.results.as_ref());
        self.output.write(&row, out, &mut self.whole)?;
        for &attribute in &self.read {
            self.whole
                .copy_attribute(layout, attribute, read.as_ref(), layout, attribute);
        }
        Ok(())
    }
}
