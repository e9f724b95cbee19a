//! TCPSource: reads tuples from TCP connections, one after the other.

use std::net::TcpStream;

use eval::{Fault, TraceLevel};
use graph::{AssignmentMode, OperatorModel, OutPortModel, PortIndex};
use runtime::{BuildContext, Operator, OperatorConstructor, OperatorEntry, Outlet, Source};
use tuple::{Punctuation, TupleRef};

use super::connector::TcpConnector;
use super::{params, verify};
use crate::adapter::input_origin::InputOrigin;
use crate::adapter::params as records;
use crate::adapter::tuple_reader::{ReadEnd, TupleReader};

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.adapter",
    name: "TCPSource",
    doc: "Reads tuples from TCP connections, one at a time, as server or as client. A window marker \
          follows each connection.",
    outputs: &[OutPortModel {
        assign: AssignmentMode::Expression,
        ..OutPortModel::DEFAULT
    }],
    params: &[
        params::ADDRESS,
        params::PORT,
        params::ROLE,
        records::FORMAT,
        params::ENCODING,
        records::DEFAULT_TUPLE,
        records::PARSING,
        records::READ_DELAY,
        params::COMPRESSION,
        records::READ_EOL,
        records::BLOCK_SIZE,
        params::POLICY,
        params::BOUND,
        params::RECEIVE_BUFFER,
        params::INIT_DELAY,
        records::SEPARATOR,
        params::INTERFACE,
        records::READ_PUNCTUATIONS,
        records::IGNORE_EXTRA,
        params::CONFIRM,
        params::KEEP_ALIVE,
    ],
    unsupported_params: params::UNSUPPORTED_TCP,
    enums: &[
        records::FORMATS,
        records::PARSINGS,
        records::ALGORITHMS,
        params::ROLES,
        params::POLICIES,
    ],
    output_functions: &[
        "rstring RemoteIP()",
        "uint32 RemotePort()",
        "uint32 LocalPort()",
        "uint32 ServerPort()",
        "int64 TupleNumber()",
        "<any T> T AsIs(T v)",
    ],
    metrics: &[
        "nInvalidTuples",
        "nReconnections",
        "nConnections",
        "nConfirmWireFormatFailures",
    ],
    verify: Some(verify::tcp_source),
    ..OperatorModel::DEFAULT
};

struct TcpSource(Option<TcpConnectionSource>);

/// Reads the connections of a TCPSource, one after the other.
struct TcpConnectionSource {
    connector: TcpConnector,
    tuple_reader: TupleReader,
    init_delay: f64,
    /// Markers come from the peer.
    punctuated: bool,
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(TcpSource(Some(TcpConnectionSource {
        connector: TcpConnector::new(build, "TCPSource")?,
        tuple_reader: TupleReader::new(build, "TCPSource")?,
        init_delay: build.number("initDelay")?.unwrap_or(0.0),
        punctuated: build.flag("readPunctuations", false)?,
    }))))
}

impl Operator for TcpSource {
    fn process(
        &mut self,
        _port: PortIndex,
        _tuple: TupleRef<'_>,
        _out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        Ok(())
    }

    fn take_source(&mut self) -> Option<Box<dyn Source>> {
        Some(Box::new(self.0.take()?))
    }
}

impl Source for TcpConnectionSource {
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        if self.init_delay > 0.0 {
            out.services().block(self.init_delay);
        }
        while let Some(stream) = self.connector.next_connection(out) {
            out.services().add_to_metric("nConnections", 1);
            let ended = self.read(stream, out)?;
            out.services().add_to_metric("nConnections", -1);
            self.connector.trace_end(out);
            match ended {
                ReadEnd::Shutdown => return Ok(()),
                ReadEnd::FinalMarker => {
                    return out.submit_punctuation(PortIndex(0), Punctuation::Final);
                }
                ReadEnd::EndOfInput | ReadEnd::Replaced if !self.punctuated => {
                    out.submit_punctuation(PortIndex(0), Punctuation::Window)?;
                }
                ReadEnd::EndOfInput | ReadEnd::Replaced => {}
            }
        }
        Ok(())
    }
}

impl TcpConnectionSource {
    fn read(&mut self, stream: TcpStream, out: &mut dyn Outlet) -> Result<ReadEnd, Fault> {
        let origin = match InputOrigin::from_stream(&stream, self.connector.server_port()) {
            Ok(origin) => origin,
            Err(error) => {
                let message = format!("a connection is gone at once: {error}");
                out.services().log(TraceLevel::Warn, &message, "TCPSource");
                return Ok(ReadEnd::EndOfInput);
            }
        };
        let listener = self.connector.watched_listener(out);
        let stop_waiter = self.connector.stop_waiter();
        let mut input = self
            .tuple_reader
            .connection_input(stream, listener, stop_waiter);
        self.tuple_reader.read(&mut input, &origin, out)
    }
}
