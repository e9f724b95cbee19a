//! Roles of controls of round trips: the threads and media of the program, without the rest of it.
//!
//! ```text
//!   source ==way==> relay ==way==> sink       a thread each; source and sink in one process
//!
//!   trip-loop         a call for each of them
//!   trip-threads      bare cache lines, one process
//!   trip-processes    bare cache lines, the relay in another process
//!   trip-socket       a bare socket, the relay in another process
//!   trip-remote-...   bare remote memory (`remote_trip`), the relay in another process
//! ```
//! Threads wait by the program's strategy, with the same [`Idler`](transport::Idler), and none is
//! pinned, as none is in the program. So the two differ by schema, codec, frames, operators,
//! counters and shutdown, and not by how often a thread sleeps.

use std::fs::OpenOptions;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::thread;

use control::remote::{RemoteSends, RemoteWrites};
use control::round_trip::cache_lines::{CacheLineChannel, TripSide};
use control::round_trip::tcp_trip;
use control::round_trip::trip_stages::{
    RoundTripTask, STAMP_BYTES, SendMessage, TakeMessage, run_by_calls, run_relay, run_sink,
    run_source,
};
use control::{Error, Payload};

use super::child::{join_result, start_process, wait_process};
use super::remote_trip;

/// Waiting loops in a process with relay and sink, and in one with either of them.
const LOOPS_OF_TWO_STAGES: usize = 2;
pub(super) const LOOPS_OF_ONE_STAGE: usize = 1;

/// Plays a role of round trips; `None` if there is no such role or an argument is missing.
pub fn serve(role: &str, args: &[String]) -> Option<Result<(), Error>> {
    let (words, rest) = args.split_at_checked(RoundTripTask::WORDS)?;
    let task = parse_task(words)?;
    Some(match role {
        "trip-loop" => run_by_calls(task),
        "trip-threads" => run_threads(task),
        "trip-processes" => run_processes(task, words),
        "trip-processes-relay" => run_processes_relay(task, rest.first()?),
        "trip-socket" => run_sockets(task, words, rest),
        "trip-socket-relay" => run_socket_relay(task, rest.first()?),
        "trip-remote-writes" => remote_trip::run::<RemoteWrites>(task, role, words, rest),
        "trip-remote-sends" => remote_trip::run::<RemoteSends>(task, role, words, rest),
        "trip-remote-writes-relay" => remote_trip::run_relay::<RemoteWrites>(task, rest.first()?),
        "trip-remote-sends-relay" => remote_trip::run_relay::<RemoteSends>(task, rest.first()?),
        _ => return None,
    })
}

/// Reads `BYTES MESSAGES RATE IDLE`; eight of the bytes are the time stamp.
fn parse_task(words: &[String]) -> Option<RoundTripTask> {
    let [bytes, messages, rate, idle] = words else {
        return None;
    };
    let bytes: usize = bytes.parse().ok()?;
    let bytes = bytes.checked_sub(STAMP_BYTES)?;
    Some(RoundTripTask {
        payload: Payload::with_bytes(bytes),
        messages: messages.parse().ok()?,
        rate: rate.parse().ok().filter(|rate: &f64| *rate > 0.0)?,
        idle: idle.parse().ok()?,
    })
}

/// Runs source and sink in a thread each, and prints the sink's round trips.
fn run_source_and_sink(
    task: RoundTripTask,
    mut there: impl SendMessage + Send,
    mut back: impl TakeMessage,
    loops: usize,
) -> Result<(), Error> {
    thread::scope(|scope| {
        let source = scope.spawn(move || run_source(task, &mut there));
        let trips = run_sink(task, loops, &mut back)?;
        join_result(source.join())?;
        trips.print_trips();
        Ok(())
    })
}

fn run_threads(task: RoundTripTask) -> Result<(), Error> {
    let failed = |error| Error::system("share memory", error);
    let lines = CacheLineChannel::new_private(task.message_bytes()).map_err(failed)?;
    let (near, far) = UnixStream::pair().map_err(failed)?;
    let (there, back) = lines.ends(TripSide::Near, &near).map_err(failed)?;
    let (mut to_sink, mut from_source) = lines.ends(TripSide::Far, &far).map_err(failed)?;
    thread::scope(|scope| {
        let relay = scope
            .spawn(move || run_relay(task, LOOPS_OF_TWO_STAGES, &mut from_source, &mut to_sink));
        run_source_and_sink(task, there, back, LOOPS_OF_TWO_STAGES)?;
        join_result(relay.join())
    })
}

fn run_processes(task: RoundTripTask, words: &[String]) -> Result<(), Error> {
    let failed = |error| Error::system("share memory", error);
    let (lines, segment) = CacheLineChannel::new_shared(task.message_bytes()).map_err(failed)?;
    let (near, far) = UnixStream::pair().map_err(failed)?;
    // Without close-on-exec: the relay inherits it.
    let inherited = rustix::io::dup(&segment).map_err(|error| failed(error.into()))?;
    let number = inherited.as_raw_fd().to_string();
    let role = "trip-processes-relay";
    let relay = start_process(role, &[words, &[number]].concat(), None, Some(&far.into()))?;
    drop(inherited);
    let (there, back) = lines.ends(TripSide::Near, &near).map_err(failed)?;
    run_source_and_sink(task, there, back, LOOPS_OF_ONE_STAGE)?;
    wait_process(relay)
}

fn run_processes_relay(task: RoundTripTask, segment: &str) -> Result<(), Error> {
    let failed = |error| Error::system("join shared memory", error);
    let path = format!("/proc/self/fd/{segment}");
    let segment = OpenOptions::new().read(true).write(true).open(path);
    let lines = CacheLineChannel::join(segment.map_err(failed)?.as_fd(), task.message_bytes());
    let wakeup_socket: OwnedFd = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map_err(failed)?;
    let ends = lines.and_then(|lines| lines.ends(TripSide::Far, &UnixStream::from(wakeup_socket)));
    let (mut to_sink, mut from_source) = ends.map_err(failed)?;
    run_relay(task, LOOPS_OF_ONE_STAGE, &mut from_source, &mut to_sink)
}

fn run_sockets(task: RoundTripTask, words: &[String], rest: &[String]) -> Result<(), Error> {
    let failed = |error| Error::system("go there and back by a bare socket", error);
    // Between hosts: where to listen, and the network that the relay is in.
    let (listen, network) = match rest {
        [listen, network] => (listen.as_str(), Some(network.as_str())),
        _ => ("127.0.0.1", None),
    };
    let listener = TcpListener::bind((listen, 0)).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?.to_string();
    let role = "trip-socket-relay";
    let relay = start_process(role, &[words, &[address]].concat(), network, None)?;
    let (stream, _) = listener.accept().map_err(failed)?;
    let (there, back) = tcp_trip::split_ends(&stream, task.message_bytes()).map_err(failed)?;
    run_source_and_sink(task, there, back, LOOPS_OF_ONE_STAGE)?;
    wait_process(relay)
}

fn run_socket_relay(task: RoundTripTask, address: &str) -> Result<(), Error> {
    let failed = |error| Error::system("relay on a bare socket", error);
    let stream = TcpStream::connect(address).map_err(failed)?;
    let (mut to_sink, mut from_source) =
        tcp_trip::split_ends(&stream, task.message_bytes()).map_err(failed)?;
    run_relay(task, LOOPS_OF_ONE_STAGE, &mut from_source, &mut to_sink)
}
