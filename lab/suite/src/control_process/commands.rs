//! The commands that start controls, and which control a path is measured against.

use std::path::Path as FilePath;
use std::process::Command;

use transport::IdleStrategy;

use super::child::role_command;
use crate::StreamPath;
use crate::path::NamedPath;

/// The control of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// A loop that calls a function for each operator.
    Loop,
    /// A ring of plain words between threads.
    Threads,
    /// A ring of plain words in a segment between processes.
    Processes,
    /// A socket, a write for each message.
    Writes,
    /// A socket, writes of 64 KB.
    Blocks,
    /// Writes into the receiver's memory by libfabric, one for each message.
    RemoteWrites,
    /// Messages by libfabric, into buffers that the receiver has posted.
    RemoteSends,
}

impl Control {
    /// The control that a path is measured beside.
    pub fn for_path(path: StreamPath) -> Control {
        match path {
            StreamPath::Fused => Control::Loop,
            StreamPath::Threaded => Control::Threads,
            StreamPath::Shm => Control::Processes,
            StreamPath::Rum => Control::Blocks,
            StreamPath::Tcp => Control::Writes,
            StreamPath::Named(path) => Control::for_medium(path),
        }
    }

    /// The control of a medium that is measured when it is named. A library of a user has the ring
    /// between processes, the fastest that there is; a medium whose own raw calls are known has
    /// them.
    fn for_medium(path: &NamedPath) -> Control {
        let is_channel = path.settings.split(' ').any(|word| word == "mode=channel");
        match (&*path.medium, is_channel) {
            ("rdma", true) => Control::RemoteSends,
            ("rdma", false) => Control::RemoteWrites,
            _ => Control::Processes,
        }
    }

    /// Seconds of a run at least. A socket holds some megabytes: in a short run a late receiver
    /// finds all messages there, and only its reading would be measured.
    pub fn seconds_min(self) -> f64 {
        match self {
            Control::Writes | Control::Blocks | Control::RemoteWrites | Control::RemoteSends => 0.2,
            Control::Loop | Control::Threads | Control::Processes => 0.0,
        }
    }

    /// Description of the control in a few words.
    pub fn description(self) -> &'static str {
        match self {
            Control::Loop => "hand-written loop, a call for each operator",
            Control::Threads => "bare ring of words between two threads",
            Control::Processes => "bare ring of words in a segment between two processes",
            Control::Writes => "bare socket, the same writes",
            Control::Blocks => "bare socket, 64 KB writes",
            Control::RemoteWrites => "bare fi_write into a ring, one for each message",
            Control::RemoteSends => "bare fi_send into posted buffers, one for each message",
        }
    }

    /// The command that sends `messages` messages of `bytes` bytes to each of `receivers`
    /// receivers.
    pub fn throughput_command(
        self,
        binary: &FilePath,
        bytes: u64,
        messages: u64,
        receivers: u32,
    ) -> Command {
        let role = match self {
            Control::Loop => "loop",
            Control::Threads => "threads",
            Control::Processes => "processes",
            Control::Writes => "writes",
            Control::Blocks => "blocks",
            Control::RemoteWrites => "remote-writes",
            Control::RemoteSends => "remote-sends",
        };
        let numbers = [bytes, messages, receivers.into()].map(|number| number.to_string());
        role_command(binary, role, &numbers)
    }

    /// Description of the control of round trips in a few words.
    pub fn round_trip_description(self) -> &'static str {
        match self {
            Control::Loop => "hand-written loop, a call for each operator",
            Control::Threads => "relay by hand, the same threads and waits on bare cache lines",
            Control::Processes => {
                "relay by hand, the same processes, threads and waits on bare cache lines"
            }
            Control::Writes | Control::Blocks => {
                "relay by hand, the same processes, threads and waits on a bare socket"
            }
            Control::RemoteWrites => {
                "relay by hand, the same processes, threads and waits on bare fi_write"
            }
            Control::RemoteSends => {
                "relay by hand, the same processes, threads and waits on bare fi_send"
            }
        }
    }

    /// The command that sends `messages` messages of `bytes` bytes there and back, at `rate`
    /// messages a second. Threads wait as `idle` says.
    pub fn round_trip_command(
        self,
        binary: &FilePath,
        (bytes, messages, rate): (u64, u64, f64),
        idle: IdleStrategy,
    ) -> Command {
        let role = match self {
            Control::Loop => "trip-loop",
            Control::Threads => "trip-threads",
            Control::Processes => "trip-processes",
            Control::Writes | Control::Blocks => "trip-socket",
            Control::RemoteWrites => "trip-remote-writes",
            Control::RemoteSends => "trip-remote-sends",
        };
        let words = [
            bytes.to_string(),
            messages.to_string(),
            rate.to_string(),
            idle.to_string(),
        ];
        role_command(binary, role, &words)
    }
}

/// The command that runs the loop of one operator or expression with `messages` messages.
pub(crate) fn case_command(
    binary: &FilePath,
    bench: &str,
    name: &str,
    messages: u64,
    file: &str,
) -> Command {
    let numbers = ["8".to_owned(), messages.to_string(), "1".to_owned()];
    let what = [bench, name, file].map(str::to_owned);
    role_command(binary, "case", &[&numbers[..], &what].concat())
}

/// The command that runs the loop of four operators with `messages` messages of `bytes` bytes.
pub(crate) fn chain_command(binary: &FilePath, bytes: u64, messages: u64) -> Command {
    let numbers = [bytes, messages, 1].map(|number| number.to_string());
    role_command(binary, "chain", &numbers)
}
