//! TCPSink: writes tuples to TCP connections, one after the other.
//!
//! A tuple waits for a connection. What is held back to be sent with more gets out when the thread
//! is about to sleep, so that nothing lies long.

use std::fs::File;
use std::os::fd::OwnedFd;

use eval::{Fault, TraceLevel};
use graph::{InPortModel, OperatorModel, ParamMode, ParamModel, PortIndex};
use runtime::abi::Projection;
use runtime::{
    BuildContext, EvaluationInputs, Operator, OperatorConstructor, OperatorEntry, Outlet,
};
use tuple::text::RecordWriter;
use tuple::{Punctuation, TupleBuf, TupleRef};

use super::address::port;
use super::connector::TcpConnector;
use super::{params, verify};
use crate::adapter::compression::Compression;
use crate::adapter::delay_field::DelayField;
use crate::adapter::file_name::rstring_text;
use crate::adapter::peer_writer::PeerWriter;
use crate::adapter::record_input::encoding;
use crate::adapter::record_output::RecordOutput;
use crate::adapter::{params as records, record_format};
use crate::charset::Charset;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.adapter",
    name: "TCPSink",
    doc: "Writes the tuples that come in to a TCP connection, as server or as client. They wait for \
          a connection; when it breaks it is made again as often as the parameters allow, and \
          what cannot be sent then is dropped. That it broke is seen when a tuple is sent; those \
          before it that were still under way are lost, too.",
    inputs: &[InPortModel::DEFAULT],
    params: PARAMS,
    unsupported_params: params::UNSUPPORTED_TCP,
    enums: &[
        records::FORMATS,
        records::ALGORITHMS,
        params::ROLES,
        params::POLICIES,
        ("CloseMode", &["dynamic", "never"]),
    ],
    metrics: &[
        "nReconnections",
        "nConnections",
        "nConfirmWireFormatFailures",
    ],
    verify: Some(verify::tcp_sink),
    ..OperatorModel::DEFAULT
};

const PARAMS: &[ParamModel] = &[
    ParamModel {
        mode: ParamMode::Expression,
        ..params::ADDRESS
    },
    ParamModel {
        mode: ParamMode::Expression,
        ..params::PORT
    },
    params::ROLE,
    records::FORMAT,
    params::ENCODING,
    records::WRITE_EOL,
    ParamModel {
        name: "flush",
        ty: "uint32",
        mode: ParamMode::Constant,
        doc: "Flush after so many tuples. Default: 0, when nothing more is at hand.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "flushOnPunctuation",
        doc: "Whether a marker flushes. Default: true.",
        ..records::FLAG
    },
    records::WRITE_PUNCTUATIONS,
    records::WRITE_DELAY,
    params::COMPRESSION,
    params::POLICY,
    params::BOUND,
    ParamModel {
        name: "retryFailedSends",
        doc: "Whether a tuple that could not be sent is sent over the next connection. Default: \
              false.",
        ..records::FLAG
    },
    params::SEND_BUFFER,
    records::SEPARATOR,
    records::QUOTE_STRINGS,
    params::INTERFACE,
    params::CONFIRM,
    ParamModel {
        name: "closeMode",
        ty: "CloseMode",
        mode: ParamMode::Literal,
        doc: "dynamic: each tuple goes to the address and port that it says. Default: never.",
        ..ParamModel::DEFAULT
    },
    records::SUPPRESS,
    ParamModel {
        name: "detectDisconnectsBeforeSends",
        doc: "Whether a connection that the peer has closed is noticed before a tuple is sent, \
              which costs a system call. Default: false.",
        ..records::FLAG
    },
];

struct TcpSink {
    connector: TcpConnector,
    open: Option<SinkConnection>,
    compression: Option<Compression>,
    encoding: Option<Charset>,
    writer: Box<dyn RecordWriter>,
    record: Vec<u8>,
    flush_every: u64,
    flush_on_punctuation: bool,
    write_punctuations: bool,
    retries: bool,
    detects_disconnects: bool,
    unflushed: u64,
    delays: DelayField,
    destination: Option<DynamicDestination>,
    has_given_up: bool,
}

/// A connection and what is written to it.
struct SinkConnection {
    output: RecordOutput,
    /// The socket once more, to look whether the peer has closed it.
    socket: File,
}

/// Address of each tuple, if tuples choose it.
struct DynamicDestination {
    address: Projection,
    port: Projection,
    buffer: TupleBuf,
    current: Option<(String, u16)>,
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    build.set_needs_flush();
    let encoding_name = build.value("encoding")?.map(rstring_text);
    let destination = match build.literal("closeMode") {
        Some("dynamic") => destination(build)?,
        _ => None,
    };
    let retries = build.flag("retryFailedSends", false)?;
    let flush_every = build.integer("flush")?.unwrap_or(0) as u64;
    Ok(Box::new(TcpSink {
        connector: TcpConnector::new(build, "TCPSink")?,
        open: None,
        compression: Compression::from_literal(build.literal("compression"))?,
        encoding: encoding(encoding_name.as_deref())?,
        writer: record_format::writer(build)?,
        record: Vec::new(),
        // Only bytes that were sent are known to have failed or not.
        flush_every: if retries { 1 } else { flush_every },
        flush_on_punctuation: build.flag("flushOnPunctuation", true)?,
        write_punctuations: build.flag("writePunctuations", false)?,
        retries,
        detects_disconnects: build.flag("detectDisconnectsBeforeSends", false)?,
        unflushed: 0,
        delays: DelayField::new(build)?,
        destination,
        has_given_up: false,
    }))
}

fn destination(build: &mut BuildContext<'_>) -> Result<Option<DynamicDestination>, Fault> {
    let address = build.param_projection("address")?;
    let port = build.param_projection("port")?;
    Ok(address.zip(port).map(|(address, port)| DynamicDestination {
        address,
        port,
        buffer: TupleBuf::default(),
        current: None,
    }))
}

impl Operator for TcpSink {
    fn process(
        &mut self,
        _port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.select_destination(tuple, out)?;
        self.record.clear();
        let delay = self.delays.next_delay();
        self.writer.write(tuple, delay, &mut self.record);
        self.unflushed += 1;
        let is_due = self.flush_every > 0 && self.unflushed >= self.flush_every;
        self.send(is_due, out)
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
        self.write_marker(Punctuation::Final, out)?;
        self.disconnect(out);
        Ok(())
    }

    fn flush(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.connector.trace_waiting_client(out);
        if self.unflushed > 0 {
            self.unflushed = 0;
            if let Some(SinkConnection { output, .. }) = &mut self.open
                && let Err(error) = output.flush(out.services())
            {
                self.connection_lost(&error.to_string(), out);
            }
        }
        Ok(())
    }

    /// The PE ends, perhaps before the final marker: what was accepted is sent.
    fn close(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.disconnect(out);
        Ok(())
    }
}

impl TcpSink {
    /// Takes the address and port of a tuple, if they may change.
    fn select_destination(
        &mut self,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let Some(destination) = &mut self.destination else {
            return Ok(());
        };
        let next = destination.evaluate(tuple, out)?;
        if destination.current.as_ref() == Some(&next) {
            return Ok(());
        }
        destination.current = Some(next.clone());
        self.disconnect(out);
        self.connector.set_address(next.0, next.1);
        self.has_given_up = false;
        Ok(())
    }

    /// Sends the record, over the next connection if need be.
    fn send(&mut self, is_due: bool, out: &mut dyn Outlet) -> Result<(), Fault> {
        loop {
            self.connect(out)?;
            let Some(SinkConnection { output, .. }) = &mut self.open else {
                return Ok(());
            };
            let mut sent = output.put(&self.record, out.services());
            if is_due && sent.is_ok() {
                sent = output.flush(out.services());
                self.unflushed = 0;
            }
            let Err(error) = sent else { return Ok(()) };
            self.connection_lost(&error.to_string(), out);
            if !self.retries {
                return Ok(());
            }
        }
    }

    /// Makes sure that there is a connection, unless there is none any more.
    fn connect(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        if self.detects_disconnects && self.open.as_ref().is_some_and(SinkConnection::is_closed) {
            self.connection_lost("the peer has closed the connection", out);
        }
        if self.open.is_none() && !self.has_given_up {
            let stream = self.connector.next_connection(out);
            let opened = stream.map(|stream| self.open_connection(OwnedFd::from(stream).into()));
            self.open = opened.transpose()?;
            self.has_given_up = self.open.is_none();
            if self.has_given_up {
                let message = format!("no connection {}: tuples are dropped", self.connector);
                out.services().log(TraceLevel::Warn, &message, "TCPSink");
            } else {
                out.services().add_to_metric("nConnections", 1);
            }
        }
        Ok(())
    }

    fn open_connection(&self, file: File) -> Result<SinkConnection, Fault> {
        let socket = file
            .try_clone()
            .map_err(|error| super::address::system_fault("cannot use a connection", &error))?;
        Ok(SinkConnection {
            output: RecordOutput::from_peer(
                PeerWriter::from_socket(file, self.connector.stop_waiter()),
                self.compression,
                self.encoding,
            ),
            socket,
        })
    }

    /// Closes a connection that broke, and logs why.
    fn connection_lost(&mut self, why: &str, out: &mut dyn Outlet) {
        self.open = None;
        out.services().add_to_metric("nConnections", -1);
        let message = format!("the connection {} is lost: {why}", self.connector);
        out.services().log(TraceLevel::Warn, &message, "TCPSink");
    }

    /// Sends what is held back and closes the connection.
    fn disconnect(&mut self, out: &mut dyn Outlet) {
        let Some(SinkConnection { output, .. }) = self.open.take() else {
            return;
        };
        out.services().add_to_metric("nConnections", -1);
        self.connector.trace_end(out);
        if let Err(error) = output.close(out.services()) {
            let message = format!("the connection {} broke: {error}", self.connector);
            out.services().log(TraceLevel::Warn, &message, "TCPSink");
        }
    }

    fn write_marker(&mut self, mark: Punctuation, out: &mut dyn Outlet) -> Result<(), Fault> {
        if self.connector.lacks_address() {
            // Before the first tuple there is no connection.
            return Ok(());
        }
        if self.write_punctuations {
            self.record.clear();
            self.writer.punctuate(mark, &mut self.record);
            self.unflushed += 1;
            return self.send(self.flush_on_punctuation, out);
        }
        if self.flush_on_punctuation {
            self.flush(out)?;
        }
        Ok(())
    }
}

impl SinkConnection {
    /// Whether the peer has closed it: there is an end to read.
    fn is_closed(&self) -> bool {
        use rustix::net::{RecvFlags, recv};
        let look = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        matches!(recv(&self.socket, &mut [0_u8; 1], look), Ok((0, _)))
    }
}

impl DynamicDestination {
    fn evaluate(
        &mut self,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(String, u16), Fault> {
        let inputs = [Some(tuple)];
        let inputs = EvaluationInputs::new(&inputs);
        self.address.write(&inputs, out, &mut self.buffer)?;
        let address = rstring_text(self.buffer.as_ref().get(&self.address.layout, 0));
        self.port.write(&inputs, out, &mut self.buffer)?;
        let port = port(&self.buffer.as_ref().get(&self.port.layout, 0), "tcp")?;
        Ok((address, port))
    }
}
