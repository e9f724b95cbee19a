//! Roles of controls that go there and back: the program's threads on the program's media, and nothing
//! else of it.
//!
//! ```text
//!   source ==way==> relay ==way==> sink       a thread each; source and sink in one process
//!
//!   trip-loop         a call for each of them
//!   trip-threads      bare cache lines, one process
//!   trip-processes    bare cache lines, the relay in another process
//!   trip-socket       a bare socket, the relay in another process
//! ```
//! Threads wait by the strategy of the program's, with the same [`Idle`](transport::Idle), and nobody is
//! pinned, as nobody is in the program. So the two differ by schema, codec, frames, operators,
//! counters and shutdown, not by how often somebody sleeps.

mod lines;
mod stages;
mod stream;

use std::fs::OpenOptions;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::thread;

use self::lines::{Lines, Side};
use self::stages::{Sends, Takes, Task, by_calls, relay, sink, source};
use super::payload::Payload;
use super::role::{joined, start, wait};
use crate::Error;
use crate::latency::RoundTrip;

/// Loops that wait in a process that has relay and sink, and in one that has one of them.
const BOTH: usize = 2;
const ONE: usize = 1;

/// Plays one of the roles; `None` if there is no such role, or its numbers are none.
pub fn serve(role: &str, args: &[String]) -> Option<Result<(), Error>> {
    let (words, rest) = args.split_at_checked(Task::WORDS)?;
    let task = read(words)?;
    Some(match role {
        "trip-loop" => by_calls(task),
        "trip-threads" => threads(task),
        "trip-processes" => processes(task, words),
        "trip-processes-relay" => processes_relay(task, rest.first()?),
        "trip-socket" => sockets(task, words, rest),
        "trip-socket-relay" => socket_relay(task, rest.first()?),
        _ => return None,
    })
}

/// `BYTES MESSAGES RATE IDLE`; of the bytes eight are the time that a message carries.
fn read(words: &[String]) -> Option<Task> {
    let [bytes, messages, rate, idle] = words else {
        return None;
    };
    let bytes: usize = bytes.parse().ok()?;
    let bytes = bytes.checked_sub(RoundTrip::STAMP_BYTES as usize)?;
    Some(Task {
        payload: Payload::of(bytes),
        messages: messages.parse().ok()?,
        rate: rate.parse().ok().filter(|rate: &f64| *rate > 0.0)?,
        idle: idle.parse().ok()?,
    })
}

/// Source and sink, a thread each; prints what the sink has seen.
fn there_and_back(
    task: Task,
    mut there: impl Sends + Send,
    mut back: impl Takes,
    loops: usize,
) -> Result<(), Error> {
    thread::scope(|scope| {
        let source = scope.spawn(move || source(task, &mut there));
        let trips = sink(task, loops, &mut back)?;
        joined(source.join())?;
        trips.print();
        Ok(())
    })
}

fn threads(task: Task) -> Result<(), Error> {
    let failed = |error| Error::system("share memory", error);
    let lines = Lines::private(task.message_bytes()).map_err(failed)?;
    let (near, far) = UnixStream::pair().map_err(failed)?;
    let (there, back) = lines.ends(Side::Near, &near).map_err(failed)?;
    let (mut answer, mut heard) = lines.ends(Side::Far, &far).map_err(failed)?;
    thread::scope(|scope| {
        let relay = scope.spawn(move || relay(task, BOTH, &mut heard, &mut answer));
        there_and_back(task, there, back, BOTH)?;
        joined(relay.join())
    })
}

fn processes(task: Task, words: &[String]) -> Result<(), Error> {
    let failed = |error| Error::system("share memory", error);
    let (lines, segment) = Lines::shared(task.message_bytes()).map_err(failed)?;
    let (near, far) = UnixStream::pair().map_err(failed)?;
    // Without close-on-exec: the relay inherits it.
    let inherited = rustix::io::dup(&segment).map_err(|error| failed(error.into()))?;
    let number = inherited.as_raw_fd().to_string();
    let role = "trip-processes-relay";
    let relay = start(role, &[words, &[number]].concat(), None, Some(&far.into()))?;
    drop(inherited);
    let (there, back) = lines.ends(Side::Near, &near).map_err(failed)?;
    there_and_back(task, there, back, ONE)?;
    wait(relay)
}

fn processes_relay(task: Task, segment: &str) -> Result<(), Error> {
    let failed = |error| Error::system("join shared memory", error);
    let path = format!("/proc/self/fd/{segment}");
    let segment = OpenOptions::new().read(true).write(true).open(path);
    let lines = Lines::join(segment.map_err(failed)?.as_fd(), task.message_bytes());
    let bell: OwnedFd = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map_err(failed)?;
    let ends = lines.and_then(|lines| lines.ends(Side::Far, &UnixStream::from(bell)));
    let (mut answer, mut heard) = ends.map_err(failed)?;
    relay(task, ONE, &mut heard, &mut answer)
}

fn sockets(task: Task, words: &[String], rest: &[String]) -> Result<(), Error> {
    let failed = |error| Error::system("go there and back by a bare socket", error);
    // Between hosts: where to listen, and the network that the relay is in.
    let (listen, network) = match rest {
        [listen, network] => (listen.as_str(), Some(network.as_str())),
        _ => ("127.0.0.1", None),
    };
    let listener = TcpListener::bind((listen, 0)).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?.to_string();
    let role = "trip-socket-relay";
    let relay = start(role, &[words, &[address]].concat(), network, None)?;
    let (stream, _) = listener.accept().map_err(failed)?;
    let (there, back) = stream::ends(&stream, task.message_bytes()).map_err(failed)?;
    there_and_back(task, there, back, ONE)?;
    wait(relay)
}

fn socket_relay(task: Task, address: &str) -> Result<(), Error> {
    let failed = |error| Error::system("relay on a bare socket", error);
    let stream = TcpStream::connect(address).map_err(failed)?;
    let (mut answer, mut heard) = stream::ends(&stream, task.message_bytes()).map_err(failed)?;
    relay(task, ONE, &mut heard, &mut answer)
}
