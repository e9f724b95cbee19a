//! One file, from its first byte to its end: records to tuples.

use std::io;
use std::path::Path;
use std::time::Duration;

use graph::{Fault, FaultKind, TraceLevel};
use runtime::Outlet;
use tuple::text::{Record, RecordError, RecordReader};
use tuple::{Punctuation, TupleBuf};

use crate::adapter::assigned::{Assigned, Parsing};
use crate::adapter::compression::Compression;
use crate::adapter::input::Input;
use crate::charset::Charset;

/// How long a hot file is left alone when it has nothing new.
const HOT_PAUSE: Duration = Duration::from_millis(100);

/// Reads files.
pub struct Reading {
    pub reader: Box<dyn RecordReader>,
    pub compression: Option<Compression>,
    pub encoding: Option<Charset>,
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
            return out.submit_made(0, &mut self.tuple);
        };
        let whole = assigned.complete(&self.tuple, name, number, out)?;
        out.submit(0, whole)
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
