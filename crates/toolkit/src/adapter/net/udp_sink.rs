//! UDPSink: writes tuples as datagrams.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use eval::{Fault, TraceLevel};
use graph::{InPortModel, OperatorModel, ParamMode, ParamModel, PortIndex};
use runtime::{
    BuildContext, Operator, OperatorConstructor, OperatorEntry, Outlet, retry_interrupted,
};
use rustix::net::sockopt;
use tuple::text::RecordWriter;
use tuple::{Punctuation, TupleRef};

use super::address::{port, resolve, system_fault};
use super::connector::buffer_bytes;
use super::{params, verify};
use crate::adapter::compression::Compression;
use crate::adapter::delay_field::DelayField;
use crate::adapter::file_name::rstring_text;
use crate::adapter::record_input::encoding;
use crate::adapter::{params as records, record_format};
use crate::charset::Charset;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.adapter",
    name: "UDPSink",
    doc: "Writes each tuple that comes in as a datagram, compressed by itself if it is to be. What \
          the network loses is lost; a datagram that cannot be sent is logged.",
    inputs: &[InPortModel::DEFAULT],
    params: &[
        params::ADDRESS,
        params::PORT,
        records::FORMAT,
        params::ENCODING,
        records::WRITE_DELAY,
        params::COMPRESSION,
        records::WRITE_PUNCTUATIONS,
        params::SEND_BUFFER,
        records::SEPARATOR,
        records::QUOTE_STRINGS,
        ParamModel {
            name: "timeToLive",
            ty: "uint8",
            mode: ParamMode::Constant,
            doc: "How many routers a datagram passes at most. Default: the kernel's.",
            ..ParamModel::DEFAULT
        },
    ],
    unsupported_params: params::UNSUPPORTED,
    enums: &[records::FORMATS, records::ALGORITHMS],
    verify: Some(verify::udp_sink),
    ..OperatorModel::DEFAULT
};

struct UdpSink {
    /// `None` if nothing is to run.
    socket: Option<(UdpSocket, SocketAddr)>,
    encoding: Option<Charset>,
    compression: Option<Compression>,
    writer: Box<dyn RecordWriter>,
    record: Vec<u8>,
    write_punctuations: bool,
    delays: DelayField,
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let is_dry_run = build.services.property("dryRun").is_some();
    let encoding_name = build.value("encoding")?.map(rstring_text);
    Ok(Box::new(UdpSink {
        socket: if is_dry_run {
            None
        } else {
            Some(socket(build)?)
        },
        encoding: encoding(encoding_name.as_deref())?,
        compression: Compression::from_literal(build.literal("compression"))?,
        writer: record_format::writer(build)?,
        record: Vec::new(),
        write_punctuations: build.flag("writePunctuations", false)?,
        delays: DelayField::new(build)?,
    }))
}

fn socket(build: &mut BuildContext<'_>) -> Result<(UdpSocket, SocketAddr), Fault> {
    let host = build
        .value("address")?
        .map(rstring_text)
        .unwrap_or_default();
    let port = match build.value("port")? {
        Some(value) => port(&value, "udp")?,
        None => 0,
    };
    let send_bytes = buffer_bytes(build, "sendBufferSize")?;
    let hops = build.integer("timeToLive")?.map(|hops| hops as u32);
    let open = || {
        let to = resolve(&host, port)?;
        let any = match to.ip() {
            IpAddr::V4(_) => "0.0.0.0:0",
            IpAddr::V6(_) => "[::]:0",
        };
        let socket = UdpSocket::bind(any)?;
        match hops {
            Some(hops) if to.ip().is_multicast() => socket.set_multicast_ttl_v4(hops)?,
            Some(hops) => socket.set_ttl(hops)?,
            None => {}
        }
        if let Some(bytes) = send_bytes {
            sockopt::set_socket_send_buffer_size(&socket, bytes)?;
        }
        Ok((socket, to))
    };
    open().map_err(|error| system_fault(format!("cannot send datagrams to {host}:{port}"), &error))
}

impl Operator for UdpSink {
    fn process(
        &mut self,
        _port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.record.clear();
        let delay = self.delays.next_delay();
        self.writer.write(tuple, delay, &mut self.record);
        self.send(out);
        Ok(())
    }

    fn process_window_marker(
        &mut self,
        _port: PortIndex,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.write_marker(Punctuation::Window, out);
        Ok(())
    }

    fn process_final_marker(
        &mut self,
        _port: PortIndex,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.write_marker(Punctuation::Final, out);
        Ok(())
    }
}

impl UdpSink {
    fn write_marker(&mut self, mark: Punctuation, out: &mut dyn Outlet) {
        if self.write_punctuations {
            self.record.clear();
            self.writer.punctuate(mark, &mut self.record);
            self.send(out);
        }
    }

    /// Sends the record, encoded and compressed by itself: any other datagram may be lost.
    fn send(&mut self, out: &mut dyn Outlet) {
        if let Some(charset) = self.encoding {
            self.record = charset.encode(&String::from_utf8_lossy(&self.record));
        }
        let Some((socket, to)) = &self.socket else {
            return;
        };
        let sent = match self.compression {
            None => retry_interrupted(|| socket.send_to(&self.record, to)),
            Some(compression) => compression
                .compress(&self.record)
                .and_then(|bytes| retry_interrupted(|| socket.send_to(&bytes, to))),
        };
        if let Err(error) = sent {
            let message = format!("a datagram cannot be sent to {to}: {error}");
            out.services().log(TraceLevel::Warn, &message, "UDPSink");
        }
    }
}
