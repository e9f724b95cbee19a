//! UDPSource: reads tuples from datagrams.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};

use eval::Fault;
use graph::{AssignmentMode, OperatorModel, OutPortModel, PortIndex};
use runtime::{
    BuildContext, Operator, OperatorConstructor, OperatorEntry, Outlet, Source, retry_interrupted,
};
use rustix::net::sockopt;
use tuple::{Punctuation, TupleRef};

use super::address::{port, resolve, system_fault};
use super::connector::buffer_bytes;
use super::{params, verify};
use crate::adapter::file_name::rstring_text;
use crate::adapter::input_origin::InputOrigin;
use crate::adapter::params as records;
use crate::adapter::stop_waiter::StopWaiter;
use crate::adapter::tuple_reader::{ReadEnd, TupleReader};
use crate::verify_params;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.adapter",
    name: "UDPSource",
    doc: "Reads tuples from the datagrams that come to a port, one or more from each. With a \
          multicast address it joins the group.",
    outputs: &[OutPortModel {
        assign: AssignmentMode::Expression,
        ..OutPortModel::DEFAULT
    }],
    params: &[
        params::ADDRESS,
        params::INTERFACE,
        params::PORT,
        records::FORMAT,
        params::ENCODING,
        records::DEFAULT_TUPLE,
        params::COMPRESSION,
        records::PARSING,
        records::READ_DELAY,
        params::RECEIVE_BUFFER,
        params::INIT_DELAY,
        records::SEPARATOR,
        records::READ_PUNCTUATIONS,
        records::IGNORE_EXTRA,
    ],
    unsupported_params: params::UNSUPPORTED,
    enums: &[records::FORMATS, records::PARSINGS, records::ALGORITHMS],
    output_functions: &[
        "rstring RemoteIP()",
        "uint32 RemotePort()",
        "uint32 ServerPort()",
        "int64 TupleNumber()",
        "<any T> T AsIs(T v)",
    ],
    metrics: &["nInvalidTuples"],
    no_markers_reason: Some(|operator| {
        let why = "datagrams bring none, unless `readPunctuations` is set";
        (!verify_params::is_true(operator, "readPunctuations")).then_some(why)
    }),
    verify: Some(verify::udp_source),
    ..OperatorModel::DEFAULT
};

/// More than a datagram can hold.
const DATAGRAM_BYTES: usize = 64 * 1024;

struct UdpSource(Option<DatagramSource>);

struct DatagramSource {
    /// `None` if nothing is to run.
    socket: Option<UdpSocket>,
    tuple_reader: TupleReader,
    init_delay: f64,
    stop_waiter: StopWaiter,
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let is_dry_run = build.services.property("dryRun").is_some();
    let socket = if is_dry_run {
        None
    } else {
        Some(socket(build)?)
    };
    let stop_waiter = StopWaiter::new(&build.stop_signal())
        .map_err(|error| system_fault("cannot make a descriptor to wait on", &error))?;
    Ok(Box::new(UdpSource(Some(DatagramSource {
        socket,
        tuple_reader: TupleReader::new(build, "UDPSource")?,
        init_delay: build.number("initDelay")?.unwrap_or(0.0),
        stop_waiter,
    }))))
}

fn socket(build: &mut BuildContext<'_>) -> Result<UdpSocket, Fault> {
    let port = match build.value("port")? {
        Some(value) => port(&value, "udp")?,
        None => 0,
    };
    let address = build.value("address")?.map(rstring_text);
    let interface = build.value("interface")?.map(rstring_text);
    let receive_bytes = buffer_bytes(build, "receiveBufferSize")?;
    let host = address
        .as_deref()
        .or(interface.as_deref())
        .unwrap_or("0.0.0.0");
    let open = || {
        let at = resolve(host, port)?;
        let socket = UdpSocket::bind(at)?;
        if at.ip().is_multicast() {
            join(&socket, at.ip(), interface.as_deref())?;
        }
        if let Some(bytes) = receive_bytes {
            sockopt::set_socket_recv_buffer_size(&socket, bytes)?;
        }
        Ok(socket)
    };
    open()
        .map_err(|error| system_fault(format!("cannot receive datagrams at {host}:{port}"), &error))
}

/// Joins a multicast group.
fn join(socket: &UdpSocket, group: IpAddr, interface: Option<&str>) -> std::io::Result<()> {
    match group {
        IpAddr::V4(group) => {
            let own = interface.map(|host| resolve(host, 0)).transpose()?;
            let own = match own.map(|address| address.ip()) {
                Some(IpAddr::V4(own)) => own,
                _ => Ipv4Addr::UNSPECIFIED,
            };
            socket.join_multicast_v4(&group, &own)
        }
        IpAddr::V6(group) => socket.join_multicast_v6(&group, 0),
    }
}

impl Operator for UdpSource {
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

impl Source for DatagramSource {
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let Some(socket) = &self.socket else {
            return Ok(());
        };
        if self.init_delay > 0.0 {
            out.services().block(self.init_delay);
        }
        let failure = |error| system_fault("cannot receive a datagram", &error);
        let own_port = socket.local_addr().map_err(failure)?.port();
        let mut bytes = vec![0; DATAGRAM_BYTES];
        let mut number = 0;
        while !out.services().is_shutdown() {
            if !self.stop_waiter.wait_readable(socket).map_err(failure)? {
                return Ok(());
            }
            let (count, remote) =
                retry_interrupted(|| socket.recv_from(&mut bytes)).map_err(failure)?;
            let origin = InputOrigin::from_peer(remote, own_port, own_port);
            let reading = &mut self.tuple_reader;
            match reading.datagram(&bytes[..count], &origin, &mut number, out)? {
                ReadEnd::EndOfInput | ReadEnd::Replaced => {}
                ReadEnd::FinalMarker => {
                    return out.submit_punctuation(PortIndex(0), Punctuation::Final);
                }
                ReadEnd::Shutdown => return Ok(()),
            }
        }
        Ok(())
    }
}
