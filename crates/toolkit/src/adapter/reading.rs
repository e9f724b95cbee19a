//! One file, connection or datagram, from its first byte to its end: records to tuples.

use std::borrow::Cow;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use graph::{Fault, FaultKind, TraceLevel};
use runtime::{Build, Outlet};
use tuple::text::{Format, Record, RecordReader};
use tuple::{Punctuation, TupleBuf};

use crate::adapter::alarm::Alarm;
use crate::adapter::assigned::{Assigned, Parsing};
use crate::adapter::compression::Compression;
use crate::adapter::file_name::text;
use crate::adapter::input::{Input, encoding};
use crate::adapter::record;
use crate::charset::Charset;

/// How long a hot file is left alone when it has nothing new.
const HOT_PAUSE: Duration = Duration::from_millis(100);

/// What some editors put before text in UTF-8: no part of the first field.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads records.
pub struct Reading {
    /// Whose it is.
    operator: &'static str,
    reader: Box<dyn RecordReader>,
    pub compression: Option<Compression>,
    pub encoding: Option<Charset>,
    parsing: Parsing,
    /// Files go on being read as they grow.
    pub hot: bool,
    assigned: Option<Assigned>,
    tuple: TupleBuf,
    buffer: Vec<u8>,
    /// Records are text, not bytes of any kind.
    is_text: bool,
    /// It is not known yet whether a byte order mark comes first.
    may_be_marked: bool,
}

/// Where bytes come from, as output functions and messages tell it.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// What was asked for: a file's name.
    pub name: String,
    /// What messages call it.
    pub shown: String,
    /// The peer, if there is one.
    pub remote: Option<SocketAddr>,
    /// The port of this end.
    pub local_port: u16,
    /// The port that a server listens on; 0 for clients.
    pub server_port: u16,
}

impl Origin {
    /// A peer.
    pub fn peer(remote: SocketAddr, local_port: u16, server_port: u16) -> Origin {
        Origin {
            name: String::new(),
            shown: remote.to_string(),
            remote: Some(remote),
            local_port,
            server_port,
        }
    }

    /// The peer of a connection.
    ///
    /// # Errors
    /// The connection is gone.
    pub fn of(stream: &TcpStream, server_port: u16) -> io::Result<Origin> {
        let local_port = stream.local_addr()?.port();
        Ok(Origin::peer(stream.peer_addr()?, local_port, server_port))
    }
}

/// How reading ended.
pub enum Ended {
    /// At the end of the file.
    AtEnd,
    /// At the end of a hot file that another one has replaced.
    Replaced,
    /// At a final marker in the file.
    Final,
    /// By a shutdown.
    Shutdown,
}

/// What an attempt to read on gave.
enum Filled {
    /// Perhaps more bytes: it is worth another look.
    More,
    /// Nothing, and nothing follows.
    End,
    /// Nothing; what follows is in another file of that name.
    Replaced,
    /// Nothing, for the connection broke: what is there of a record is none.
    CutOff,
}

impl Reading {
    /// As an adapter's parameters say.
    ///
    /// # Errors
    /// Parameters that are out of range.
    pub fn new(build: &mut Build<'_>, operator: &'static str) -> Result<Reading, Fault> {
        let encoding_name = build.value("encoding")?.map(text);
        Ok(Reading {
            operator,
            reader: record::reader(build)?,
            compression: Compression::of(build.literal("compression"))?,
            encoding: encoding(encoding_name.as_deref())?,
            parsing: Parsing::of(build),
            hot: false,
            assigned: Assigned::new(build)?,
            tuple: TupleBuf::default(),
            buffer: Vec::new(),
            is_text: !matches!(record::format(build), Format::Bin | Format::Block),
            may_be_marked: false,
        })
    }

    /// What comes over a connection.
    pub fn input(&self, stream: TcpStream, alarm: &Alarm) -> Input {
        let file = OwnedFd::from(stream).into();
        Input::over(file, self.compression, self.encoding, alarm)
    }

    /// Reads an open file or connection to its end.
    ///
    /// # Errors
    /// A record that is no tuple, with strict parsing; a failed read; what comes from downstream.
    pub fn read(
        &mut self,
        input: &mut Input,
        origin: &Origin,
        out: &mut dyn Outlet,
    ) -> Result<Ended, Fault> {
        self.begin();
        let mut start = 0;
        let mut at_end = false;
        let mut number = 0;
        let mut ended = Ended::AtEnd;
        loop {
            let record = if self.waits_for_mark(at_end) {
                Record::NeedMore
            } else {
                let bytes = &self.buffer[start..];
                let step = self.reader.read(bytes, at_end, &mut self.tuple);
                start += step.consumed;
                step.record
            };
            match record {
                Record::NeedMore => {
                    self.buffer.drain(..start);
                    start = 0;
                    match self.fill(input, origin, out)? {
                        Filled::More => {}
                        Filled::End => at_end = true,
                        Filled::Replaced => {
                            at_end = true;
                            ended = Ended::Replaced;
                        }
                        Filled::CutOff => return Ok(Ended::AtEnd),
                    }
                }
                Record::End => return Ok(ended),
                record => {
                    if let Some(ended) = self.take(record, origin, &mut number, out)? {
                        return Ok(ended);
                    }
                }
            }
            if out.services().is_shutdown() {
                return Ok(Ended::Shutdown);
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
        origin: &Origin,
        number: &mut i64,
        out: &mut dyn Outlet,
    ) -> Result<Ended, Fault> {
        self.begin();
        let bytes = match self.plain(bytes) {
            Ok(bytes) => bytes,
            Err(error) => {
                let message = format!("{}: cannot decompress a datagram: {error}", origin.shown);
                self.reject(message, out)?;
                return Ok(Ended::AtEnd);
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
                return Ok(Ended::AtEnd);
            }
            if let Some(ended) = self.take(step.record, origin, number, out)? {
                return Ok(ended);
            }
        }
    }

    /// A datagram as it was before it was compressed.
    fn plain<'b>(&self, bytes: &'b [u8]) -> io::Result<Cow<'b, [u8]>> {
        let Some(compression) = self.compression else {
            return Ok(Cow::Borrowed(bytes));
        };
        let plain = compression.decompress(bytes)?;
        Ok(Cow::Owned(plain))
    }

    /// Passes on what a record holds; whether that is the end.
    fn take(
        &mut self,
        record: Record,
        origin: &Origin,
        number: &mut i64,
        out: &mut dyn Outlet,
    ) -> Result<Option<Ended>, Fault> {
        match record {
            Record::Tuple { delay } => {
                *number += 1;
                self.pause(delay, out);
                self.submit(origin, *number, out)?;
            }
            Record::Punctuation(Punctuation::Final) => return Ok(Some(Ended::Final)),
            Record::Punctuation(mark) => out.punctuate(0, mark)?,
            Record::Rejected(error) => {
                *number += 1;
                self.reject(format!("{}:{error}", origin.shown), out)?;
            }
            Record::NeedMore | Record::End => {}
        }
        Ok(None)
    }

    /// Before the first byte of a file.
    fn begin(&mut self) {
        self.reader.restart();
        self.buffer.clear();
        self.may_be_marked = self.is_text;
    }

    /// Takes a byte order mark away from the start of a file; whether more bytes have to come to tell.
    fn waits_for_mark(&mut self, at_end: bool) -> bool {
        if !self.may_be_marked {
            return false;
        }
        let is_partial = self.buffer.len() < BYTE_ORDER_MARK.len();
        if is_partial && !at_end && BYTE_ORDER_MARK.starts_with(&self.buffer) {
            return true;
        }
        if self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len());
        }
        self.may_be_marked = false;
        false
    }

    /// Reads on. A hot file ends only with a shutdown, or when another one has its name: when there is
    /// nothing new it is left alone for a while, and one that has shrunk is read from its start.
    fn fill(
        &mut self,
        input: &mut Input,
        origin: &Origin,
        out: &mut dyn Outlet,
    ) -> Result<Filled, Fault> {
        let mut is_replaced = false;
        loop {
            match input.fill(&mut self.buffer) {
                Ok(0) if is_replaced => {
                    input.finish(&mut self.buffer);
                    return Ok(Filled::Replaced);
                }
                Ok(0) => {}
                Ok(_) => return Ok(Filled::More),
                Err(error) => return self.failed(&error, origin, out),
            }
            if !self.hot || out.services().is_shutdown() {
                input.finish(&mut self.buffer);
                return Ok(Filled::End);
            }
            match input.restart_if_shorter() {
                Ok(true) => self.begin(),
                // Something may have come since the last look; nothing does from now on.
                Ok(false) if input.is_replaced() => {
                    is_replaced = true;
                    continue;
                }
                Ok(false) => out.services().block(HOT_PAUSE.as_secs_f64()),
                Err(error) => return self.failed(&error, origin, out),
            }
            return Ok(Filled::More);
        }
    }

    /// It cannot be read on. A file that cannot is a fault; connections break, and others follow.
    fn failed(
        &self,
        error: &io::Error,
        origin: &Origin,
        out: &mut dyn Outlet,
    ) -> Result<Filled, Fault> {
        if out.services().is_shutdown() {
            // The alarm ended the read, which a decompressor takes for a stream that is cut off.
            return Ok(Filled::End);
        }
        let message = format!("cannot read {}: {error}", origin.shown);
        // Standard input may be a socket.
        let is_connection =
            origin.remote.is_some() || error.kind() == io::ErrorKind::ConnectionReset;
        if !is_connection {
            return Err(Fault::new(FaultKind::System, message));
        }
        out.services()
            .log(TraceLevel::Warn, &message, self.operator);
        if !self.buffer.is_empty() {
            out.services().count("nInvalidTuples", 1);
        }
        Ok(Filled::CutOff)
    }

    fn pause(&self, delay: f64, out: &mut dyn Outlet) {
        if delay > 0.0 {
            out.services().block(delay);
        }
    }

    fn submit(&mut self, origin: &Origin, number: i64, out: &mut dyn Outlet) -> Result<(), Fault> {
        let Some(assigned) = &mut self.assigned else {
            return out.submit_made(0, &mut self.tuple);
        };
        let whole = assigned.complete(&self.tuple, origin, number, out)?;
        out.submit(0, whole)
    }

    /// What came is no tuple.
    fn reject(&self, message: String, out: &mut dyn Outlet) -> Result<(), Fault> {
        if self.parsing == Parsing::Strict {
            return Err(Fault::value(message));
        }
        out.services().count("nInvalidTuples", 1);
        out.services()
            .log(TraceLevel::Warn, &message, self.operator);
        Ok(())
    }
}
