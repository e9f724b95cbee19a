//! Exchange of record formats before the first record of a connection (`confirmWireFormat`).
//!
//! Each end writes a line and reads the other's; records follow if they are the same:
//! ```text
//! thalweg reads and writes csv, separated by ",": int32, rstring
//! ```
//! Whoever finds another line closes the connection. A peer that says nothing is waited for: a sink
//! takes connections only when it has a tuple, and a server serves one client after the other.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use eval::Fault;
use runtime::{BuildContext, retry_interrupted};
use tuple::text::RecordFormat;
use tuple::{Attribute, Layout};

use crate::adapter::stop_waiter::StopWaiter;
use crate::adapter::{file_name, record_format, record_input};

/// Beginning of each line, by which a peer is recognised.
const GREETING: &[u8] = b"thalweg reads and writes ";

/// Greatest length of a line in bytes; a longer one is not from an adapter.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// The line in which one end of a connection tells the other its record format.
pub struct WireFormat {
    line: Vec<u8>,
}

impl WireFormat {
    /// The format of an adapter's parameters; `None` unless `confirmWireFormat` is set.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn from_params(build: &mut BuildContext<'_>) -> Result<Option<WireFormat>, Fault> {
        if !build.flag("confirmWireFormat", false)? {
            return Ok(None);
        }
        let mut line = GREETING.to_vec();
        line.extend(describe_format(build)?.into_bytes());
        line.push(b'\n');
        Ok(Some(WireFormat { line }))
    }

    /// Sends this end's line, and reads that of the peer; `false` if a shutdown came first.
    ///
    /// # Errors
    /// If the peer sends another line (see [`is_mismatch`]), or the connection breaks.
    pub fn confirm(&self, stream: &TcpStream, stop_waiter: &StopWaiter) -> io::Result<bool> {
        let mut stream = stream;
        stream.write_all(&self.line)?;
        let mut heard = Vec::new();
        while heard.last() != Some(&b'\n') {
            if !stop_waiter.wait_readable(stream)? {
                return Ok(false);
            }
            // One byte at a time: the bytes behind the line belong to the reader of records.
            let mut byte = [0];
            if retry_interrupted(|| stream.read(&mut byte))? == 0 {
                return Err(mismatch(
                    "the peer hung up before it said its format".into(),
                ));
            }
            heard.extend(byte);
            let is_greeting = heard.iter().zip(GREETING).all(|(a, b)| a == b);
            if !is_greeting || heard.len() > LINE_BYTES_MAX {
                let message = "the peer does not say its format; `confirmWireFormat` is for both";
                return Err(mismatch(message.into()));
            }
        }
        if heard == self.line {
            return Ok(true);
        }
        let (ours, theirs) = (format_text(&self.line), format_text(&heard));
        Err(mismatch(format!(
            "the formats differ: {ours} here, {theirs} there"
        )))
    }
}

/// Whether a connection failed because the formats differ.
pub fn is_mismatch(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidData
}

fn mismatch(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// A line without greeting and end.
fn format_text(line: &[u8]) -> String {
    let line = line.strip_prefix(GREETING).unwrap_or(line);
    String::from_utf8_lossy(line.trim_ascii_end()).into_owned()
}

/// `csv, separated by ",", compressed by gzip: int32, rstring`
fn describe_format(build: &mut BuildContext<'_>) -> Result<String, Fault> {
    let format = record_format::format(build);
    let mut text = build.literal("format").unwrap_or("csv").to_owned();
    if format == RecordFormat::Csv {
        let separator = [record_format::separator(build)?];
        text += &format!(", separated by {:?}", String::from_utf8_lossy(&separator));
    }
    if format == RecordFormat::Line {
        let end = record_format::eol(build)?;
        text += &format!(", ended by {:?}", String::from_utf8_lossy(&end));
    }
    if build.flag("hasDelayField", false)? {
        text += ", with delays";
    }
    if build.flag("readPunctuations", false)? || build.flag("writePunctuations", false)? {
        text += ", with markers";
    }
    if let Some(algorithm) = build.literal("compression") {
        text += &format!(", compressed by {algorithm}");
    }
    let encoding = build.value("encoding")?.map(file_name::rstring_text);
    if let Some(charset) = record_input::encoding(encoding.as_deref())? {
        text += &format!(", encoded in {}", charset.name());
    }
    Ok(format!("{text}: {}", attributes(build, format)))
}

/// The attributes of records: only the formats txt and json have their names.
fn attributes(build: &BuildContext<'_>, format: RecordFormat) -> String {
    let named = |layout: &Layout, which: Vec<usize>| {
        let attributes = &layout.schema.attributes;
        let show = |at: usize| match (&attributes[at], format) {
            (Attribute { name, ty, .. }, RecordFormat::Txt | RecordFormat::Json) => {
                format!("{ty} {name}")
            }
            (Attribute { ty, .. }, _) => ty.to_string(),
        };
        which.into_iter().map(show).collect::<Vec<_>>().join(", ")
    };
    match build.inputs.first() {
        Some(layout) => named(layout, record_format::written_attributes(build.operator)),
        None => named(
            &build.outputs[0],
            record_format::read_attributes(build.operator),
        ),
    }
}
