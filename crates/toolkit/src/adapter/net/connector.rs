//! Establishes one TCP connection after the other, as server or client, as often as the parameters
//! allow.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use eval::{Fault, TraceLevel};
use runtime::{BuildContext, Outlet, retry_interrupted};
use rustix::net::sockopt;
use tuple::Value;

use super::address::{addresses, param_fault, port, resolve, system_fault};
use super::wire_format::{WireFormat, is_mismatch};
use crate::adapter::file_name::rstring_text;
use crate::adapter::stop_waiter::{StopWaiter, client_waits, is_readable_now};

/// Pause between two attempts to connect, in seconds.
const PAUSE_SECONDS: f64 = 0.1;

/// Pause between two looks for a client that waits.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Longest duration of one attempt to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Role of an adapter when a connection is established.
pub enum SocketRole {
    /// The adapter accepts connections.
    Server(Arc<TcpListener>),
    /// The adapter connects to a host and a port.
    Client(String, u16),
}

/// Establishes the connections of an adapter.
pub struct TcpConnector {
    /// Name of the adapter's operator, for messages.
    kind: &'static str,
    role: SocketRole,
    /// Number of retries for each connection; `None`: without limit.
    reconnection_bound: Option<u32>,
    /// Retries that are left for the connection that is being established; `None`: without limit.
    retries: Option<u32>,
    has_tried: bool,
    has_connected: bool,
    /// Sizes of the kernel's buffers in bytes, if the program gives them.
    receive_bytes: Option<usize>,
    send_bytes: Option<usize>,
    keep_alive: Option<KeepAlive>,
    /// The format that both ends must confirm, if the program asks for it.
    wire_format: Option<WireFormat>,
    last_message: LastMessage,
    /// The other end of the last connection, for messages.
    peer: String,
    /// When it looks next whether another client waits; `None` if it was said of this connection.
    next_look: Option<Instant>,
    stop_waiter: StopWaiter,
}

/// The last message about attempts to connect, so that each is logged once.
#[derive(Debug, Default)]
struct LastMessage(String);

impl LastMessage {
    /// Whether a message differs from the last one, which it replaces.
    fn is_new(&mut self, message: &str) -> bool {
        let is_news = self.0 != message;
        if is_news {
            message.clone_into(&mut self.0);
        }
        is_news
    }
}

/// Times and number of the probes that a silent peer is sent.
#[derive(Clone, Copy)]
struct KeepAlive {
    idle_time: Duration,
    probes: u32,
    interval: Duration,
}

impl TcpConnector {
    /// A connector with the parameters of an invocation, whose operator is named in messages. A
    /// server listens from here on, so that clients in the same program can connect.
    ///
    /// # Errors
    /// Parameters that are out of range; the port cannot be listened on.
    pub fn new(build: &mut BuildContext<'_>, kind: &'static str) -> Result<TcpConnector, Fault> {
        let is_server = build.literal("role") == Some("server");
        let side = if is_server {
            server(build)?
        } else {
            client(build)?
        };
        let bound = match build.literal("reconnectionPolicy") {
            Some("NoRetry") => Some(0),
            Some("BoundedRetry") => {
                let bound = build.integer("reconnectionBound")?.unwrap_or(0);
                Some(
                    u32::try_from(bound)
                        .map_err(|_| param_fault("reconnectionBound is too large"))?,
                )
            }
            _ => None,
        };
        let stop_waiter = StopWaiter::new(&build.stop_signal())
            .map_err(|error| system_fault("cannot make a descriptor to wait on", &error))?;
        Ok(TcpConnector {
            kind,
            role: side,
            reconnection_bound: bound,
            retries: bound,
            has_tried: false,
            has_connected: false,
            receive_bytes: buffer_bytes(build, "receiveBufferSize")?,
            send_bytes: buffer_bytes(build, "sendBufferSize")?,
            keep_alive: keep_alive(build)?,
            wire_format: WireFormat::from_params(build)?,
            last_message: LastMessage::default(),
            peer: String::new(),
            next_look: None,
            stop_waiter,
        })
    }

    /// Ends waits of the adapter when a shutdown was requested.
    pub fn stop_waiter(&self) -> &StopWaiter {
        &self.stop_waiter
    }

    /// Changes host and port. All retries are available again.
    pub fn set_address(&mut self, host: String, port: u16) {
        self.role = SocketRole::Client(host, port);
        self.retries = self.reconnection_bound;
        self.has_tried = false;
        self.has_connected = false;
    }

    /// Whether the connector is a client without an address, which a tuple has to give.
    pub fn lacks_address(&self) -> bool {
        matches!(&self.role, SocketRole::Client(host, _) if host.is_empty())
    }

    /// The port that a server listens on.
    pub fn server_port(&self) -> u16 {
        match &self.role {
            SocketRole::Server(listener) => {
                listener.local_addr().map_or(0, |address| address.port())
            }
            SocketRole::Client(..) => 0,
        }
    }

    /// The next connection, however long that takes. `None`: a shutdown came first, or it was tried
    /// as often as the parameters allow.
    pub fn next_connection(&mut self, out: &mut dyn Outlet) -> Option<TcpStream> {
        if let SocketRole::Server(listener) = &self.role
            && let Ok(address) = listener.local_addr()
        {
            self.trace(&format!("waits for a client on {address}"), out);
        }
        while !out.services().is_shutdown() && self.take_retry() {
            match self.try_connect() {
                Ok(Some(stream)) => {
                    if std::mem::replace(&mut self.has_connected, true) {
                        out.services().add_to_metric("nReconnections", 1);
                    }
                    self.last_message = LastMessage::default();
                    let peer = stream.peer_addr();
                    self.peer = peer.map_or_else(|_| "a peer".to_owned(), |peer| peer.to_string());
                    self.next_look = Some(Instant::now());
                    self.trace(&format!("is connected with {}", self.peer), out);
                    return Some(stream);
                }
                Ok(None) => return None,
                Err(error) => {
                    if is_mismatch(&error) {
                        out.services()
                            .add_to_metric("nConfirmWireFormatFailures", 1);
                    }
                    self.log_unless_repeated(format!("cannot connect {self}: {error}"), out);
                    if self.retries != Some(0) {
                        out.services().block(PAUSE_SECONDS);
                    }
                }
            }
        }
        None
    }

    /// Traces that the last connection has ended.
    pub fn trace_end(&self, out: &mut dyn Outlet) {
        self.trace(&format!("the connection with {} has ended", self.peer), out);
    }

    /// The listener of a server that traces who waits there.
    pub fn watched_listener(&self, out: &mut dyn Outlet) -> Option<Arc<TcpListener>> {
        match &self.role {
            SocketRole::Server(listener) if out.services().is_traceable(TraceLevel::Info) => {
                Some(listener.clone())
            }
            _ => None,
        }
    }

    /// Traces, once for each connection, that another client waits for its end. Looks for one at
    /// most once in [`LOOK_INTERVAL`].
    pub fn trace_waiting_client(&mut self, out: &mut dyn Outlet) {
        if self.next_look.is_none_or(|next| Instant::now() < next) {
            return;
        }
        let listener = self.watched_listener(out);
        let is_waiting = listener.as_ref().is_some_and(is_readable_now);
        if is_waiting {
            self.trace(&client_waits(&self.peer), out);
        }
        self.next_look =
            (listener.is_some() && !is_waiting).then(|| Instant::now() + LOOK_INTERVAL);
    }

    fn trace(&self, message: &str, out: &mut dyn Outlet) {
        out.services().trace(TraceLevel::Info, message, self.kind);
    }

    /// Logs a message, unless the last one was equal: endless retries give one message.
    fn log_unless_repeated(&mut self, message: String, out: &mut dyn Outlet) {
        if self.last_message.is_new(&message) || self.reconnection_bound.is_some() {
            out.services().log(TraceLevel::Warn, &message, self.kind);
        }
    }

    fn take_retry(&mut self) -> bool {
        if !std::mem::replace(&mut self.has_tried, true) {
            return true;
        }
        match &mut self.retries {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }

    /// The next client; `None`: a shutdown came first.
    fn accept(&self, listener: &TcpListener) -> io::Result<Option<TcpStream>> {
        use io::ErrorKind::{ConnectionAborted, WouldBlock};
        while self.stop_waiter.wait_readable(listener)? {
            match listener.accept() {
                // A client that has disconnected already does not affect the next one.
                Err(error) if matches!(error.kind(), ConnectionAborted | WouldBlock) => {}
                accepted => return Ok(Some(accepted?.0)),
            }
        }
        Ok(None)
    }

    /// Establishes one connection; `None` if a shutdown came first.
    fn try_connect(&self) -> io::Result<Option<TcpStream>> {
        let stream = match &self.role {
            SocketRole::Server(listener) => match self.accept(listener)? {
                Some(stream) => stream,
                None => return Ok(None),
            },
            SocketRole::Client(host, port) => connect_first(&addresses(host, *port)?)?,
        };
        stream.set_nodelay(true)?;
        if let Some(bytes) = self.receive_bytes {
            sockopt::set_socket_recv_buffer_size(&stream, bytes)?;
        }
        if let Some(bytes) = self.send_bytes {
            sockopt::set_socket_send_buffer_size(&stream, bytes)?;
        }
        if let Some(keep_alive) = self.keep_alive {
            keep_alive.apply(&stream)?;
        }
        let is_agreed = match &self.wire_format {
            Some(wire) => wire.confirm(&stream, &self.stop_waiter)?,
            None => true,
        };
        Ok(is_agreed.then_some(stream))
    }
}

impl KeepAlive {
    fn apply(self, stream: &TcpStream) -> io::Result<()> {
        sockopt::set_socket_keepalive(stream, true)?;
        sockopt::set_tcp_keepidle(stream, self.idle_time)?;
        sockopt::set_tcp_keepcnt(stream, self.probes)?;
        Ok(sockopt::set_tcp_keepintvl(stream, self.interval)?)
    }
}

impl std::fmt::Display for TcpConnector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.role {
            SocketRole::Server(_) => write!(f, "with clients of port {}", self.server_port()),
            SocketRole::Client(host, port) => write!(f, "to {host}:{port}"),
        }
    }
}

/// Connects to the first address that accepts.
///
/// # Errors
/// The error of the last address.
fn connect_first(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut last_error = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match retry_interrupted(|| TcpStream::connect_timeout(address, CONNECT_TIMEOUT)) {
            Ok(stream) => return Ok(stream),
            Err(error) => last_error = error,
        }
    }
    Err(last_error)
}

/// The size of a buffer in the kernel.
///
/// # Errors
/// If the value is not a valid size.
pub fn buffer_bytes(build: &mut BuildContext<'_>, name: &str) -> Result<Option<usize>, Fault> {
    let bytes = build.integer(name)?.map(usize::try_from).transpose();
    bytes.map_err(|_| param_fault(format!("{name} is a number of bytes")))
}

/// The parameter of that name, which the model gives three attributes.
///
/// # Errors
/// Numbers that the kernel would not take.
fn keep_alive(build: &mut BuildContext<'_>) -> Result<Option<KeepAlive>, Fault> {
    let Some(Value::Tuple(numbers)) = build.value("keepAlive")? else {
        return Ok(None);
    };
    let mut parts = [0; 3];
    for (part, (value, (name, max))) in parts.iter_mut().zip(numbers.iter().zip(KEEP_ALIVE_MAX)) {
        *part = match value {
            Value::Int32(number) if (1..=max).contains(number) => *number as u32,
            _ => {
                let message = format!("`{name}` of keepAlive is a number from 1 to {max}");
                return Err(param_fault(message));
            }
        };
    }
    let [after, probes, interval] = parts;
    Ok(Some(KeepAlive {
        idle_time: Duration::from_secs(after.into()),
        probes,
        interval: Duration::from_secs(interval.into()),
    }))
}

/// The attributes of `keepAlive`, and the most that Linux takes for each.
const KEEP_ALIVE_MAX: [(&str, i32); 3] = [("time", 32767), ("probes", 127), ("interval", 32767)];

fn server(build: &mut BuildContext<'_>) -> Result<SocketRole, Fault> {
    let port = match build.value("port")? {
        Some(value) => port(&value, "tcp")?,
        None => 0,
    };
    let interface = build.value("interface")?.map(rstring_text);
    let host = interface.unwrap_or_else(|| "0.0.0.0".to_owned());
    if build.services.property("dryRun").is_some() {
        return Ok(SocketRole::Client(host, port));
    }
    let what = format!("cannot listen on {host}:{port}");
    let listen = |address: SocketAddr| {
        let listener = TcpListener::bind(address)?;
        // Does not wait for a client that disconnects while it is accepted.
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    let listener = resolve(&host, port).and_then(listen);
    let listener = listener.map_err(|error| system_fault(what, &error))?;
    Ok(SocketRole::Server(Arc::new(listener)))
}

fn client(build: &mut BuildContext<'_>) -> Result<SocketRole, Fault> {
    let reads_input = |exprs: Option<&[graph::Expr]>| {
        exprs.is_some_and(|exprs| exprs.iter().any(graph::Expr::reads_input))
    };
    if reads_input(build.param_exprs("address")) || reads_input(build.param_exprs("port")) {
        // The first tuple has the address.
        return Ok(SocketRole::Client(String::new(), 0));
    }
    let host = build
        .value("address")?
        .map(rstring_text)
        .unwrap_or_default();
    let port = match build.value("port")? {
        Some(value) => port(&value, "tcp")?,
        None => 0,
    };
    Ok(SocketRole::Client(host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_of_a_host_is_tried() {
        let refusing = TcpListener::bind("127.0.0.1:0").unwrap();
        let dead = refusing.local_addr().unwrap();
        drop(refusing);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let alive = listener.local_addr().unwrap();
        let stream = connect_first(&[dead, alive]).unwrap();
        assert_eq!(stream.peer_addr().unwrap(), alive);
        let error = connect_first(&[dead]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }

    #[test]
    fn the_same_is_said_once_until_something_else_is() {
        let mut last_message = LastMessage::default();
        let heard = [
            "refused", "refused", "refused", "reset", "refused", "refused",
        ];
        let news = heard.map(|message| last_message.is_new(message));
        assert_eq!(news, [true, false, false, true, true, false]);
    }

    #[test]
    fn the_kernel_is_told_when_to_ask_a_silent_peer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let keep_alive = KeepAlive {
            idle_time: Duration::from_secs(10),
            probes: 3,
            interval: Duration::from_secs(5),
        };
        keep_alive.apply(&stream).unwrap();
        assert_eq!(sockopt::socket_keepalive(&stream), Ok(true));
        assert_eq!(sockopt::tcp_keepidle(&stream), Ok(keep_alive.idle_time));
        assert_eq!(sockopt::tcp_keepcnt(&stream), Ok(3));
        assert_eq!(sockopt::tcp_keepintvl(&stream), Ok(keep_alive.interval));
    }
}
