//! Models of the parameters that several network adapters have.

use graph::{ParamMode, ParamModel, Unsupported};

/// The literals of [`ROLE`].
pub const ROLES: (&str, &[&str]) = ("SocketRole", &["server", "client"]);

/// The literals of [`POLICY`].
pub const POLICIES: (&str, &[&str]) = (
    "ReconnectionPolicy",
    &["InfiniteRetry", "NoRetry", "BoundedRetry"],
);

/// Model of the parameter `role`.
pub const ROLE: ParamModel = ParamModel {
    name: "role",
    ty: "SocketRole",
    mode: ParamMode::Literal,
    mandatory: true,
    doc: "Whether others connect to the operator (server) or it connects to them (client).",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `address`.
pub const ADDRESS: ParamModel = ParamModel {
    name: "address",
    ty: "rstring",
    doc: "The host that is connected to, by name or address. Needed by clients.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `port`.
pub const PORT: ParamModel = ParamModel {
    name: "port",
    ty: "rstring | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64",
    doc: "The port, by number or name of its service. Without it a server takes any free one.",
    ..ParamModel::DEFAULT
};

/// Parameters of Streams that the UDP operators refuse.
pub const UNSUPPORTED: &[(&str, Unsupported)] = &[("name", NO_NAME_SERVER)];

/// Parameters of Streams that the TCP operators refuse, those of TLS included.
pub const UNSUPPORTED_TCP: &[(&str, Unsupported)] = &[
    ("name", NO_NAME_SERVER),
    ("sslConfigName", NO_TLS),
    ("sslProtocol", NO_TLS),
    ("sslCertificateFile", NO_TLS),
    ("password", NO_TLS),
    ("sslCertificateAuthorityFile", NO_TLS),
    ("sslAuthenticateClient", NO_TLS),
    ("sslCipherSuites", NO_TLS),
];

const NO_NAME_SERVER: Unsupported = Unsupported {
    reason: "there is no name server",
    alternative: "give `address` and `port` instead",
};

const NO_TLS: Unsupported = Unsupported {
    reason: "connections are not encrypted",
    alternative: "let a tunnel encrypt what goes to another host, as stunnel, ssh -L or a VPN",
};

/// Model of the parameter `encoding`.
pub const ENCODING: ParamModel = ParamModel {
    name: "encoding",
    ty: "rstring",
    doc: "The character encoding of the data. Default: UTF-8.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `compression`.
pub const COMPRESSION: ParamModel = ParamModel {
    name: "compression",
    ty: "CompressionAlg",
    mode: ParamMode::Literal,
    doc: "How the data is compressed. Default: not at all.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `reconnectionPolicy`.
pub const POLICY: ParamModel = ParamModel {
    name: "reconnectionPolicy",
    ty: "ReconnectionPolicy",
    mode: ParamMode::Literal,
    doc: "How often to connect again when there is no connection. Default: InfiniteRetry.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `reconnectionBound`.
pub const BOUND: ParamModel = ParamModel {
    name: "reconnectionBound",
    ty: "uint32",
    doc: "With reconnectionPolicy BoundedRetry: how often to connect again at most.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `interface`.
pub const INTERFACE: ParamModel = ParamModel {
    name: "interface",
    ty: "rstring",
    doc: "The address that a server listens on. Default: all of this machine's.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `initDelay`.
pub const INIT_DELAY: ParamModel = ParamModel {
    name: "initDelay",
    ty: "float64",
    doc: "Seconds to wait before the first tuple. Default: 0.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `receiveBufferSize`.
pub const RECEIVE_BUFFER: ParamModel = ParamModel {
    name: "receiveBufferSize",
    ty: "uint32",
    doc: "Bytes of the kernel's buffer for what comes in. Default: the kernel's.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `sendBufferSize`.
pub const SEND_BUFFER: ParamModel = ParamModel {
    name: "sendBufferSize",
    ty: "uint32",
    doc: "Bytes of the kernel's buffer for what goes out. Default: the kernel's.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `keepAlive`.
pub const KEEP_ALIVE: ParamModel = ParamModel {
    name: "keepAlive",
    ty: "tuple<int32 time, int32 probes, int32 interval>",
    mode: ParamMode::Constant,
    doc: "When a server looks whether a silent client is still there: after so many seconds (time), \
          so often at most (probes), so many seconds between (interval). Default: never.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `confirmWireFormat`.
pub const CONFIRM: ParamModel = ParamModel {
    name: "confirmWireFormat",
    doc: "Whether both ends say their formats and compare them before the first record. The other \
          end is a TCPSource or TCPSink that is asked for it too. Default: false.",
    ..crate::adapter::params::FLAG
};
