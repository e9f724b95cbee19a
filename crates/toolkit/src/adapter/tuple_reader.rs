//! Reading of records from one file, connection or datagram, from the first byte to the end.

use std::borrow::Cow;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use eval::{Fault, FaultKind, TraceLevel};
use graph::PortIndex;
use runtime::{BuildContext, Outlet};
use tuple::text::{Record, RecordFormat, RecordReader};
use tuple::{Punctuation, TupleBuf};

use crate::adapter::assigned_attributes::{AssignedAttributes, ParsingMode};
use crate::adapter::compression::Compression;
use crate::adapter::file_name::rstring_text;
use crate::adapter::input_origin::InputOrigin;
use crate::adapter::record_format;
use crate::adapter::record_input::{RecordInput, encoding};
use crate::adapter::stop_waiter::{ClientWaits, StopWaiter, client_waits};
use crate::charset::Charset;

/// Pause before a hot file is read again when it has no new bytes.
const HOT_PAUSE: Duration = Duration::from_millis(100);

/// Byte order mark of UTF-8, which some editors put before the text. It is not a part of the first
/// field.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads the records of a source and submits them as tuples.
pub struct TupleReader {
    /// Kind of the operator, for messages.
    operator: &'static str,
    reader: Box<dyn RecordReader>,
    pub compression: Option<Compression>,
    pub encoding: Option<Charset>,
    parsing: ParsingMode,
    /// Whether files are read on as they grow.
    pub hot: bool,
    assigned: Option<AssignedAttributes>,
    tuple: TupleBuf,
    buffer: Vec<u8>,
    /// Whether records are text, as opposed to arbitrary bytes.
    is_text: bool,
    /// Whether a byte order mark may still come: nothing has been read yet.
    may_have_byte_order_mark: bool,
}

/// Reason for the end of reading.
pub enum ReadEnd {
    /// The file or connection has ended.
    EndOfInput,
    /// A hot file has ended, and another file has taken its name.
    Replaced,
    /// The file has a final marker.
    FinalMarker,
    /// A shutdown was requested.
    Shutdown,
}

/// Result of an attempt to read more bytes.
enum ReadProgress {
    /// More bytes may have been read; the caller looks for records again.
    More,
    /// No more bytes follow.
    End,
    /// No more bytes follow in this file; another file has its name.
    Replaced,
    /// The connection broke; an incomplete record is discarded.
    CutOff,
}

impl TupleReader {
    /// A reader with the parameters of an adapter.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn new(build: &mut BuildContext<'_>, operator: &'static str) -> Result<TupleReader, Fault> {
        let encoding_name = build.value("encoding")?.map(rstring_text);
        Ok(TupleReader {
            operator,
            reader: record_format::reader(build)?,
            compression: Compression::from_literal(build.literal("compression"))?,
            encoding: encoding(encoding_name.as_deref())?,
            parsing: ParsingMode::from_param(build),
            hot: false,
            assigned: AssignedAttributes::new(build)?,
            tuple: TupleBuf::default(),
            buffer: Vec::new(),
            is_text: !matches!(
                record_format::format(build),
                RecordFormat::Bin | RecordFormat::Block
            ),
            may_have_byte_order_mark: false,
        })
    }

    /// The input from a connection. That a client waits at the listener meanwhile is traced.
    pub fn connection_input(
        &self,
        stream: TcpStream,
        listener: Option<Arc<TcpListener>>,
        stop_waiter: &StopWaiter,
    ) -> RecordInput {
        let (compression, encoding) = (self.compression, self.encoding);
        RecordInput::from_connection(stream, listener, compression, encoding, stop_waiter)
    }

    /// Reads an open file or connection to its end.
    ///
    /// # Errors
    /// A record that is no tuple, with strict parsing; a failed read; what comes from downstream.
    pub fn read(
        &mut self,
        input: &mut RecordInput,
        origin: &InputOrigin,
        out: &mut dyn Outlet,
    ) -> Result<ReadEnd, Fault> {
        self.begin_input();
        let mut start = 0;
        let mut at_end = false;
        let mut number = 0;
        let mut ended = ReadEnd::EndOfInput;
        loop {
            let mut needs_more = self.may_have_byte_order_mark && self.skip_byte_order_mark(at_end);
            if !needs_more {
                let bytes = &self.buffer[start..];
                let step = self.reader.read(bytes, at_end, &mut self.tuple);
                start += step.consumed;
                // Each record is matched where it was returned: moving it costs more than a check.
                match step.record {
                    Record::Tuple { delay } => {
                        self.process_tuple(delay, origin, &mut number, out)?
                    }
                    Record::NeedMore => needs_more = true,
                    Record::End => return Ok(ended),
                    record => {
                        if let Some(ended) =
                            self.process_record(record, origin, &mut number, out)?
                        {
                            return Ok(ended);
                        }
                    }
                }
            }
            if needs_more {
                self.buffer.drain(..start);
                start = 0;
                match self.fill(input, origin, out)? {
                    ReadProgress::More => {}
                    ReadProgress::End => at_end = true,
                    ReadProgress::Replaced => {
                        at_end = true;
                        ended = ReadEnd::Replaced;
                    }
                    ReadProgress::CutOff => return Ok(ReadEnd::EndOfInput),
                }
            }
            if out.services().is_shutdown() {
                return Ok(ReadEnd::Shutdown);
            }
        }
    }

    /// Reads a datagram, which ends with a record and is compressed by itself. `number` counts
    /// records.
    ///
    /// # Errors
    /// A datagram or a record that is none, with strict parsing; what comes from downstream.
    pub fn datagram(
        &mut self,
        bytes: &[u8],
        origin: &InputOrigin,
        number: &mut i64,
        out: &mut dyn Outlet,
    ) -> Result<ReadEnd, Fault> {
        self.begin_input();
        let bytes = match self.decompressed(bytes) {
            Ok(bytes) => bytes,
            Err(error) => {
                let message = format!(
                    "{}: cannot decompress a datagram: {error}",
                    origin.display_name
                );
                self.reject(message, out)?;
                return Ok(ReadEnd::EndOfInput);
            }
        };
        match self.encoding {
            Some(charset) => self.buffer = charset.decode(&bytes),
            None => self.buffer.extend_from_slice(&bytes),
        }
        let mut start = 0;
        loop {
            let step = self
                .reader
                .read(&self.buffer[start..], true, &mut self.tuple);
            start += step.consumed;
            if matches!(step.record, Record::NeedMore | Record::End) {
                return Ok(ReadEnd::EndOfInput);
            }
            if let Some(ended) = self.process_record(step.record, origin, number, out)? {
                return Ok(ended);
            }
        }
    }

    /// A datagram as it was before it was compressed.
    fn decompressed<'b>(&self, bytes: &'b [u8]) -> io::Result<Cow<'b, [u8]>> {
        let Some(compression) = self.compression else {
            return Ok(Cow::Borrowed(bytes));
        };
        let plain = compression.decompress(bytes)?;
        Ok(Cow::Owned(plain))
    }

    /// Passes on the tuple that was read, after its delay.
    #[inline]
    fn process_tuple(
        &mut self,
        delay: f64,
        origin: &InputOrigin,
        number: &mut i64,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        *number += 1;
        self.pause(delay, out);
        self.submit(origin, *number, out)
    }

    /// Passes on what a record holds; whether that is the end.
    fn process_record(
        &mut self,
        record: Record,
        origin: &InputOrigin,
        number: &mut i64,
        out: &mut dyn Outlet,
    ) -> Result<Option<ReadEnd>, Fault> {
        match record {
            Record::Tuple { delay } => self.process_tuple(delay, origin, number, out)?,
            Record::Punctuation(Punctuation::Final) => return Ok(Some(ReadEnd::FinalMarker)),
            Record::Punctuation(mark) => out.submit_punctuation(PortIndex(0), mark)?,
            Record::Rejected(error) => {
                *number += 1;
                self.reject(format!("{}:{error}", origin.display_name), out)?;
            }
            Record::NeedMore | Record::End => {}
        }
        Ok(None)
    }

    /// Before the first byte of a file.
    fn begin_input(&mut self) {
        self.reader.restart();
        self.buffer.clear();
        self.may_have_byte_order_mark = self.is_text;
    }

    /// Removes a byte order mark from the start of a file; `true` if more bytes decide whether
    /// there is one. Called while one may still come.
    fn skip_byte_order_mark(&mut self, at_end: bool) -> bool {
        let is_partial = self.buffer.len() < BYTE_ORDER_MARK.len();
        if is_partial && !at_end && BYTE_ORDER_MARK.starts_with(&self.buffer) {
            return true;
        }
        if self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len());
        }
        self.may_have_byte_order_mark = false;
        false
    }

    /// Reads more bytes. A hot file ends only with a shutdown, or when another file has its name.
    /// Without new bytes the reader pauses; a file that has shrunk is read from its start.
    fn fill(
        &mut self,
        input: &mut RecordInput,
        origin: &InputOrigin,
        out: &mut dyn Outlet,
    ) -> Result<ReadProgress, Fault> {
        let mut is_replaced = false;
        loop {
            match input.fill(&mut self.buffer) {
                Ok(0) if is_replaced => {
                    input.finish(&mut self.buffer);
                    return Ok(ReadProgress::Replaced);
                }
                Ok(0) => {}
                Ok(_) => return Ok(ReadProgress::More),
                Err(error)
                    if error
                        .get_ref()
                        .is_some_and(|inner| inner.is::<ClientWaits>()) =>
                {
                    let message = client_waits(&origin.display_name);
                    out.services()
                        .trace(TraceLevel::Info, &message, self.operator);
                    continue;
                }
                Err(error) => return self.handle_read_error(&error, origin, out),
            }
            if !self.hot || out.services().is_shutdown() {
                input.finish(&mut self.buffer);
                return Ok(ReadProgress::End);
            }
            match input.restart_if_shorter() {
                Ok(true) => self.begin_input(),
                // Bytes may have come since the last read; none come from now on.
                Ok(false) if input.is_replaced() => {
                    is_replaced = true;
                    continue;
                }
                Ok(false) => out.services().block(HOT_PAUSE.as_secs_f64()),
                Err(error) => return self.handle_read_error(&error, origin, out),
            }
            return Ok(ReadProgress::More);
        }
    }

    /// Handles a failed read. It is a fault for a file; a connection is given up, because others
    /// may follow.
    fn handle_read_error(
        &self,
        error: &io::Error,
        origin: &InputOrigin,
        out: &mut dyn Outlet,
    ) -> Result<ReadProgress, Fault> {
        if out.services().is_shutdown() {
            // The shutdown ended the read, which a decompressor takes for a truncated stream.
            return Ok(ReadProgress::End);
        }
        let message = format!("cannot read {}: {error}", origin.display_name);
        // Standard input may be a socket.
        let is_connection =
            origin.remote.is_some() || error.kind() == io::ErrorKind::ConnectionReset;
        if !is_connection {
            return Err(Fault::new(FaultKind::System, message));
        }
        out.services()
            .log(TraceLevel::Warn, &message, self.operator);
        if !self.buffer.is_empty() {
            out.services().add_to_metric("nInvalidTuples", 1);
        }
        Ok(ReadProgress::CutOff)
    }

    fn pause(&self, delay: f64, out: &mut dyn Outlet) {
        if delay > 0.0 {
            out.services().block(delay);
        }
    }

    fn submit(
        &mut self,
        origin: &InputOrigin,
        number: i64,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let Some(assigned) = &mut self.assigned else {
            return out.submit_owned(PortIndex(0), &mut self.tuple);
        };
        let whole = assigned.complete(&self.tuple, origin, number, out)?;
        out.submit(PortIndex(0), whole)
    }

    /// Reports a record that cannot be read as a tuple.
    fn reject(&self, message: String, out: &mut dyn Outlet) -> Result<(), Fault> {
        if self.parsing == ParsingMode::Strict {
            return Err(Fault::value(message));
        }
        out.services().add_to_metric("nInvalidTuples", 1);
        out.services()
            .log(TraceLevel::Warn, &message, self.operator);
        Ok(())
    }
}
