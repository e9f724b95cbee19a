//! TCPSource: reads tuples from TCP connections, one after the other.

use std::net::TcpStream;

use graph::{Assignment, Fault, OperatorModel, OutPortModel, TraceLevel};
use runtime::{Build, Make, Operator, OperatorEntry, Outlet, Source};
use tuple::{Punctuation, TupleRef};

use super::connector::Connector;
use super::{params, verify};
use crate::adapter::params as records;
use crate::adapter::reading::{Ended, Origin, Reading};

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.adapter",
    name: "TCPSource",
    doc: "Reads tuples from TCP connections, one at a time, as server or as client. A window marker \
          follows each connection.",
    outputs: &[OutPortModel {
        assign: Assignment::Expression,
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

struct TcpSource(Option<Connections>);

/// What is done with each connection.
struct Connections {
    connector: Connector,
    reading: Reading,
    init_delay: f64,
    /// Markers come from the peer.
    punctuated: bool,
}

fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(TcpSource(Some(Connections {
        connector: Connector::new(build)?,
        reading: Reading::new(build, "TCPSource")?,
        init_delay: build.number("initDelay")?.unwrap_or(0.0),
        punctuated: build.flag("readPunctuations", false)?,
    }))))
}

impl Operator for TcpSource {
    fn process(
        &mut self,
        _port: u32,
        _tuple: TupleRef<'_>,
        _out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        Ok(())
    }

    fn source(&mut self) -> Option<Box<dyn Source>> {
        Some(Box::new(self.0.take()?))
    }
}

impl Source for Connections {
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        if self.init_delay > 0.0 {
            out.services().block(self.init_delay);
        }
        while let Some(stream) = self.connector.next(out) {
            out.services().count("nConnections", 1);
            let ended = self.read(stream, out)?;
            out.services().count("nConnections", -1);
            match ended {
                Ended::Shutdown => return Ok(()),
                Ended::Final => return out.punctuate(0, Punctuation::Final),
                Ended::AtEnd | Ended::Replaced if !self.punctuated => {
                    out.punctuate(0, Punctuation::Window)?;
                }
                Ended::AtEnd | Ended::Replaced => {}
            }
        }
        Ok(())
    }
}

impl Connections {
    fn read(&mut self, stream: TcpStream, out: &mut dyn Outlet) -> Result<Ended, Fault> {
        let origin = match Origin::of(&stream, self.connector.server_port()) {
            Ok(origin) => origin,
            Err(error) => {
                let message = format!("a connection is gone at once: {error}");
                out.services().log(TraceLevel::Warn, &message, "TCPSource");
                return Ok(Ended::AtEnd);
            }
        };
        let mut input = self.reading.input(stream, self.connector.alarm());
        self.reading.read(&mut input, &origin, out)
    }
}
