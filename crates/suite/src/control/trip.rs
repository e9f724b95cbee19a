//! Roles of controls that go there and back.

use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::thread;

use super::payload::Payload;
use super::ping::{Lines, Task, socket_ping, socket_pong};
use super::role::{start, wait};
use crate::Error;
use crate::latency::RoundTrip;

/// Plays one of the roles; `None` if there is no such role, or its numbers are none.
pub fn serve(role: &str, args: &[String]) -> Option<Result<(), Error>> {
    let task = read(args)?;
    Some(match role {
        "trip-loop" => {
            task.call();
            Ok(())
        }
        "trip-threads" => threads(task),
        "trip-processes" => processes(task, args),
        "trip-processes-relay" => processes_relay(task),
        "trip-socket" => sockets(task, args),
        "trip-socket-relay" => socket_relay(task, args.get(3)?),
        _ => return None,
    })
}

/// `BYTES MESSAGES RATE`; the bytes are those of the program, whose tuples carry a time as well.
fn read(args: &[String]) -> Option<Task> {
    let [bytes, messages, rate, ..] = args else {
        return None;
    };
    let bytes: usize = bytes.parse().ok()?;
    let bytes = bytes.checked_sub(RoundTrip::STAMP_BYTES as usize)?;
    Some(Task {
        payload: Payload::of(bytes),
        messages: messages.parse().ok()?,
        rate: rate.parse().ok().filter(|rate: &f64| *rate > 0.0)?,
    })
}

fn threads(task: Task) -> Result<(), Error> {
    let lines = Lines::private().map_err(|error| Error::system("share memory", error))?;
    thread::scope(|scope| {
        scope.spawn(|| lines.pong(task));
        lines.ping(task);
    });
    Ok(())
}

fn processes(task: Task, args: &[String]) -> Result<(), Error> {
    let (lines, fd) = Lines::shared().map_err(|error| Error::system("share memory", error))?;
    let relay = start("trip-processes-relay", args, None, Some(&fd))?;
    lines.ping(task);
    wait(relay)
}

fn processes_relay(task: Task) -> Result<(), Error> {
    let lines = Lines::join(std::io::stdin().as_fd());
    let lines = lines.map_err(|error| Error::system("join shared memory", error))?;
    lines.pong(task);
    Ok(())
}

fn sockets(task: Task, args: &[String]) -> Result<(), Error> {
    let failed = |error| Error::system("go there and back by a bare socket", error);
    // Between hosts: where to listen, and the network that the relay is in.
    let (listen, network) = match args {
        [_, _, _, listen, network] => (listen.as_str(), Some(network.as_str())),
        _ => ("127.0.0.1", None),
    };
    let listener = TcpListener::bind((listen, 0)).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?.to_string();
    let relay = [&args[..3], &[address]].concat();
    let relay = start("trip-socket-relay", &relay, network, None)?;
    let (stream, _) = listener.accept().map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    socket_ping(task, &stream).map_err(failed)?;
    wait(relay)
}

fn socket_relay(task: Task, address: &str) -> Result<(), Error> {
    let failed = |error| Error::system("relay on a bare socket", error);
    let stream = TcpStream::connect(address).map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    socket_pong(task, &stream).map_err(failed)
}
